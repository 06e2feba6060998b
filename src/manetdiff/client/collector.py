"""Positions of many vehicles, as a receiver hears them one by one, collected into reports."""

from __future__ import annotations

import math
import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

# A heading that was heard so long before the position says nothing of it any more.
HEADING_KEPT_S = 10.0
# A vehicle that was not heard for so long makes room for others.
FORGOTTEN_S = 120.0
MOST_VEHICLES = 1024
LEAST_INTERVAL_S = 0.05


@dataclass
class _Vehicle:
    """What is known of one vehicle; times by the collector's clock. place: latitude and longitude in degrees."""

    heard: float
    place: tuple[float, float] | None = None
    placed: float = -math.inf
    altitude: float | None = None
    heading: float | None = None
    turned: float = -math.inf
    is_news: bool = False


class Collector:
    """Holds of every vehicle the latest, for one thread that hears and another that takes.

    - least_interval: seconds; of positions of one vehicle that follow faster, the first counts. It keeps one vehicle
      from taking all the time there is.
    - most: vehicles at a time; more than these are not taken in.
    - clock: steady, in seconds.

    counts: what was heard and what was left out, by words for people. Receivers add theirs by `count`.
    """

    def __init__(
        self,
        least_interval: float = LEAST_INTERVAL_S,
        most: int = MOST_VEHICLES,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.least_interval, self.most, self.clock = least_interval, most, clock
        self.counts: Counter[str] = Counter()
        self._vehicles: dict[str, _Vehicle] = {}
        self._lock = threading.Lock()

    def place(self, id: str, latitude: float, longitude: float, altitude: float | None = None) -> bool:
        """A vehicle is here: degrees and metres. altitude: None keeps its last. Whether it counts."""
        if not (math.isfinite(latitude) and math.isfinite(longitude) and abs(latitude) <= 90 and abs(longitude) <= 180):
            return self._left_out("malformed")
        if latitude == longitude == 0.0:  # what receivers say that do not know yet
            return self._left_out("without a fix")
        if altitude is not None and not math.isfinite(altitude):
            return self._left_out("malformed")
        with self._lock:
            now = self.clock()
            vehicle = self._vehicle(id, now)
            if vehicle is None:
                self.counts["too many vehicles"] += 1
                return False
            if now - vehicle.placed < self.least_interval:
                self.counts["too often"] += 1
                return False
            vehicle.place, vehicle.placed, vehicle.is_news = (latitude, longitude), now, True
            vehicle.altitude = vehicle.altitude if altitude is None else altitude
            self.counts["positions"] += 1
            return True

    def turn(self, id: str, heading: float) -> bool:
        """A vehicle points there, in degrees clockwise from north. Whether it counts."""
        if not math.isfinite(heading):
            return self._left_out("malformed")
        with self._lock:
            now = self.clock()
            vehicle = self._vehicle(id, now)
            if vehicle is not None:
                vehicle.heading, vehicle.turned = heading % 360.0, now
            return vehicle is not None

    def count(self, what: str, by: int = 1) -> None:
        """Add to the counts."""
        with self._lock:
            self.counts[what] += by

    def take(self) -> list[dict[str, Any]]:
        """The nodes of a report: vehicles whose position was heard since the last call.

        A vehicle whose altitude was never heard waits for it: a network's nodes all have a height, or none has.
        """
        with self._lock:
            news = []
            for id, vehicle in self._vehicles.items():
                if not vehicle.is_news or vehicle.place is None or vehicle.altitude is None:
                    continue
                vehicle.is_news = False
                latitude, longitude = vehicle.place
                node: dict[str, Any] = {"id": id, "lat": latitude, "lon": longitude, "alt": vehicle.altitude}
                if vehicle.heading is not None and vehicle.placed - vehicle.turned <= HEADING_KEPT_S:
                    node["heading"] = vehicle.heading
                news.append(node)
            return news

    def _vehicle(self, id: str, now: float) -> _Vehicle | None:
        """What is known of it; None where there are too many others."""
        known = self._vehicles.get(id)
        if known is None:
            if len(self._vehicles) >= self.most:
                self._vehicles = {name: one for name, one in self._vehicles.items() if now - one.heard <= FORGOTTEN_S}
            if len(self._vehicles) >= self.most:
                return None
            known = self._vehicles[id] = _Vehicle(now)
        known.heard = now
        return known

    def _left_out(self, why: str) -> bool:
        self.count(why)
        return False
