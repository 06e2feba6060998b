"""Training: recipes, the loop, checkpoints, validation. Needs the extra `train`."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from manetdiff.training.run import TrainingResult, train

__all__ = ["TrainingResult", "train"]


def __getattr__(name: str) -> Any:
    """`train` comes with Lightning, which takes seconds to load: not before it is asked for."""
    if name in __all__:
        from manetdiff.training import run

        return getattr(run, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
