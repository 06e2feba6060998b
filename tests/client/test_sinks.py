"""Where states go on to."""

from __future__ import annotations

import json
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from manetdiff.client import ClientError
from manetdiff.client.sinks import EelSink, mqtt, mqtt_sink, newest, webhook, webhook_sink
from manetdiff.client.sinks.newest import NewestSink
from manetdiff.errors import FormatError
from support.fake_broker import fake_broker
from support.fake_controller import FakeController, state


@pytest.fixture(autouse=True)
def hardly_any_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(newest, "FIRST_WAIT_S", 0.01)


class TestNewest:
    def test_only_the_newest_waits_while_it_is_busy(self) -> None:
        sent: list[Any] = []
        busy, begun = threading.Event(), threading.Event()

        def send(one: Any) -> None:
            begun.set()
            assert busy.wait(20)
            sent.append(one["version"])

        sink = NewestSink("test", send)
        sink.take({"version": 1})
        assert begun.wait(20)
        for version in (2, 3, 4):
            sink.take({"version": version})
        busy.set()
        sink.close()
        assert (sent, sink.sent, sink.skipped) == ([1, 4], 2, 2)

    def test_it_tries_again_but_not_for_ever_and_says_what_is_wrong(self) -> None:
        tried: list[Any] = []
        third, seventh = threading.Event(), threading.Event()

        def send(one: Any) -> None:
            tried.append(one["version"])
            if len(tried) == 7:
                seventh.set()
                return
            if len(tried) == 6:
                third.set()
            raise ClientError(f"no, {len(tried)}")

        sink = NewestSink("test", send)
        sink.take({"version": 1})
        for _ in range(2000):
            if sink.skipped:
                break
            time.sleep(0.01)
        assert str(sink.trouble) == "no, 3"
        sink.take({"version": 2})
        assert third.wait(20)
        sink.take({"version": 3})
        assert seventh.wait(20)
        sink.close()
        assert tried == [1, 1, 1, 2, 2, 2, 3]
        assert (sink.sent, sink.skipped, sink.trouble) == (1, 2, None)


class TestWebhook:
    def test_states_arrive_as_json(self, controller: FakeController) -> None:
        controller.answers.extend([(503, {}, None), (204, {}, None)])
        sink = webhook_sink(f"{controller.url}/hooks/netdiff")
        sink.take(state(1, [("A", "B")]))
        controller.wait_for(2, "/hooks")
        sink.close()
        first, second = controller.asked
        assert first.body == second.body == state(1, [("A", "B")])
        assert (second.method, second.path, second.headers["Content-Type"]) == (
            *("POST", "/hooks/netdiff", "application/json"),
        )
        assert (sink.sent, sink.trouble) == (1, None)

    def test_one_that_nobody_listens_to_holds_nobody_up(
        self, controller: FakeController, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(webhook, "TIMEOUT_S", 0.2)
        controller.close()
        sink = webhook_sink(controller.url)
        for version in range(100):
            sink.take(state(version, []))
        sink.close()
        assert sink.sent == 0
        assert sink.trouble is not None
        assert "cannot be reached" in sink.trouble

    def test_what_is_no_address_is_refused(self) -> None:
        with pytest.raises(ClientError, match="is not an address"):
            webhook_sink("hooks/netdiff")


class TestEel:
    def test_events_of_links_that_come_and_go(self, tmp_path: Path) -> None:
        path = tmp_path / "links.eel"
        path.write_text("of an earlier watch")
        sink = EelSink(path)
        sink.take(state(None, []))
        sink.take(state(1, [("A", "B"), ("B", "C")], time=1000.0))
        begun = path.read_text()
        assert begun == (
            '# nem:1 is "A"\n# nem:2 is "B"\n# nem:3 is "C"\n'
            "0.000000 nem:1 pathloss nem:2,80.000000,80.000000\n"
            "0.000000 nem:2 pathloss nem:3,80.000000,80.000000\n"
        )
        sink.take(state(2, [("A", "B"), ("B", "C")], time=1002.0))
        assert path.read_text() == begun
        sink.take(state(3, [("A", "B"), ("D", "A")], time=1004.5, nodes="DAB"))  # C has left
        sink.take(state(4, [("A", "B")], time=900.0, nodes="DAB"))  # a clock that was set back
        sink.close()
        assert path.read_text() == begun + (
            '# nem:4 is "D"\n'
            "4.500000 nem:2 pathloss nem:3,200.000000,200.000000\n"
            "4.500000 nem:4 pathloss nem:1,80.000000,80.000000\n"
            "4.500000 nem:4 pathloss nem:1,200.000000,200.000000\n"
        )

    def test_standard_output(self, capsys: pytest.CaptureFixture[str]) -> None:
        sink = EelSink("-")
        sink.take(state(1, [("A", "B")]))
        sink.close()
        assert capsys.readouterr().out.endswith("0.000000 nem:1 pathloss nem:2,80.000000,80.000000\n")

    def test_a_file_that_cannot_be_is_said_at_once(self, tmp_path: Path) -> None:
        with pytest.raises(FormatError, match="does not exist"):
            EelSink(tmp_path / "nowhere" / "links.eel")

    @pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full here")
    def test_a_full_disk_is_one_line(self) -> None:
        with pytest.raises(FormatError, match="/dev/full: cannot be written: No space left"):
            EelSink("/dev/full").take(state(1, [("A", "B")]))


class TestMqtt:
    def test_states_are_retained_and_arrive_at_least_once(self) -> None:
        pytest.importorskip("paho", reason="paho-mqtt is not installed (extra 'mqtt')")
        with fake_broker() as broker:
            sink = mqtt_sink(f"127.0.0.1:{broker.port}/netdiff/patrol")
            sink.take(state(1, [("A", "B")]))
            sink.close()
        (message,) = broker.published
        assert (message.topic, message.qos, message.retain) == ("netdiff/patrol", 1, True)
        assert json.loads(message.payload) == state(1, [("A", "B")])
        assert (sink.sent, sink.trouble) == (1, None)

    def test_a_broker_that_does_not_answer_holds_nobody_up(self, monkeypatch: pytest.MonkeyPatch) -> None:
        pytest.importorskip("paho", reason="paho-mqtt is not installed (extra 'mqtt')")
        monkeypatch.setattr(mqtt, "TIMEOUT_S", 0.1)
        monkeypatch.setattr(newest, "LAST_S", 5.0)
        with fake_broker() as broker:
            broker.acknowledging = False
            sink = mqtt_sink(f"127.0.0.1:{broker.port}/netdiff")
            for version in range(50):
                sink.take(state(version, []))
            sink.close()
        assert sink.sent == 0
        assert sink.trouble is not None

    @pytest.mark.parametrize("target", ["", "host", "host/", "host:x/topic", "/topic", "host/a/#", "host/+/b"])
    def test_what_is_no_topic_is_refused(self, target: str) -> None:
        with pytest.raises(ClientError, match="--mqtt: give"):
            mqtt_sink(target)

    def test_without_paho_it_is_said_what_to_install(self, monkeypatch: pytest.MonkeyPatch) -> None:
        for name in [name for name in sys.modules if name.startswith("paho.")]:
            monkeypatch.delitem(sys.modules, name)
        monkeypatch.setitem(sys.modules, "paho", None)
        with pytest.raises(ClientError, match=r"pip install 'manetdiff\[mqtt\]'"):
            mqtt_sink("localhost/netdiff")
