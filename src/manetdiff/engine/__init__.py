"""Work spread over the cores of this machine, or over a cluster: the same results, in the same order, on either."""

from manetdiff.engine.engine import Engine, EngineName, LocalEngine, opened_engine
from manetdiff.engine.outcomes import Outcome, failure_text
from manetdiff.engine.pace import Pace
from manetdiff.engine.processes import Processes

__all__ = ["Engine", "EngineName", "LocalEngine", "Outcome", "Pace", "Processes", "failure_text", "opened_engine"]
