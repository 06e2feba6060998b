"""Who is taken for gone, and who takes over."""

from __future__ import annotations

from manetdiff.server.store.replicas import Owned, Peer, Seen
from manetdiff.server.watch import BLIND_S, SILENT_S, WITHOUT_LOCK_S, Verdict, Watch, shared_out

STEP_S = 0.5


def _seen(**peers: tuple[int, bool]) -> Seen:
    return Seen([Peer(name, "", beat, here) for name, (beat, here) in peers.items()], [])


def _names(verdict: Verdict) -> tuple[str, str, str, str]:
    here, away, silent, gone = (
        "".join(sorted(peer.id for peer in peers))
        for peers in (verdict.here, verdict.away, verdict.silent, verdict.gone)
    )
    return here, away, silent, gone


def test_who_gives_signs_of_life_is_here() -> None:
    watch = Watch()
    for step in range(20):
        assert _names(watch.look(_seen(a=(step, True), b=(step // 3, True)), STEP_S * step)) == ("ab", "", "", "")


def test_who_holds_its_lock_and_says_nothing_is_silent_after_a_while() -> None:
    watch, first = Watch(), None
    for step in range(20):
        verdict = watch.look(_seen(a=(step, True), b=(7, True)), STEP_S * step)
        if verdict.silent and first is None:
            first = STEP_S * step
        assert (step == 0) <= (_names(verdict)[0] == "ab")
    assert first is not None
    assert SILENT_S < first <= SILENT_S + STEP_S


def test_who_has_no_lock_is_gone_soon_but_not_at_once() -> None:
    watch = Watch()
    watch.look(_seen(a=(0, True), b=(0, True)), 0.0)
    assert _names(watch.look(_seen(a=(1, True), b=(1, False)), 0.5)) == ("a", "b", "", "")
    assert _names(watch.look(_seen(a=(2, True), b=(1, True)), 1.0)) == ("ab", "", "", "")  # it is there again
    assert _names(watch.look(_seen(a=(3, True), b=(1, False)), 1.5)) == ("a", "b", "", "")
    assert _names(watch.look(_seen(a=(4, True), b=(1, False)), 1.6 + WITHOUT_LOCK_S)) == ("a", "", "", "b")


def test_nobody_is_blamed_for_time_in_which_nobody_has_looked() -> None:
    watch = Watch()
    watch.look(_seen(a=(0, True), b=(0, True), c=(0, False)), 0.0)
    late = 1.1 * max(BLIND_S, SILENT_S)
    assert _names(watch.look(_seen(a=(1, True), b=(0, True), c=(0, False)), late)) == ("ab", "c", "", "")


def test_who_starts_alone_takes_up_at_once_what_was_left() -> None:
    assert _names(Watch().look(_seen(a=(1, True), b=(9, False)), 0.0)) == ("a", "", "", "b")
    assert _names(Watch().look(_seen(a=(1, True), b=(9, False), c=(4, True)), 0.0)) == ("ac", "b", "", "")


def _peers(names: str) -> list[Peer]:
    return [Peer(name, "", 0, True) for name in names]


def test_networks_that_nobody_runs_go_to_those_who_have_least() -> None:
    owners: list[str | None] = ["a", "a", "a", "b", None, "dead", "dead", "silent", "away"]
    networks = [Owned(str(number), owner, 0) for number, owner in enumerate(owners)]
    shares = shared_out(networks, Verdict(_peers("cba"), _peers(""), [], []))
    assert sum(map(len, shares.values())) == 5
    away = Verdict(_peers("cba"), [Peer("away", "", 0, False)], [], [])
    shares = shared_out(networks, away)
    assert {name: len(share) for name, share in shares.items()} == {"a": 0, "b": 2, "c": 2}
    assert sorted(one.network for share in shares.values() for one in share) == ["4", "5", "6", "7"]
    again = shared_out(networks, Verdict(_peers("abc"), away.away, [], []))
    assert again == shares
