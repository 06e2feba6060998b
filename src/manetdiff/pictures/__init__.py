"""Pictures of topologies, of what changed between two, and of pictures in a row."""

from manetdiff.pictures.frame import check_picture_path, save
from manetdiff.pictures.topologies import draw_change, draw_topology

__all__ = ["check_picture_path", "draw_change", "draw_topology", "save"]
