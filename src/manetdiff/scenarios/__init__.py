"""Realistic fleets: how aircraft, vehicles and ships are laid out, and how they move."""

from manetdiff.scenarios.kinematics import Kinematics
from manetdiff.scenarios.layouts import AIR, FAMILIES, MIXED, draw, pick_family
from manetdiff.scenarios.motion import AIR_MOTIONS, MOTIONS, motions_of, move, move_by
from manetdiff.scenarios.spacing import MIN_SEPARATION, required_separation

__all__ = [
    "AIR",
    "AIR_MOTIONS",
    "FAMILIES",
    "MIN_SEPARATION",
    "MIXED",
    "MOTIONS",
    "Kinematics",
    "draw",
    "motions_of",
    "move",
    "move_by",
    "pick_family",
    "required_separation",
]
