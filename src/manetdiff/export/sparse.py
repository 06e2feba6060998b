"""The sparse denoiser arranged for ONNX Runtime on one core: the same function of the same weights, on b graphs of one
layout.

Arcs and nodes of all graphs are rows of one matrix, so that every linear map is one matrix product with its bias; a
residual is what a product is added to. What belongs together is gathered side by side and summed by a product with the
row that says which of it is there.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional

from manetdiff.model.acam import TokenReading
from manetdiff.model.arc_tensors import ArcPrediction
from manetdiff.model.config import ModelConfig
from manetdiff.model.sparse_block import CHANNELS, HEADS, NO_WEIGHT, STEEPEST, SparseBlock
from manetdiff.model.sparse_denoiser import SparseDenoiser


def has_sparse_form(config: ModelConfig) -> bool:
    """Whether a sparse denoiser can be arranged like this."""
    return config.modulation == "acam" and config.similarity == "cosine"


class Indices(NamedTuple):
    """How the arcs of a layout belong together, by the names of `layout.Arcs`; turns: (p, 2 · channels) cosines, then
    sines, one for each channel of a block."""

    owner: Tensor
    reverse: Tensor
    antenna: Tensor
    link: Tensor
    forward: Tensor
    arcs_of_node: Tensor
    node_there: Tensor
    arcs_of_antenna: Tensor
    antenna_there: Tensor
    turns: Tensor


class SparseForm(nn.Module):
    """A sparse denoiser on b graphs of one layout."""

    def __init__(self, denoiser: SparseDenoiser) -> None:
        super().__init__()
        assert has_sparse_form(denoiser.config)
        self.denoiser = denoiser
        self.encoder = nn.ModuleList(_Block(block) for block in denoiser.encoder)  # type: ignore[arg-type]
        self.blocks = nn.ModuleList(_Block(block) for block in denoiser.blocks)  # type: ignore[arg-type]
        self.readings = nn.ModuleList(_Tokens(reading) for reading in denoiser.readings)  # type: ignore[arg-type]

    def embed(self, features: Tensor, indices: Indices) -> tuple[Tensor, Tensor | None]:
        """What the layout alone says of its arcs, (p, d), and, by an encoder, of its nodes, (n, d)."""
        arcs, nodes = self.denoiser.embed_arcs(features, indices.reverse)[None], None
        indices = _repeated(indices, 1)
        for block in self.encoder:
            if nodes is None:
                nodes = self.denoiser.any_node.expand(1, indices.arcs_of_node.shape[0], -1)
            nodes, arcs = block(nodes, arcs, indices)
            arcs = arcs + block.narrow.bias  # type: ignore[union-attr]
        return arcs[0], None if nodes is None else nodes[0]

    def time_condition(self, time: Tensor) -> Tensor:
        """(k, blocks + 1, 4 d): 1 + scale and shift of nodes, 1 + scale and shift of arcs, for each time and block."""
        moment = self.denoiser.embed_time(time)
        asked = torch.stack([film(moment) for film in self.denoiser.films], dim=1)
        scale, shift, arc_scale, arc_shift = asked.chunk(4, dim=-1)
        return torch.cat([1 + scale, shift, 1 + arc_scale, arc_shift], dim=-1)

    def forward(
        self,
        embedded: Tensor,
        indices: Indices,
        links: Tensor,
        parity: Tensor,
        films: Tensor,
        embedded_nodes: Tensor | None = None,
    ) -> ArcPrediction:
        """embedded: (p, d) and (n, d), see `embed`; links: (b, c), parity: (b, n) of noisy graphs; films:
        (blocks + 1, 4 d), of the time."""
        b, n = parity.shape
        p, d = embedded.shape
        indices = _repeated(indices, b)
        spin = 2 * parity - 1
        nodes, arcs = self._read(embedded, indices, links, spin)
        if embedded_nodes is not None:
            nodes = nodes + embedded_nodes
        tokens = self.denoiser.tokens.expand(b, -1, -1)
        asked, lacking = films[0][None], torch.zeros(d)
        for layer, block in enumerate(self.blocks):
            nodes, arcs = _modulated(asked, nodes, arcs, lacking)
            nodes, arcs = block(nodes, arcs, indices)
            lacking = block.narrow.bias  # type: ignore[union-attr, assignment]
            tokens, context = self.readings[layer](tokens, nodes)
            asked = films[layer + 1][None] + self.denoiser.token_films[layer](context)
        nodes, arcs = _modulated(asked, nodes, arcs, lacking)
        readout = self.denoiser.readout
        arcs = readout.norm_arcs(arcs)
        ends = torch.cat([indices.forward, torch.index_select(indices.reverse, 0, indices.forward)])
        both = torch.index_select(arcs, 1, ends).reshape(b, 2, -1, d)
        rows = (both[:, 0] + both[:, 1]).reshape(-1, d)
        logits = readout.links(rows).reshape(b, -1)
        peers = torch.index_select(torch.index_select(spin, 1, indices.owner), 1, indices.reverse)
        votes = readout.votes(arcs.reshape(b * p, d)).reshape(b, p) * peers
        own = readout.own_vote(readout.norm_nodes(nodes.reshape(b * n, d))).reshape(b, n)
        voted = _sums(votes[..., None], indices.arcs_of_node, indices.node_there)[..., 0]
        return ArcPrediction(logits, own * spin + voted)

    def _read(self, embedded: Tensor, indices: Indices, links: Tensor, spin: Tensor) -> tuple[Tensor, Tensor]:
        b, n = spin.shape
        p, d = embedded.shape
        own_spin = torch.index_select(spin, 1, indices.owner)
        opposite = 0.5 - 0.5 * own_spin * torch.index_select(own_spin, 1, indices.reverse)
        linked = torch.index_select(links, 1, indices.link)
        occupied = _sums(linked[..., None], indices.arcs_of_antenna, indices.antenna_there)[..., 0]
        others = torch.index_select(occupied, 1, indices.antenna) - linked
        there = torch.index_select(others, 1, indices.reverse)
        of_arc = torch.stack([linked, opposite, linked * opposite, others, there], dim=-1)
        read = self.denoiser.read_links(of_arc.reshape(b * p, -1)).reshape(b, p, d)
        arcs = self.denoiser.mix_arcs((read + embedded).reshape(b * p, d)).reshape(b, p, d)
        shared = torch.stack([linked, linked * others], dim=-1)
        of_node = _sums(shared, indices.arcs_of_node, indices.node_there)
        return self.denoiser.embed_nodes(of_node.reshape(b * n, -1)).reshape(b, n, d), arcs


class _Block(nn.Module):
    """A block; its arcs come out without their last bias, `narrow.bias`: that spares a pass over all of them."""

    def __init__(self, block: SparseBlock) -> None:
        super().__init__()
        self.block = block
        self.own, self.load, self.told = (_part(block.from_arcs, part, 3) for part in range(3))
        self.node_own, self.node_told = (_part(block.from_nodes, part, 2) for part in range(2))
        norm, widen, activate, narrow = block.feed_forward_arcs
        assert isinstance(narrow, nn.Linear)
        self.widened, self.narrow = nn.Sequential(norm, widen, activate), narrow

    def forward(self, nodes: Tensor, arcs: Tensor, indices: Indices) -> tuple[Tensor, Tensor]:
        b, p, d = arcs.shape
        n = nodes.shape[1]
        block = self.block
        seen = block.norm_arcs(arcs).reshape(b * p, d)
        load = self.load(seen).reshape(b, p, d)
        gates = block.gates(seen).reshape(b, p, -1)
        beside = _beside(load, indices.arcs_of_antenna, indices.antenna_there, indices.antenna)
        sent = torch.cat([gates, gates], dim=-1) * indices.turns
        around = _beside(sent, indices.arcs_of_node, indices.node_there, indices.owner) * indices.turns
        # The same weights for cosines and sines: their sum is left to the product.
        both = torch.cat([block.around.weight, block.around.weight], dim=1)
        beside = torch.addmm(beside.reshape(b * p, d), around.reshape(b * p, -1), both.t())
        known = block.norm_nodes(nodes).reshape(b * n, d)
        node_own, node_told = (
            torch.index_select(part(known).reshape(b, n, d), 1, indices.owner)
            for part in (self.node_own, self.node_told)
        )
        own = (self.own(seen) + beside).reshape(b, p, d) + node_own
        told = (self.told(seen) + block.tell * beside).reshape(b, p, d) + node_told
        mixed = torch.relu(own + torch.index_select(told, 1, indices.reverse)).reshape(b * p, d)
        arcs = torch.addmm(arcs.reshape(b * p, d) + block.to_arcs.bias, mixed, block.to_arcs.weight.t())
        arcs = torch.addmm(arcs, self.widened(arcs), self.narrow.weight.t()).reshape(b, p, d)
        weight = torch.exp(block.to_scores(mixed).clamp(max=STEEPEST))
        weighed = (block.to_values(mixed).reshape(b * p, HEADS, -1) * weight[..., None]).reshape(b, p, d)
        message = _sums(weighed, indices.arcs_of_node, indices.node_there)
        total = _sums(weight.reshape(b, p, HEADS), indices.arcs_of_node, indices.node_there)
        shares = message.reshape(b * n, HEADS, -1) / total.reshape(b * n, HEADS, 1).clamp(min=NO_WEIGHT)
        rows = nodes.reshape(b * n, d) + block.to_nodes(shares.reshape(b * n, d))
        rows = rows + block.feed_forward_nodes(rows)
        return rows.reshape(b, n, d), arcs


class _Tokens(nn.Module):
    """The tokens' reading of the nodes."""

    def __init__(self, reading: TokenReading) -> None:
        super().__init__()
        self.reading = reading

    def forward(self, tokens: Tensor, nodes: Tensor) -> tuple[Tensor, Tensor]:
        b, n, d = nodes.shape
        reading = self.reading
        query = functional.normalize(reading.query(tokens), dim=-1)
        keys, values = reading.read_nodes(nodes.reshape(b * n, d))
        keys = functional.normalize(keys, dim=-1).reshape(b, n, d)
        read = (query @ keys.transpose(1, 2)) @ values.reshape(b, n, d) / n
        tokens = tokens + reading.update(read)
        return tokens, (tokens * reading.pool[:, None]).sum(1)


