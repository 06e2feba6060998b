"""States and changes of states, and viewers who are quick, slow and gone."""

from __future__ import annotations

import asyncio
import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from manetdiff.client.states import merged
from manetdiff.server.hub import Hub
from manetdiff.server.states import State, change_of

_NODES = st.dictionaries(st.sampled_from("ABCDE"), st.integers(0, 2))
_PAIRS = st.dictionaries(st.sampled_from([("A", "B"), ("A", "C"), ("B", "D"), ("C", "E")]), st.integers(0, 2))


def _state(nodes: dict[str, int], links: dict[tuple[str, str], int], **more: Any) -> State:
    return {
        "nodes": [{"id": name, "x": x} for name, x in nodes.items()],
        "links": [{"source": a, "target": b, "forward": rate} for (a, b), rate in links.items()],
        **more,
    }


def _sorted(state: State) -> State:
    nodes = sorted(state["nodes"], key=lambda node: node["id"])
    links = sorted(state["links"], key=lambda link: (link["source"], link["target"]))
    return {**state, "nodes": nodes, "links": links}


@given(_NODES, _PAIRS, _NODES, _PAIRS)
def test_a_state_and_its_change_give_the_next(
    nodes: dict[str, int], links: dict[tuple[str, str], int], later: dict[str, int], linked: dict[tuple[str, str], int]
) -> None:
    before, after = _state(nodes, links, version=1), _state(later, linked, version=2)
    assert _sorted(merged(before, change_of(before, after))) == _sorted(after)


def _parsed(event: bytes) -> tuple[str, dict[str, Any]]:
    lines = dict(line.split(": ", 1) for line in event.decode().strip().split("\n"))
    return lines["event"], json.loads(lines["data"])


def test_a_viewer_is_shown_a_snapshot_then_changes_and_who_has_missed_one_a_snapshot_again() -> None:
    async def watched() -> list[tuple[str, dict[str, Any]]]:
        hub = Hub(_state({"A": 0}, {}, version=1))
        events = hub.events()
        seen = [_parsed(await anext(events))]
        hub.publish(_state({"A": 1}, {}, version=2))
        seen.append(_parsed(await anext(events)))
        for version in range(3, 9):  # nobody is listening: five states are never sent
            hub.publish(_state({"A": version}, {}, version=version))
        seen.append(_parsed(await anext(events)))
        assert hub.viewers == 1
        hub.close()
        seen.append(_parsed(await anext(events)))
        await events.aclose()
        assert hub.viewers == 0
        return seen

    seen = asyncio.run(watched())
    assert [name for name, _ in seen] == ["snapshot", "delta", "snapshot", "deleted"]
    assert [state.get("version") for _, state in seen] == [1, 2, 8, None]
    assert [state["sequence"] for _, state in seen[:3]] == [1, 2, 8]


def test_a_change_that_comes_between_two_looks_is_not_lost() -> None:
    async def watched() -> list[int]:
        hub = Hub(_state({}, {}, version=0))
        seen: list[int] = []

        async def look() -> None:
            async for event in hub.events():
                name, state = _parsed(event)
                if name == "deleted":
                    return
                seen.append(state["version"])
                await asyncio.sleep(0.001)

        viewer = asyncio.create_task(look())
        for version in range(1, 200):
            hub.publish(_state({}, {}, version=version))
            await asyncio.sleep(0)
        while seen[-1:] != [199]:
            await asyncio.sleep(0.001)
        hub.close()
        await viewer
        return seen

    seen = asyncio.run(watched())
    assert seen == sorted(set(seen))
