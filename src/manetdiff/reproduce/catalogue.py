"""All studies by name, in the order of the paper."""

from __future__ import annotations

from manetdiff.reproduce.generalisation import GENERALISATION_STUDIES
from manetdiff.reproduce.inference import INFERENCE_STUDIES
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
        *PARTIAL_STUDIES,
        *INFERENCE_STUDIES,
        *GENERALISATION_STUDIES,
    )
}
