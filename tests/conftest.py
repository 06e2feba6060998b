"""For every test: Hypothesis settings (compiled code makes first calls slow, and examples must not depend on luck), and
the command line and a server that records what it is sent as fixtures."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from manetdiff.runtime.onnx import NO_TELEMETRY
from support.command_help import Ran, Run
from support.fake_controller import FakeController, fake_controller

# Some tests look into ONNX Runtime themselves.
os.environ.setdefault(NO_TELEMETRY, "1")

settings.register_profile(
    "everyday", deadline=None, derandomize=True, max_examples=40, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("everyday")


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], tmp_path: Path) -> Run:
    """The command line in this process and in an empty folder: a second process would load numba again each time."""
    from manetdiff.cli import app

    monkeypatch.chdir(tmp_path)

    def call(*arguments: str, stdin: bytes = b"") -> Ran:
        monkeypatch.setattr(sys, "argv", ["manetdiff", *arguments])
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        with pytest.raises(SystemExit) as caught:
            app.main()
        code = caught.value.code
        return Ran(0 if code is None else int(code), *capfd.readouterr())

    return call


@pytest.fixture
def controller() -> Iterator[FakeController]:
    """A server that records what it is sent."""
    with fake_controller() as running:
        yield running
