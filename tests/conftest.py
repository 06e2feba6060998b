"""Hypothesis settings for every test: compiled code makes first calls slow, and examples must not depend on luck."""

from __future__ import annotations

from hypothesis import HealthCheck, settings

settings.register_profile(
    "everyday", deadline=None, derandomize=True, max_examples=60, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("everyday")
