from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from graph_samples import (
    flipped,
    graphs_in_double,
    in_double,
    mask_of,
    perturbed,
    scattered_graphs,
    scattered_layouts,
)
from manetdiff.errors import ModelError
from manetdiff.model.acam import TokenModulation
from manetdiff.model.config import ModelConfig
from manetdiff.model.denoiser import Denoiser, Readout
from manetdiff.model.embedding import GraphEmbedding, LayoutEmbedding, read_noisy
from manetdiff.model.film import Film
from manetdiff.model.graphs import Graphs, Layouts, Prediction, antennas
from manetdiff.model.statistics import graph_statistics
from manetdiff.model.transformer import GraphTransformerBlock
from manetdiff.model.vae import GraphVAE

SMALL = ModelConfig(width=8, blocks=2, tokens=5, latent=3)


def _small(**changes: Any) -> ModelConfig:
    return dataclasses.replace(SMALL, **changes)


DENOISERS = {
    f"{modulation}, {similarity}, {reads}": _small(modulation=modulation, similarity=similarity, reads=reads)
    for modulation in ("acam", "cam")
    for similarity in ("cosine", "dot")
    for reads in ("nodes", "nodes+edges")
} | {
    "acam, 1 token": _small(tokens=1),
    "acam, 16 tokens": _small(tokens=16),
    "acam, no features": _small(domain_features=False),
    "statistics": _small(modulation="statistics"),
    "statistics, no features": _small(modulation="statistics", domain_features=False),
    "no modulation": _small(modulation="none"),
    "no modulation, no features": _small(modulation="none", domain_features=False),
}
NETWORKS = DENOISERS | {
    "graph-vae": _small(kind="graph-vae"),
    "graph-vae, no features": _small(kind="graph-vae", domain_features=False),
    "gt-vae": _small(kind="gt-vae"),
    "gt-vae, no features": _small(kind="gt-vae", domain_features=False),
}

Network = Callable[[Layouts, Graphs, Tensor], Prediction]
"""(layouts, graphs, numbers (b, n, 3)) -> prediction; the numbers are a VAE's normal draws, and make the times."""


def _network(config: ModelConfig) -> Network:
    """A network in double precision, all of its parameters in use."""
    if config.kind == "diffusion":
        denoiser = perturbed(lambda: Denoiser(config).double())

        def denoise(layouts: Layouts, graphs: Graphs, numbers: Tensor) -> Prediction:
            time = torch.linspace(0.3, 0.9, len(numbers), dtype=torch.float64)
            prediction: Prediction = denoiser(in_double(layouts), graphs_in_double(graphs), time)
            return prediction

        return denoise
    vae = perturbed(lambda: GraphVAE(config).double())

    def autoencode(layouts: Layouts, graphs: Graphs, numbers: Tensor) -> Prediction:
        prediction: Prediction = vae(in_double(layouts), graphs_in_double(graphs), numbers)[0]
        return prediction

    return autoencode


def _numbers(layouts: Layouts, seed: int = 0) -> Tensor:
    """Random numbers for each node, which depend on the size of its fleet and not on the padding."""
    drawn = np.zeros((*layouts.mask.shape, 3))
    for row, n in enumerate(layouts.mask.sum(1).tolist()):
        drawn[row, :n] = np.random.default_rng((seed, n)).normal(size=(n, 3))
    return torch.from_numpy(drawn)


def _close(one: Tensor, other: Tensor) -> bool:
    return torch.allclose(one, other, rtol=1e-5, atol=1e-5)


# Properties of every network


