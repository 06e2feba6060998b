"""Training: recipes, the loop, checkpoints, validation."""
