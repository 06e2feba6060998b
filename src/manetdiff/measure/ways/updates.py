"""The runtime's model on fleets that have moved."""

from __future__ import annotations

from typing import TYPE_CHECKING, Unpack

from manetdiff.fleet import Fleet
from manetdiff.measure.moved import Moved, followed
from manetdiff.measure.spreading import spreadable
from manetdiff.measure.ways.runtime import model_of, runtime_files, said
from manetdiff.topology import Topology
from manetdiff.weights import DEFAULT

if TYPE_CHECKING:
    from manetdiff.measure.rows import Rows
    from manetdiff.measure.store import RowStore
    from manetdiff.runtime.options import Asked
    from manetdiff.runtime.partial import Mode


@spreadable
def updated(store: RowStore, moved: Moved, mode: Mode, *, weights: str = DEFAULT, **asked: Unpack[Asked]) -> Rows:
    """The old topologies updated after the movement; the mode 'anew' has no regard to them."""

    def follow(old: Topology, fleet: Fleet, index: int) -> Topology:
        how: Asked = {**asked, "seed": index}
        return model_of(weights).update(old, fleet, mode=mode, **how)

    label = f"{weights}, {mode}, {said(asked)}"
    return followed(store, label, {"update": mode, **asked, **runtime_files(weights)}, moved, follow, code=__name__)
