"""A state of a network for people: a table on a terminal, or one line."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from rich import box
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from manetdiff.client.states import State, link_ends
from manetdiff.messages import escaped, one_line
from manetdiff.wording import number_text, share_text

MOST_LINKS = 60  # of the list; a fleet may have a thousand
MOST_CHANGES = 8
NOTHING = "–"


def line_of(state: State) -> str:
    """One line of a log: the numbers, and how many links came and went."""
    if state["version"] is None:
        return escaped(f"no topology yet: {_waiting(state)}")
    update = state["update"]
    numbers = [f"{label} {value}" for label, value in _rows(state)]
    return "  ".join([*numbers, f"+{len(update['added'])} −{len(update['dropped'])}"])


def watched_table(state: State, troubles: Sequence[str]) -> RenderableType:
    """The numbers, what changed last, and the links. troubles: lines of what is wrong."""
    network = state["network"]
    told = Table(box=box.SIMPLE_HEAD, title=Text(f"{escaped(network['name'])} ({escaped(network['id'])})"))
    told.title_justify, told.title_style, told.show_header = "left", "bold", False
    told.add_column(no_wrap=True)
    told.add_column()
    for label, value in _rows(state):
        told.add_row(label, Text(value))
    if state["version"] is None:
        told.add_row("waiting", Text(escaped(_waiting(state))))
        return Group(told, *_warned(troubles))
    update = state["update"]
    for label, links in (("added", update["added"]), ("dropped", update["dropped"])):
        told.add_row(label, Text(_listed([tuple(link) for link in links], MOST_CHANGES)))
    told.add_row("turned", str(update["turned"]))
    told.add_row("update", f"{update['mode']}, {number_text(update['milliseconds'])} ms")
    stale = [node["id"] for node in state["nodes"] if node["stale"]]
    if stale:
        told.add_row("stale", Text(escaped(", ".join(stale[:MOST_CHANGES])) + _more(len(stale), MOST_CHANGES)))
    if update.get("unmet"):
        told.add_row("pins", Text(one_line(update["unmet"])))
    told.add_row("linked", Text(_listed(sorted(map(link_ends, state["links"])), MOST_LINKS)))
    return Group(told, *_warned(troubles))


def _rows(state: State) -> list[tuple[str, str]]:
    metrics: Mapping[str, Any] = state["metrics"] or {}
    update: Mapping[str, Any] = state["update"] or {}
    continuity = update.get("continuity")
    return [
        ("version", NOTHING if state["version"] is None else str(state["version"])),
        ("time", NOTHING if state["time"] is None else f"{state['time']:,.1f} s"),
        ("nodes", str(len(state["nodes"]))),
        ("links", str(len(state["links"]))),
        ("T", _rate(metrics.get("throughput"))),
        ("sustained", _rate(metrics.get("sustained"))),
        ("valid", _yes(metrics.get("valid"))),
        ("continuity", NOTHING if continuity is None else share_text(continuity)),
    ]


def _rate(value: float | None) -> str:
    return NOTHING if value is None else f"{value:.2f} Mbit/s"


def _yes(value: float | None) -> str:
    return NOTHING if value is None else "yes" if value == 1 else "no"


def _listed(links: Sequence[Iterable[str]], most: int) -> str:
    told = ", ".join("–".join(map(escaped, link)) for link in links[:most])
    return told + _more(len(links), most) if told else NOTHING


def _more(count: int, most: int) -> str:
    return f" and {count - most} more" if count > most else ""


def _waiting(state: State) -> str:
    return state["network"].get("waiting") or "no positions were reported"


def _warned(troubles: Sequence[str]) -> list[Text]:
    return [Text(one_line(trouble), style="yellow") for trouble in troubles]
