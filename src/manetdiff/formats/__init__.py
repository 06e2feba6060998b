"""Files: fleets, radios, topologies and mobility, read strictly and written whole or not at all."""

from manetdiff.formats.conversion import read_tracks
from manetdiff.formats.files import check_writable, write_bytes, write_text
from manetdiff.formats.fleet_file import read_fleet, write_fleet
from manetdiff.formats.netjson import read_topology, write_topology
from manetdiff.formats.radio_file import read_radio
from manetdiff.formats.track_table import write_track_table

__all__ = [
    "check_writable",
    "read_fleet",
    "read_radio",
    "read_topology",
    "read_tracks",
    "write_bytes",
    "write_fleet",
    "write_text",
    "write_topology",
    "write_track_table",
]
