"""Work spread over the cores of this machine, or over a cluster: the same results, in the same order, on either."""

from manetdiff.engine.engine import Engine, EngineName, LocalEngine, opened_engine
from manetdiff.engine.processes import Processes

__all__ = ["Engine", "EngineName", "LocalEngine", "Processes", "opened_engine"]
