"""How a service may be started, and that its token stays where it is."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from manetdiff.hosts import is_loopback
from manetdiff.server.config import Config, token_in
from manetdiff.server.errors import ServiceError

TOKEN = "a-token-for-tests-0123456789"
DATABASE = "sqlite:///x.db"
OPEN_HOSTS = ["0.0.0.0", "::", "192.168.1.5", "relay.example", "10.0.0.1", "2001:db8::1", ""]


@pytest.mark.parametrize("host", OPEN_HOSTS)
def test_beyond_this_machine_a_token_and_encryption_are_needed(host: str) -> None:
    with pytest.raises(ServiceError, match="token"):
        Config(DATABASE, host=host)
    with pytest.raises(ServiceError, match="token"):
        Config(DATABASE, host=host, certificate="cert.pem", key="key.pem")
    with pytest.raises(ServiceError, match="tls"):
        Config(DATABASE, host=host, token=TOKEN)
    Config(DATABASE, host=host, token=TOKEN, certificate="cert.pem", key="key.pem")
    Config(DATABASE, host=host, token=TOKEN, behind_proxy=True)


@pytest.mark.parametrize("host", ["127.0.0.1", "127.1.2.3", "::1", "localhost"])
def test_on_this_machine_nothing_is_needed_unless_a_proxy_opens_it_to_others(host: str) -> None:
    assert is_loopback(host)
    assert Config(DATABASE, host=host).token is None
    with pytest.raises(ServiceError, match="token"):
        Config(DATABASE, host=host, behind_proxy=True)


def test_a_certificate_and_its_key_go_together() -> None:
    for given in ({"certificate": "cert.pem"}, {"key": "key.pem"}):
        with pytest.raises(ServiceError, match="go together"):
            Config(DATABASE, **given)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "wrong",
    [
        *("", "10.0.0.1:8470", "ftp://a:1", "http://", "http://a:port", "http://a:99999", "http://a/path"),
        *("http://user@a", "http://a?x=1", "http://a#x", "http://a b", "http://a\r\nX: y", "file:///etc"),
    ],
)
def test_other_replicas_are_given_an_address_and_nothing_else(wrong: str) -> None:
    with pytest.raises(ServiceError, match="--advertise"):
        Config(DATABASE, advertise=wrong)


def test_a_service_is_known_by_the_name_that_other_replicas_call_it_by() -> None:
    assert "a.example.org" in Config(DATABASE, advertise="https://A.example.org:8470").names
    assert "2001:db8::1" in Config(DATABASE, advertise="http://[2001:db8::1]:8470/").names


def test_an_address_is_given_to_other_replicas_in_one_form() -> None:
    assert Config(DATABASE, advertise="HTTP://a.example.org:8470/").advertise == "http://a.example.org:8470"
    assert Config(DATABASE, advertise="https://[2001:db8::1]").advertise == "https://[2001:db8::1]"


def _token_file(folder: Path, content: bytes, mode: int = 0o600) -> str:
    path = folder / "token"
    path.write_bytes(content)
    path.chmod(mode)
    return str(path)


def test_a_token_is_the_first_line_of_its_file(tmp_path: Path) -> None:
    assert token_in(_token_file(tmp_path, f"  {TOKEN} \nmore\n".encode())) == TOKEN
    assert token_in(_token_file(tmp_path, TOKEN.encode(), 0o640)) == TOKEN  # a service's own group may read it


@pytest.mark.parametrize(
    "content", [b"", b"\n", b"short", b"with a space in the middle", "tökentökentökentöken".encode(), b"\xff" * 20]
)
def test_what_is_no_token_is_refused_without_repeating_it(tmp_path: Path, content: bytes) -> None:
    with pytest.raises(ServiceError) as error:
        token_in(_token_file(tmp_path, content))
    assert "token-file" in str(error.value)
    said = content.decode("latin-1").strip()
    assert not said or said not in str(error.value)


def test_a_token_that_others_may_read_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ServiceError, match="chmod 600"):
        token_in(_token_file(tmp_path, TOKEN.encode(), 0o644))
    with pytest.raises(ServiceError, match="cannot be read"):
        token_in(str(tmp_path / "nowhere"))
    with pytest.raises(ServiceError, match="cannot be read"):
        token_in(str(tmp_path))


# A service with its own log, in which a request fails in a way that nobody has foreseen.
FAILING = """
import sys
from pathlib import Path
from manetdiff.server import run
from manetdiff.server.live_network import LiveNetwork
from support.service import created, service

run._log_to_stderr(as_json=sys.argv[3] == "json")
with service(Path(sys.argv[1]), token=sys.argv[2]) as client:
    created(client)
    LiveNetwork.described = lambda self: 1 / 0
    assert client.get("/v1/networks").status_code == 500
    assert client.get("/v1/networks", headers={"Authorization": "Bearer wrong"}).status_code == 401
"""


@pytest.mark.parametrize("kind", ["text", "json"])
def test_the_token_is_not_in_the_log_even_of_requests_that_fail(tmp_path: Path, kind: str) -> None:
    tests = Path(__file__).parents[1]
    command = [sys.executable, "-c", FAILING, str(tmp_path), TOKEN, kind]
    done = subprocess.run(command, cwd=tests, env={"PYTHONPATH": str(tests)}, capture_output=True, timeout=120)
    log = (done.stdout + done.stderr).decode()
    assert (done.returncode, "ZeroDivisionError" in log) == (0, True), log
    assert TOKEN not in log
    assert TOKEN[:12] not in log
