"""Radio files: a JSON object of the parameters of :class:`manetdiff.Radio`; those left out keep their defaults."""

from __future__ import annotations

from manetdiff.errors import FormatError, RadioError
from manetdiff.formats.files import PathLike, read_text
from manetdiff.formats.record import parse_object
from manetdiff.radio import Radio


def read_radio(path: PathLike) -> Radio:
    """The radio in a JSON file; `-` reads standard input."""
    text = read_text(path)
    values = parse_object(text.name, text.content)
    try:
        return Radio.from_dict(values)
    except RadioError as error:
        raise FormatError(f"{text.name}: {error}") from None
