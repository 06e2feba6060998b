"""Hold what we write against ns-3: its nodes move by our ns-2 file, and its antennas give our SINR.

    python scripts/check_ns3.py --export FOLDER      with manetdiff's Python: write the files and what we expect
    python scripts/check_ns3.py FOLDER               with a Python that has ns3: read them and compare

ns-3 is under the GPL and no dependency: it has a virtual environment of its own (pip install ns3), without manetdiff;
the two sides meet in files only.

Mobility: ns-3's Ns2MobilityHelper reads tracks.tcl, and its nodes must be where Tracks.at has them.
Interference: for each topology-*.json (NetJSON with the radio in its properties) the SINR of every link, both ways, is
computed here from docs/physics.md alone. Distances, directions and antenna gains (ParabolicAntennaModel, steered at the
peer, at both ends) are ns-3's. It must be the SINR that manetdiff.radio had, and the rates those in the file.

The exit status is 1 if anything differs by more than the tolerances below.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
from collections import Counter
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any

METRES = 1e-3
RELATIVE = 1e-6

NODES, WAYPOINTS, TIMES = 20, 40, 400


def export(folder: Path) -> None:
    """Write the files and what we expect of them. Needs manetdiff."""
    import numpy as np

    from manetdiff import Radio
    from manetdiff.formats import write_topology
    from manetdiff.formats.ns2 import write_ns2
    from manetdiff.scenarios import draw
    from manetdiff.solvers import solve

    folder.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(2026)
    tracks = _random_tracks(rng)
    write_ns2(tracks, folder / "tracks.tcl")
    times = np.sort(np.concatenate([rng.uniform(0, tracks.end + 50, TIMES), *(one.times for one in tracks.tracks)]))
    places = [tracks.at(time).positions.tolist() for time in times]
    _write(folder / "tracks.json", {"times": times.tolist(), "places": places})

    fleet = draw("mixed", 16, rng)
    radios = {
        "units": Radio(unit=fleet.spread, pattern="parabolic", beamwidth=math.radians(50), floor_db=25.0),
        "metres": Radio.from_link_budget(
            5.8e9, 20e6, 0.5, 14.0, 5.0, alpha=0.3, range=2.5 * fleet.spread, floor_db=18.0
        ),
    }
    for name, radio in radios.items():
        solved = solve(fleet, radio, moves=1000, seed=1)
        for kind, topology in (("solved", solved), ("crowded", _crowded(solved, fleet, radio, rng))):
            write_topology(topology, fleet, radio, folder / f"topology-{kind}-{name}.json")
            _write(folder / f"sinr-{kind}-{name}.json", _our_sinr(topology, fleet, radio))


def _random_tracks(rng: Any) -> Any:
    """Turns, pauses, several starts and speeds; ids that a careless reader would take for something else."""
    import numpy as np

    from manetdiff.fleet import Track, Tracks

    tracks = []
    for k in range(NODES):
        legs = rng.uniform(0.5, 40.0, WAYPOINTS - 1)
        pace = rng.uniform(0.1, 300.0, WAYPOINTS - 1) * (rng.random(WAYPOINTS - 1) > 0.25)  # m/s; 0: a pause
        heading = rng.uniform(-math.pi, math.pi, WAYPOINTS - 1)
        steps = (pace * legs)[:, None] * np.column_stack([np.cos(heading), np.sin(heading)])
        times = np.cumsum([0.0 if k % 2 else rng.uniform(0, 60), *legs])
        places = np.cumsum([rng.uniform(-5000.0, 5000.0, 2), *steps], axis=0)
        tracks.append(Track(f"$node_({NODES - k}) #{k}", times, places))
    return Tracks(tuple(tracks))


def _crowded(topology: Any, fleet: Any, radio: Any, rng: Any) -> Any:
    """The topology with every fourth of the other links that it could have: antennas that take turns."""
    import numpy as np

    from manetdiff.radio import Placement
    from manetdiff.topology import Topology

    place = Placement(fleet, radio)
    possible = place.linkable(place.every_pair) & (topology.parity[:, None] != topology.parity)
    more = np.triu(possible & (rng.random(possible.shape) < 0.25))
    return Topology.from_adjacency(topology.adjacency | more | more.T, topology.parity)


def _our_sinr(topology: Any, fleet: Any, radio: Any) -> list[list[float]]:
    """(m, 2) of each link, first node to second and back: what the rates of manetdiff.radio say."""
    import numpy as np

    from manetdiff.radio import Placement, link_rates
    from manetdiff.radio.rates import share_airtime

    place = Placement(fleet, radio)
    links, parity = topology.links.copy(), topology.parity.copy()
    share = np.zeros(len(links))
    sector, load = place.pairs(links, links[:, ::-1]).sector, np.zeros((len(fleet), radio.sectors), dtype=np.int64)
    share_airtime(links, parity, sector, load, share)
    bits = link_rates(place, links, parity) / (radio.bandwidth / 1e6) / share[:, None]
    sinr: list[list[float]] = np.expm1(bits * math.log(2)).tolist()
    return sinr


def compare(folder: Path) -> bool:
    """Print the largest differences; whether all are within the tolerances. Needs ns3."""
    from ns import ns  # type: ignore[import-not-found]

    print(f"ns-3 {version('ns3')}")
    error, count = mobility_error(ns, folder)
    print(f"mobility: {count} places, largest error {error:.2e} m")
    fine = error <= METRES
    for file in sorted(folder.glob("topology-*.json")):
        name = file.stem.removeprefix("topology-")
        network = Network(ns, _read(file))
        ours = _read(folder / f"sinr-{name}.json")
        theirs = [[network.sinr(*ends), network.sinr(*ends[::-1])] for ends in network.links]
        rates = [[network.rate(*ends), network.rate(*ends[::-1])] for ends in network.links]
        worst, worst_rate = largest_relative(ours, theirs), largest_relative(network.rates, rates)
        print(
            f"interference, {name}: {len(network.nodes)} nodes, {2 * len(theirs)} directions, airtime down to "
            f"{min(network.airtime.values()):.2f}, SINR lowered by up to {network.loss():.1f} dB; "
            f"largest relative difference of the SINR {worst:.2e}, of the rates {worst_rate:.2e}"
        )
        fine = fine and worst <= RELATIVE and worst_rate <= RELATIVE
    return fine


def mobility_error(ns: Any, folder: Path) -> tuple[float, int]:
    """The largest distance between ns-3's nodes and ours, in metres, and how many places were compared."""
    expected = _read(folder / "tracks.json")
    nodes = ns.NodeContainer()
    nodes.Create(len(expected["places"][0]))
    ns.Ns2MobilityHelper(str(folder / "tracks.tcl")).Install()
    models = [nodes.Get(k).GetObject[ns.MobilityModel]() for k in range(nodes.GetN())]
    worst = 0.0
    for time, places in zip(expected["times"], expected["places"], strict=True):
        ns.Simulator.Stop(ns.Seconds(time) - ns.Simulator.Now())
        ns.Simulator.Run()
        for model, (x, y) in zip(models, places, strict=True):
            there = model.GetPosition()
            worst = max(worst, math.dist((there.x, there.y, there.z), (x, y, 0.0)))
    ns.Simulator.Destroy()
    return worst, sum(len(places) for places in expected["places"])


