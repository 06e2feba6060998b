"""One network in short, before anybody waits for one: what is loaded or compiled once is there then."""

from __future__ import annotations

import numpy as np

from manetdiff.runtime.model import Model
from manetdiff.scenarios import draw, move
from manetdiff.server.messages_in import LocalNode, Pins, Settings
from manetdiff.server.roster import Heard
from manetdiff.server.states import state_of
from manetdiff.server.updating import Wanted, next_version
from manetdiff.server.versions import Version

SECONDS = 4.0


def rehearse(model: Model) -> None:
    """Make a topology and update it once, as the service does."""
    rng = np.random.default_rng(0)
    wanted = Wanted(model.radio, Settings(), Pins())
    version: Version | None = None
    for number, fleet in enumerate(
        move(draw("escort", 16, rng), "group", rng, duration=SECONDS, step=SECONDS), start=1
    ):
        rows = zip(fleet.ids, fleet.horizontal.tolist(), fleet.yaw.tolist(), strict=True)
        clock = SECONDS * number
        seen = [Heard(LocalNode(id=name, x=x, y=y, yaw=yaw), clock, 0.0, yaw) for name, (x, y), yaw in rows]
        version = next_version(model, version, seen, clock, wanted, number)
        version.to_record()
        state_of(version, {"pins": wanted.pins.model_dump()})
