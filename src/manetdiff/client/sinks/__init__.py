"""Where states of a network go on to: each sink takes one state after the other."""

from manetdiff.client.sinks.eel import EelSink
from manetdiff.client.sinks.mqtt import mqtt_sink
from manetdiff.client.sinks.sink import Sink
from manetdiff.client.sinks.webhook import webhook_sink

__all__ = ["EelSink", "Sink", "mqtt_sink", "webhook_sink"]
