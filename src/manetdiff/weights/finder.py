"""Where weights are: in the package, in the sources' folder `studies`, or where a path says."""

from __future__ import annotations

from pathlib import Path

from manetdiff.errors import CheckpointError

# Of one network: the weights as they were trained, for PyTorch; and what was exported from them, for ONNX Runtime.
WEIGHTS_FILE, RUNTIME_FILE = ".safetensors", ".netdiff"
# Of any fleet under any radio; and the paper's, on all pairs, for its tables.
DEFAULT, PAPER = "netdiff-sparse", "netdiff"
PACKAGE = Path(__file__).parent
# Of networks that only the tables need: they come with the sources, and would make the package five times as large.
STUDIES = PACKAGE.parents[2] / "studies"


def known(kind: str) -> dict[str, Path]:
    """The files of a kind by name: those of the package, then those of the studies. kind: the end of a file's name."""
    found: dict[str, Path] = {}
    for folder in (PACKAGE, STUDIES):
        for path in sorted(folder.glob(f"*{kind}"), key=lambda path: path.stem):
            found.setdefault(path.stem, path)
    return found


def find(name: str | Path, kind: str) -> Path:
    """A file of a kind by the name of known weights, or by path."""
    there, path = known(kind), Path(name)
    if str(name) in there:
        return there[str(name)]
    other = RUNTIME_FILE if kind == WEIGHTS_FILE else WEIGHTS_FILE
    if str(name) in known(other) or (path.suffix == other and path.is_file()):
        raise CheckpointError(
            f"{name} is a runtime file, for load, generate, update and evaluate; give the weights file "
            f"({WEIGHTS_FILE}) that it was exported from"
            if kind == WEIGHTS_FILE
            else f"{name} is a weights file for training; make a runtime file of it: manetdiff export {name}"
        )
    if path.exists() and not path.is_dir():  # a pipe will do
        return path
    more = "" if STUDIES.is_dir() else "; more, such as acam-123, come with the sources (folder studies)"
    raise CheckpointError(f"{name}: no such file, and no weights of that name; there are {', '.join(there)}{more}")
