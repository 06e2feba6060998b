"""What goes through a network on sparse graphs: the arcs of many layouts in one row, without padding between them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from manetdiff.layout import Arcs
from manetdiff.model.groups import Groups


class ArcLayouts(NamedTuple):
    """g layouts with m nodes, c candidate links and p arcs together, one layout after the other.

    - features: (p, F); bearings: (p, B); reverse: (p,), see manetdiff.layout.Arcs.
    - nodes, antennas, links: of the arcs; graphs: of the nodes.
    - real_nodes: (m,) and real_links: (c,), 0 for what fills up a batch of fixed size, else 1.
    """

    features: Tensor
    bearings: Tensor
    reverse: Tensor
    nodes: Groups
    antennas: Groups
    links: Groups
    graphs: Groups
    real_nodes: Tensor
    real_links: Tensor

    @property
    def sizes(self) -> Tensor:
        """(g,) nodes of each layout."""
        return self.graphs.there.sum(1)

    @property
    def graph_of_link(self) -> Tensor:
        """(c,)."""
        return self.graphs.of[self.nodes.of[self.links.members[:, 0]]]


class ArcGraphs(NamedTuple):
    """Links (c,) and parity (m,) of 0 and 1, or shares of 1 in them."""

    links: Tensor
    parity: Tensor


class ArcPrediction(NamedTuple):
    """Log-odds that a link exists, (c,), and that a node's parity is 1, (m,)."""

    links: Tensor
    parity: Tensor


def stacked(layouts: Sequence[Arcs], device: torch.device | str = "cpu") -> ArcLayouts:
    """Layouts one after the other."""
    arcs, nodes, antennas, links = (
        np.cumsum([0, *(len(getattr(one, name)) for one in layouts)])
        for name in ("owner", "arcs_of_node", "arcs_of_antenna", "links")
    )

    def joined(name: str, before: npt.NDArray[np.int64] | None = None) -> npt.NDArray[np.int64]:
        parts = [getattr(one, name) for one in layouts]
        if before is not None:
            parts = [part + offset for part, offset in zip(parts, before, strict=False)]
        return np.concatenate(parts)

    graph = np.repeat(np.arange(len(layouts)), np.diff(nodes))
    reverse, forward, link = joined("reverse", arcs), joined("forward", arcs), joined("link", links)
    of_links = Groups(
        torch.from_numpy(link),
        torch.from_numpy(np.stack([forward, reverse[forward]], axis=1)),
        torch.ones(len(forward), 2, dtype=torch.bool),
        torch.from_numpy(2 * link + (np.arange(len(link)) != forward[link])),
    )
    features, bearings = (torch.from_numpy(joined(name)).to(device) for name in ("features", "bearings"))
    return ArcLayouts(
        features,
        bearings,
        reverse=torch.from_numpy(reverse).to(device),
        nodes=_groups(joined("owner", nodes), int(nodes[-1])).to(device),
        antennas=_groups(joined("antenna", antennas), int(antennas[-1])).to(device),
        links=of_links.to(device),
        graphs=_groups(graph, len(layouts)).to(device),
        real_nodes=torch.ones(int(nodes[-1]), device=device),
        real_links=torch.ones(int(links[-1]), device=device),
    )


def _groups(of: npt.NDArray[np.int64], groups: int) -> Groups:
    count = torch.from_numpy(np.bincount(of, minlength=groups))
    return groups_of(torch.from_numpy(of), count, max(1, int(count.max()) if groups else 1))


def groups_of(of: Tensor, count: Tensor, room: int) -> Groups:
    """Groups whose members stand together, in order. of: (p,) rising, and last those of no group, which name any.

    - count: (r,) members of each group. room: for so many members.
    """
    begin = count.cumsum(0) - count
    step = torch.arange(room, device=of.device)
    there = step < count[:, None]
    members = torch.where(there, begin[:, None] + step, 0)
    place = of * room + torch.arange(len(of), device=of.device) - begin[of]
    return Groups(of, members, there, place.clamp(max=max(0, len(count) * room - 1)))
