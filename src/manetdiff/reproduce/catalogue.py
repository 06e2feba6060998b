"""All studies by name, in the order of the paper; what it does not have, and the agreement with it, come last."""

from __future__ import annotations

from manetdiff.reproduce.agreement import AGREEMENT_STUDIES
from manetdiff.reproduce.frontier import FRONTIER_STUDIES
from manetdiff.reproduce.generalisation import GENERALISATION_STUDIES
from manetdiff.reproduce.inference import INFERENCE_STUDIES
from manetdiff.reproduce.inference_gpu import INFERENCE_GPU_STUDIES
from manetdiff.reproduce.modulation import MODULATION_STUDIES
from manetdiff.reproduce.partial import PARTIAL_STUDIES
from manetdiff.reproduce.raw_samples import RAW_STUDIES
from manetdiff.reproduce.study import Study
from manetdiff.reproduce.throughput import THROUGHPUT_STUDIES

STUDIES: dict[str, Study] = {
    study.name: study
    for study in (
        *RAW_STUDIES[:1],
        *THROUGHPUT_STUDIES,
        *RAW_STUDIES[1:],
        *MODULATION_STUDIES,
        *PARTIAL_STUDIES,
        *INFERENCE_STUDIES,
        *INFERENCE_GPU_STUDIES,
        *FRONTIER_STUDIES,
        *GENERALISATION_STUDIES,
        *AGREEMENT_STUDIES,
    )
}
