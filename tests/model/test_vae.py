"""The variational baselines: latents are drawn as the encoder says, and decoded on the layout."""

from __future__ import annotations

import pytest
import torch

from manetdiff.model.vae import GraphVAE
from support.graph_samples import perturbed, scattered_graphs, scattered_layouts
from support.small_networks import close, numbers_of, small


@pytest.mark.parametrize("kind", ["graph-vae", "gt-vae"])
@torch.no_grad()
def test_latents_are_drawn_from_the_encoders_distribution_and_decoded_on_the_layout(kind: str) -> None:
    vae = perturbed(lambda: GraphVAE(small(kind=kind)))
    layouts, other = scattered_layouts([7, 10]), scattered_layouts([7, 10], seed=5)
    normal = numbers_of(layouts).float()
    prediction, latents = vae(layouts, scattered_graphs(layouts), normal)
    drawn = latents.mean + normal * torch.sqrt(torch.exp(latents.log_variance))
    decoded = vae.decode(vae.embed_layouts(layouts), drawn)
    assert close(prediction.edges, decoded.edges) and close(prediction.parity, decoded.parity)
    # The decoder reads the layout itself: nodes, and pairs.
    for changed in (layouts._replace(node=other.node), layouts._replace(pair=other.pair)):
        assert (vae.decode(vae.embed_layouts(changed), drawn).edges - decoded.edges).abs().max() > 1e-3
