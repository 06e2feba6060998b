"""How mkdocstrings shows our docstrings: lines such as `unit: metres …` become a list, Sphinx's roles plain code."""

from __future__ import annotations

import re
from typing import Any

import griffe

ARGUMENT = re.compile(r"^([a-z_][a-z0-9_]*(?:, [a-z_][a-z0-9_]*)*)(?: (\([^)]*\)))?: (?=\S)")
ROLE = re.compile(r":(?:class|func|meth|mod):`~?([^`]+)`")


class ReadableDocstrings(griffe.Extension):
    """Rewrites every docstring as it is read."""

    def on_instance(self, *, obj: griffe.Object, **_: Any) -> None:
        """Called for each module, class, function and attribute."""
        if obj.docstring is not None:
            obj.docstring.value = readable(obj.docstring.value)


def readable(text: str) -> str:
    """The docstring as Markdown."""
    lines: list[str] = []
    inside = False  # of a list
    for line in ROLE.sub(r"`\1`", text).splitlines():
        match = ARGUMENT.match(line)
        if match:
            names = ", ".join(f"`{name}`" for name in match[1].split(", "))
            shape = f" {match[2]}" if match[2] else ""
            if not inside and lines and lines[-1].strip():
                lines.append("")
            lines.append(f"- {names}{shape}: {line[match.end() :]}")
            inside = True
        elif not line.strip():
            inside = False
            lines.append("")
        else:
            lines.append(f"  {line}" if inside else line)
    return "\n".join(lines)
