"""Discrete diffusion on graphs: schedule, transitions, sampler; and weights files. Needs the extra `train`."""
