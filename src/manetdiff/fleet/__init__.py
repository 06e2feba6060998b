"""Where a fleet's nodes are and where they point."""

from manetdiff.fleet.fleet import Fleet
from manetdiff.fleet.frames import displacement
from manetdiff.fleet.geodetic import LocalFrame

__all__ = ["Fleet", "LocalFrame", "displacement"]
