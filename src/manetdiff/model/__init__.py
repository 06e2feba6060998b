"""The networks: the graph transformer with ACAM tokens, the baselines, and the losses. Needs the extra `train`."""
