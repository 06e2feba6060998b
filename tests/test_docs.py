"""The documentation: the site builds without a warning, its Python runs, and its commands exist."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

import pytest
import typer

import manetdiff
from manetdiff.cli.app import app

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
PAGES = [ROOT / "README.md", *(page for page in sorted(DOCS.rglob("*.md")) if "results" not in page.parts)]
FENCE = re.compile(r"^```(\w*)\n(.*?)^```", re.DOTALL | re.MULTILINE)
# What a browser would fetch by itself: scripts, styles, pictures, fonts.
FETCHED = re.compile(
    r"""<(?:script|img|iframe)[^>]*\ssrc=["']?(https?:)?//|<link[^>]*rel=["']?(?:stylesheet|preconnect|preload)["']?"""
    r"""[^>]*href=["']?(https?:)?//|@import\s+url\(["']?(https?:)?//|url\(["']?(https?:)?//"""
)


def site_is_possible() -> bool:
    return all(find_spec(module) is not None for module in ("mkdocs", "material", "mkdocstrings_handlers"))


@pytest.mark.skipif(not site_is_possible(), reason="mkdocs-material and mkdocstrings are not installed (extra 'docs')")
def test_the_site_builds_strictly_and_loads_nothing_from_elsewhere(tmp_path: Path) -> None:
    site = tmp_path / "site"
    built = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(site)],
        capture_output=True,
        text=True,
        cwd=ROOT,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
        timeout=120,
    )
    assert built.returncode == 0, built.stdout + built.stderr
    assert "WARNING -" not in built.stderr
    reference = (site / "api" / "manetdiff.html").read_text(encoding="utf-8")
    for name in manetdiff.__all__:
        if callable(getattr(manetdiff, name)):
            assert re.search(rf'id="manetdiff\.([\w.]+\.)?{name}"', reference), f"{name} is not in the reference"
    for file in (*site.rglob("*.html"), *site.rglob("*.css")):
        assert FETCHED.search(file.read_text(encoding="utf-8")) is None, file.name
    # Search from disk: the index as a script, and on every page what stands in for a worker, before the theme's own.
    assert (site / "search" / "search_index.js").read_text(encoding="utf-8").startswith("var __index = {")
    for page in site.rglob("*.html"):
        scripts = re.findall(r'<script src="([^"]+)"', page.read_text(encoding="utf-8"))
        assert [Path(script).name.split(".")[0] for script in scripts] == ["iframe-worker", "bundle"], page.name


@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize("page", [ROOT / "README.md", DOCS / "tutorial.md"], ids=lambda page: page.name)
def test_the_python_of_a_page_runs_from_top_to_bottom(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for example in (DOCS / "examples").iterdir():
        shutil.copy(example, tmp_path)
    monkeypatch.chdir(tmp_path)
    text = page.read_text(encoding="utf-8")
    namespace: dict[str, object] = {"__name__": page.stem}
    blocks = list(FENCE.finditer(text))
    assert any(block[1] == "python" for block in blocks)
    for block, following in zip(blocks, [*blocks[1:], None], strict=True):
        if block[1] != "python":
            continue
        exec(compile(block[2], f"{page.name}, line {text[: block.start()].count(chr(10)) + 2}", "exec"), namespace)
        printed = capsys.readouterr().out
        if following is not None and following[1] == "text" and not text[block.end() : following.start()].strip():
            assert printed == following[2], f"{page.name}: what is printed is not what the page says"


def test_extras_of_a_checkout_are_added_to_its_editable_install() -> None:
    """Without --editable pip would replace it with a copy, and what is edited would no longer count."""
    commands = [line for page in PAGES for line, _ in lines_of(page) if re.search(r"pip install .*\.\[", line)]
    assert commands
    assert all("--editable" in line and "--constraint constraints.txt" in line for line in commands)


class Called(NamedTuple):
    """A command on a page: the words after the program's name. whole: to be typed as it stands, not only mentioned."""

    page: str
    words: tuple[str, ...]
    whole: bool

    def __str__(self) -> str:
        return f"{self.page}: {' '.join(self.words)}"


def lines_of(page: Path) -> Iterator[tuple[str, bool]]:
    """Lines of code, indented or in a block of shell code, as whole commands; text between backticks as mentions."""
    text = page.read_text(encoding="utf-8")
    for fence in FENCE.finditer(text):
        if fence[1] in ("sh", "bash", "console"):
            yield from ((line, True) for line in fence[2].replace("\\\n", " ").splitlines())
    plain = FENCE.sub("", text)
    yield from ((line, True) for line in re.findall(r"^    (\S.*)$", plain, re.MULTILINE))
    mentions = re.findall(r"`([^`]+)`", re.sub(r"^    .*$", "", plain, flags=re.MULTILINE))
    yield from ((" ".join(mention.split()), False) for mention in mentions)


def called() -> list[Called]:
    """Every command of every page, once; an ellipsis stands for something that only a reader can fill in."""
    found: dict[Called, None] = {}
    for page in PAGES:
        for line, whole in lines_of(page):
            for part in re.split(r"\s\|\s", line.split(" # ")[0]):
                command = part.strip().removeprefix("$ ").removeprefix(".venv/bin/")
                if command.startswith("manetdiff ") and "…" not in command:
                    words = shlex.split(re.sub(r"\s(?:2>|<|>)\s*\S+", "", command), comments=True)
                    found[Called(page.name, tuple(words[1:]), whole)] = None
    return list(found)


def test_the_pages_have_commands_to_look_at() -> None:
    names = {one.words[0] for one in called() if one.whole}
    assert {"generate", "update", "simulate", "convert", "doctor", "train", "solve"} <= names


@pytest.mark.parametrize("one", called(), ids=str)
def test_every_command_of_the_pages_exists_with_its_options(one: Called) -> None:
    group = typer.main.get_command(app)
    name, *words = one.words
    if name.startswith("-"):  # not parsed: some of these act at once
        assert name in {"--help", *(option for parameter in group.params for option in parameter.opts)}
        return
    commands = getattr(group, "commands", {})
    assert name in commands, f"{one}: there is no command {name!r}"
    command = commands[name]
    if words and words[0] in getattr(command, "commands", {}):  # one of several, such as `feed replay`
        command = command.commands[words.pop(0)]
    options = {option for parameter in command.params for option in (*parameter.opts, *parameter.secondary_opts)}
    assert {word for word in words if word.startswith("--")} <= options | {"--help"}, str(one)
    if one.whole:
        try:
            command.make_context(name, list(words))  # reads arguments and options, and runs nothing
        except Exception as error:
            pytest.fail(f"{one}: {getattr(error, 'message', error)}")
