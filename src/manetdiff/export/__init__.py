"""From PyTorch to a file that runs without it."""
