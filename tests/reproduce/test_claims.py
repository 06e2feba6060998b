"""The page of agreement: how a claim is judged, which claims are made, and what the page counts."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from manetdiff.measure.rows import Rows
from manetdiff.measure.sets import LayoutSet
from manetdiff.measure.store import RowStore
from manetdiff.reproduce import paper, throughput
from manetdiff.reproduce.agreement import claims
from manetdiff.reproduce.agreement import pages as agreement
from manetdiff.reproduce.agreement.claims import CLAIMS
from manetdiff.reproduce.agreement.verdict import Comparison, at_least, at_most, higher, lower, nearer
from manetdiff.reproduce.catalogue import TABLES
from manetdiff.reproduce.networks import NETWORKS
from manetdiff.reproduce.tables import Setting
from support.measured_help import StandIn, rows_of

SETTING = Setting(True, RowStore())
# Layouts that are far apart, so that only a comparison layout by layout can tell rows apart that differ by little.
APART = (0.10, 0.95, 0.40, 0.02, 0.70, 0.55, 0.30, 0.85)


def shifted(metric: str, by: float | Sequence[float], seeds: Sequence[float] = (0.0,)) -> Rows:
    """A metric on layouts that are far apart, moved by as much on each of them; seeds: what is added for each seed."""
    return Rows.pooled([rows_of(**{metric: (np.array(APART) + by + more).tolist()}) for more in seeds])


class TestVerdict:
    @pytest.mark.parametrize(
        ("low", "high", "verdict"),
        [
            (0.001, 0.2, "agrees"),
            (0.0, 0.2, "level"),
            (-0.2, 0.0, "level"),
            (-0.2, -0.001, "opposite"),
        ],
    )
    def test_is_sure_where_the_whole_interval_lies_on_one_side(self, low: float, high: float, verdict: str) -> None:
        assert Comparison("", "", "", low, high).verdict == verdict

    def test_of_more_and_of_less_are_each_others_opposite_layout_by_layout(self) -> None:
        """The intervals of the two means overlap almost wholly, and the difference is sure all the same."""
        more, same = shifted("parity", 0.01), shifted("parity", 0.0)
        pairs = ((more, same), (same, more), (same, same))
        for judge, verdicts in ((higher, ("agrees", "opposite", "level")), (lower, ("opposite", "agrees", "level"))):
            assert tuple(judge("", "parity", *pair, (0.9, 0.8)).verdict for pair in pairs) == verdicts
        judged = higher("", "parity", more, same, "in words")
        assert (judged.low, judged.high) == pytest.approx((0.01, 0.01))
        assert judged.paper == "in words"

    def test_is_level_where_layouts_or_seeds_differ_by_more_than_the_means_do(self) -> None:
        same = shifted("parity", 0.0, (0.0, 0.0, 0.0))
        mixed = shifted("parity", (0.2, -0.19, 0.2, -0.19, 0.2, -0.19, 0.2, -0.19))
        assert higher("", "parity", mixed, same, (0.0, 0.0)).verdict == "level"
        seeds = shifted("parity", 0.0, (-0.1, 0.0, 0.15))
        assert higher("", "parity", seeds, same, (0.0, 0.0)).verdict == "level"
        assert higher("", "parity", shifted("parity", 0.0, (0.01, 0.02, 0.15)), same, (0.0, 0.0)).verdict == "agrees"

    def test_of_nearness_looks_at_both_sides_of_the_target(self) -> None:
        target, above, below = (shifted("links", by) for by in (0.0, 0.2, -0.3))
        figures = (22.4, 23.0, 21.95)
        assert nearer("", "links", above, below, target, figures).verdict == "agrees"
        assert nearer("", "links", below, above, target, figures).verdict == "opposite"
        assert nearer("", "links", above, shifted("links", -0.2), target, figures).verdict == "level"
        judged = nearer("", "links", above, below, target, figures)
        assert (judged.low, judged.high) == pytest.approx((0.1, 0.1))

    def test_of_a_bound_is_on_the_side_that_keeps_it(self) -> None:
        rows = rows_of(parity=[0.90, 0.92, 0.91, 0.93])
        bounds = {0.5: ("agrees", "opposite"), 0.915: ("level", "level"), 0.99: ("opposite", "agrees")}
        for bound, verdicts in bounds.items():
            assert tuple(judge("", "parity", rows, bound, "").verdict for judge in (at_least, at_most)) == verdicts
        least, most = (judge("", "parity", rows, 0.5, "") for judge in (at_least, at_most))
        assert 0.40 <= least.low < least.high <= 0.43
        assert (most.low, most.high) == pytest.approx((-least.high, -least.low), abs=0.005)

    def test_of_a_share_of_the_target_is_of_sums(self) -> None:
        one = rows_of(throughput=[60.0, 90.0], target=[80.0, 100.0])
        other = rows_of(throughput=[56.0, 88.0], target=[80.0, 100.0])
        judged = higher("", "ratio", one, other, (0.99, 0.95))
        assert judged.ours == "83.33 % against 80.00 %"
        assert judged.verdict == "agrees"
        assert at_least("", "ratio", one, 0.7, "").ours == "83.33 [75.00, 90.00] %"

    def test_is_told_in_the_units_of_the_measure(self) -> None:
        one, other = rows_of(parity=0.75, links=22.4), rows_of(parity=0.5, links=30.0)
        told = [
            higher("more parity", "parity", one, other, (0.9864, 0.9863)),
            lower("fewer links", "links", one, other, (22.42, 23.08)),
            nearer("nearer", "links", one, other, rows_of(links=21.0), (22.42, 23.08, 21.95)),
            at_least("at least", "parity", one, 0.7, "99 %"),
            at_most("at most", "parity", one, 0.7, "99 %"),
        ]
        assert [(judged.claim, judged.paper, judged.ours) for judged in told] == [
            ("more parity", "98.640 % against 98.630 %", "75.000 % against 50.000 %"),
            ("fewer links", "22.42 against 23.08", "22.40 against 30.00"),
            ("nearer", "22.42 against 23.08 (target 21.95)", "22.40 against 30.00 (target 21.00)"),
            ("at least", "99 %", "75.000 [75.000, 75.000] %"),
            ("at most", "99 %", "75.000 [75.000, 75.000] %"),
        ]


class World:
    """What would be measured where every row is as told: the paper's own figures, unless a test changes them.

    told: figures by the name of weights (and '32' or 'plain' for how they are sampled), method, stage or way.
    """

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        told: dict[str, dict[str, float]] = {
            f"{network.variant}-123": {**paper.PROPERTIES[label], **paper.CONSTRAINTS.get(label, {})}
            for label, network in NETWORKS.items()
        }
        told["acam-123"] |= paper.LOSSES["with the penalties"]
        told["cross-entropy-123"] = dict(paper.LOSSES["cross-entropy alone"])
        told["one-token-123"] = {"antenna_saturation": 0.129, "node_saturation": 0.08}
        for name in ("acam-123", "ddpm-gt-123", "cross-entropy-123"):
            told[f"{name} plain"] = dict(told[name])
        for ending in ("brief", "plain", "wide"):
            told[f"acam-{ending}-123"] = dict(told["acam-123"])
            told.setdefault(f"ddpm-gt-{ending}-123", {})["node_saturation"] = 0.1162
        told["acam-mixed-123 32"] = {"ratio": 0.95, "connected": 0.99, "parity": 0.98, "node_saturation": 0.14}
        told["acam-123 32"] = {"ratio": 0.9, "connected": 0.9, "parity": 0.9, "node_saturation": 0.2}
        for nodes, figures in paper.THROUGHPUT.items():
            told |= {f"{name} {nodes}": {"throughput": figure} for name, figure in figures.items()}
            # Just above the share that the paper's NetDiff has of its target.
            told[f"NetDiff {nodes}"]["throughput"] *= 1.001
        told["anew"] = {"continuity": 0.2, "connected": 0.99, "parity": 0.98}
        for mode in ("standard", "minor"):
            told[mode] = {"continuity": 0.3, "connected": 0.985, "parity": 0.975}
        told |= {
            f"{movement:g} {steps}": {"ratio": 0.9 + 0.001 * steps} for movement in (0.1, 0.3) for steps in (3, 10)
        }
        told |= {"full": {"milliseconds": 1_990.0}, "correction": {"milliseconds": 99.0}}
        self.told = told
        ways = StandIn(monkeypatch)
        ways.instead["sampled"] = self._sampled
        ways.instead["solved"] = lambda layouts, method, **how: self._of(
            {"omni": "omni", "huang": "Huang", "mst-greedy": "MST+greedy"}[method], layouts
        )
        ways.instead["corrected"] = lambda layouts, **how: self._of("DDPM-GT", layouts)
        ways.instead["generated"] = self._generated
        ways.instead["updated"] = self._updated
        ways.instead["correction"] = lambda layouts, **how: rows_of(**told["correction"])
        monkeypatch.setattr(claims, "targets", lambda layouts: rows_of(**paper.PROPERTIES["target"]))
        monkeypatch.setattr(throughput, "targets", lambda layouts: self._of("target", layouts))

    def _sampled(self, layouts: LayoutSet, name: str, **how: Any) -> Rows:
        assert how in ({}, {"temperature": 1.0, "decide": False})
        figures = self.told[name + (" 32" if layouts.nodes == 32 else "") + (" plain" if how else "")]
        return rows_of(**figures, throughput=100 * figures.get("ratio", 1.0), target=100.0)

    def _of(self, name: str, layouts: LayoutSet) -> Rows:
        target = self.told[f"target {layouts.nodes}"]["throughput"]
        return rows_of(**self.told[f"{name} {layouts.nodes}"], target=target)

    def _generated(self, layouts: LayoutSet, correct: bool = True, **how: Any) -> Rows:
        assert how["steps"] == 50
        return self._of("NetDiff", layouts) if correct else rows_of(**self.told["full"])

    def _updated(self, layouts: LayoutSet, mode: str, movement: float, **how: Any) -> Rows:
        by_steps = self.told.get(f"{movement:g} {how.get('steps')}", {"ratio": 0.5})
        return rows_of(**self.told[mode], throughput=100 * by_steps["ratio"], target=100.0, milliseconds=1.0)


@pytest.fixture
def world(monkeypatch: pytest.MonkeyPatch) -> World:
    return World(monkeypatch)


def judged(table: str) -> dict[str, Comparison]:
    made = list(CLAIMS[table](SETTING))
    assert len({one.claim for one in made}) == len(made) > 0
    return {one.claim: one for one in made}


FEWER = "ACAM saturates fewer nodes than statistics"
MODULATION = {
    "as trained here": "acam-123",
    "sampled as in the paper": "acam-123 plain",
    "after a sixth of the training": "acam-brief-123",
    "without features": "acam-plain-123",
    "larger networks": "acam-wide-123",
}


class TestClaims:
    def test_all_agree_where_we_measure_what_the_paper_did(self, world: World) -> None:
        for table in CLAIMS:
            assert {one.verdict for one in judged(table).values()} == {"agrees"}, table

    def test_are_those_differences_that_the_papers_own_figures_have(
        self, world: World, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        made = judged("properties")
        # Five steps down the table, four columns; with CAM the paper's links are farther from the target than before.
        assert len(made) == 5 * 4 - 1
        assert "links: NetDiff (CAM) nearer to the target than DDPM-GT with features" not in made
        assert "mean length: GT-VAE nearer to the target than GraphVAE" in made
        statistics, cam, acam = paper.CONSTRAINTS
        assert list(judged("constraints")) == [
            *(f"{what}: {cam} better than {statistics}" for what in ("connected", "saturated nodes", "parity")),
            *(f"{what}: {acam} better than {cam}" for what in ("saturated nodes", "parity")),
        ]
        monkeypatch.setitem(paper.CONSTRAINTS, cam, {**paper.CONSTRAINTS[statistics], "parity": 0.9864})
        assert list(judged("constraints")) == [
            f"parity: {cam} better than {statistics}",
            *(f"{what}: {acam} better than {cam}" for what in ("connected", "saturated nodes")),
        ]
        names = ("omni", "Huang", "MST+greedy", "DDPM-GT", "NetDiff", "target")
        order = [f"{better} above {worse}" for worse, better in pairwise(names)]
        order.append("NetDiff has as large a share of the target")
        assert list(judged("throughput")) == [f"{nodes} nodes: {claim}" for nodes in (16, 32) for claim in order]
        assert list(judged("modulation")) == [f"{way}: {FEWER}" for way in MODULATION]

    @pytest.mark.parametrize(
        ("table", "claim", "printed", "ours"),
        [
            ("throughput", "16 nodes: NetDiff has as large a share of the target", "99.48 %", None),
            ("tokens", "saturated antennas: 16 tokens below 1", "0.8 points less", "12.10 % against 12.90 %"),
            ("modulation", f"without features: {FEWER}", "7.05 % against 11.62 %", None),
            ("thirty-two", "T / target: the mix above 16 nodes alone, at 32", "in words", "95.00 % against 90.00 %"),
            ("thirty-two", "connected at 32 nodes at least as high", "98.78 %", None),
            ("thirty-two", "saturated nodes at 32 nodes at least as few", "14.08 %", None),
            ("partial", "standard: more links kept than anew", "21 % more", "50 % more (30.00 % against 20.00 %)"),
            ("partial", "minor: more links kept than anew", "41 % more", None),
            ("partial", "standard: connected within a point of anew", "98.83 %", None),
            ("partial", "minor: parity within a point of anew", "98.66 %", None),
            ("partial", "movement 0.3: 10 steps better than 3", "10 to 15 best", "91.00 % against 90.30 %"),
            ("partial", "movement 0.1: 10 steps better than 3", "7 to 10 best", None),
        ],
    )
    def test_stand_beside_what_the_paper_says(
        self, table: str, claim: str, printed: str, ours: str | None, world: World
    ) -> None:
        made = judged(table)[claim]
        assert made.paper == printed
        assert ours is None or made.ours == ours

    @pytest.mark.parametrize(
        ("table", "told", "verdicts"),
        [
            (
                "properties",
                {"acam-123": {**paper.PROPERTIES["NetDiff (CAM)"], "links": 20.0}},
                {
                    "links: NetDiff (ACAM) nearer to the target than NetDiff (CAM)": "opposite",
                    **{
                        f"{what}: NetDiff (ACAM) nearer to the target than NetDiff (CAM)": "level"
                        for what in ("mean length", "per link, Mbit/s", "saturated antennas")
                    },
                },
            ),
            (
                # Of everything a little more than statistics: better of what is kept, worse of what is saturated.
                "constraints",
                {"cam-123": {"connected": 0.986, "node_saturation": 0.1172, "parity": 0.9861}},
                {"saturated nodes: NetDiff (CAM) better than DDPM-GT with features": "opposite"},
            ),
            (
                "throughput",
                {"NetDiff 32": {"throughput": 341.0}, "NetDiff 16": {"throughput": 77.0}},
                {
                    "16 nodes: NetDiff has as large a share of the target": "opposite",
                    "32 nodes: target above NetDiff": "opposite",
                },
            ),
            (
                "losses",
                {
                    "acam-123 plain": {"node_saturation": 0.2},
                    "cross-entropy-123": {"parity": 0.9864},
                },
                {
                    "fewer saturated nodes with the penalties, sampled as in the paper": "opposite",
                    "parity with the penalties": "level",
                },
            ),
            (
                "tokens",
                {"one-token-123": {"antenna_saturation": 0.11, "node_saturation": 0.06}},
                {f"saturated {what}: 16 tokens below 1": "opposite" for what in ("antennas", "nodes")},
            ),
            *(
                ("modulation", {name: {"node_saturation": 0.2}}, {f"{way}: {FEWER}": "opposite"})
                for way, name in MODULATION.items()
            ),
            (
                "thirty-two",
                {"acam-mixed-123 32": {"ratio": 0.8, "connected": 0.95, "parity": 0.96, "node_saturation": 0.15}},
                {
                    "T / target: the mix above 16 nodes alone, at 32": "opposite",
                    **{f"{what} at 32 nodes at least as high": "opposite" for what in ("connected", "parity")},
                    "saturated nodes at 32 nodes at least as few": "opposite",
                },
            ),
            (
                # A point to spare, and steps of their own movement.
                "partial",
                {"standard": {"continuity": 0.1, "connected": 0.979, "parity": 0.971}, "0.1 10": {"ratio": 0.9}},
                {
                    "standard: more links kept than anew": "opposite",
                    "standard: connected within a point of anew": "opposite",
                    "movement 0.1: 10 steps better than 3": "opposite",
                },
            ),
            (
                "inference",
                {"full": {"milliseconds": 2_010.0}, "correction": {"milliseconds": 101.0}},
                {"a full pass on a CPU, ms": "opposite", "the correction, ms": "opposite"},
            ),
        ],
    )
    def test_do_not_agree_where_we_measure_otherwise(
        self, table: str, told: dict[str, dict[str, float]], verdicts: dict[str, str], world: World
    ) -> None:
        for name, figures in told.items():
            world.told[name] |= figures
        found = {claim: one.verdict for claim, one in judged(table).items() if one.verdict != "agrees"}
        assert found == verdicts


class TestPage:
    def test_every_table_of_claims_has_its_reasons_and_no_other_has(self) -> None:
        found = agreement.reasons()
        assert set(found) == {*CLAIMS, "in short"}
        assert all(found.values())
        assert set(CLAIMS) <= set(TABLES)

    def test_reasons_are_whole_sections(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        (tmp_path / agreement.WHY).write_text(
            "# in short\nMostly.\n\n# losses\nOne paragraph.\n\n## Below\nAnother, with # in it.\n\n# tokens\nLast.\n",
            encoding="utf-8",
        )
        monkeypatch.setattr(agreement, "files", lambda package: tmp_path)
        assert agreement.reasons() == {
            "in short": "Mostly.",
            "losses": "One paragraph.\n\n## Below\nAnother, with # in it.",
            "tokens": "Last.",
        }

    def test_counts_the_verdicts_of_its_rows(self, monkeypatch: pytest.MonkeyPatch) -> None:
        made = [
            Comparison(f"claim {place}", f"paper {place}", f"ours {place}", low, low + 0.1)
            for place, low in enumerate((0.1, 0.1, 0.1, -0.05, -0.05, -0.2))
        ]
        for place, table in enumerate(CLAIMS):
            monkeypatch.setitem(CLAIMS, table, partial(lambda place, setting: made[place % 3 :], place))
        why = {name: f"Because of {name}." for name in (*CLAIMS, "in short")}
        monkeypatch.setattr(agreement, "reasons", lambda: why)
        summary, *tables = TABLES["agreement"].run(SETTING)
        assert (summary.columns, summary.note) == (["table", "agrees", "level", "opposite"], "Because of in short.")
        assert summary.rows == [(table, [str(3 - place % 3), "2", "1"]) for place, table in enumerate(CLAIMS)]
        assert [(grid.title, grid.note) for grid in tables] == [(table, f"Because of {table}.") for table in CLAIMS]
        assert {tuple(grid.columns) for grid in tables} == {("claim", "paper", "ours", "verdict")}
        assert tables[1].rows[0] == ("claim 1", ["paper 1", "ours 1", "agrees"])
