"""A batch of layouts of any sizes packed on the device: from long rows, and the numbers of layouts in them, to tensors
of one fixed shape, so that what is done with them can be captured."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

from manetdiff.layout import HARMONICS
from manetdiff.model.arc_tensors import ArcLayouts, groups_of
from manetdiff.model.groups import Groups

# What the rows hold, in the order of `ArcTensorRows.begins`.
ARCS, NODES, LINKS, ANTENNAS = range(4)


class Room(NamedTuple):
    """What a batch has room for, the last of each kind for what fills it up; longest: most arcs of a node, arcs of an
    antenna and nodes of a graph."""

    arcs: int
    nodes: int
    links: int
    antennas: int
    graphs: int
    longest: tuple[int, int, int]


class ArcTensorRows(NamedTuple):
    """Layouts one after the other, each numbered from 0 within itself; see `layout.arc_rows`.

    - Of arcs: features; bearing; owner, reverse, antenna, link, int32. Of links: forward, int32. Of nodes and of
      antennas: arcs_of_node, arcs_of_antenna, their number.
    - begins: (4, g + 1) where the arcs, nodes, links and antennas of each layout begin.
    """

    features: Tensor
    bearing: Tensor
    owner: Tensor
    reverse: Tensor
    antenna: Tensor
    link: Tensor
    forward: Tensor
    arcs_of_node: Tensor
    arcs_of_antenna: Tensor
    begins: Tensor


class Places(NamedTuple):
    """Of each place in a batch: whether it is in use; the graph it is of; its row; and its number within the graph,
    which means nothing where it is not in use."""

    used: Tensor
    graph: Tensor
    row: Tensor
    within: Tensor


class PackedLayouts(NamedTuple):
    """Layouts in a batch, and where its nodes and links come from."""

    layouts: ArcLayouts
    nodes: Places
    links: Places


def packed_layouts(rows: ArcTensorRows, chosen: Tensor, room: Room) -> PackedLayouts:
    """The layouts with the numbers chosen, (graphs,), any of them several times, -1 for none."""
    device = chosen.device
    at = chosen.clamp(min=0)
    counts = (rows.begins[:, at + 1] - rows.begins[:, at]) * (chosen >= 0)
    ends = counts.cumsum(1)
    before = ends - counts

    def places(kind: int, size: int) -> Places:
        place = torch.arange(size, device=device)
        graph = torch.searchsorted(ends[kind], place, right=True).clamp(max=room.graphs - 1)
        used = place < ends[kind, -1]
        within = place - before[kind, graph]
        return Places(used, graph, torch.where(used, rows.begins[kind, at[graph]] + within, 0), within)

    used, graph, row, _ = places(ARCS, room.arcs)

    def moved(local: Tensor, kind: int, last: int) -> Tensor:
        return torch.where(used, local[row] + before[kind, graph], last)

    place = torch.arange(room.arcs, device=device)
    reverse = torch.where(used, rows.reverse[row] + before[ARCS, graph], place)
    owner, antenna, link = (
        moved(local, kind, size - 1)
        for local, kind, size in (
            (rows.owner, NODES, room.nodes),
            (rows.antenna, ANTENNAS, room.antennas),
            (rows.link, LINKS, room.links),
        )
    )
    # No tensor of HARMONICS: a step that copies to the device cannot be captured.
    angle = torch.stack([rows.bearing[row] * harmonic for harmonic in HARMONICS], dim=1)
    bearings = torch.cat([angle.cos(), angle.sin()], dim=1)
    features = rows.features[row].float()
    nodes, links, antennas = places(NODES, room.nodes), places(LINKS, room.links), places(ANTENNAS, room.antennas)
    forward = torch.where(links.used, rows.forward[links.row] + before[ARCS, links.graph], room.arcs - 1)
    ends_of_link = torch.stack([forward, reverse[forward]], dim=1)
    of_links = Groups(link, ends_of_link, links.used[:, None].expand(-1, 2), 2 * link + (place != forward[link]))
    arcs_of_node, arcs_of_antenna, nodes_of_graph = room.longest
    layouts = ArcLayouts(
        features,
        bearings,
        reverse,
        groups_of(owner, rows.arcs_of_node[nodes.row].long() * nodes.used, arcs_of_node),
        groups_of(antenna, rows.arcs_of_antenna[antennas.row].long() * antennas.used, arcs_of_antenna),
        of_links,
        groups_of(nodes.graph, counts[NODES], nodes_of_graph),
        nodes.used.float(),
        links.used.float(),
    )
    return PackedLayouts(layouts, nodes, links)
