"""Every table and figure of the paper, made again with packaged weights and benchmark sets."""
