"""Where we agree with the paper, row by row, where we do not, and why."""
