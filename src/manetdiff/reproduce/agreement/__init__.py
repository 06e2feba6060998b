"""Where we agree with the paper, row by row, where we do not, and why."""

from manetdiff.reproduce.agreement.pages import AGREEMENT_TABLES

__all__ = ["AGREEMENT_TABLES"]
