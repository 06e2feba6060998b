"""AdamW, the linear decay of its rate, weight decay that is switched off near the end, and averaged weights."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from manetdiff.training.recipe import Recipe


def make_optimizer(module: nn.Module, recipe: Recipe, device: torch.device) -> torch.optim.AdamW:
    """AdamW over all weights; on a GPU fused into one kernel, with its rate where a captured step can read it."""
    if device.type != "cuda":
        return torch.optim.AdamW(module.parameters(), lr=recipe.rate, weight_decay=recipe.weight_decay)
    rate = torch.tensor(recipe.rate, device=device)
    return torch.optim.AdamW(
        module.parameters(), lr=rate, weight_decay=recipe.weight_decay, fused=True, capturable=True
    )


def rate_at(recipe: Recipe, step: int, epoch_steps: int) -> float:
    """The learning rate of a step."""
    rate = recipe.rate + (recipe.last_rate - recipe.rate) * step / max(1, recipe.epochs * epoch_steps - 1)
    return rate * (step + 1) / recipe.warmup if step < recipe.warmup else rate


def set_rates(optimizer: torch.optim.Optimizer, recipe: Recipe, step: int, epoch_steps: int) -> float:
    """Set what the recipe says for this step, and return the weight decay."""
    rate = rate_at(recipe, step, epoch_steps)
    plain = step >= (recipe.epochs - recipe.plain_epochs) * epoch_steps
    decay = 0.0 if plain else recipe.weight_decay
    for group in optimizer.param_groups:
        if isinstance(group["lr"], Tensor):
            group["lr"].fill_(rate)
        else:
            group["lr"] = rate
        group["weight_decay"] = decay
    return decay


class AveragedWeights:
    """An exponential moving average of a model's weights, in one tensor; with decay 0, the weights themselves."""

    def __init__(self, module: nn.Module, decay: float) -> None:
        self._decay = decay
        self._weights = dict(module.named_parameters())
        self._average = self._flat()
        self._new_share = torch.ones((), device=self._average.device)

    def set_step(self, step: int) -> None:
        """Say which step is next; over the first ones the average forgets faster, so as not to keep the beginning."""
        decay = min(self._decay, (1 + step) / (10 + step)) if self._decay else 0.0
        self._new_share.fill_(1 - decay)

    def update(self) -> None:
        """After each step."""
        with torch.no_grad():
            self._average.lerp_(self._flat(), self._new_share)

    @property
    def tensors(self) -> dict[str, Tensor]:
        """The average, by the names of the weights."""
        parts = torch.split(self._average, [weight.numel() for weight in self._weights.values()])
        return {name: part.view_as(self._weights[name]) for name, part in zip(self._weights, parts, strict=True)}

    def load(self, tensors: dict[str, Tensor]) -> None:
        """Take the average up again."""
        for name, average in self.tensors.items():
            average.copy_(tensors[name])

    def _flat(self) -> Tensor:
        return torch.cat([weight.detach().flatten() for weight in self._weights.values()])
