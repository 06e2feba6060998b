"""Short names of what rows depend on: of some content, and of the code that a measurement runs."""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

PACKAGE = Path(__file__).parent.parent
# What only reads, writes, shows and refuses, wherever it is imported; and what says who does the work.
NOT_MEASURING = ("cli", "engine", "errors", "formats", "pictures", "reproduce")


def content_digest(*parts: bytes) -> str:
    """The same for the same content, and for no other."""
    digest = hashlib.sha256()
    for part in parts:
        digest.update(hashlib.sha256(part).digest())
    return digest.hexdigest()[:16]


@cache
def program_digest(modules: tuple[str, ...], package: Path = PACKAGE) -> str:
    """Of the modules and of all that they import of the package, directly or not.

    Comments, docstrings and imports for type checkers do not count: they change nothing that is measured.
    """
    parsed = sorted(_with_imports(modules, package).items())
    return content_digest(*(f"{name}: {ast.dump(_without_docstrings(tree))}".encode() for name, tree in parsed))


def _with_imports(modules: Iterable[str], package: Path) -> dict[str, ast.Module]:
    found: dict[str, ast.Module] = {}
    waiting = list(modules)
    while waiting:
        name = waiting.pop()
        path = _path(name, package)
        if name in found or path is None or name.split(".")[1] in NOT_MEASURING:
            continue
        found[name] = ast.parse(path.read_text(encoding="utf-8"))
        waiting += _imports(found[name], package)
    return found


def _imports(tree: ast.AST, package: Path) -> Iterator[str]:
    """Modules of the package; those of a block for type checkers are not run."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test):
            yield from (name for other in node.orelse for name in _imports(other, package))
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                inner = f"{node.module}.{alias.name}"
                yield inner if _path(inner, package) is not None else node.module
        else:
            yield from _imports(node, package)


def _path(name: str, package: Path) -> Path | None:
    """The file of a module. The package itself is none: it only names what others hold."""
    first, *parts = name.split(".")
    if first != package.name or not parts:
        return None
    place = package.joinpath(*parts)
    return next((path for path in (place.with_suffix(".py"), place / "__init__.py") if path.is_file()), None)


def _without_docstrings(tree: ast.Module) -> ast.Module:
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            node.body = node.body[0 if ast.get_docstring(node) is None else 1 :]
    return tree
