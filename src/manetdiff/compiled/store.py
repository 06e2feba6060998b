"""Where compiled code is kept: in the package, for platforms that it was made for beforehand; in the cache folder."""

from __future__ import annotations

import tarfile
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

from manetdiff.compiled import identity
from manetdiff.compiled.folder import CacheFolder, cache_folder

PREBUILT = Path(__file__).parent / "prebuilt"
# A file beside the code in it: the same in all archives that were made in one go.
MARK = "made"
SUFFIX = ".tar.xz"


def kept(name: str) -> Iterator[bytes]:
    """The code that there is under a name, the packaged first."""
    if name in (packaged := prebuilt()):
        yield packaged[name]
    folder = own_folder()
    if folder is not None and (found := folder.read(name)) is not None:
        yield found


def keep(name: str, code: bytes) -> None:
    """Keep code for later, if there is a place for it."""
    folder = own_folder()
    if folder is not None:
        folder.write(name, code)


def keeps() -> bool:
    """Whether there is a place to keep code in."""
    return own_folder() is not None


def where() -> dict[str, str]:
    """For people: what there is packaged, and in which folder the rest is kept."""
    folder, packaged = own_folder(), len(prebuilt())
    none = f"none for {prebuilt_file().name.removesuffix(SUFFIX)}"
    return {
        "packaged": f"{packaged} functions for this platform" if packaged else none,
        "cache folder": "none that can be written to by this user alone" if folder is None else str(folder.path),
        "in the cache": f"{0 if folder is None else len(folder.names())} functions",
    }


@cache
def own_folder() -> CacheFolder | None:
    """The cache folder for exactly this platform, processor and numba; None if there is none that is safe to use."""
    return cache_folder(f"{identity.platform_tag()}-{_digest_here()}")


def _digest_here() -> str:
    return identity.digest(str(identity.LAYOUT), identity.processor(), identity.settings())[:12]


def prebuilt_file() -> Path:
    """Where the code made beforehand for this platform stands, if it does.

    Releases that differ in the third digit mend faults: code made by one is understood by the other (tried with numba
    0.68.0 and 0.68.1). What it does not understand is compiled.
    """
    return PREBUILT / f"{identity.platform_tag(digits=2)}{SUFFIX}"


@cache
def prebuilt() -> Mapping[str, bytes]:
    """The code made beforehand for this platform, by name; empty where there is none, or numba is set otherwise."""
    if identity.settings():
        return {}
    return {name: code for name, code in unpacked(prebuilt_file()).items() if name != MARK}


def unpacked(path: Path) -> dict[str, bytes]:
    """The files in an archive, by name; none if it is not there, or cannot be read here."""
    try:
        with tarfile.open(path) as archive:
            files = {member.name: archive.extractfile(member) for member in archive.getmembers()}
            return {name: file.read() for name, file in files.items() if file is not None}
    except Exception:  # of the file, of the archive, or of the decompressor, which a Python may lack
        return {}