@pytest.mark.parametrize("name", NETWORKS)
@torch.no_grad()
def test_renumbered_nodes_have_renumbered_predictions(name: str) -> None:
    network = _network(NETWORKS[name])
    layouts = scattered_layouts([7, 10, 4])
    graphs, numbers = scattered_graphs(layouts), _numbers(layouts)
    # The padding takes part: it need not stand behind the nodes.
    order = torch.randperm(10, generator=torch.Generator().manual_seed(2))
    renumbered = Layouts(
        layouts.node[:, order],
        layouts.pair[:, order][:, :, order],
        layouts.sector[:, order][:, :, order],
        layouts.mask[:, order],
    )
    before = network(layouts, graphs, numbers)
    after = network(renumbered, Graphs(graphs.edges[:, order][:, :, order], graphs.parity[:, order]), numbers[:, order])
    assert _close(after.edges, before.edges[:, order][:, :, order])
    assert _close(after.parity, before.parity[:, order])


@pytest.mark.parametrize("name", NETWORKS)
@torch.no_grad()
def test_padding_and_the_rest_of_the_batch_have_no_say(name: str) -> None:
    network = _network(NETWORKS[name])

    def prediction(sizes: list[int], n: int | None) -> Prediction:
        layouts = scattered_layouts(sizes, n=n)
        return network(layouts, scattered_graphs(layouts), _numbers(layouts))

    # The time goes by the place in the batch: the graph of 16 nodes stands first in all of them.
    alone, padded, mixed = prediction([16], None), prediction([16], 32), prediction([16, 32, 5], None)
    for other in (padded, mixed):
        assert _close(other.edges[0, :16, :16], alone.edges[0])
        assert _close(other.parity[0, :16], alone.parity[0])


@pytest.mark.parametrize("name", NETWORKS)
@torch.no_grad()
def test_logits_are_finite_symmetric_and_zero_where_masked(name: str) -> None:
    layouts = scattered_layouts([7, 10, 2])
    edges, parity = _network(NETWORKS[name])(layouts, scattered_graphs(layouts), _numbers(layouts))
    assert bool(torch.isfinite(edges).all()) and bool(torch.isfinite(parity).all())
    assert _close(edges, edges.transpose(1, 2))
    assert not edges[~layouts.pair_mask].any() and not parity[~layouts.mask].any()
    assert bool(edges[layouts.pair_mask].all()) and bool(parity[layouts.mask].all())


@pytest.mark.parametrize("name", NETWORKS)
@torch.no_grad()
def test_layout_links_and_parity_have_a_say(name: str) -> None:
    """Without this, a network that reads nothing would have every property above."""
    config = NETWORKS[name]
    network = _network(config)
    layouts = scattered_layouts([12])
    graphs, numbers = scattered_graphs(layouts), _numbers(layouts)
    other_layouts, other = scattered_layouts([12], seed=5), scattered_graphs(layouts, seed=5)
    before = network(layouts, graphs, numbers)
    changes = {
        "positions": (layouts._replace(node=other_layouts.node), graphs, numbers),
        "links": (layouts, Graphs(other.edges, graphs.parity), numbers),
        "parity": (layouts, Graphs(graphs.edges, other.parity), numbers),
    }
    if config.domain_features:
        changes["pairs"] = (layouts._replace(pair=other_layouts.pair), graphs, numbers)
        changes["sectors"] = (layouts._replace(sector=other_layouts.sector), graphs, numbers)
    if config.kind != "diffusion":
        changes["latents"] = (layouts, graphs, _numbers(layouts, seed=5))
    for what, changed in changes.items():
        assert (network(*changed).edges - before.edges).abs().max() > 1e-3, what


@pytest.mark.parametrize(
    "name",
    [name for name, config in NETWORKS.items() if not config.domain_features],
)
@torch.no_grad()
def test_without_domain_features_pairs_and_sectors_have_no_say(name: str) -> None:
    network = _network(NETWORKS[name])
    layouts, other = scattered_layouts([12]), scattered_layouts([12], seed=5)
    # Dense enough for some antennas to carry several links.
    graphs, numbers = scattered_graphs(layouts, density=0.5), _numbers(layouts)
    before = network(layouts, graphs, numbers)
    after = network(layouts._replace(pair=other.pair, sector=other.sector), graphs, numbers)
    assert torch.equal(before.edges, after.edges)
    assert torch.equal(before.parity, after.parity)


