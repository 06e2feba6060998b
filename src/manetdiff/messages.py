"""Words from elsewhere (ids, paths, values) in messages of ours: on one line, printable, and not too long."""

from __future__ import annotations

LONGEST_MESSAGE, LONGEST_VALUE = 1000, 60


def escaped(text: str) -> str:
    r"""The text with what a terminal would not show, or would obey, spelled out: a new line becomes `\n`."""
    if text.isprintable():
        return text
    return "".join(one if one.isprintable() else one.encode("unicode_escape").decode() for one in text)


def one_line(text: str, longest: int = LONGEST_MESSAGE) -> str:
    """The text, escaped; of a very long one the beginning and the end, where messages say what would be right."""
    if len(text) > longest:
        half = longest // 2
        text = f"{text[:half]} … {text[-half:]}"
    return escaped(text)


def brief(value: object) -> str:
    """How Python writes the value, on one line and not too long."""
    try:
        text = repr(value)
    except ValueError:  # a whole number of thousands of digits
        return "a number of too many digits"
    except RecursionError:
        return "a value that is nested too deeply"
    return escaped(text if len(text) <= LONGEST_VALUE else text[:LONGEST_VALUE] + "…")
