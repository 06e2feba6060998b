"""Cards: how weights were made and how good they are, as a page to read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from manetdiff.errors import CheckpointError
from manetdiff.measure.measures import MEASURES, OF_LAYOUTS, markdown_table
from manetdiff.messages import brief, escaped
from manetdiff.sampling import SamplerConfig
from manetdiff.weights import Header
from manetdiff.wording import share_text

# Settings that have no effect on a sparse network.
DENSE_ONLY = ("reads", "domain_features", "components", "activation", "sectors", "latent", "cosine", "heading")


def card_page(name: str, header: Header) -> str:
    """The card of a weights file as Markdown."""
    try:
        page = _page(name, header)
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        raise CheckpointError(f"{name}: its card is none of ours: {brief(error)}") from None
    return "\n".join(map(escaped, page.split("\n")))


def _page(name: str, header: Header) -> str:
    told, card = header.description, header.description.get("card", {})
    sampling, model = SamplerConfig.from_dict(told.get("sampling", {})), told.get("model", {})
    sparse = model.get("kind") == "sparse"
    parts = [
        f"# {name}\n",
        f"{header.parameters:,} parameters. Trained for {_training(card, sparse)} by the code of commit "
        f"{card.get('commit', 'unknown')}.\n",
        "## Raw samples on the benchmark sets\n",
        _scores(card.get("benchmark", {}), {**sampling.to_dict(), "seed": 0}),
        "## Model\n",
        _pairs(_of_kind(model, sparse)),
        "## Data\n",
        _data(card.get("data", [])),
        "## Losses and noise\n",
        _pairs(_of_kind({**card.get("losses", {}), **told.get("process", {})}, sparse)),
        "## Recipe\n",
        _pairs(card.get("recipe", {})),
        *(["## Reward\n", *map(_pairs, card["reward"]), _data(card["reward_data"])] if "reward" in card else []),
        "## Radio where none is given\n" if sparse else "## Radio\n",
        _pairs(told.get("radio", {})),
    ]
    return "\n".join(parts)


def _training(card: Mapping[str, Any], sparse: bool) -> str:
    """So many steps, of how many where it was stopped before the last one; of imitation, and of reward where it was
    given any."""
    imitated = _steps(card.get("step", 0), card.get("planned_steps", 0))
    told = f"{imitated} of {card.get('recipe', {}).get('batch')} {'arcs' if sparse else 'graphs'}"
    for reward in card.get("reward", []):
        told += f", then {_steps(reward['taken'], reward['steps'])} of reward"
    return f"{told}," if "reward" in card else told


def _steps(taken: int, planned: int) -> str:
    return f"{taken:,} of {planned:,} planned steps" if planned > taken else f"{taken:,} steps"


def _of_kind(settings: Mapping[str, Any], sparse: bool) -> dict[str, Any]:
    """Those that have an effect."""
    return {name: value for name, value in settings.items() if not (sparse and name in DENSE_ONLY)}


def _scores(scores: Mapping[str, Mapping[str, float]], sampling: Mapping[str, Any]) -> str:
    if not scores:
        return "Not scored.\n"
    said = ", ".join(f"{name} {value}" for name, value in sampling.items())
    rows = [
        [
            MEASURES[name].label,
            *(MEASURES[name].text(score[name]) if name in score else "" for score in scores.values()),
        ]
        for name in OF_LAYOUTS
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
    columns = ["nodes", "layouts", "seed", "moves of the reference search", "families"]
    if all(_is_radio(source["radio"]) for source in sources):
        return markdown_table(columns, rows)
    varied = ["radio", "moved as well", "heights, m", "nodes with blocked sectors"]
    return markdown_table(
        [*columns, *varied], [[*row, *_variety(source)] for row, source in zip(rows, sources, strict=True)]
    )


def _is_radio(told: Any) -> bool:
    """Whether it is one radio: not several by their names, nor the word for random ones."""
    return isinstance(told, Mapping) and not all(isinstance(one, Mapping) for one in told.values())


def _variety(source: Mapping[str, Any]) -> list[str]:
    """What else of a source's layouts was drawn."""
    radio, heights = source["radio"], source.get("heights")
    kinds = f"{len(radio)} of its own" if isinstance(radio, Mapping) else str(radio)
    return [
        "as below" if _is_radio(radio) else kinds,
        "yes" if source.get("displacement") else "no",
        "0" if heights is None else f"{heights[0]:,.0f} to {heights[1]:,.0f}",
        share_text(source.get("blocked", 0.0)),
    ]


def _pairs(values: Mapping[str, Any]) -> str:
    return markdown_table(["", ""], [[name, str(value)] for name, value in values.items()])
