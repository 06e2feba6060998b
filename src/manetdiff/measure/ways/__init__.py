"""Ways of making topologies on a set of layouts: each gives rows, and its file is what the rows depend on."""
