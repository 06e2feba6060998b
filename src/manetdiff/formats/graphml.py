"""GraphML, for Gephi, yEd and igraph: the graph that networkx gets, as a file. Needs networkx."""

from __future__ import annotations

import warnings

from manetdiff.errors import FormatError
from manetdiff.fleet import Fleet
from manetdiff.formats import netjson
from manetdiff.formats.files import PathLike, Source, read_source, write_text
from manetdiff.formats.format import Contents, Format, Holds, Order
from manetdiff.formats.graph_libraries import from_networkx, library, to_networkx
from manetdiff.formats.record import shown
from manetdiff.formats.xml_text import check_xml_ids
from manetdiff.layout import Layout
from manetdiff.radio import Radio
from manetdiff.topology import Topology


def write_graphml(topology: Topology, fleet: Fleet | Layout | None, radio: Radio | None, path: PathLike) -> None:
    """Write GraphML; fleet, radio: None for those that the topology was made for."""
    layout = topology.on(fleet, radio)
    check_xml_ids(layout.fleet.ids, "GraphML")
    lines = library("networkx", "networkx").generate_graphml(to_networkx(topology, layout))
    write_text(path, "\n".join(lines) + "\n")


def read_graphml(path: PathLike) -> tuple[Fleet, Topology]:
    """The fleet and topology in a GraphML file that holds x, y, yaw and parity; `-` reads standard input."""
    return topology_in(read_source(path))


def topology_in(source: Source) -> tuple[Fleet, Topology]:
    """The fleet and topology in a GraphML file that holds x, y, yaw and parity."""
    # GraphML has no use for declarations of its own, and they are what attacks on XML readers are made of.
    if "<!DOCTYPE" in source.content or "<!ENTITY" in source.content:
        raise FormatError(f"{source.name}: declares a document type, which GraphML does not need")
    networkx = library("networkx", "networkx")
    try:
        # As text, not as bytes: a file must not choose an encoding in which the check above saw nothing.
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # what is missing is said below, by the node's name
            graph = networkx.parse_graphml(source.content)
    except Exception as error:  # networkx lets through whatever its XML reader raises
        raise FormatError(f"{source.name}: is not GraphML that can be read: {shown(str(error))}") from None
    return from_networkx(graph, source.name)


def _write(held: Contents, order: Order) -> None:
    fleet, topology = held.linked("GraphML")
    write_graphml(topology, fleet, order.radio, order.path)


FORMAT = Format(
    name="graphml",
    title="GraphML",
    holds=Holds.TOPOLOGY,
    suffixes=(".graphml",),
    keeps=netjson.FORMAT.keeps,
    begins=lambda source: source.content.lstrip().startswith("<"),
    read=topology_in,
    write=_write,
)
