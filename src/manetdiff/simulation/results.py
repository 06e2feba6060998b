"""What a simulation leaves in a folder: tables, topologies, tracks, an animation and the report."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from PIL import Image

from manetdiff.formats import write_text, write_track_table
from manetdiff.pictures.animation import write_animation
from manetdiff.simulation.frames import COLOURS
from manetdiff.simulation.report import report_html
from manetdiff.simulation.run import Moment
from manetdiff.simulation.tables import metrics_csv, write_topologies

FILES = ("metrics.csv", "topologies.jsonl", "tracks.csv", "report.html")
MOST_FRAMES = 300
FRAME_MS = 150


def shown_moments(moments: Sequence[Moment]) -> Sequence[Moment]:
    """Those that an animation has a picture of: all, or every so many of a long flight."""
    return moments[:: max(1, -(-len(moments) // MOST_FRAMES))]


def write_results(
    moments: Sequence[Moment],
    folder: Path,
    title: str,
    pictures: Sequence[Image.Image] = (),
    animation: str = "gif",
) -> list[str]:
    """Write everything; the names of the files. pictures: of the animation, if any; animation: 'gif' or 'mp4'."""
    write_text(folder / "metrics.csv", metrics_csv(moments))
    write_topologies(moments, folder / "topologies.jsonl")
    write_track_table([(one.time, one.fleet) for one in moments], folder / "tracks.csv")
    write_text(folder / "report.html", report_html(moments, title))
    if not pictures:
        return [*FILES]
    name = f"animation.{animation}"
    write_animation(pictures, folder / name, [FRAME_MS] * len(pictures), COLOURS)
    return [*FILES, name]
