"""Pictures in a row as one file: GIF by Pillow, MP4 by ffmpeg where that is installed."""

from __future__ import annotations

import io
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from PIL import Image

from manetdiff.errors import FormatError
from manetdiff.formats.files import PathLike, write_bytes

ANIMATION_SUFFIXES = (".gif", ".mp4")
COLOURS = 64
NEARLY_WHITE = 246
# A player takes a moment to draw; fewer are fine for a fleet.
FRAMES_A_SECOND = 10


def check_animation_path(path: PathLike) -> None:
    """Raise unless the path names a kind of animation that can be written here."""
    suffix = Path(path).suffix.lower()
    if suffix not in ANIMATION_SUFFIXES:
        raise FormatError(f"{path}: an animation's name must end in {' or '.join(ANIMATION_SUFFIXES)}")
    if suffix == ".mp4" and shutil.which("ffmpeg") is None:
        raise FormatError(f"{path}: MP4 needs the program ffmpeg, which is not installed; a .gif needs nothing")


def write_animation(
    frames: Sequence[Image.Image], path: PathLike, stay_ms: Sequence[int], keep: Sequence[str] = ()
) -> None:
    """Write the frames, each shown for so many milliseconds. keep: see gif_bytes."""
    check_animation_path(path)
    if Path(path).suffix.lower() == ".gif":
        write_bytes(path, gif_bytes(frames, stay_ms, keep))
    else:
        write_bytes(path, _mp4_bytes(frames, stay_ms))


def gif_bytes(frames: Sequence[Image.Image], stay_ms: Sequence[int], keep: Sequence[str] = ()) -> bytes:
    """One palette for all frames: what does not change between them then costs nothing, and no colour flickers.

    - keep: colours ('#rrggbb') that must not be taken for others, however little of them there is.
    """
    palette = _with_white(_patchwork(frames).quantize(COLOURS), keep)
    reduced = [frame.quantize(palette=palette, dither=Image.Dither.NONE) for frame in frames]
    buffer = io.BytesIO()
    reduced[0].save(
        buffer, "GIF", save_all=True, append_images=reduced[1:], duration=list(stay_ms), loop=0, optimize=True
    )
    return buffer.getvalue()


def as_image(figure: Figure) -> Image.Image:
    """A figure as a frame."""
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png")
    return Image.open(buffer).convert("RGB")


def _patchwork(frames: Sequence[Image.Image]) -> Image.Image:
    """A few frames side by side, so that colours of all of them are in the palette."""
    some = [frames[0], frames[len(frames) // 2], frames[-1]]
    width, height = frames[0].size
    sheet = Image.new("RGB", (width * len(some), height))
    for place, frame in enumerate(some):
        sheet.paste(frame, (place * width, 0))
    return sheet


def _with_white(picture: Image.Image, keep: Sequence[str]) -> Image.Image:
    """The same with white for all that is nearly white: Pillow matches colours roughly and would grey the paper."""
    colours = np.reshape(picture.getpalette() or [], (-1, 3))[:COLOURS]
    colours[(colours >= NEARLY_WHITE).all(axis=1)] = 255
    kept = [int(colour[start : start + 2], 16) for colour in keep for start in (1, 3, 5)]
    picture.putpalette([*colours.ravel().tolist(), *kept])
    return picture


def _mp4_bytes(frames: Sequence[Image.Image], stay_ms: Sequence[int]) -> bytes:
    """Frames repeated for as long as each stays, at a fixed rate; sizes are made even, as the codec wants them."""
    width, height = (side - side % 2 for side in frames[0].size)
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / "animation.mp4"
        raw = ["-f", "rawvideo", "-pix_fmt", "rgb24", "-s", f"{width}x{height}", "-r", str(FRAMES_A_SECOND), "-i", "-"]
        command = ["ffmpeg", "-loglevel", "error", "-y", *raw, "-c:v", "libx264", "-pix_fmt", "yuv420p", str(target)]
        log = Path(folder) / "log"
        with log.open("wb") as told, subprocess.Popen(command, stdin=subprocess.PIPE, stderr=told) as encoding:
            assert encoding.stdin is not None
            for frame, stay in zip(frames, stay_ms, strict=True):
                pixels = frame.crop((0, 0, width, height)).tobytes()
                for _ in range(max(1, round(stay / 1000 * FRAMES_A_SECOND))):
                    encoding.stdin.write(pixels)
        if encoding.returncode:
            lines = log.read_text(errors="replace").split("\n")
            raise FormatError(f"ffmpeg could not make the MP4: {next(filter(None, lines), 'it did not say why')}")
        return target.read_bytes()
