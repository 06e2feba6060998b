"""What the README shows must work as it stands."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent


def test_the_python_example_runs_in_a_fresh_process_and_gives_a_valid_topology(tmp_path: Path) -> None:
    example = re.search(r"```python\n(.*?)```", (ROOT / "README.md").read_text(encoding="utf-8"), re.DOTALL)
    assert example is not None
    shown = subprocess.run(
        [sys.executable, "-c", example[1]], capture_output=True, text=True, check=True, cwd=tmp_path, timeout=300
    )
    first, second = shown.stdout.splitlines()
    assert "'valid': 1.0" in first
    old, polished, continuity = map(float, second.split())
    assert polished > old
    assert 0 < continuity < 1


def test_every_local_link_leads_somewhere() -> None:
    for page in (ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md")):
        for target in re.findall(r"\]\(([^)#]+)\)", page.read_text(encoding="utf-8")):
            if not target.startswith("http"):
                assert (page.parent / target).exists(), f"{page.name}: {target}"
