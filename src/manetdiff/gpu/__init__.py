"""Large batches on a GPU: the whole denoising chain compiled and captured, through PyTorch."""

from manetdiff.gpu.model import BatchModel, load

__all__ = ["BatchModel", "load"]
