"""Each state as a retained message of an MQTT broker: who subscribes later gets the latest at once."""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping
from typing import Any

from manetdiff.client.address import host_and_port
from manetdiff.client.errors import ClientError
from manetdiff.client.sinks.newest import NewestSink
from manetdiff.files import reason
from manetdiff.messages import brief

PORT = 1883
AT_LEAST_ONCE = 1
TIMEOUT_S = 5.0
KEEP_ALIVE_S = 30
LONGEST_TOPIC = 65_535  # bytes


def mqtt_sink(target: str) -> NewestSink:
    """Publishes every state at a broker, as `HOST[:PORT]/TOPIC`; messages are retained, and arrive at least once."""
    place, slash, topic = target.partition("/")
    host, port = host_and_port(place, "--mqtt", PORT)
    if not slash or not topic or any(one in topic for one in "+#\0") or len(topic.encode()) > LONGEST_TOPIC:
        raise ClientError(f"--mqtt: give a broker and a topic as HOST[:PORT]/TOPIC, not {brief(target)}")
    broker = _Broker(host, port)
    return NewestSink("mqtt", lambda state: broker.publish(topic, state), broker.close)


class _Broker:
    """The connection to a broker, which paho keeps up in a thread of its own."""

    def __init__(self, host: str, port: int) -> None:
        try:
            from paho.mqtt import client as paho
            from paho.mqtt.enums import CallbackAPIVersion
        except ModuleNotFoundError as error:
            if (error.name or "").split(".")[0] != "paho":
                raise
            raise ClientError("--mqtt needs the package paho-mqtt: pip install 'manetdiff[mqtt]'") from None
        self.name = f"{host}:{port}"
        self._connected = threading.Event()
        self._client = paho.Client(CallbackAPIVersion.VERSION2)
        self._client.on_connect = lambda *told: self._connected.set() if not told[3].is_failure else None
        self._client.on_disconnect = lambda *_: self._connected.clear()
        self._client.connect_async(host, port, keepalive=KEEP_ALIVE_S)
        self._client.loop_start()

    def publish(self, topic: str, state: Mapping[str, Any]) -> None:
        # Only while it is connected: otherwise paho would keep old states for later.
        if not self._connected.wait(TIMEOUT_S):
            raise ClientError(f"{self.name}: the broker cannot be reached, or does not let us in")
        try:
            message = self._client.publish(topic, json.dumps(state, allow_nan=False), AT_LEAST_ONCE, retain=True)
            message.wait_for_publish(TIMEOUT_S)
        except (RuntimeError, ValueError, OSError) as error:
            raise ClientError(f"{self.name}: {reason(error)}") from None
        if not message.is_published():
            raise ClientError(f"{self.name}: the broker does not answer in time")

    def close(self) -> None:
        self._client.disconnect()
        self._client.loop_stop()
