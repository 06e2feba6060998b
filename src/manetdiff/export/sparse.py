"""The sparse denoiser arranged for ONNX Runtime on one core: the same function of the same weights, on b graphs of one
layout.

Arcs and nodes of all graphs are rows of one matrix, so that every linear map is one matrix product with its bias; a
residual is what a product is added to. What belongs together is gathered side by side and summed by a product with the
row that says which of it is there. Passes over the arcs cost as much as products: what can be done once for an antenna
or a node, or by other weights, is.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor, nn

from manetdiff.model.acam import TokenReading
from manetdiff.model.arc_tensors import ArcPrediction
from manetdiff.model.config import ModelConfig
from manetdiff.model.sparse_block import CHANNELS, HEADS, NO_WEIGHT, STEEPEST, SparseBlock
from manetdiff.model.sparse_denoiser import SparseDenoiser


def has_sparse_form(config: ModelConfig) -> bool:
    """Whether a sparse denoiser can be arranged like this."""
    return config.modulation == "acam" and config.similarity == "cosine"


class Rows(NamedTuple):
    """How the rows of b graphs on one layout belong together, graph after graph; by the names of `layout.Arcs`.

    - owner, reverse, antenna: (b p,) of arcs; node_of_antenna: (b a,) the owner of each antenna's arcs.
    - arcs_of_node, arcs_of_antenna: (b n k,), (b a s,) members side by side; node_there, antenna_there: (b n, 1, k) and
      (b a, 1, s), which of them are members.
    - turns: (b p, 2 · channels) cosines, then sines, one for each channel of a block.
    """

    owner: Tensor
    reverse: Tensor
    antenna: Tensor
    node_of_antenna: Tensor
    arcs_of_node: Tensor
    node_there: Tensor
    arcs_of_antenna: Tensor
    antenna_there: Tensor
    turns: Tensor


class Indices(NamedTuple):
    """How the arcs of a layout belong together, by the names of `layout.Arcs`."""

    owner: Tensor
    reverse: Tensor
    antenna: Tensor
    link: Tensor
    forward: Tensor
    arcs_of_node: Tensor
    node_there: Tensor
    arcs_of_antenna: Tensor
    antenna_there: Tensor
    bearings: Tensor

    def rows(self, b: int) -> Rows:
        """Of b graphs."""
        arcs, nodes, antennas = (part.shape[0] for part in (self.owner, self.arcs_of_node, self.arcs_of_antenna))
        # By a product, which is faster than to repeat single numbers.
        turns = self.bearings @ torch.eye(self.bearings.shape[1]).repeat_interleave(CHANNELS, dim=1)
        node_of_antenna = torch.index_select(self.owner, 0, self.arcs_of_antenna[:, 0])
        return Rows(
            owner=_in_all(self.owner, nodes, b),
            reverse=_in_all(self.reverse, arcs, b),
            antenna=_in_all(self.antenna, antennas, b),
            node_of_antenna=_in_all(node_of_antenna, nodes, b),
            arcs_of_node=_in_all(self.arcs_of_node.reshape(-1), arcs, b),
            node_there=_repeated(self.node_there, b)[:, None],
            arcs_of_antenna=_in_all(self.arcs_of_antenna.reshape(-1), arcs, b),
            antenna_there=_repeated(self.antenna_there, b)[:, None],
            turns=_repeated(turns, b),
        )


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
        arcs, nodes = self.denoiser.embed_arcs(features, indices.reverse), None
        rows = indices.rows(1)
        for block in self.encoder:
            if nodes is None:
                nodes = self.denoiser.any_node.expand(indices.arcs_of_node.shape[0], -1)
            nodes, arcs = block(nodes, arcs, rows)
            arcs = arcs + block.narrow.bias  # type: ignore[union-attr]
        return arcs, nodes

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
        d = embedded.shape[1]
        rows = indices.rows(b)
        spin = 2 * parity - 1
        own_spin = torch.index_select(spin, 1, indices.owner)
        peers = torch.index_select(own_spin, 1, indices.reverse)
        nodes, arcs = self._read(embedded, indices, rows, links, own_spin * peers)
        if embedded_nodes is not None:
            nodes = nodes + _repeated(embedded_nodes, b)
        tokens = self.denoiser.tokens.expand(b, -1, -1)
        asked, lacking = films[0][None], torch.zeros(d)
        for layer, block in enumerate(self.blocks):
            nodes, arcs = _modulated(asked, nodes, arcs, lacking, b)
            nodes, arcs = block(nodes, arcs, rows)
            lacking = block.narrow.bias  # type: ignore[union-attr, assignment]
            tokens, context = self.readings[layer](tokens, nodes)
            asked = films[layer + 1][None] + self.denoiser.token_films[layer](context)
        nodes, arcs = _modulated(asked, nodes, arcs, lacking, b)
        readout = self.denoiser.readout
        arcs = readout.norm_arcs(arcs)
        forward = _in_all(indices.forward, indices.owner.shape[0], b)
        both = torch.index_select(arcs, 0, forward)
        both = both + torch.index_select(arcs, 0, torch.index_select(rows.reverse, 0, forward))
        votes = readout.votes(arcs) * peers.reshape(-1, 1)
        own = readout.own_vote(readout.norm_nodes(nodes)).reshape(b, n)
        voted = _sums(votes, rows.arcs_of_node, rows.node_there).reshape(b, n)
        return ArcPrediction(readout.links(both).reshape(b, -1), own * spin + voted)

    def _read(
        self, embedded: Tensor, indices: Indices, rows: Rows, links: Tensor, alike: Tensor
    ) -> tuple[Tensor, Tensor]:
        """See `read_links` in model/sparse_denoiser.py. alike: (b, p) 1 where both ends have one parity, else -1."""
        b = links.shape[0]
        opposite = (0.5 - 0.5 * alike).reshape(-1, 1)
        linked = torch.index_select(links, 1, indices.link).reshape(-1, 1)
        occupied = _sums(linked, rows.arcs_of_antenna, rows.antenna_there)
        others = torch.index_select(occupied, 0, rows.antenna) - linked
        there = torch.index_select(others, 0, rows.reverse)
        of_arc = torch.cat([linked, opposite, linked * opposite, others, there], dim=1)
        read = self.denoiser.read_links
        known = torch.addmm(_repeated(embedded + read.bias, b), of_arc, read.weight.t())
        shared = torch.cat([linked, linked * others], dim=1)
        of_node = _sums(shared, rows.arcs_of_node, rows.node_there)
        return self.denoiser.embed_nodes(of_node), self.denoiser.mix_arcs(known)


class _Block(nn.Module):
    """A block; its arcs come out without their last bias, `narrow.bias`: that spares a pass over all of them.

    What an arc is told of its antenna and around its node is a sum over all arcs there less its own part. That part is
    linear in the arc, since cos² + sin² = 1, and so is in the weights of `own` and `told` here; all biases are in those
    of the nodes, which are spread together with the sums of antennas.
    """

    def __init__(self, block: SparseBlock) -> None:
        super().__init__()
        self.block = block
        own, self.load, told = (_part(block.from_arcs, part, 3) for part in range(3))
        self.node_own, self.node_told = (_part(block.from_nodes, part, 2) for part in range(2))
        around, gates, tell = block.around.weight.detach(), block.gates, block.tell.detach()
        self.gates = nn.Linear(gates.in_features, 2 * gates.out_features)
        self.gates.weight.data, self.gates.bias.data = gates.weight.repeat(2, 1), gates.bias.repeat(2)
        part = self.load.weight + around @ gates.weight
        lacking = self.load.bias + around @ gates.bias
        self.own, self.told = own.weight - part, told.weight - tell[:, None] * part
        self.node_own.bias.data += own.bias - lacking
        self.node_told.bias.data += told.bias - tell * lacking
        # The same weights for cosines and sines: their sum is left to the product.
        self.around = torch.cat([around, around], dim=1)
        self.told_around = tell[:, None] * self.around
        norm, widen, activate, narrow = block.feed_forward_arcs
        assert isinstance(narrow, nn.Linear)
        self.widened, self.narrow = nn.Sequential(norm, widen, activate), narrow
        width = narrow.out_features
        # From a number for each head to one for each channel.
        self.each = torch.eye(HEADS).repeat_interleave(width // HEADS, dim=1)

    def forward(self, nodes: Tensor, arcs: Tensor, rows: Rows) -> tuple[Tensor, Tensor]:
        block = self.block
        seen = block.norm_arcs(arcs)
        on_antenna = _sums(self.load(seen), rows.arcs_of_antenna, rows.antenna_there)
        of_node = _sums(self.gates(seen) * rows.turns, rows.arcs_of_node, rows.node_there)
        around = torch.index_select(of_node, 0, rows.owner) * rows.turns
        known = block.norm_nodes(nodes)
        own = on_antenna + torch.index_select(self.node_own(known), 0, rows.node_of_antenna)
        told = block.tell * on_antenna + torch.index_select(self.node_told(known), 0, rows.node_of_antenna)
        own = torch.addmm(torch.index_select(own, 0, rows.antenna), seen, self.own.t())
        told = torch.addmm(torch.index_select(told, 0, rows.antenna), seen, self.told.t())
        own = torch.addmm(own, around, self.around.t())
        told = torch.addmm(told, around, self.told_around.t())
        mixed = torch.relu(own + torch.index_select(told, 0, rows.reverse))
        arcs = torch.addmm(arcs + block.to_arcs.bias, mixed, block.to_arcs.weight.t())
        arcs = torch.addmm(arcs, self.widened(arcs), self.narrow.weight.t())
        weight = torch.exp(block.to_scores(mixed).clamp(max=STEEPEST))
        weighed = block.to_values(mixed) * (weight @ self.each)
        message = _sums(weighed, rows.arcs_of_node, rows.node_there)
        total = _sums(weight, rows.arcs_of_node, rows.node_there).clamp(min=NO_WEIGHT)
        nodes = nodes + block.to_nodes(message / (total @ self.each))
        return nodes + block.feed_forward_nodes(nodes), arcs


class _Tokens(nn.Module):
    """The tokens' reading of the nodes."""

    def __init__(self, reading: TokenReading) -> None:
        super().__init__()
        self.reading = reading

    def forward(self, tokens: Tensor, nodes: Tensor) -> tuple[Tensor, Tensor]:
        """nodes: (b n, d)."""
        b, count, d = tokens.shape
        reading = self.reading
        query = _normalised(reading.query(tokens))
        keys, values = reading.read_nodes(nodes)
        keys, values = _normalised(keys).reshape(b, -1, d), values.reshape(b, -1, d)
        read = (query @ keys.transpose(1, 2)) @ values / keys.shape[1]
        tokens = tokens + reading.update(read.reshape(-1, d)).reshape(b, count, d)
        return tokens, (reading.pool @ tokens).reshape(b, d)


