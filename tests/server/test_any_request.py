"""Requests that nobody would think of, over the whole of OpenAPI: none fails, and all are answered as documented."""

from __future__ import annotations

import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from served import served

pytestmark = [
    pytest.mark.service,
    pytest.mark.skipif(find_spec("schemathesis") is None, reason="the extra 'service-tests' is not installed"),
]

TOKEN = "a-token-for-tests-0123456789"
LONGEST_S = 900.0

CONFIG = f"""
headers = {{ Authorization = "Bearer {TOKEN}" }}
request-timeout = 30.0

[generation]
max-examples = 60

# A stream of events has no end: it has tests of its own.
[[operations]]
include-path-regex = "/events$"
enabled = false

[checks]
# Too much at once is told so, and that is documented.
not_a_server_error.expected-statuses = ["2xx", "4xx", "503"]
# What the schema allows may still not fit what is there: a node that stands there twice, a version that is not kept.
positive_data_acceptance.expected-statuses = ["2xx", "404", "409", "422", "429", "503"]
negative_data_rejection.expected-statuses = ["4xx", "503"]
"""

# Fleets that the service flies itself, small ones: large ones would take the processor from all that follows.
HOOKS = """
import schemathesis

@schemathesis.hook
def map_body(context, body):
    if context.operation.path.endswith("/flight") and isinstance(body, dict) and isinstance(body.get("nodes"), int):
        body["nodes"] = min(body["nodes"], 40)
    return body
"""


@pytest.mark.parametrize("seed", [1, 2])
def test_no_request_makes_the_service_fail(tmp_path: Path, seed: int) -> None:
    (tmp_path / "schemathesis.toml").write_text(CONFIG)
    (tmp_path / "hooks.py").write_text(HOOKS)
    (tmp_path / "token").write_text(TOKEN)
    (tmp_path / "token").chmod(0o600)
    with served(tmp_path, "--token-file", str(tmp_path / "token"), "--max-rate", "1000") as running:
        # Examples, values at the edges of what is allowed, values at random, and calls that follow from each other.
        command = [sys.executable, "-m", "schemathesis.cli", "run", f"{running.url}/openapi.json", "--no-color"]
        done = subprocess.run(
            [*command, "--seed", str(seed), "--phases", "examples,coverage,fuzzing,stateful"],
            cwd=tmp_path,
            env={"SCHEMATHESIS_HOOKS": "hooks", "PYTHONPATH": str(tmp_path), "PATH": ""},
            capture_output=True,
            text=True,
            timeout=LONGEST_S,
        )
    assert done.returncode == 0, done.stdout + done.stderr
    for phase in ("Examples", "Coverage", "Fuzzing", "Stateful"):
        assert f"✅ {phase}" in done.stdout
    log = running.log.read_text()
    for failure in ("request failed", "update failed", "Traceback"):
        assert failure not in log, log
