"""The design's formulas, transcribed slowly in plain Python: no table, no shortcut, nothing shared with the package."""

from __future__ import annotations

import math

from manetdiff import Fleet, Radio, Topology


def plain_rates(topology: Topology, fleet: Fleet, radio: Radio) -> dict[tuple[int, int], float]:
    """Rate in Mbit/s of each direction i→j of each link."""
    links = [(int(i), int(j)) for i, j in topology.links]
    parity = [int(s) for s in topology.parity]
    x = [float(p[0]) for p in fleet.positions]
    y = [float(p[1]) for p in fleet.positions]
    z = [float(p[2]) if len(p) == 3 else 0.0 for p in fleet.positions]
    n = len(x)
    if radio.unit is None:
        mean_x, mean_y = sum(x) / n, sum(y) / n
        unit = math.sqrt(sum((x[i] - mean_x) ** 2 + (y[i] - mean_y) ** 2 for i in range(n)) / (2 * n))
    else:
        unit = radio.unit

    def d(i: int, j: int) -> float:
        return math.dist((x[i], y[i], z[i]), (x[j], y[j], z[j])) / unit

    def bearing(i: int, j: int) -> float:
        return math.atan2(y[j] - y[i], x[j] - x[i])

    def sector(i: int, j: int) -> int:
        turn = (bearing(i, j) - float(fleet.yaw[i]) - radio.boresight + math.pi / radio.sectors) % (2 * math.pi)
        return math.floor(turn / (2 * math.pi / radio.sectors)) % radio.sectors

    def has_no_antenna(i: int, j: int) -> bool:
        azimuth = math.degrees(bearing(i, j) - float(fleet.yaw[i]))
        arcs = fleet.blocked[i] if fleet.blocked else ()
        for start, stop in arcs:
            beyond = math.degrees(stop - start) if stop - start >= 2 * math.pi else math.degrees(stop - start) % 360
            if (azimuth - math.degrees(start)) % 360 <= beyond:
                return True
        return False

    def is_blocked(i: int, j: int) -> bool:
        return has_no_antenna(i, j) or has_no_antenna(j, i)

    def power(i: int, j: int) -> float:
        if is_blocked(i, j):
            return 0.0
        return float(min(radio.p_max, radio.p_0 * d(i, j) ** (2 * radio.alpha)))

    def angle(at: int, one: int, other: int) -> float:
        between = abs(bearing(at, one) - bearing(at, other)) % (2 * math.pi)
        return min(between, 2 * math.pi - between)

    def steered_angle(at: int, one: int, other: int) -> float:
        first, second = ((x[j] - x[at], y[j] - y[at], z[j] - z[at]) for j in (one, other))
        across = (
            first[1] * second[2] - first[2] * second[1],
            first[2] * second[0] - first[0] * second[2],
            first[0] * second[1] - first[1] * second[0],
        )
        return math.atan2(math.hypot(*across), sum(a * b for a, b in zip(first, second, strict=True)))

    def gain(phi: float) -> float:
        beamwidth = 2 * radio.theta_max if radio.beamwidth is None else radio.beamwidth
        return float(10 ** (-min(12 * (phi / beamwidth) ** 2, radio.floor_db) / 10))

    active = [(i, j) for i, j in links if parity[i] != parity[j]]

    def antenna_load(i: int, a: int) -> int:
        return sum((u == i and sector(u, v) == a) or (v == i and sector(v, u) == a) for u, v in active)

    def airtime(i: int, j: int) -> float:
        return 1 / max(antenna_load(i, sector(i, j)), antenna_load(j, sector(j, i)))

    def interference(i: int, j: int) -> float:
        total = 0.0
        for one, two in active:
            k, aim = (one, two) if parity[one] == parity[i] else (two, one)
            if k == i or aim == j or is_blocked(k, j):
                continue
            arriving = airtime(k, aim) * power(k, aim) / (d(k, j) ** 2 + radio.epsilon)
            if radio.pattern == "cone":
                arriving *= angle(k, aim, j) <= radio.theta_max
                if radio.reception == "sectored":
                    arriving *= sector(j, k) == sector(j, i)
            else:
                arriving *= gain(steered_angle(k, aim, j))
                if radio.reception == "sectored":
                    arriving *= gain(steered_angle(j, i, k))
            total += arriving
        return total

    rates = {}
    for one, two in links:
        for i, j in ((one, two), (two, one)):
            if parity[i] == parity[j]:
                rates[i, j] = 0.0
            else:
                snr = power(i, j) / d(i, j) ** 2 / (radio.sigma2 + interference(i, j))
                efficiency = math.log2(1 + snr)
                if radio.ceiling is not None:
                    efficiency = min(efficiency, radio.ceiling)
                if radio.min_snr is not None and snr < 10 ** (radio.min_snr / 10):
                    efficiency = 0.0
                rates[i, j] = radio.bandwidth / 1e6 * airtime(i, j) * efficiency
    return rates