class Network:
    """A topology file in the eyes of ns-3. Nodes go by their ids."""

    def __init__(self, ns: Any, document: dict[str, Any]) -> None:
        self.ns = ns
        self.radio = {key.removeprefix("radio_"): value for key, value in document["properties"].items()}
        self.nodes = {node["id"]: node["properties"] for node in document["nodes"]}
        self.links = [(link["source"], link["target"]) for link in document["links"]]
        told = [link["properties"] for link in document["links"]]
        self.rates = [[link["rate_forward"], link["rate_backward"]] for link in told]
        if any(self.nodes[i]["parity"] == self.nodes[j]["parity"] for i, j in self.links):
            sys.exit("a link inside one parity: this check is for topologies without them")
        self.places = {name: ns.Vector(node["x"], node["y"], 0.0) for name, node in self.nodes.items()}
        sector = {ends: link["sector_source"] for ends, link in zip(self.links, told, strict=True)}
        sector |= {ends[::-1]: link["sector_target"] for ends, link in zip(self.links, told, strict=True)}
        load = Counter((i, antenna) for (i, _), antenna in sector.items())
        self.airtime = {(i, j): 1 / max(load[i, sector[i, j]], load[j, sector[j, i]]) for i, j in sector}
        self.antenna = ns.CreateObject[ns.ParabolicAntennaModel]()
        self.antenna.SetBeamwidth(math.degrees(self.radio["beamwidth"]))
        self.antenna.SetAttribute("MaxAttenuation", ns.DoubleValue(self.radio["floor_db"]))

    def distance(self, i: str, j: str) -> float:
        """In units."""
        return float(self.ns.CalculateDistance(self.places[i], self.places[j])) / float(self.radio["unit"])

    def sent(self, i: str, j: str) -> float:
        """Transmit power under power control."""
        wanted = self.radio["p_0"] * self.distance(i, j) ** (2 * self.radio["alpha"])
        return float(min(self.radio["p_max"], wanted))

    def gain(self, at: str, aim: str, towards: str) -> float:
        """Of the antenna at one node, steered at a second, in the direction of a third; as a ratio."""
        angles = self.ns.Angles
        self.antenna.SetOrientation(math.degrees(angles(self.places[aim], self.places[at]).GetAzimuth()))
        decibel = self.antenna.GetGainDb(angles(self.places[towards], self.places[at]))
        return float(10 ** (decibel / 10))

    def interferers(self, i: str, j: str) -> Iterator[tuple[str, str]]:
        """The links that are sent while i sends to j."""
        for k, aim in self.airtime:
            if self.nodes[k]["parity"] == self.nodes[i]["parity"] and k != i and aim != j:
                yield k, aim

    def signal(self, i: str, j: str) -> float:
        """What j gets from i."""
        return self.sent(i, j) * self.gain(i, j, j) * self.gain(j, i, i) / self.distance(i, j) ** 2

    def interference(self, i: str, j: str) -> float:
        """What j gets from others while it listens to i."""
        return math.fsum(
            self.airtime[k, aim]
            * self.sent(k, aim)
            * self.gain(k, aim, j)
            * self.gain(j, i, k)
            / (self.distance(k, j) ** 2 + self.radio["epsilon"])
            for k, aim in self.interferers(i, j)
        )

    def sinr(self, i: str, j: str) -> float:
        """Of the link from i to j."""
        return self.signal(i, j) / float(self.radio["sigma2"] + self.interference(i, j))

    def rate(self, i: str, j: str) -> float:
        """Of the link from i to j, in Mbit/s."""
        return self.airtime[i, j] * math.log2(1 + self.sinr(i, j)) * float(self.radio["bandwidth"]) / 1e6

    def loss(self) -> float:
        """The most decibels that interference takes from any direction of a link."""
        worst = max(self.interference(i, j) for i, j in self.airtime)
        return 10 * math.log10(1 + worst / self.radio["sigma2"])


def largest_relative(ours: list[list[float]], theirs: list[list[float]]) -> float:
    """The largest difference of two tables of the same shape, relative to ours."""
    pairs = [pair for row, other in zip(ours, theirs, strict=True) for pair in zip(row, other, strict=True)]
    return max(abs(there / here - 1) for here, there in pairs)


def _read(file: Path) -> Any:
    return json.loads(file.read_text(encoding="utf-8"))


def _write(file: Path, content: Any) -> None:
    file.write_text(json.dumps(content) + "\n", encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="where the files are")
    parser.add_argument("--export", action="store_true", help="write them, instead of reading and comparing")
    options = parser.parse_args()
    if options.export:
        export(options.folder)
    elif not compare(options.folder):
        sys.exit(f"more than {METRES:g} m or a relative {RELATIVE:g} apart")


if __name__ == "__main__":
    main()
