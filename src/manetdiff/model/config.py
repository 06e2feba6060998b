"""The shape of a network: everything that must be known to build it before its weights are loaded."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, get_args

from manetdiff.errors import ModelError

Kind = Literal["diffusion", "graph-vae", "gt-vae"]
Modulation = Literal["acam", "cam", "statistics", "none"]
Similarity = Literal["cosine", "dot"]
Reading = Literal["nodes", "nodes+edges"]
Activation = Literal["gelu", "relu"]


@dataclass(frozen=True)
class ModelConfig:
    """The defaults are the paper's NetDiff.

    kind: 'diffusion' (a denoiser), or one of the two variational baselines.
    width, blocks: channels of node and edge embeddings, and graph transformer blocks.
    modulation: what gives the blocks a view of the whole graph: 'acam' and 'cam' tokens, the graph 'statistics' of
        DDPM-GT, or 'none'.
    tokens, similarity, reads: of the ACAM and CAM tokens.
    domain_features: whether edge angles, distances, sectors and antenna occupation are read; without them the network
        knows positions, yaw and the noisy graph.
    components: whether the network is told which nodes the noisy links join already, so that it can see what would
        join the rest.
    activation: of the feed-forward layers; a ReLU costs a CPU nothing, because it is part of the matrix product.
    sectors: antennas per node, Q; the radio's must be the same.
    latent: of the variational baselines, numbers per node.
    """

    kind: Kind = "diffusion"
    width: int = 32
    blocks: int = 5
    modulation: Modulation = "acam"
    tokens: int = 16
    similarity: Similarity = "cosine"
    reads: Reading = "nodes"
    domain_features: bool = True
    components: bool = False
    activation: Activation = "gelu"
    sectors: int = 4
    latent: int = 8

    def __post_init__(self) -> None:
        for name, choices in (
            ("kind", Kind),
            ("modulation", Modulation),
            ("similarity", Similarity),
            ("reads", Reading),
            ("activation", Activation),
        ):
            if getattr(self, name) not in get_args(choices):
                raise ModelError(
                    f"model: {name} must be one of {', '.join(get_args(choices))}, not {getattr(self, name)!r}"
                )
        for name in ("width", "blocks", "tokens", "sectors", "latent"):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int) or value < 1:
                raise ModelError(f"model: {name} must be a whole number of at least 1, not {value!r}")
        for name in ("domain_features", "components"):
            if not isinstance(getattr(self, name), bool):
                raise ModelError(f"model: {name} must be true or false, not {getattr(self, name)!r}")

    def to_dict(self) -> dict[str, Any]:
        """All values, JSON-ready."""
        return dataclasses.asdict(self)

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> ModelConfig:
        """The inverse of :meth:`to_dict`; unknown names are an error, missing ones take their default."""
        known = {entry.name for entry in dataclasses.fields(cls)}
        for name in values:
            if name not in known:
                raise ModelError(f"model: unknown setting {name!r}; known are {', '.join(sorted(known))}")
        return cls(**values)
