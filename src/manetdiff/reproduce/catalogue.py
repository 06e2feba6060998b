"""All tables by name, in the order of the paper; what it does not have, and the agreement with it, come last."""

from __future__ import annotations

from manetdiff.reproduce.agreement import AGREEMENT_TABLES
from manetdiff.reproduce.frontier import FRONTIER_TABLES
from manetdiff.reproduce.generalisation import GENERALISATION_TABLES
from manetdiff.reproduce.inference import INFERENCE_TABLES
from manetdiff.reproduce.inference_gpu import INFERENCE_GPU_TABLES
from manetdiff.reproduce.modulation import MODULATION_TABLES
from manetdiff.reproduce.partial import PARTIAL_TABLES
from manetdiff.reproduce.raw_tables import RAW_TABLES
from manetdiff.reproduce.tables import PaperTable
from manetdiff.reproduce.throughput import THROUGHPUT_TABLES

TABLES: dict[str, PaperTable] = {
    table.name: table
    for table in (
        *RAW_TABLES[:1],
        *THROUGHPUT_TABLES,
        *RAW_TABLES[1:],
        *MODULATION_TABLES,
        *PARTIAL_TABLES,
        *INFERENCE_TABLES,
        *INFERENCE_GPU_TABLES,
        *FRONTIER_TABLES,
        *GENERALISATION_TABLES,
        *AGREEMENT_TABLES,
    )
}
