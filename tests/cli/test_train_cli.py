"""`manetdiff train`, `weights` and `evaluate --weights`, as a user runs them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch

from manetdiff.cli.app import main
from manetdiff.data import Settings, generate
from manetdiff.diffusion.weights import read_weights
from manetdiff.weights.finder import PACKAGE
from support.command_help import Run, refused

SMALL = ("--width", "8", "--blocks", "1", "--no-compile", "--precision", "32", "--accelerator", "cpu")
FLEET = str(Path(__file__).parents[2] / "docs" / "examples" / "escort.json")
RUN = ("--epochs", "2", "--batch", "8", "--loss", "odd=0,sector=0.1", "--loss", "cosine=0.5", *SMALL)


@pytest.fixture(scope="module")
def layouts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    torch.set_num_threads(1)
    folder = tmp_path_factory.mktemp("data") / "layouts"
    generate(Settings(nodes=(16,), count=40, seed=3, search_moves=300), folder)
    return folder


@pytest.fixture(scope="module")
def run_folder(layouts: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("run") / "run"
    call("train", str(layouts), "--out", str(folder), *RUN)
    return folder


def call(*arguments: str) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sys.argv", ["manetdiff", *arguments])
        with pytest.raises(SystemExit) as stopped:
            main()
        assert stopped.value.code == 0


def test_a_run_leaves_weights_a_checkpoint_a_log_and_a_picture(run_folder: Path) -> None:
    names = {path.name for path in run_folder.iterdir()}
    assert names == {"best.safetensors", "last.safetensors", "checkpoint.safetensors", "tensorboard", "samples.png"}
    assert (run_folder / "samples.png").read_bytes().startswith(b"\x89PNG")


def test_the_loss_has_the_weights_asked_for_and_else_the_model_s(run_folder: Path) -> None:
    losses = read_weights(run_folder / "last.safetensors").card["losses"]
    assert losses == {"edges": 1.0, "parity": 1.0, "sector": 0.1, "cosine": 0.5, "odd": 0.0, "consistency": 0.0}


def test_the_same_command_goes_on_or_finds_nothing_to_do(run_folder: Path, layouts: Path) -> None:
    before = (run_folder / "last.safetensors").read_bytes()
    call("train", str(layouts), "--out", str(run_folder), *RUN)
    assert (run_folder / "last.safetensors").read_bytes() == before


def test_weights_of_a_run_are_scored_on_a_benchmark(run: Run, run_folder: Path) -> None:
    file = str(run_folder / "last.safetensors")
    ran = run("evaluate", "bench16", "--weights", file, "--layouts", "3", "--steps", "2", "--json")
    rows = json.loads(ran.out)["bench16"]
    assert [row["method"] for row in rows] == ["target", file]
    assert rows[0]["ratio"] == 1
    assert 0 <= rows[1]["ratio"] < 1
    assert rows[1]["seconds"] > 0


def test_weights_are_packed_with_their_card(run: Run, run_folder: Path) -> None:
    file = str(run_folder / "last.safetensors")
    assert run("weights", "mine", "--pack", file, "--commit", "abc", "--layouts", "2", "--steps", "10").code == 0
    page = Path("mine.md").read_text(encoding="utf-8")
    assert "bench16 (2 layouts)" in page
    assert "bench32" not in page  # not trained on such fleets
    assert "commit abc" in page
    assert "steps 10, grid late" in page
    assert "commit abc" in run("weights", "mine.safetensors").out


def test_weights_are_listed_with_where_they_are(run: Run) -> None:
    rows = {line.split()[0]: line.split()[-1] for line in run("weights").out.splitlines()}
    assert (rows["netdiff"], rows["acam-123"]) == ("package", "studies")


@pytest.mark.parametrize(
    ("command", "message"),
    [
        (("generate", FLEET, "--weights", "FILE.safetensors"), "make a runtime file of it: manetdiff export /"),
        (("generate", FLEET, "--weights", "acam-123"), "make a runtime file of it: manetdiff export acam-123"),
        (("export", "FILE.netdiff"), "is a runtime file"),
        (("weights", "FILE.netdiff"), "is a runtime file"),
    ],
)
def test_the_wrong_kind_of_weights_is_answered_with_what_to_do(
    run: Run, command: tuple[str, ...], message: str
) -> None:
    assert message in refused(run(*(word.replace("FILE", str(PACKAGE / "netdiff")) for word in command)))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--recipe", "nonsense"), "unknown recipe"),
        (("--model", "nonsense"), "unknown model"),
        (("--mix", "16"), "--mix"),
        (("--loss", "edges=1,nonsense=2"), "no term of the loss nonsense; there are consistency, cosine"),
        (("--loss", "edges=1", "--loss", "odd=much"), "--loss: give names and numbers such as"),
        (("--loss", "odd=-1"), "the weight of odd"),
        (("--batch", "4000"), "smaller batch"),
        (("--width", "0"), "width"),
        (("--epochs", "0"), "epochs"),
        (("--radio", "radio.json"), "alpha = 0.5, not 0.25"),
    ],
)
def test_bad_options_are_one_line_and_leave_nothing(
    run: Run, arguments: tuple[str, ...], message: str, layouts: Path
) -> None:
    Path("radio.json").write_text('{"alpha": 0.25}')
    assert message in refused(run("train", str(layouts), "--out", "run", *SMALL, *arguments))
    assert not Path("run").exists()


ANY_FLEET = ("--model", "sparse", "--recipe", "any-fleet", "--tokens", "2", *SMALL)


def test_a_sparse_network_is_trained_scored_and_packed(run: Run, layouts: Path) -> None:
    few = ("--epochs", "1", "--batch", "4096", "--loss", "odd=0")
    assert run("train", str(layouts), "--out", "run", *ANY_FLEET, *few).code == 0
    assert Path("run/samples.png").read_bytes().startswith(b"\x89PNG")
    file = "run/last.safetensors"
    weights = read_weights(file)
    assert (weights.config.kind, weights.card["variant"], weights.card["losses"]["odd"]) == ("sparse", "sparse", 0.0)
    ran = run("evaluate", "bench16", "--weights", file, "--layouts", "2", "--steps", "2", "--json")
    rows = json.loads(ran.out)["bench16"]
    assert [row["method"] for row in rows] == ["target", file]
    assert 0 <= rows[1]["ratio"] < 1
    # It is for any radio: each layout has its own.
    ran = run("evaluate", "radios", "--weights", file, "--layouts", "3", "--steps", "2", "--json")
    assert [row["layouts"] for row in json.loads(ran.out)["radios"]] == [3, 3]
    assert run("weights", "mine", "--pack", file, "--commit", "abc", "--layouts", "2", "--steps", "10").code == 0
    page = Path("mine.md").read_text(encoding="utf-8")
    assert "bench16 (2 layouts)" in page
    assert "steps of 4096 arcs by" in page


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--recipe", "fast"), "give the recipe any-fleet"),
        (("--mix", "16:1"), "mix: of no consequence to a sparse network"),
        (("--heading", "1"), "heading: "),
        (("--activation", "relu"), "activation: "),
        (("--loss", "cosine=1"), "cosine: of no consequence"),
        (("--radio", "radio.json"), "radio: a sparse network learns"),
        (("--batch", "10"), "has no room for a layout of"),
    ],
)
def test_options_without_effect_on_a_sparse_network_are_one_line_and_leave_nothing(
    run: Run, arguments: tuple[str, ...], message: str, layouts: Path
) -> None:
    Path("radio.json").write_text("{}")
    assert message in refused(run("train", str(layouts), "--out", "run", *ANY_FLEET, *arguments))
    assert not Path("run").exists()


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("evaluate --weights netdiff --method greedy", "--method"),
        ("evaluate bench16 --steps 5", "go with --weights"),
        ("evaluate bench16 --temperature 1", "go with --weights"),
        ("evaluate bench16 --redundancy 2", "go with --weights"),
        ("weights --commit abc", "--pack"),
    ],
)
def test_options_that_do_not_go_together_are_refused(run: Run, command: str, message: str) -> None:
    assert message in refused(run(*command.split()))


def test_where_packed_weights_go_is_looked_at_before_they_are_scored(run: Run, run_folder: Path) -> None:
    said = refused(run("weights", "mine", "--pack", str(run_folder / "last.safetensors"), "--out", "nowhere"))
    assert "does not exist" in said
    assert "bench16" not in said


def test_the_training_step_is_timed(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)
    monkeypatch.setattr("manetdiff.evaluate.training_speed.CPU_BATCH", 2)
    monkeypatch.setattr("manetdiff.evaluate.training_speed.CPU_STEPS", 1)
    (speed,) = json.loads(run("bench", "--training", "--json").out)["training"]
    assert speed["batch"] == 2
    assert speed["graphs_a_second"] == pytest.approx(2e3 / speed["step_ms"])
