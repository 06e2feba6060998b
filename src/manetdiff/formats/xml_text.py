"""What XML can hold of the names in a fleet."""

from __future__ import annotations

import re
from collections.abc import Iterable

from manetdiff.errors import FormatError

NO_XML = re.compile(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def check_xml_ids(ids: Iterable[str], what: str) -> None:
    """Raise where an id has characters that no XML file can hold, however they are escaped. what: the format."""
    for name in ids:
        if NO_XML.search(name):
            raise FormatError(f"node {name!r}: {what} cannot keep the control characters in its id")
