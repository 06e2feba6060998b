"""The shape of a network: everything that must be known to build it before its weights are loaded."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

from manetdiff.checks import check_choice, check_flag, check_whole
from manetdiff.errors import ModelError
from manetdiff.json_settings import JsonSettings

Kind = Literal["diffusion", "sparse", "graph-vae", "gt-vae"]
Modulation = Literal["acam", "cam", "statistics", "none"]
Similarity = Literal["cosine", "dot"]
Reading = Literal["nodes", "nodes+edges"]
Activation = Literal["gelu", "relu"]


# Of channels, blocks, tokens and so on: a forged file must not ask for all the memory there is.
MOST = 4096
# What a network on candidate links has no choice of: it stays at its default there.
ON_ALL_PAIRS = ("reads", "domain_features", "components", "activation", "sectors", "latent")


@dataclass(frozen=True)
class ModelConfig(JsonSettings):
    """The defaults are the paper's NetDiff.

    - kind: 'diffusion', the paper's denoiser on all pairs; 'sparse', a denoiser on candidate links, for any fleet and
      any radio; or one of the two variational baselines.
    - width, blocks: channels of node and edge embeddings, and graph transformer blocks. encoder: of sparse networks,
      blocks before them that see the layout alone: they run once for all steps and samples.
    - modulation: what gives the blocks a view of the whole graph: 'acam' and 'cam' tokens, the graph 'statistics' of
      DDPM-GT, or 'none'.
    - tokens, similarity, reads: of the ACAM and CAM tokens.
    - domain_features: whether edge angles, distances, sectors and antenna occupation are read; without them the network
      knows positions, yaw and the noisy graph.
    - components: whether the network is told which nodes the noisy links join already, so that it can see what would
      join the rest.
    - activation: of the feed-forward layers; a ReLU costs a CPU nothing, because it is part of the matrix product.
    - sectors: antennas per node, Q; the radio's must be the same.
    - latent: of the variational baselines, numbers per node.
    """

    ERROR = ModelError
    WHAT = "model"

    kind: Kind = "diffusion"
    width: int = 32
    blocks: int = 5
    encoder: int = 0
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
            check_choice(ModelError, f"model: {name}", getattr(self, name), get_args(choices))
        for name in ("width", "blocks", "tokens", "sectors", "latent"):
            check_whole(ModelError, f"model: {name}", getattr(self, name), 1, MOST)
        check_whole(ModelError, "model: encoder", self.encoder, 0, MOST)
        for name in ("domain_features", "components"):
            check_flag(ModelError, f"model: {name}", getattr(self, name))
        if self.kind == "sparse":
            self._check_sparse()

    def _check_sparse(self) -> None:
        for name in ON_ALL_PAIRS:
            if getattr(self, name) != getattr(ModelConfig, name):
                raise ModelError(
                    f"model: {name}: a sparse network has no choice of it, not even {getattr(self, name)!r}"
                )
        if self.modulation == "statistics":
            raise ModelError("model: modulation: a sparse network has acam, cam or none, not statistics")
