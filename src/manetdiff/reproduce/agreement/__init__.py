"""Where we agree with the paper, row by row, where we do not, and why."""

from manetdiff.reproduce.agreement.pages import AGREEMENT_STUDIES

__all__ = ["AGREEMENT_STUDIES"]