# The denoiser


def _denoiser(config: ModelConfig) -> Denoiser:
    return perturbed(lambda: Denoiser(config))


@pytest.mark.parametrize("name", DENOISERS)
@torch.no_grad()
def test_flipping_every_parity_negates_its_logits_and_leaves_the_edges_exactly(name: str) -> None:
    # In single precision, as it runs: the symmetry is built in and not a matter of rounding.
    denoiser = _denoiser(DENOISERS[name])
    layouts = scattered_layouts([7, 16, 4])
    graphs, time = scattered_graphs(layouts), torch.tensor([0.9, 0.5, 0.1])
    one, other = denoiser(layouts, graphs, time), denoiser(layouts, flipped(graphs, layouts.mask), time)
    assert torch.equal(one.edges, other.edges)
    assert torch.equal(one.parity, -other.parity)


@pytest.mark.parametrize("name", DENOISERS)
@torch.no_grad()
def test_layouts_embedded_once_give_the_same_prediction_at_all_times(name: str) -> None:
    denoiser = _denoiser(DENOISERS[name])
    layouts = scattered_layouts([7, 16])
    embedded = denoiser.embed_layouts(layouts)
    predictions = []
    for k, moment in enumerate((1.0, 0.4, 0.0)):
        graphs, time = scattered_graphs(layouts, seed=k), torch.full((2,), moment)
        predictions.append(denoiser.predict(embedded, graphs, time))
        for one, other in zip(predictions[-1], denoiser(layouts, graphs, time), strict=True):
            assert torch.equal(one, other)
    again = denoiser.predict(embedded, scattered_graphs(layouts, seed=0), torch.full((2,), 0.4))
    assert not torch.equal(again.edges, predictions[0].edges)  # the time has a say


@torch.no_grad()
def test_a_denoiser_in_half_precision_predicts_in_single() -> None:
    layouts = scattered_layouts([7, 16])
    graphs = scattered_graphs(layouts)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        prediction = _denoiser(SMALL)(layouts, graphs, torch.tensor([0.3, 0.6]))
    assert prediction.edges.dtype == prediction.parity.dtype == torch.float32
    assert bool(torch.isfinite(prediction.edges).all()) and bool(torch.isfinite(prediction.parity).all())


# Its parts


def _plain_aggregate(
    query: Tensor, keys: Tensor, values: Tensor, there: list[bool], *, cosine: bool, softmax: bool
) -> list[list[float]]:
    """Z of one graph, token by token and node by node."""
    made = []
    for q in query.tolist():
        similarity = []
        for k in keys.tolist():
            scale = math.hypot(*q) * math.hypot(*k) if cosine else math.sqrt(len(k))
            similarity.append(sum(a * b for a, b in zip(q, k, strict=True)) / scale)
        weight = [math.exp(s) * seen if softmax else s * seen for s, seen in zip(similarity, there, strict=True)]
        whole = sum(weight) if softmax else 1.0
        rows = list(zip(weight, values.tolist(), strict=True))
        made.append([sum(w * row[d] for w, row in rows) / whole for d in range(values.shape[1])])
    return made


@pytest.mark.parametrize("modulation", ["acam", "cam"])
@pytest.mark.parametrize("similarity", ["cosine", "dot"])
def test_tokens_gather_what_the_equations_say(modulation: str, similarity: str) -> None:
    block = TokenModulation(_small(modulation=modulation, similarity=similarity))
    generator = torch.Generator().manual_seed(3)
    query, keys, values = (torch.randn(2, m, 8, generator=generator) for m in (5, 9, 9))
    mask = mask_of([9, 6])
    made = block._aggregate(query, keys, values, mask)
    for row in range(2):
        expected = _plain_aggregate(
            query[row],
            keys[row],
            values[row],
            mask[row].tolist(),
            cosine=similarity == "cosine",
            softmax=modulation == "cam",
        )
        assert np.allclose(made[row], expected, atol=1e-4)


