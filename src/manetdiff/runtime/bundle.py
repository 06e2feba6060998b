"""Runtime files: the exported functions of one model and a JSON description, in one zip file.

Reading one runs no code from it: what it holds are graphs of arithmetic for ONNX Runtime, which `graphs.py` sees to
before they get there.
"""

from __future__ import annotations

import hashlib
import io
import json
import lzma
import zipfile
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from manetdiff.errors import CheckpointError, ManetDiffError
from manetdiff.json_settings import parsed_json
from manetdiff.layout import ARCS_VERSION, FEATURES_VERSION
from manetdiff.messages import brief
from manetdiff.radio import Radio
from manetdiff.sampling import SamplerConfig
from manetdiff.sampling.contract import CONTRACTS, FUNCTIONS, Network
from manetdiff.weights import DEFAULT, RUNTIME_FILE, find

FORMAT_NAME = "manetdiff-runtime"
FORMAT = 2
DESCRIPTION = "description.json"
# What inputs and outputs are called in files of earlier versions, where that is not their name in the contract.
EARLIER_NAMES = {
    1: {
        "node_embedding": "of_nodes",
        "edge_embedding": "of_edges",
        "antenna_onehot": "looks",
        "time_condition": "films",
        "temperature": "heat",
        "edge_bias": "favour",
    }
}
# Of what a network reads of a layout.
READS: Mapping[Network, int] = {"dense": FEATURES_VERSION, "sparse": ARCS_VERSION}
# No file of ours comes near; a forged one must not fill the memory.
MOST_BYTES = 256 * 2**20
LONGEST_NAME = 200
# All entries carry this time, so that the same content is the same bytes.
NO_TIME = (1980, 1, 1, 0, 0, 0)


@dataclass(frozen=True)
class Bundle:
    """A model ready to run.

    - name: what to call it. radio: that it was trained for. sampling: how to sample from it, unless asked otherwise.
    - card: how it was made. graphs: the exported functions of the contract, by name. version: of the file's format.
      network: the kind of it, which says by which contract they are called.
    """

    name: str
    radio: Radio
    sampling: SamplerConfig
    card: Mapping[str, Any] = field(repr=False)
    graphs: Mapping[str, bytes] = field(repr=False)
    version: int = FORMAT
    network: Network = "dense"

    @property
    def any_radio(self) -> bool:
        """Whether it is for any radio, and `radio` only the one of users who name none."""
        return self.network == "sparse"

    def name_in_file(self, name: str) -> str:
        """What an input or output of the contract is called in the graphs."""
        return EARLIER_NAMES.get(self.version, {}).get(name, name)

    @cached_property
    def digest(self) -> str:
        """Of the functions: the same for the same network."""
        return hashlib.sha256(b"".join(self.graphs[name] for name in sorted(self.graphs))).hexdigest()

    def to_bytes(self) -> bytes:
        """The file's content."""
        description = {
            "format": FORMAT_NAME,
            "version": self.version,
            "network": self.network,
            "features": READS[self.network],
            "name": self.name,
            "radio": self.radio.to_dict(),
            "sampling": self.sampling.to_dict(),
            "card": dict(self.card),
        }
        buffer = io.BytesIO()
        with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as file:
            _put(file, DESCRIPTION, json.dumps(description, indent=1).encode())
            for name in FUNCTIONS:
                _put(file, f"{name}.onnx", self.graphs[name])
        return buffer.getvalue()


def find_bundle(name: str | Path = DEFAULT) -> Bundle:
    """A runtime file by the name of a known one, or by path."""
    return read_bundle(find(name, RUNTIME_FILE))


def read_bundle(path: Path) -> Bundle:
    """A runtime file."""
    try:
        # All of it at once: it may be a pipe.
        with path.open("rb") as opened:
            packed = opened.read(MOST_BYTES + 1)
        if len(packed) > MOST_BYTES:
            raise CheckpointError(f"{path}: too large for a runtime file")
        with zipfile.ZipFile(io.BytesIO(packed)) as file:
            if sum(entry.file_size for entry in file.infolist()) > MOST_BYTES:
                raise CheckpointError(f"{path}: too large for a runtime file")
            contents = {name: file.read(name) for name in (DESCRIPTION, *(f"{graph}.onnx" for graph in FUNCTIONS))}
    except KeyError as error:
        raise CheckpointError(f"{path}: not a runtime file of this program: {error.args[0]}") from None
    except (zipfile.BadZipFile, zlib.error, lzma.LZMAError, EOFError, OSError, ValueError, RuntimeError) as error:
        if isinstance(error, ManetDiffError):
            raise
        raise CheckpointError(f"{path}: torn, or not a runtime file: {error}") from None
    description = _description(contents.pop(DESCRIPTION), path)
    try:
        return Bundle(
            _name(description["name"]),
            Radio.from_dict(description["radio"]),
            SamplerConfig.from_dict(description["sampling"]),
            dict(description["card"]),
            {name.removesuffix(".onnx"): content for name, content in contents.items()},
            description["version"],
            description.get("network", "dense"),
        )
    except KeyError as error:
        raise CheckpointError(f"{path}: its description has no {error.args[0]!r}") from None
    except (ManetDiffError, TypeError, ValueError) as error:
        raise CheckpointError(f"{path}: {error}") from None


def _name(value: object) -> str:
    if not isinstance(value, str) or not value.isprintable() or not 0 < len(value) <= LONGEST_NAME:
        raise ValueError(f"its name must be a short text, not {brief(value)}")
    return value


def _description(content: bytes, path: Path) -> dict[str, Any]:
    try:
        description = parsed_json(content)
    except ValueError as error:
        raise CheckpointError(f"{path}: its description cannot be read: {error}") from None
    if not isinstance(description, dict) or description.get("format") != FORMAT_NAME:
        raise CheckpointError(f"{path}: not a runtime file of this program")
    found = description.get("version")
    if found not in (FORMAT, *EARLIER_NAMES):
        raise CheckpointError(f"{path}: version {brief(found)}; this program reads version {FORMAT}: export it again")
    # Files of before there were two say nothing.
    network = description.get("network", "dense")
    if network not in tuple(CONTRACTS):
        raise CheckpointError(f"{path}: a network of the kind {brief(network)}; known are {', '.join(CONTRACTS)}")
    found, made = description.get("features"), READS[network]
    if found != made:
        told = f"for version {brief(found)} of the layout features; this program makes version {made}"
        raise CheckpointError(f"{path}: {told}")
    return description


def _put(file: zipfile.ZipFile, name: str, content: bytes) -> None:
    file.writestr(zipfile.ZipInfo(name, NO_TIME), content, zipfile.ZIP_DEFLATED, 9)
