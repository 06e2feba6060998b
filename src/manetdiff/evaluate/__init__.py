"""Tables, frontiers and figures: how good topologies are, and what they look like."""
