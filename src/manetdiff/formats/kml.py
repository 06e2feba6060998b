"""KML, for Google Earth and other globes: nodes and links in place, and flights over time.

One moment is points and lines. Several are tracks (gx:Track) that a time slider plays, a new one where a node changes
its parity and so its colour, and lines that are there as long as their links stand (TimeSpan).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from xml.etree import ElementTree
from xml.etree.ElementTree import Element, SubElement

from manetdiff.formats.files import PathLike, write_text
from manetdiff.formats.format import FLIGHT_PARTS, LINK_PARTS, Contents, Format, Holds, Order
from manetdiff.formats.map_lines import Place, map_line, map_places
from manetdiff.formats.moments import EPOCH, LINK_COLOUR, NODE_COLOURS, MaybeLinked, check_moments, date_at, steps
from manetdiff.formats.netjson import network_graph
from manetdiff.formats.nodes import geodetic_columns
from manetdiff.formats.xml_text import check_xml_ids
from manetdiff.radio import Radio

KML = "http://www.opengis.net/kml/2.2"
EXTENSIONS = "http://www.google.com/kml/ext/2.2"
# Nodes without a parity: those of a fleet alone.
PLAIN = (80, 80, 80, 255)


def write_kml(
    moments: Sequence[MaybeLinked], path: PathLike, *, radio: Radio | None = None, epoch: datetime = EPOCH
) -> None:
    """Write moments (seconds, fleet, topology or None) in the order of time; see kml_text."""
    write_text(path, kml_text(moments, radio=radio, epoch=epoch))


def kml_text(moments: Sequence[MaybeLinked], *, radio: Radio | None = None, epoch: datetime = EPOCH) -> str:
    """A KML document; the fleets must know where on earth they are.

    - radio: for the rates of a single moment's links; by default the one that its topology was made for.
    """
    check_moments(moments, "KML")
    for _, fleet, _ in moments:
        check_xml_ids(fleet.ids, "KML")
    root = Element("kml", {"xmlns": KML, "xmlns:gx": EXTENSIONS})
    document = SubElement(root, "Document")
    _text(document, "name", "manetdiff")
    for name, colour in (("parity-0", NODE_COLOURS[0]), ("parity-1", NODE_COLOURS[1]), ("node", PLAIN)):
        _text(SubElement(SubElement(document, "Style", {"id": name}), "IconStyle"), "color", _colour(colour))
    line = SubElement(SubElement(document, "Style", {"id": "link"}), "LineStyle")
    _text(line, "color", _colour(LINK_COLOUR))
    _text(line, "width", "2")
    nodes, links = (SubElement(document, "Folder") for _ in range(2))
    _text(nodes, "name", "nodes")
    _text(links, "name", "links")
    if len(moments) == 1:
        _still(moments[0], nodes, links, radio)
    else:
        _tracks(moments, nodes, epoch)
        _lines(moments, links, epoch)
    ElementTree.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ElementTree.tostring(root, encoding="unicode") + "\n"


def _still(moment: MaybeLinked, nodes: Element, links: Element, radio: Radio | None) -> None:
    """Points and lines of one moment, with all that is known of them."""
    _, fleet, topology = moment
    headings = geodetic_columns(fleet)["heading"].tolist()
    parity = [None] * len(fleet) if topology is None else topology.parity.tolist()
    for name, place, heading, bit in zip(fleet.ids, map_places(fleet), headings, parity, strict=True):
        said = {"heading": heading} | ({} if bit is None else {"parity": bit})
        point = SubElement(_placemark(nodes, name, _style(bit), said=said), "Point")
        _text(point, "altitudeMode", _altitude_mode(place))
        _text(point, "coordinates", _coordinates([place]))
    if topology is None:
        return
    graph = network_graph(topology, fleet, radio)
    for (one, other), link in zip(topology.links.tolist(), graph["links"], strict=True):
        mark = _placemark(links, f"{link['source']} - {link['target']}", "link", said=link["properties"])
        _line(mark, map_line(fleet, one, other))


@dataclass
class _Run:
    """A node from one moment to the next and on, as long as it is there and keeps its parity."""

    name: str
    parity: int | None
    times: list[float] = field(default_factory=list)
    places: list[Place] = field(default_factory=list)
    headings: list[float] = field(default_factory=list)

    def append(self, time: float, place: Place, heading: float) -> None:
        self.times.append(time)
        self.places.append(place)
        self.headings.append(heading)


def _runs(moments: Sequence[MaybeLinked]) -> Iterator[_Run]:
    going: dict[str, _Run] = {}
    for time, fleet, topology in moments:
        headings = geodetic_columns(fleet)["heading"].tolist()
        parity = [None] * len(fleet) if topology is None else topology.parity.tolist()
        before, going = going, {}
        for name, place, heading, bit in zip(fleet.ids, map_places(fleet), headings, parity, strict=True):
            run = before.pop(name, None)
            if run is not None:
                run.append(time, place, heading)
            if run is None or run.parity != bit:
                if run is not None:
                    yield run
                run = _Run(name, bit)
                run.append(time, place, heading)
            going[name] = run
        yield from before.values()
    yield from going.values()


def _tracks(moments: Sequence[MaybeLinked], nodes: Element, epoch: datetime) -> None:
    for run in _runs(moments):
        said = {} if run.parity is None else {"parity": run.parity}
        track = SubElement(_placemark(nodes, run.name, _style(run.parity), said=said), "gx:Track")
        _text(track, "altitudeMode", _altitude_mode(run.places[0]))
        for time in run.times:
            _text(track, "when", date_at(epoch, time, "KML"))
        for place in run.places:
            _text(track, "gx:coord", " ".join(str(value) for value in _whole(place)))
        for heading in run.headings:
            _text(track, "gx:angles", f"{round(heading, 6)} 0 0")


def _lines(moments: Sequence[MaybeLinked], links: Element, epoch: datetime) -> None:
    for time, until, fleet, topology in steps(moments):
        span = date_at(epoch, time, "KML"), date_at(epoch, until, "KML")
        for one, other in [] if topology is None else topology.links.tolist():
            mark = _placemark(links, f"{fleet.ids[one]} - {fleet.ids[other]}", "link", span=span)
            _line(mark, map_line(fleet, one, other))


def _placemark(
    folder: Element,
    name: str,
    style: str,
    span: tuple[str, str] | None = None,
    said: Mapping[str, object] | None = None,
) -> Element:
    """A placemark without its geometry; KML wants its parts in this order."""
    mark = SubElement(folder, "Placemark")
    _text(mark, "name", name)
    if span is not None:
        times = SubElement(mark, "TimeSpan")
        _text(times, "begin", span[0])
        _text(times, "end", span[1])
    _text(mark, "styleUrl", f"#{style}")
    if said:
        data = SubElement(mark, "ExtendedData")
        for key, value in said.items():
            _text(SubElement(data, "Data", {"name": key}), "value", str(value))
    return mark


def _line(mark: Element, parts: Sequence[Sequence[Place]]) -> None:
    """A line, in several parts where it crosses the antimeridian: not every reader goes the short way round."""
    parent = mark if len(parts) == 1 else SubElement(mark, "MultiGeometry")
    for part in parts:
        line = SubElement(parent, "LineString")
        if len(part[0]) == 2:
            _text(line, "tessellate", "1")
        _text(line, "altitudeMode", _altitude_mode(part[0]))
        _text(line, "coordinates", _coordinates(part))


def _text(parent: Element, tag: str, content: str) -> None:
    SubElement(parent, tag).text = content


def _style(parity: int | None) -> str:
    return "node" if parity is None else f"parity-{parity}"


def _altitude_mode(place: Place) -> str:
    return "absolute" if len(place) == 3 else "clampToGround"


def _coordinates(places: Sequence[Place]) -> str:
    return " ".join(",".join(str(value) for value in _whole(place)) for place in places)


def _whole(place: Place) -> Place:
    """With a height: 0 where it does not matter."""
    return [*place, 0.0][:3]


def _colour(rgba: Sequence[int]) -> str:
    """KML writes colours backwards."""
    return "".join(f"{part:02x}" for part in reversed(rgba))


def _write(held: Contents, order: Order) -> None:
    if held.tracks is not None:
        moments: list[MaybeLinked] = [(time, fleet, None) for time, fleet in held.moments(order.time)]
    else:
        moments = [(0.0, held.fleet_at(), held.topology)]
    epoch = held.tracks.epoch if held.tracks is not None else None
    write_kml(moments, order.path, radio=order.radio, epoch=epoch or EPOCH)


FORMAT = Format(
    name="kml",
    title="KML",
    holds=Holds.TRACKS,
    suffixes=(".kml",),
    keeps=FLIGHT_PARTS | LINK_PARTS,
    write=_write,
)
