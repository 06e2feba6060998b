"""The client, against a server that records what it is asked."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import manetdiff as md
from manetdiff.client import Client, ClientError, events
from manetdiff.client.address import host_and_port
from manetdiff.formats.netjson import network_graph
from manetdiff.scenarios import draw
from support.fake_controller import HANG_UP, FakeController, state


@pytest.fixture(autouse=True)
def hardly_any_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(events, "FIRST_WAIT_S", 0.01)


class TestAddresses:
    @pytest.mark.parametrize(
        "url", ["", "localhost:8470", "ftp://localhost", "http://", "http://a:b", "http://h:99999", "http://h/a b"]
    )
    def test_what_is_none_is_refused(self, url: str) -> None:
        with pytest.raises(ClientError, match=r"address|path"):
            Client(url)

    @pytest.mark.parametrize("url", ["http://me:secret@localhost", "http://localhost/?token=secret"])
    def test_secrets_have_no_place_in_them_and_are_not_repeated(self, url: str) -> None:
        with pytest.raises(ClientError) as caught:
            Client(url)
        assert "secret" not in str(caught.value)

    def test_a_path_before_all_paths_is_kept(self, controller: FakeController) -> None:
        controller.answers.append((200, {}, {"networks": []}))
        assert Client(f"{controller.url}/behind/proxy/").networks() == []
        assert controller.asked[0].path == "/behind/proxy/v1/networks"

    @pytest.mark.parametrize(
        ("text", "found"), [("h:1", ("h", 1)), ("[::1]:2", ("::1", 2)), ("10.0.0.1", ("10.0.0.1", 7))]
    )
    def test_hosts_and_ports(self, text: str, found: tuple[str, int]) -> None:
        assert host_and_port(text, "--option", 7) == found

    @pytest.mark.parametrize("text", ["", ":1", "h:", "h:x", "h:65536", "::1", "h", "a b:1", "u@h:1"])
    def test_what_is_neither_is_refused(self, text: str) -> None:
        with pytest.raises(ClientError, match="--option: give a host and a port"):
            host_and_port(text, "--option")


class TestTokens:
    def test_go_into_a_header_and_nowhere_else(self, controller: FakeController, tmp_path: Path) -> None:
        (tmp_path / "token").write_text("abc-123\n")
        Client(controller.url, token_file=tmp_path / "token").networks()
        Client(controller.url, "abc-123").networks()
        Client(controller.url).networks()
        sent = [one.headers.get("Authorization") for one in controller.asked]
        assert sent == ["Bearer abc-123", "Bearer abc-123", None]
        assert not any("abc" in one.path for one in controller.asked)

    def test_are_not_sent_to_other_machines_in_the_clear(self) -> None:
        with pytest.raises(ClientError, match="https only"):
            Client("http://example.org", "abc")
        Client("http://example.org")
        Client("http://example.org", "abc", insecure=True)
        for url in ("https://example.org", "http://localhost:1", "http://[::1]:1", "http://127.3.2.1"):
            Client(url, "abc")

    @pytest.mark.parametrize("token", ["", "two words", "line\r\nX-Header: 1", "ümlaut"])
    def test_that_no_header_can_hold_are_refused_and_not_repeated(self, token: str) -> None:
        with pytest.raises(ClientError, match="a token is one line") as caught:
            Client("http://localhost", token)
        assert not token or token not in str(caught.value)


class TestConnections:
    def test_are_kept(self, controller: FakeController) -> None:
        with Client(controller.url) as client:
            for _ in range(3):
                client.networks()
        assert controller.connections == 1

    def test_that_the_server_has_closed_are_opened_again(self, controller: FakeController) -> None:
        client = Client(controller.url)
        client.networks()
        controller.answers.append(HANG_UP)
        assert client.networks() == []
        assert len(controller.asked) == 3

    def test_what_must_not_happen_twice_is_not_asked_twice(self, controller: FakeController) -> None:
        client = Client(controller.url)
        client.networks()
        controller.answers.append(HANG_UP)
        with pytest.raises(ClientError, match="cannot be reached"):
            client.create("Patrol")
        assert len(controller.asked) == 2

    def test_a_server_that_is_not_there_is_named(self, controller: FakeController) -> None:
        controller.close()
        with pytest.raises(ClientError, match=rf"{controller.url}: cannot be reached: .*refused"):
            Client(controller.url).networks()

    @pytest.mark.parametrize("status", [429, 503])
    def test_a_busy_server_is_asked_again_but_not_for_ever(self, controller: FakeController, status: int) -> None:
        busy: tuple[int, dict[str, str], Any] = (status, {"Retry-After": "0"}, {"detail": "too much to do"})
        controller.answers.extend([busy] * 2)
        assert Client(controller.url).networks() == []
        controller.answers.extend([busy] * 10)
        with pytest.raises(ClientError, match="too much to do") as caught:
            Client(controller.url).networks()
        assert caught.value.status == status
        assert len(controller.asked) == 3 + 4

    @pytest.mark.parametrize(
        ("answer", "told"),
        [
            ((404, {}, {"detail": "no such\nnetwork"}), r"no such\\nnetwork"),
            ((500, {}, None), "answers 500 Internal Server Error"),
            ((307, {"Location": "http://elsewhere"}, None), "answers 307"),
            ((200, {}, [1]), "manetdiff serve"),
            ((200, {}, {"other": 1}), "manetdiff serve"),
        ],
    )
    def test_what_is_no_good_answer_is_one_line(self, controller: FakeController, answer: Any, told: str) -> None:
        controller.answers.append(answer)
        with pytest.raises(ClientError, match=told):
            Client(controller.url).networks()


class TestCalls:
    def test_a_network_is_made_found_and_deleted(self, controller: FakeController) -> None:
        client = Client(controller.url)
        made = client.create("Patrol", md.Radio(unit=1000, range=20), {"preset": "fast"})
        body = controller.asked[-1].body
        assert (body["radio"]["range"], body["settings"]) == (20, {"preset": "fast"})
        assert client.named("Patrol") == client.named(made["id"]) == client.named(None) == client.network(made["id"])
        client.create("Patrol")
        assert controller.asked[-1].body == {"name": "Patrol"}
        with pytest.raises(ClientError, match="there are 2 networks 'Patrol': choose one by its id: n0"):
            client.named("Patrol")
        with pytest.raises(ClientError, match="there are 2 networks: choose"):
            client.named(None)
        with pytest.raises(ClientError, match=r"there is no network 'X'; known: n0 \('Patrol'\), n1"):
            client.named("X")
        client.delete("n1")
        assert client.named("Patrol")["id"] == "n0"

    def test_a_fleet_is_sent_in_metres_and_where_it_has_a_frame_in_degrees(self, controller: FakeController) -> None:
        controller.add("n0", "Patrol")
        client = Client(controller.url)
        client.report("n0", 1.5, md.Fleet([[0, 0], [900, 100]], [0, 0.5], ["A", "B"]))
        client.report("n0", 2.5, md.Fleet([[0, 0, 5], [900, 100, 6]], [0, 0.5]), complete=True, wait=False)
        on_earth = md.Fleet.from_geodetic([48.1, 48.2], [11.5, 11.6], [90, 80], ["A", "B"], [1000, 1100])
        client.report("n0", 3.5, on_earth)
        client.report("n0", 4.5, ({"id": name, "x": 0, "y": 1} for name in "AB"))
        flat, high, earth, plain = controller.reports
        assert flat == {
            "time": 1.5,
            "nodes": [{"id": "A", "x": 0.0, "y": 0.0, "yaw": 0.0}, {"id": "B", "x": 900.0, "y": 100.0, "yaw": 0.5}],
            "complete": False,
        }
        assert (high["complete"], high["nodes"][1]["z"]) == (True, 6.0)
        assert [set(node) for node in earth["nodes"]] == [{"id", "lat", "lon", "alt", "heading"}] * 2
        node = earth["nodes"][1]
        assert [node["lat"], node["lon"], node["heading"]] == pytest.approx([48.2, 11.6, 80], abs=1e-6)
        assert plain["nodes"] == [{"id": "A", "x": 0, "y": 1}, {"id": "B", "x": 0, "y": 1}]
        assert [one.path.partition("?")[2] for one in controller.asked] == [
            *("wait=true", "wait=false", "wait=true", "wait=true")
        ]

    def test_what_json_has_no_word_for_is_not_sent(self, controller: FakeController) -> None:
        controller.add("n0", "Patrol")
        with pytest.raises(ClientError, match="cannot be sent as JSON"):
            Client(controller.url).report("n0", float("nan"), [])
        assert controller.asked == []

    def test_a_topology_knows_its_fleet_and_radio(self, controller: FakeController) -> None:
        fleet = draw("wedge", 6, np.random.default_rng(0))
        made = md.solve(fleet, method="greedy")
        document = network_graph(made)
        document["properties"] |= {"version": 7, "time": 3.5}
        for node in document["nodes"]:
            node["properties"]["stale"] = False
        controller.answers.append((200, {}, document))
        got = Client(controller.url).topology("n0", 7)
        assert got == made
        assert got.on().fleet.ids == fleet.ids
        assert controller.asked[0].path == "/v1/networks/n0/topology?version=7"

    def test_pins_and_ids_of_any_kind(self, controller: FakeController) -> None:
        client = Client(controller.url)
        controller.answers.extend([(200, {}, {"id": "a/b"})] * 2)
        client.pins("a/b?", keep=[("A", "B")], silent=["C"])
        client.unpin("a/b?")
        put, delete = controller.asked
        assert (put.method, put.path) == ("PUT", "/v1/networks/a%2Fb%3F/pins")
        assert put.body == {"keep": [["A", "B"]], "avoid": [], "silent": ["C"]}
        assert delete.method == "DELETE"


class TestEvents:
    def test_snapshot_and_deltas_become_states(self, controller: FakeController) -> None:
        delta = {**state(2, [("B", "C")], 4.0, "D"), "gone": ["A"], "unlinked": [["A", "B"]]}
        told = [("snapshot", state(1, [("A", "B")])), ("unheard-of", {}), ("delta", delta), ("deleted", {})]
        controller.streams.append(told)
        first, second = Client(controller.url).events("n0")
        assert first == state(1, [("A", "B")])
        assert [node["id"] for node in second["nodes"]] == ["B", "C", "D"]
        assert [(link["source"], link["target"]) for link in second["links"]] == [("B", "C")]
        assert (second["version"], "gone" in second) == (2, False)

    def test_a_stream_that_breaks_off_is_taken_up_again(self, controller: FakeController) -> None:
        controller.streams += [
            [("snapshot", state(1, []))],
            [("delta", {"nodes": [], "links": [], "gone": [], "unlinked": [], "version": 9})],  # of nothing known
            [("snapshot", state(2, [])), ("deleted", {})],
        ]
        troubles: list[str] = []
        seen = [one["version"] for one in Client(controller.url).events("n0", troubles.append)]
        assert seen == [1, 2]
        assert len(troubles) == 2

    def test_what_is_wrong_from_the_beginning_is_said_at_once(self, controller: FakeController) -> None:
        with pytest.raises(ClientError, match="no such network"):
            next(Client(controller.url).events("n0"))
        controller.close()
        with pytest.raises(ClientError, match="cannot be reached"):
            next(Client(controller.url).events("n0"))

    def test_a_network_that_is_gone_when_connecting_again_ends_it(self, controller: FakeController) -> None:
        controller.streams += [[("snapshot", state(1, []))], []]
        stream = Client(controller.url).events("n0")
        next(stream)
        controller.streams.clear()
        with pytest.raises(ClientError, match="no such network"):
            next(stream)

    def test_lines_of_a_stream(self) -> None:
        text = b": comment\n\nevent: a\ndata: 1\ndata:2\nid: 7\n\nevent: b\n\ndata: 3\n\ndata: never ended"
        assert [*events.events_in(text.split(b"\n"))] == [("a", "1\n2"), ("message", "3")]
