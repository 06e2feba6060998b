"""Fleets over time: what gets through while links come and go, and how to get from one topology to the next."""
