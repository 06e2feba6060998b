"""Every error that a user can cause, in one place.

All of them derive from `ManetDiffError`, which is a `ValueError`: the command line turns any of them
into one line on standard error and exit code 2.
"""

from typing import Any

from manetdiff.messages import one_line


class ManetDiffError(ValueError):
    """Something a user handed in is wrong; the message says what, where, and what would be right.

    It is one printable line of bounded length, whatever ids and paths it quotes.
    """

    def __init__(self, message: str = "") -> None:
        super().__init__(one_line(message))


class FleetError(ManetDiffError):
    """Positions, yaw or ids that do not describe a fleet."""


class RadioError(ManetDiffError):
    """A radio parameter outside its meaning."""


class TopologyError(ManetDiffError):
    """Links or parity that do not fit together or do not fit the fleet."""


class ScenarioError(ManetDiffError):
    """An unknown family, or a layout that cannot be drawn with the numbers given."""


class SolverError(ManetDiffError):
    """An unknown method, a budget that makes no sense, or a fleet too large for the method."""


class EngineError(ManetDiffError):
    """Work that could not be spread over processes or a cluster, or that was lost there."""


class DataError(ManetDiffError):
    """A dataset folder or shard that cannot be used."""


class FormatError(ManetDiffError):
    """A file that cannot be read; the message names the file, the node and the field."""


class ModelError(ManetDiffError):
    """A network, a noise process or a sampler asked for with settings that make no sense."""


class TrainingError(ManetDiffError):
    """A recipe or data that cannot be trained on, or a run that went wrong; the last good checkpoint is kept."""


class CheckpointError(ManetDiffError):
    """A weights file that is missing, torn, of another version, or made for something else."""


class PinError(ManetDiffError):
    """Links that must stay and links that must not be, which no topology can both have."""


class BatchError(ManetDiffError):
    """Some fleets of a batch could not be served; the others were.

    - results: a topology for each fleet, None for those that failed. errors: what was wrong, by the fleet's index.
    """

    def __init__(self, results: list[Any], errors: dict[int, ManetDiffError]) -> None:
        told = "; ".join(f"fleet {index}: {error}" for index, error in errors.items())
        super().__init__(f"{len(errors)} of {len(results)} fleets failed: {told}")
        self.results = results
        self.errors = errors

    def __reduce__(self) -> tuple[Any, ...]:
        return BatchError, (self.results, self.errors)


class DisconnectedWarning(UserWarning):
    """A network is in parts: nodes are out of range, kept apart, or were not joined; the report says which."""
