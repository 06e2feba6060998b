"""States of a network, as the server's stream of events tells them: whole, or by what has changed since the last.

A state is the JSON object of a snapshot. A delta is the same, but that its `nodes` and `links` hold only those that are
new or have changed, and that `gone` lists the ids of nodes, `unlinked` the ends of links, that are no longer there. A
link is known by its source and its target, in this order.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from manetdiff.client.errors import ClientError

State = dict[str, Any]

STRANGE = "the server's events are not those of a network: is it a 'manetdiff serve'?"


def whole(snapshot: object) -> State:
    """The state that a snapshot holds."""
    if not isinstance(snapshot, dict):
        raise ClientError(STRANGE)
    merged(snapshot, {"gone": [], "unlinked": [], "nodes": [], "links": []})  # for its checks
    return snapshot


def merged(state: Mapping[str, Any], delta: Mapping[str, Any]) -> State:
    """The state after a delta; neither is changed. What has only changed keeps its place in the lists."""
    try:
        nodes = {node["id"]: node for node in state["nodes"]}
        links = {link_ends(link): link for link in state["links"]}
        for name in delta["gone"]:
            nodes.pop(name, None)
        for source, target in delta["unlinked"]:
            links.pop((source, target), None)
        nodes |= {node["id"]: node for node in delta["nodes"]}
        links |= {link_ends(link): link for link in delta["links"]}
        others = {name: value for name, value in delta.items() if name not in ("gone", "unlinked")}
        return {**state, **others, "nodes": [*nodes.values()], "links": [*links.values()]}
    except (AttributeError, KeyError, TypeError, ValueError):
        raise ClientError(STRANGE) from None


def link_ends(link: Mapping[str, Any]) -> tuple[str, str]:
    """What a link is known by."""
    return link["source"], link["target"]