def _part(linear: nn.Linear, part: int, parts: int) -> nn.Linear:
    """A part of a linear map's outputs: a product of its own is faster than what splits a joint one."""
    whole = nn.Linear(linear.in_features, linear.out_features // parts)
    whole.weight.data = linear.weight.detach().chunk(parts)[part].clone()
    whole.bias.data = linear.bias.detach().chunk(parts)[part].clone()
    return whole


def _normalised(rows: Tensor) -> Tensor:
    """As torch.nn.functional.normalize, but that the lengths are not spread before they divide."""
    length: Tensor = torch.linalg.vector_norm(rows, dim=-1, keepdim=True)
    return rows / length.clamp(min=1e-12)


def _sums(rows: Tensor, members: Tensor, there: Tensor) -> Tensor:
    """(r, w): sums of rows (q, w) over the members (r s,) of groups that are there, (r, 1, s)."""
    width, (groups, _, room) = rows.shape[1], there.shape
    side_by_side = torch.index_select(rows, 0, members).reshape(groups, room, width)
    return torch.bmm(there, side_by_side).reshape(groups, width)


def _repeated(rows: Tensor, b: int) -> Tensor:
    """(b r, w): rows (r, w) for each of b graphs."""
    return rows[None].expand(b, -1, -1).reshape(-1, rows.shape[1])


def _in_all(index: Tensor, rows: int, b: int) -> Tensor:
    """(b r,): indices (r,) into so many rows, for each of b graphs."""
    return (torch.arange(b)[:, None] * rows + index).reshape(-1)


def _modulated(asked: Tensor, nodes: Tensor, arcs: Tensor, lacking: Tensor, b: int) -> tuple[Tensor, Tensor]:
    """FiLM; asked: (b, 4 d), of which the scales are whole ones. lacking: (d,) bias that the arcs still lack, which
    becomes a part of the shift: (x + c) f + g = x f + (c f + g)."""
    d = nodes.shape[1]
    scale, shift, arc_scale, arc_shift = asked[:, None].chunk(4, dim=-1)
    of_nodes = nodes.reshape(b, -1, d) * scale + shift
    of_arcs = arcs.reshape(b, -1, d) * arc_scale + (arc_shift + lacking * arc_scale)
    return of_nodes.reshape(-1, d), of_arcs.reshape(-1, d)