def _part(linear: nn.Linear, part: int, parts: int) -> nn.Linear:
    """A part of a linear map's outputs: a product of its own is faster than what splits a joint one."""
    whole = nn.Linear(linear.in_features, linear.out_features // parts)
    whole.weight.data = linear.weight.detach().chunk(parts)[part].clone()
    whole.bias.data = linear.bias.detach().chunk(parts)[part].clone()
    return whole


def _sums(rows: Tensor, members: Tensor, there: Tensor) -> Tensor:
    """(b, r, w): sums of rows (b, p, w) over the members (r, s) of groups that are there, (b · r, 1, s)."""
    b, _, width = rows.shape
    groups, room = members.shape
    side_by_side = torch.index_select(rows, 1, members.reshape(-1)).reshape(b * groups, room, width)
    return torch.bmm(there, side_by_side).reshape(b, groups, width)


def _repeated(indices: Indices, b: int) -> Indices:
    """What is there of each group, as a row for each of b graphs: a product that repeats it itself would copy all."""
    node_there, antenna_there = (
        there[None].expand(b, -1, -1).reshape(-1, 1, there.shape[1])
        for there in (indices.node_there, indices.antenna_there)
    )
    return indices._replace(node_there=node_there, antenna_there=antenna_there)


def _beside(rows: Tensor, members: Tensor, there: Tensor, of: Tensor) -> Tensor:
    """(b, p, w): for each row the sum over the others of its group."""
    return torch.index_select(_sums(rows, members, there), 1, of) - rows


def _modulated(asked: Tensor, nodes: Tensor, arcs: Tensor, lacking: Tensor) -> tuple[Tensor, Tensor]:
    """FiLM; asked: (b, 4 d), of which the scales are whole ones. lacking: (d,) bias that the arcs still lack, which
    becomes a part of the shift: (x + c) f + g = x f + (c f + g)."""
    scale, shift, arc_scale, arc_shift = asked[:, None].chunk(4, dim=-1)
    return nodes * scale + shift, arcs * arc_scale + (arc_shift + lacking * arc_scale)


def indices_of(
    owner: Tensor,
    reverse: Tensor,
    antenna: Tensor,
    link: Tensor,
    forward: Tensor,
    arcs_of_node: Tensor,
    node_there: Tensor,
    arcs_of_antenna: Tensor,
    antenna_there: Tensor,
    bearings: Tensor,
) -> Indices:
    """As the contract names them."""
    turns = bearings[:, :, None].expand(-1, -1, CHANNELS).reshape(bearings.shape[0], -1)
    return Indices(
        owner, reverse, antenna, link, forward, arcs_of_node, node_there, arcs_of_antenna, antenna_there, turns
    )
