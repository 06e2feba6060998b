"""Weights files: what is shipped, what is in them, and what is refused."""

from __future__ import annotations

import contextlib
from pathlib import Path

import pytest
import torch
from safetensors.torch import save

import manetdiff
from manetdiff.data import BENCHMARKS
from manetdiff.diffusion.generator import build
from manetdiff.diffusion.process import Process
from manetdiff.diffusion.weights import Weights, described_bytes, find_weights, read_weights
from manetdiff.errors import CheckpointError, ManetDiffError
from manetdiff.evaluate.cards import card_page
from manetdiff.layout import FEATURES_VERSION
from manetdiff.model.config import ModelConfig
from manetdiff.radio import Radio
from manetdiff.sampling import SamplerConfig
from manetdiff.weights import WEIGHTS_FILE, Header, known, read_header
from manetdiff.weights.header import FORMAT, FORMAT_NAME
from support.odd_values import odd_documents

PACKAGE = Path(manetdiff.__file__).parent
CONFIG = ModelConfig(width=8, blocks=1, tokens=2, activation="relu")
SAMPLING = SamplerConfig(steps=7, redundancy=3.0)


def fresh(card: dict[str, object] | None = None) -> Weights:
    torch.manual_seed(1)
    process = Process(2.5, noise_redundancy=1.5, heading=3.0)
    return Weights(CONFIG, process, Radio(sigma2=0.3), dict(build(CONFIG, process).state_dict()), SAMPLING, card or {})


def test_a_file_gives_back_what_was_written(tmp_path: Path) -> None:
    path = tmp_path / "some.safetensors"
    written = fresh({"note": "ours"})
    path.write_bytes(written.to_bytes())
    read = read_weights(path)
    assert (read.config, read.process, read.radio) == (written.config, written.process, written.radio)
    assert read.sampling == SAMPLING
    assert read.card == {"note": "ours"}
    assert all(torch.equal(read.tensors[name], tensor) for name, tensor in written.tensors.items())
    assert all(torch.equal(read.build().state_dict()[name], tensor) for name, tensor in written.tensors.items())


def test_a_file_from_before_parts_of_it_were_renamed_is_the_same(tmp_path: Path) -> None:
    path, now = tmp_path / "old.safetensors", fresh()
    described = {
        "model": now.config.to_dict(),
        "process": {"mean_degree": 2.5, "redundancy": 1.5, "heading": 3.0},
        "radio": now.radio.to_dict(),
        "features": FEATURES_VERSION,
    }
    tensors = {name.replace(".feed_forward_", ".think_"): tensor for name, tensor in now.tensors.items()}
    assert set(tensors) != set(now.tensors)
    path.write_bytes(described_bytes(FORMAT_NAME, FORMAT, described, tensors))
    read = read_weights(path)
    assert read.process == now.process
    assert all(torch.equal(read.build().state_dict()[name], tensor) for name, tensor in now.tensors.items())


def test_the_same_weights_are_the_same_bytes() -> None:
    assert fresh({"a": 1, "b": 2}).to_bytes() == fresh({"a": 1, "b": 2}).to_bytes()


def test_half_precision_halves_the_file_and_keeps_the_weights_to_three_digits(tmp_path: Path) -> None:
    path = tmp_path / "half.safetensors"
    path.write_bytes(fresh().to_bytes(half=True))
    assert len(path.read_bytes()) < 0.75 * len(fresh().to_bytes())
    for name, tensor in fresh().tensors.items():
        torch.testing.assert_close(read_weights(path).tensors[name].float(), tensor, rtol=1e-3, atol=1e-4)


