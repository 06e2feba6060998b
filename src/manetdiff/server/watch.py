"""Who of the replicas is gone, as one of them can tell, and who takes over what they leave."""

from __future__ import annotations

from dataclasses import dataclass

from manetdiff.server.store.replicas import Owned, Peer, Seen

# Seconds without its lock until a replica counts as gone: after a restart of the database all are without for a moment.
WITHOUT_LOCK_S = 0.8
# Seconds in which one that holds its lock has to give a sign of life, or its lock is taken from it.
SILENT_S = 2.5
# Seconds between two looks, beyond which the first says nothing about the time in between.
BLIND_S = 1.5


@dataclass(frozen=True)
class Verdict:
    """Everybody, by what is to be thought of them.

    - here: they run networks. away: without their lock for a moment. silent: they hold it and say nothing. gone: they
      are without it for good.
    """

    here: list[Peer]
    away: list[Peer]
    silent: list[Peer]
    gone: list[Peer]


@dataclass
class _Known:
    """Of a replica: its last sign of life, and since when nothing about it has changed."""

    beat: int
    here: bool
    since: float


class Watch:
    """Looks at what a replica sees of the others, again and again.

    Only its own clock counts, and only time in which it has looked: where the database was away for a while, or the
    replica itself was stopped, nobody else is to blame.
    """

    def __init__(self) -> None:
        self._known: dict[str, _Known] = {}
        self._looked: float | None = None

    def look(self, seen: Seen, now: float) -> Verdict:
        """What is to be thought of everybody. now: seconds by a steady clock."""
        first, blind = self._looked is None, self._looked is not None and now - self._looked > BLIND_S
        self._looked = now
        # One that starts and finds nobody takes up what was left at once.
        alone = first and sum(peer.here for peer in seen.peers) == 1
        known: dict[str, _Known] = {}
        verdict = Verdict([], [], [], [])
        for peer in seen.peers:
            one = self._known.get(peer.id)
            if one is None or blind or (peer.beat, peer.here) != (one.beat, one.here):
                one = _Known(peer.beat, peer.here, now)
            known[peer.id] = one
            unchanged_s = now - one.since
            if peer.here:
                (verdict.silent if unchanged_s > SILENT_S else verdict.here).append(peer)
            else:
                (verdict.gone if alone or unchanged_s > WITHOUT_LOCK_S else verdict.away).append(peer)
        self._known = known
        return verdict


def shared_out(networks: list[Owned], verdict: Verdict) -> dict[str, list[Owned]]:
    """Who takes which of the networks that nobody runs, by ids of replicas: each goes to who has least by then.

    All who see the same come to the same; where they do not, who is faster has it.
    """
    counts = {peer.id: 0 for peer in sorted(verdict.here, key=lambda peer: peer.id)}
    running = {peer.id for peer in (*verdict.here, *verdict.away)}
    for one in networks:
        if one.owner in counts:
            counts[one.owner] += 1
    shares: dict[str, list[Owned]] = {id: [] for id in counts}
    for one in networks:
        if one.owner not in running and counts:
            least = min(counts, key=lambda id: counts[id])
            counts[least] += 1
            shares[least].append(one)
    return shares
