"""Cards: how weights were made and how good they are, as a page to read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from manetdiff.errors import CheckpointError
from manetdiff.measure.measures import MEASURES, OF_LAYOUTS, markdown_table
from manetdiff.messages import brief, escaped
from manetdiff.sampling import SamplerConfig
from manetdiff.weights import Header


def card_page(name: str, header: Header) -> str:
    """The card of a weights file as Markdown."""
    try:
        page = _page(name, header)
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        raise CheckpointError(f"{name}: its card is none of ours: {brief(error)}") from None
    return "\n".join(map(escaped, page.split("\n")))


def _page(name: str, header: Header) -> str:
    told, card = header.description, header.description.get("card", {})
    recipe, sampling = card.get("recipe", {}), SamplerConfig.from_dict(told.get("sampling", {}))
    parts = [
        f"# {name}\n",
        f"{header.parameters:,} parameters. Trained for {card.get('step', 0):,} steps of {recipe.get('batch')} graphs "
        f"by the code of commit {card.get('commit', 'unknown')}.\n",
        "## Raw samples on the benchmark sets\n",
        _scores(card.get("benchmark", {}), {**sampling.to_dict(), "seed": 0}),
        "## Model\n",
        _pairs(told.get("model", {})),
        "## Data\n",
        _data(card.get("data", [])),
        "## Losses and noise\n",
        _pairs({**card.get("losses", {}), **told.get("process", {})}),
        "## Recipe\n",
        _pairs(recipe),
        "## Radio\n",
        _pairs(told.get("radio", {})),
    ]
    return "\n".join(parts)


def _scores(scores: Mapping[str, Mapping[str, float]], sampling: Mapping[str, Any]) -> str:
    if not scores:
        return "Not scored.\n"
    said = ", ".join(f"{name} {value}" for name, value in sampling.items())
    rows = [
        [MEASURES[name].label, *(MEASURES[name].text(score[name]) for score in scores.values())] for name in OF_LAYOUTS
    ]
    heads = ["", *(f"{name} ({int(score['layouts'])} layouts)" for name, score in scores.items())]
    return f"No correction, no polish; {said}.\n\n" + markdown_table(heads, rows)


def _data(sources: list[Mapping[str, Any]]) -> str:
    rows = [
        [
            ", ".join(map(str, source["nodes"])),
            f"{source['count']:,}",
            str(source["seed"]),
            f"{source['search_moves']:,}" if "search_moves" in source else f"{source['moves_a_node']:,} a node",
            str(len(source["families"]) - len(source.get("left_out", []))),
        ]
        for source in sources
    ]
    return markdown_table(["nodes", "layouts", "seed", "moves of the reference search", "families"], rows)


def _pairs(values: Mapping[str, Any]) -> str:
    return markdown_table(["", ""], [[name, str(value)] for name, value in values.items()])