@pytest.mark.parametrize("similarity", ["cosine", "dot"])
def test_absolute_tokens_count_where_softmax_tokens_do_not(similarity: str) -> None:
    generator = torch.Generator().manual_seed(4)
    query, keys, values = (torch.randn(2, m, 8, generator=generator) for m in (5, 9, 9))
    mask = mask_of([9, 6])
    for modulation, factor in (("acam", 2.0), ("cam", 1.0)):
        block = TokenModulation(_small(modulation=modulation, similarity=similarity))
        once = block._aggregate(query, keys, values, mask)
        doubled = block._aggregate(query, keys.repeat(1, 2, 1), values.repeat(1, 2, 1), mask.repeat(1, 2))
        assert torch.allclose(doubled, factor * once, rtol=1e-4, atol=1e-5)


@torch.no_grad()
def test_tokens_are_updated_pooled_and_modulate_as_the_paper_says() -> None:
    block = perturbed(lambda: TokenModulation(_small()))
    generator = torch.Generator().manual_seed(5)
    tokens, nodes = (torch.randn(2, m, 8, generator=generator) for m in (5, 9))
    edges = torch.randn(2, 9, 9, 8, generator=generator)
    layouts = scattered_layouts([9, 6])
    new, new_nodes, new_edges = block(tokens, nodes, edges, layouts.mask, layouts.pair_mask)
    keys, values = block.read_nodes(nodes)
    read = block._aggregate(block.query(tokens), keys, values, layouts.mask)
    assert torch.allclose(new, tokens + block.update(read), atol=1e-5)
    pooled = sum(block.pool[c] * new[:, c] for c in range(5))
    affine = block.film.affine(pooled)
    node_scale, node_shift, edge_scale, edge_shift = affine.split(8, dim=-1)
    assert torch.allclose(new_nodes, nodes * (1 + node_scale[:, None]) + node_shift[:, None], atol=1e-4)
    expected = edges * (1 + edge_scale[:, None, None]) + edge_shift[:, None, None]
    assert torch.allclose(new_edges, expected, atol=1e-4)


def test_a_fresh_film_is_the_identity() -> None:
    generator = torch.Generator().manual_seed(6)
    context, nodes, edges = (torch.randn(shape, generator=generator) for shape in ((2, 4), (2, 9, 8), (2, 9, 9, 8)))
    unchanged = Film(4, 8)(context, nodes, edges)
    assert torch.equal(unchanged[0], nodes) and torch.equal(unchanged[1], edges)


@torch.no_grad()
def test_nodes_gather_by_the_attention_that_edges_steer() -> None:
    """The block's equations, node by node and channel by channel."""
    n, width = 5, 4
    block = perturbed(lambda: GraphTransformerBlock(width).double())
    generator = torch.Generator().manual_seed(7)
    nodes = torch.randn(1, n, width, dtype=torch.float64, generator=generator)
    edges = torch.randn(1, n, n, width, dtype=torch.float64, generator=generator)
    there = [True, True, True, True, False]
    pair_mask = torch.tensor([[[there[i] and there[j] and i != j for j in range(n)] for i in range(n)]])
    new_nodes, new_edges = block(nodes, edges, pair_mask)
    query, key, value = block.from_nodes(block.norm_nodes(nodes))[0].split(width, dim=-1)
    scale, shift, carried = block.from_edges(block.norm_edges(edges))[0].split(width, dim=-1)
    score = torch.zeros(n, n, width, dtype=torch.float64)
    for i in range(n):
        for j in range(n):
            score[i, j] = query[i] * key[j] * (1 + scale[i, j]) + shift[i, j]
    for i in range(4):
        others = [j for j in range(4) if j != i]
        whole = torch.stack([score[i, j].exp() for j in others]).sum(0)
        message = torch.stack([score[i, j].exp() / whole * (value[j] + carried[i, j]) for j in others]).sum(0)
        gathered = nodes[0, i] + block.to_nodes(message)
        assert torch.allclose(new_nodes[0, i], gathered + block.think_nodes(gathered))
        for j in others:
            along, against = block.to_edges(score[i, j])[:width], block.to_edges(score[j, i])[width:]
            followed = edges[0, i, j] + along + against
            assert torch.allclose(new_edges[0, i, j], followed + block.think_edges(followed))


