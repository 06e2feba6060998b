"""Recipes: every choice of a training run that is not the model's, the losses' or the data's."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from manetdiff.checks import LARGEST_SEED, check_at_least_0, check_choice, check_flag, check_whole
from manetdiff.errors import TrainingError
from manetdiff.json_settings import JsonSettings

PRECISIONS = ("32", "bf16")


@dataclass(frozen=True)
class Recipe(JsonSettings):
    """How to train.

    - epochs: passes over the data at most. batch: graphs a step, all processes together; of sparse networks,
      arcs, two a candidate link.
    - mix: share of each fleet size in a batch, as pairs (nodes, share); by default as in the data.
    - rate, last_rate: learning rate at the beginning and at the end, linear in between; warmup: steps to reach `rate`.
    - weight_decay: of AdamW; plain_epochs: the last epochs, in which it is switched off.
    - seed: of the weights, the order and the noise. precision: '32' or 'bf16'. compiled: by torch.compile.
    - ema: decay of the averaged weights, which are the ones that are sampled and kept; 0: no averaging.
    - mirror: whether half of the layouts are mirrored left and right, which the physics does not notice.
    - clip: largest norm of the gradient; 0: any.
    - validate_every, validation, validation_steps: epochs between validations, layouts of each size held out for them
      (of sparse networks: of each dataset), and denoising steps in them. patience: validations without a gain before
      training stops; 0: never.
    - checkpoint_every: epochs between checkpoints.
    """

    ERROR = TrainingError
    WHAT = "recipe"

    epochs: int
    batch: int
    rate: float
    last_rate: float
    weight_decay: float
    seed: int = 123
    warmup: int = 0
    plain_epochs: int = 0
    precision: str = "32"
    compiled: bool = False
    ema: float = 0.0
    mirror: bool = False
    clip: float = 0.0
    validate_every: int = 10
    validation: int = 128
    validation_steps: int = 10
    patience: int = 0
    checkpoint_every: int = 10
    mix: tuple[tuple[int, float], ...] = ()

    def __post_init__(self) -> None:
        for name in ("epochs", "batch", "validate_every", "validation", "validation_steps", "checkpoint_every"):
            check_whole(TrainingError, f"recipe: {name}", getattr(self, name), 1)
        for name in ("warmup", "plain_epochs", "patience"):
            check_whole(TrainingError, f"recipe: {name}", getattr(self, name))
        check_whole(TrainingError, "recipe: seed", self.seed, 0, LARGEST_SEED)
        for name in ("rate", "last_rate", "weight_decay", "ema", "clip"):
            check_at_least_0(TrainingError, f"recipe: {name}", getattr(self, name))
        if self.ema >= 1:
            raise TrainingError(f"recipe: ema must be below 1, not {self.ema!r}")
        check_choice(TrainingError, "recipe: precision", self.precision, PRECISIONS)
        for name in ("compiled", "mirror"):
            check_flag(TrainingError, f"recipe: {name}", getattr(self, name))
        if not all(0 < share < float("inf") for _, share in self.mix):
            raise TrainingError(f"recipe: the shares of a mix must be numbers above 0, not {self.mix!r}")
        if len(dict(self.mix)) < len(self.mix):
            raise TrainingError(f"recipe: a mix names a fleet size twice: {self.mix!r}")

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Recipe:
        """The inverse of `to_dict`."""
        return super().from_dict({**values, "mix": tuple((nodes, share) for nodes, share in values.get("mix", ()))})


RECIPES = {
    "paper": Recipe(
        epochs=4700,
        batch=64,
        rate=1e-3,
        last_rate=1e-6,
        weight_decay=1e-3,
        plain_epochs=20,
        validate_every=20,
        patience=20,
    ),
    # Of sparse networks, whose batches are counted in arcs.
    "any-fleet": Recipe(
        epochs=60,
        batch=131_072,
        rate=3e-3,
        last_rate=1e-6,
        weight_decay=1e-3,
        plain_epochs=5,
        warmup=300,
        precision="bf16",
        compiled=True,
        ema=0.999,
        clip=1.0,
    ),
    "fast": Recipe(
        epochs=100,
        batch=1024,
        rate=4e-3,
        last_rate=1e-6,
        weight_decay=1e-3,
        plain_epochs=5,
        warmup=300,
        precision="bf16",
        compiled=True,
        ema=0.999,
        mirror=True,
        clip=1.0,
    ),
}
