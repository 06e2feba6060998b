"""Where a fleet's nodes are and where they point."""

from manetdiff.fleet.fleet import Fleet
from manetdiff.fleet.frames import displacement, same_places
from manetdiff.fleet.geodetic import LocalFrame
from manetdiff.fleet.prediction import predicted
from manetdiff.fleet.tracks import Track, Tracks

__all__ = ["Fleet", "LocalFrame", "Track", "Tracks", "displacement", "predicted", "same_places"]