@torch.no_grad()
def test_parity_is_a_vote_of_the_noisy_parities_of_all_nodes() -> None:
    readout = perturbed(lambda: Readout(4).double())
    generator = torch.Generator().manual_seed(8)
    nodes, edges = (torch.randn(1, *shape, 4, dtype=torch.float64, generator=generator) for shape in ((6,), (6, 6)))
    spin = torch.tensor([[1.0, -1.0, -1.0, 1.0, -1.0, -1.0]], dtype=torch.float64)
    mask = mask_of([5], 6)
    pair_mask = mask[:, :, None] & mask[:, None, :] & ~torch.eye(6, dtype=torch.bool)
    made = readout(nodes, edges, spin, mask, pair_mask).parity[0]
    own = readout.own_vote(readout.norm_nodes(nodes))[0, :, 0].tolist()
    votes = readout.votes(readout.norm_edges(edges))[0, :, :, 0].tolist()
    signs = spin[0].tolist()
    expected = [own[i] * signs[i] + sum(votes[i][j] * signs[j] for j in range(5) if j != i) for i in range(5)]
    assert np.allclose(made, [*expected, 0.0], atol=1e-5)


@torch.no_grad()
def test_an_edge_is_told_what_else_is_on_its_antennas_and_not_itself() -> None:
    embed_layouts = perturbed(lambda: LayoutEmbedding(SMALL))
    embed_graph = perturbed(lambda: GraphEmbedding(SMALL))
    embed_graph.edges.weight[:, :3] = 0  # what it is told of the edge itself
    layouts = scattered_layouts([4])
    # The antenna of node 0 that looks at node 1 sees node 2 as well, and another one looks at node 3.
    layouts.sector[0, 0] = torch.tensor([0, 1, 1, 3])
    layout = embed_layouts(layouts)

    def embedded(*links: tuple[int, int]) -> Tensor:
        graph = Graphs(torch.zeros(1, 4, 4), torch.zeros(1, 4))
        for i, j in links:
            graph.edges[0, i, j] = graph.edges[0, j, i] = 1
        edges: Tensor = embed_graph(layout, read_noisy(layout, graph))[1]
        return edges[0, 0, 1]

    assert torch.allclose(embedded(), embedded((0, 1)))
    assert torch.allclose(embedded(), embedded((0, 3)))
    assert not torch.allclose(embedded(), embedded((0, 2)), atol=1e-3)


def test_occupation_and_opposite_parities_are_counted_link_by_link() -> None:
    layouts = scattered_layouts([7, 10])
    graphs = scattered_graphs(layouts, density=0.5)
    noisy = read_noisy(LayoutEmbedding(SMALL)(layouts), graphs)
    occupation = np.zeros((2, 10, 4))
    opposite = np.zeros((2, 10, 10))
    for row, n in enumerate((7, 10)):
        for i in range(n):
            for j in range(n):
                if graphs.edges[row, i, j]:
                    occupation[row, i, int(layouts.sector[row, i, j])] += 1
                opposite[row, i, j] = float(graphs.parity[row, i] != graphs.parity[row, j])
    assert occupation.max() > 1
    assert np.array_equal(noisy.occupation.numpy(), occupation)
    assert np.array_equal(noisy.opposite.numpy(), opposite)


