"""On a terminal a line says how far compiling is, and goes away."""

from __future__ import annotations

import io
import sys

import pytest

from manetdiff.cli.progress import CLEAR_LINE, compiling_shown
from manetdiff.compiled import functions


class _Screen(io.StringIO):
    def __init__(self, terminal: bool) -> None:
        super().__init__()
        self.terminal = terminal

    def isatty(self) -> bool:
        return self.terminal


@pytest.mark.parametrize("terminal", [True, False])
def test_how_far_it_is_and_an_empty_line_at_the_end(terminal: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    screen = _Screen(terminal)
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setattr(functions, "_functions", [])
    some = [functions.kernel(lambda x: x) for _ in range(3)]
    with compiling_shown():
        functions.nothing_left()  # nothing was compiled: not a word
        assert screen.getvalue() == ""
        some[1].note()
        some[1].note()
        some[0].note()
        functions.nothing_left()
    lines = screen.getvalue().split("\r")[1:]
    words = "compiling, once on this machine: {} of 3 functions"
    assert lines == ([CLEAR_LINE + line for line in (words.format(1), words.format(1), words.format(2), "")] * terminal)
