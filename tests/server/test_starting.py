"""What keeps a service from starting is said in one line, with exit code 2."""

from __future__ import annotations

from pathlib import Path

import pytest

from manetdiff.server.config import Limits
from manetdiff.server.store import Store
from support.command_help import Run, refused


def test_a_database_that_is_in_use_or_cannot_be_opened(run: Run, tmp_path: Path) -> None:
    address = f"sqlite:///{tmp_path / 'x.db'}"
    other = Store(address)
    try:
        assert "another service runs on" in refused(run("serve", "--port", "0", "--database", address))
    finally:
        other.close()
    (tmp_path / "no.db").write_bytes(b"this is no database, but it is a long enough text to be looked into" * 20)
    assert "--database" in refused(run("serve", "--port", "0", "--database", f"sqlite:///{tmp_path / 'no.db'}"))
    nobody = "postgresql://user:secret@127.0.0.1:1/name"
    told = refused(run("serve", "--port", "0", "--database", nobody))
    assert ("cannot be opened" in told, "secret" in told) == (True, False)


def test_certificates_that_are_none(run: Run, tmp_path: Path) -> None:
    for name in ("cert.pem", "key.pem"):
        (tmp_path / name).write_text("nonsense")
    files = ("--tls-certificate", "cert.pem", "--tls-key", "key.pem")
    assert "cert.pem: is not a certificate" in refused(run("serve", "--port", "0", *files))


def test_hosts_open_to_others_without_a_token(run: Run) -> None:
    assert "--token-file" in refused(run("serve", "--host", "0.0.0.0", "--port", "0"))


@pytest.mark.parametrize("rate", ["0.1", "0.4", "3"])
def test_the_slowest_rate_still_lets_a_first_report_through(
    run: Run, monkeypatch: pytest.MonkeyPatch, rate: str
) -> None:
    from manetdiff.server import run as running

    seen: list[Limits] = []
    monkeypatch.setattr(running, "run", lambda config, **_: seen.append(config.limits))
    assert run("serve", "--max-rate", rate).code == 0
    assert seen[0].burst >= 1.0