def test_statistics_of_a_graph_are_counted_node_by_node() -> None:
    sizes = (7, 10)
    layouts = scattered_layouts(sizes)
    graphs = scattered_graphs(layouts, density=0.4)
    noisy = read_noisy(LayoutEmbedding(SMALL)(layouts), graphs)
    made = graph_statistics(noisy.edges, noisy.opposite, noisy.occupation, layouts.mask)
    for row, n in enumerate(sizes):
        links = [(i, j) for i in range(n) for j in range(i) if graphs.edges[row, i, j]]
        degree = [sum(i in link for link in links) for i in range(n)]
        load: dict[tuple[int, int], int] = {}
        for i, j in links:
            for here, there in ((i, j), (j, i)):
                antenna = here, int(layouts.sector[row, here, there])
                load[antenna] = load.get(antenna, 0) + 1
        mean = sum(degree) / n
        expected = [
            n / 32,
            mean,
            sum((d - mean) ** 2 for d in degree) / n,
            sum(bool(graphs.parity[row, i] != graphs.parity[row, j]) for i, j in links) / len(links),
            sum(count > 1 for count in load.values()) / n,
        ]
        assert np.allclose(made[row], expected, atol=1e-6)


def test_a_graph_without_links_has_statistics() -> None:
    layouts = scattered_layouts([5])
    empty = Graphs(torch.zeros(1, 5, 5), torch.zeros(1, 5))
    noisy = read_noisy(LayoutEmbedding(SMALL)(layouts), empty)
    made = graph_statistics(noisy.edges, noisy.opposite, noisy.occupation, layouts.mask)
    assert made.tolist() == [[5 / 32, 0, 0, 0, 0]]


def test_antennas_are_one_hot() -> None:
    sector = torch.tensor([[0, 2], [3, 1]], dtype=torch.uint8)
    assert antennas(sector, 4).int().tolist() == [[[1, 0, 0, 0], [0, 0, 1, 0]], [[0, 0, 0, 1], [0, 1, 0, 0]]]


# The variational baselines


@pytest.mark.parametrize("kind", ["graph-vae", "gt-vae"])
@torch.no_grad()
def test_latents_are_drawn_from_the_encoders_distribution_and_decoded_on_the_layout(kind: str) -> None:
    vae = perturbed(lambda: GraphVAE(_small(kind=kind)))
    layouts, other = scattered_layouts([7, 10]), scattered_layouts([7, 10], seed=5)
    normal = _numbers(layouts).float()
    prediction, latents = vae(layouts, scattered_graphs(layouts), normal)
    drawn = latents.mean + normal * torch.sqrt(torch.exp(latents.log_variance))
    decoded = vae.decode(vae.embed_layouts(layouts), drawn)
    assert _close(prediction.edges, decoded.edges) and _close(prediction.parity, decoded.parity)
    # The decoder reads the layout itself: nodes, and pairs.
    for changed in (layouts._replace(node=other.node), layouts._replace(pair=other.pair)):
        assert (vae.decode(vae.embed_layouts(changed), drawn).edges - decoded.edges).abs().max() > 1e-3


# Settings


@pytest.mark.parametrize("name", NETWORKS)
def test_settings_survive_their_dictionary(name: str) -> None:
    assert ModelConfig.from_dict(NETWORKS[name].to_dict()) == NETWORKS[name]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("kind", "oracle"),
        ("modulation", "film"),
        ("similarity", "euclid"),
        ("reads", "edges"),
        ("width", 0),
        ("blocks", -1),
        ("tokens", 2.0),
        ("sectors", True),
        ("latent", "8"),
        ("domain_features", 1),
    ],
)
def test_bad_settings_are_refused_by_name(name: str, value: object) -> None:
    with pytest.raises(ModelError, match=name):
        ModelConfig.from_dict({name: value})


def test_unknown_settings_are_named_and_missing_ones_take_their_default() -> None:
    with pytest.raises(ModelError, match="'colour'"):
        ModelConfig.from_dict({"colour": 1})
    assert ModelConfig.from_dict({"tokens": 3}) == ModelConfig(tokens=3)
