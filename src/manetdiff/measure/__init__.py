"""One way to measure: ways of making topologies, what is measured of each, how rows are kept, pooled and written."""
