"""What a run is: the model, the losses and the recipe; and which graphs and random numbers each step takes.

Everything about a step follows from the seed and its number, so that a run that was stopped goes on as if it had not
been, and several processes take the same steps as one: each has its part of what one would take.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from manetdiff.diffusion.generator import TrainingDraws
from manetdiff.errors import TrainingError
from manetdiff.model.config import ON_ALL_PAIRS, ModelConfig
from manetdiff.model.losses import LossWeights
from manetdiff.model.tensors import Graphs
from manetdiff.training.recipe import RECIPES, Recipe
from manetdiff.training.variants import variant

ORDER, NOISE = 0, 1  # random streams of a run


@dataclass(frozen=True)
class Plan:
    """model, losses, recipe; redundancy, parity_pace, heading and forest of the noise process."""

    model: ModelConfig
    recipe: Recipe
    losses: LossWeights = field(default_factory=LossWeights)
    redundancy: float = 1.0
    parity_pace: float = 1.0
    heading: float = 0.0
    forest: float = 0.0

    def to_dict(self) -> dict[str, Any]:
        """All values, JSON-ready."""
        return {
            "model": self.model.to_dict(),
            "recipe": self.recipe.to_dict(),
            "losses": self.losses.to_dict(),
            "redundancy": self.redundancy,
            "parity_pace": self.parity_pace,
            "heading": self.heading,
            "forest": self.forest,
        }

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Plan:
        """The inverse of `to_dict`."""
        return cls(
            ModelConfig.from_dict(values["model"]),
            Recipe.from_dict(values["recipe"]),
            LossWeights.from_dict(values["losses"]),
            values["redundancy"],
            values["parity_pace"],
            values.get("heading", 0.0),
            values.get("forest", 0.0),
        )


def make_plan(
    model: str = "acam",
    recipe: str = "fast",
    losses: Mapping[str, float] | None = None,
    noise: Mapping[str, float] | None = None,
    **settings: Any,
) -> Plan:
    """A model and a recipe by name, with settings instead of theirs, by the names of ModelConfig and Recipe.

    - losses: weights of terms instead of the model's. noise: redundancy, parity_pace, heading and forest of
      the noise process.
    """
    chosen = variant(model)
    if recipe not in RECIPES:
        raise TrainingError(f"unknown recipe {recipe!r}; known are {', '.join(RECIPES)}")
    if isinstance(settings.get("mix"), Mapping):
        settings["mix"] = tuple(settings["mix"].items())
    of_model = {entry.name for entry in fields(ModelConfig)} - {"sectors"}  # which follow the data
    of_recipe = {entry.name for entry in fields(Recipe)}
    _refuse_unknown("setting", settings, of_model | of_recipe)
    _refuse_unknown("term of the loss", losses or {}, {entry.name for entry in fields(LossWeights)})
    plan = Plan(
        replace(chosen.model, **{name: value for name, value in settings.items() if name in of_model}),
        replace(RECIPES[recipe], **{name: value for name, value in settings.items() if name in of_recipe}),
        replace(chosen.losses, **(losses or {})),
        **(noise or {}),
    )
    if plan.model.kind == "sparse":
        _refuse_for_sparse(plan, {*settings, *(losses or {})}, recipe)
    elif plan.forest or plan.losses.consistency or plan.model.encoder:
        raise TrainingError("forest, consistency and encoder are for the model sparse; leave them out for others")
    return plan


def _refuse_for_sparse(plan: Plan, named: set[str], recipe: str) -> None:
    """What would have no effect on a network on candidate links. named: settings and terms that were asked for."""
    if plan.recipe.mirror:
        raise TrainingError(
            f"recipe {recipe}: mirrors layouts, which a sparse network does not notice: give the recipe any-fleet"
        )
    if plan.heading:
        raise TrainingError("heading: the noise on a sparse network comes to all candidates alike: give 0")
    for name in (*ON_ALL_PAIRS, "mix", "cosine"):
        if name in named:
            raise TrainingError(f"{name}: of no consequence to a sparse network: leave it out")


def _refuse_unknown(what: str, given: Iterable[str], known: set[str]) -> None:
    if unknown := [name for name in given if name not in known]:
        raise TrainingError(f"no {what} {', '.join(unknown)}; there are {', '.join(sorted(known))}")


class Share(NamedTuple):
    """Graphs of one size in every step, of `layouts` in all."""

    nodes: int
    batch: int
    layouts: int


def shares(layouts: Mapping[int, int], recipe: Recipe) -> list[Share]:
    """How a batch, of all processes together, is split over the fleet sizes. layouts: how many there are of each."""
    mix = dict(recipe.mix) or layouts
    if set(mix) != set(layouts):
        raise TrainingError(f"recipe: the mix names fleets of {sorted(mix)} nodes; the data has {sorted(layouts)}")
    total = sum(mix.values())
    split = []
    for nodes, count in layouts.items():
        part = max(1, round(recipe.batch * mix[nodes] / total))
        if part > count:
            raise TrainingError(
                f"a batch of {recipe.batch} takes {part} layouts of {nodes} nodes, but there are only {count}: "
                "give a smaller batch or more data"
            )
        split.append(Share(nodes, part, count))
    return split


def steps_an_epoch(split: list[Share]) -> int:
    """Steps in which about every layout is taken once."""
    return max(1, round(sum(share.layouts for share in split) / sum(share.batch for share in split)))


def batch_rows(share: Share, step: int, seed: int) -> Tensor:
    """Which layouts of its size a step takes: each once before any is taken again."""
    batches = share.layouts // share.batch
    turn, place = divmod(step, batches)
    order = _order(share, turn, seed)
    return torch.from_numpy(order[place * share.batch : (place + 1) * share.batch])


def batch_draws(share: Share, step: int, seed: int, latent: int, device: torch.device) -> tuple[TrainingDraws, Tensor]:
    """A step's random numbers for all graphs of one size, and which of them are mirrored, (b,) bool.

    They are drawn on the training device, for the whole batch, by every process: each then takes its own graphs'.
    """
    generator = torch.Generator(device)
    generator.manual_seed(stream_seed(seed, NOISE, share.nodes, step))

    def uniform(*shape: int) -> Tensor:
        return torch.rand(*shape, generator=generator, device=device)

    b, n = share.batch, share.nodes
    # Stratified: the times of a batch are spread evenly, which makes the loss less noisy.
    time = (torch.arange(b, device=device) + uniform(b)) / b
    time = time[torch.randperm(b, generator=generator, device=device)]
    graphs = Graphs(uniform(b, n, n), uniform(b, n))
    normal = torch.randn(b, n, latent, generator=generator, device=device)
    return TrainingDraws(time, graphs, normal), uniform(b) < 0.5


_ORDERS: dict[tuple[int, int, int, int], np.ndarray] = {}


def _order(share: Share, turn: int, seed: int) -> np.ndarray:
    key = (share.nodes, share.layouts, turn, seed)
    if key not in _ORDERS:
        if len(_ORDERS) > 8:
            _ORDERS.clear()
        rng = np.random.default_rng(stream_seed(seed, ORDER, share.nodes, turn))
        _ORDERS[key] = rng.permutation(share.layouts)
    return _ORDERS[key]


def stream_seed(*words: int) -> int:
    """Of one random stream of a run."""
    return int(np.random.SeedSequence(words).generate_state(1, np.uint64)[0] >> 1)