class TestRefused:
    def test_a_file_cut_short_anywhere(self, tmp_path: Path) -> None:
        content = fresh().to_bytes()
        path = tmp_path / "torn.safetensors"
        for length in (0, 5, 8, 100, len(content) // 2, len(content) - 1):
            path.write_bytes(content[:length])
            for read in (read_weights, read_header):
                with pytest.raises(CheckpointError, match="torn"):
                    read(path)

    def test_a_missing_file_another_program_s_and_another_version(self, tmp_path: Path) -> None:
        path, tensors = tmp_path / "other.safetensors", {"x": torch.zeros(1)}
        with pytest.raises(CheckpointError, match="no such file"):
            read_weights(path)
        later = described_bytes(FORMAT_NAME, FORMAT + 1, {}, tensors)
        for content, said in ((save(tensors), "none of this program's"), (later, f"version {FORMAT + 1}")):
            path.write_bytes(content)
            with pytest.raises(CheckpointError, match=said):
                read_weights(path)

    @pytest.mark.parametrize(
        ("change", "message"),
        [
            ({"model": {"width": -1}}, "width"),
            ({"model": {"nonsense": 1}}, "nonsense"),
            ({"process": {"mean_degree": "two"}}, "mean_degree"),
            ({"radio": {"sigma2": 0}}, "sigma2"),
            ({"model": None}, "."),
            ({"features": FEATURES_VERSION - 1}, "features"),
            ({"card": [1]}, "card"),
            ({"sampling": {"steps": 0}}, "steps"),
            ({"sampling": {"nonsense": 1}}, "nonsense"),
        ],
    )
    def test_a_description_that_makes_no_sense(self, change: dict[str, object], message: str, tmp_path: Path) -> None:
        good = fresh()
        described = {
            "model": good.config.to_dict(),
            "process": good.process.to_dict(),
            "radio": good.radio.to_dict(),
            "features": FEATURES_VERSION,
            **change,
        }
        path = tmp_path / "odd.safetensors"
        path.write_bytes(described_bytes(FORMAT_NAME, FORMAT, described, dict(good.tensors)))
        with pytest.raises(CheckpointError, match=message):
            read_weights(path)

    def test_weights_of_another_shape_than_they_say(self) -> None:
        odd = Weights(ModelConfig(width=16, blocks=1), Process(2.5), Radio(), fresh().tensors)
        with pytest.raises(CheckpointError, match="do not fit"):
            odd.build()


class TestKnown:
    @pytest.mark.parametrize("name", known(WEIGHTS_FILE))
    def test_every_file_can_be_used_and_says_how_it_was_made_and_how_good_it_is(self, name: str) -> None:
        path, weights = known(WEIGHTS_FILE)[name], find_weights(name)
        weights.build()
        assert weights.card["commit"] != "unknown"
        assert weights.card["data"]
        assert weights.card["recipe"]["seed"] >= 0
        scored = weights.card["benchmark"].items()
        assert all(scores["layouts"] >= min(500, BENCHMARKS[of].count) for of, scores in scored)
        assert path.with_suffix(".md").read_text(encoding="utf-8") == card_page(name, read_header(path))

    def test_the_whole_package_stays_small(self) -> None:
        files = [path for path in PACKAGE.rglob("*") if path.is_file() and "__pycache__" not in path.parts]
        assert sum(path.stat().st_size for path in files) < 10e6


@pytest.mark.parametrize("part", ["model", "process", "radio", "sampling", "card"])
def test_odd_values_in_a_description_are_one_line_and_never_a_traceback(part: str, tmp_path: Path) -> None:
    whole, path = read_header(known(WEIGHTS_FILE)["netdiff"]).description, tmp_path / "odd.safetensors"
    for changed in odd_documents({part: whole[part]}):
        with contextlib.suppress(ManetDiffError):
            card_page("odd", Header({**whole, **changed}, 3))
        if part != "card":  # which is only shown
            path.write_bytes(described_bytes(FORMAT_NAME, FORMAT, {**whole, **changed}, {"a": torch.zeros(2)}))
            with pytest.raises(CheckpointError):
                read_weights(path).build()


@pytest.mark.parametrize(("name", "value"), [("width", 4096), ("blocks", 4097), ("latent", 10**9)])
def test_a_description_cannot_ask_for_more_memory_than_the_file_has_weights(
    name: str, value: int, tmp_path: Path
) -> None:
    described = {
        "model": {**CONFIG.to_dict(), name: value},
        "process": {"mean_degree": 2.5},
        "radio": {},
        "features": FEATURES_VERSION,
    }
    (tmp_path / "huge.safetensors").write_bytes(described_bytes(FORMAT_NAME, FORMAT, described, dict(fresh().tensors)))
    with pytest.raises(CheckpointError, match=f"do not fit|model: {name} must be"):
        read_weights(tmp_path / "huge.safetensors").build()


def test_a_card_cannot_speak_to_the_terminal() -> None:
    told = {**read_header(known(WEIGHTS_FILE)["netdiff"]).description, "radio": {"\x1b[2J": "\x1b]0;title\x07"}}
    page = card_page("mine", Header(told, 3))
    assert all(line.isprintable() for line in page.split("\n"))
    assert "\\x1b[2J" in page
