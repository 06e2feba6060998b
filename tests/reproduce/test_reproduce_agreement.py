"""The page of agreement: how a claim is judged, which claims are made, and what the page counts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from manetdiff.data import SolvedLayout
from manetdiff.reproduce import paper
from manetdiff.reproduce.agreement import claims
from manetdiff.reproduce.agreement import pages as agreement
from manetdiff.reproduce.agreement.claims import CLAIMS
from manetdiff.reproduce.agreement.verdict import Comparison, at_least, at_most, higher, lower, nearer
from manetdiff.reproduce.catalogue import STUDIES
from manetdiff.reproduce.inference import CORRECTION, FULL
from manetdiff.reproduce.networks import NETWORKS, Network
from manetdiff.reproduce.rows import Rows, RowStore
from manetdiff.reproduce.study import Setting
from support.reproduce_help import hurry, rows_of

# Layouts that are far apart, so that only a comparison layout by layout can tell rows apart that differ by little.
APART = (0.10, 0.95, 0.40, 0.02, 0.70, 0.55, 0.30, 0.85)


@pytest.fixture
def setting(monkeypatch: pytest.MonkeyPatch) -> Setting:
    hurry(monkeypatch)
    return Setting(True, RowStore(None))


def shifted(metric: str, by: float | Sequence[float], seeds: Sequence[float] = (0.0,)) -> Rows:
    """A metric on layouts that are far apart, moved by as much on each of them; seeds: what is added for each seed."""
    return Rows.pooled([rows_of(**{metric: (np.array(APART) + by + more).tolist()}) for more in seeds])


class TestVerdict:
    @pytest.mark.parametrize(
        ("low", "high", "verdict"),
        [
            (0.001, 0.2, "agrees"),
            (-0.1, 0.2, "level"),
            (0.0, 0.2, "level"),
            (-0.2, 0.0, "level"),
            (0.0, 0.0, "level"),
            (-0.2, -0.001, "opposite"),
        ],
    )
    def test_is_sure_where_the_whole_interval_lies_on_one_side(self, low: float, high: float, verdict: str) -> None:
        assert Comparison("", "", "", low, high).verdict == verdict

    def test_of_more_and_of_less_are_each_others_opposite(self) -> None:
        more, same = shifted("parity", 0.01), shifted("parity", 0.0)
        for judge, verdicts in ((higher, ("agrees", "opposite", "level")), (lower, ("opposite", "agrees", "level"))):
            pairs = ((more, same), (same, more), (same, same))
            assert tuple(judge("", "parity", *pair, (0.9, 0.8)).verdict for pair in pairs) == verdicts

    def test_compares_layout_by_layout(self) -> None:
        """The intervals of the two means overlap almost wholly, and the difference is sure all the same."""
        more, same = shifted("parity", 0.01), shifted("parity", 0.0)
        low, high = more.cell("parity").low, same.cell("parity").high
        assert low is not None
        assert high is not None
        assert low < high - 0.2
        judged = higher("", "parity", more, same, (0.0, 0.0))
        assert (judged.low, judged.high) == pytest.approx((0.01, 0.01))

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
        values = [0.90, 0.92, 0.91, 0.93]
        rows = rows_of(parity=values, milliseconds=values)
        for bound, least, most in (
            (0.5, "agrees", "opposite"),
            (0.915, "level", "level"),
            (0.99, "opposite", "agrees"),
        ):
            assert at_least("", "parity", rows, bound, "").verdict == least
            assert at_most("", "milliseconds", rows, bound, "").verdict == most
        judged = at_least("", "parity", rows, 0.5, "")
        assert 0.40 <= judged.low < judged.high <= 0.43
        judged = at_most("", "parity", rows, 0.5, "")
        assert -0.43 <= judged.low < judged.high <= -0.40

    def test_of_a_share_of_the_target_is_of_sums(self) -> None:
        one = rows_of(throughput=[60.0, 90.0], target=[80.0, 100.0])
        other = rows_of(throughput=[56.0, 88.0], target=[80.0, 100.0])
        judged = higher("", "ratio", one, other, (0.99, 0.95))
        assert judged.ours == "83.33 % against 80.00 %"
        assert judged.verdict == "agrees"
        assert at_least("", "ratio", one, 0.7, "").ours == "83.33 [75.00, 90.00] %"

    def test_is_told_in_the_units_of_the_measure(self) -> None:
        one, other = rows_of(parity=0.75, links=22.4), rows_of(parity=0.5, links=30.0)
        judged = higher("more parity", "parity", one, other, (0.9864, 0.9863))
        assert (judged.claim, judged.paper) == ("more parity", "98.64 % against 98.63 %")
        assert judged.ours == "75.00 % against 50.00 %"
        judged = lower("fewer links", "links", one, other, (22.42, 23.08))
        assert (judged.claim, judged.paper, judged.ours) == (
            "fewer links",
            "22.42 against 23.08",
            "22.40 against 30.00",
        )
        judged = nearer("nearer", "links", one, other, rows_of(links=21.0), (22.42, 23.08, 21.95))
        assert judged.claim == "nearer"
        assert judged.paper == "22.42 against 23.08 (target 21.95)"
        assert judged.ours == "22.40 against 30.00 (target 21.00)"
        for judge in (at_least, at_most):
            judged = judge("a bound", "parity", one, 0.7, "99 %")
            assert (judged.claim, judged.paper, judged.ours) == ("a bound", "99 %", "75.00 [75.00, 75.00] %")


class World:
    """What would be measured where every row is as told: the paper's own figures, unless a test changes them."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.networks = {label: dict(paper.PROPERTIES[label]) for label in NETWORKS}
        for label, figures in paper.CONSTRAINTS.items():
            self.networks[label] |= figures
        # Nodes saturated by other ways to train (by the ending of their weights' names) or to sample (None).
        acam, statistics = (
            paper.CONSTRAINTS[label]["node_saturation"] for label in ("NetDiff (ACAM)", "DDPM-GT with features")
        )
        self.saturated: dict[str | None, dict[str, float]] = {
            ending: {"acam": acam, "ddpm-gt": statistics} for ending in (None, "-brief", "-plain", "-wide")
        }
        # Just above the share that the paper's NetDiff has of its target.
        self.throughput = {nodes: dict(figures) for nodes, figures in paper.THROUGHPUT.items()}
        for figures in self.throughput.values():
            figures["NetDiff"] *= 1.001
        self.sampled: dict[str, dict[str, float]] = {
            "acam-123": {**paper.LOSSES["with the penalties"], "antenna_saturation": 0.12},
            "cross-entropy-123": dict(paper.LOSSES["cross-entropy alone"]),
            "one-token-123": {"antenna_saturation": 0.128, "node_saturation": 0.08},
        }
        self.as_in_the_paper = {name: dict(figures) for name, figures in self.sampled.items()}
        self.at_32 = {
            "acam-mixed-123": {"ratio": 0.95, "connected": 0.99, "parity": 0.98, "node_saturation": 0.14},
            "acam-123": {"ratio": 0.9, "connected": 0.9, "parity": 0.9, "node_saturation": 0.2},
        }
        self.partial = {
            "anew": {"continuity": 0.2, "connected": 0.99, "parity": 0.98},
            "raw": {"continuity": 0.3, "connected": 0.985, "parity": 0.975},
        }
        self.steps = {movement: {steps: 0.9 + 0.001 * steps for steps in (3, 5, 10)} for movement in (0.05, 0.1, 0.3)}
        self.milliseconds = {FULL: 1_990.0, CORRECTION: 99.0}
        self.asked: list[tuple[Any, ...]] = []
        for name in ("samples_of", "throughput_rows", "partial_rows", "step_rows", "inference_times"):
            monkeypatch.setattr(claims, name, getattr(self, f"_{name}"))
        monkeypatch.setattr(claims, "sampled", self._sampled)
        monkeypatch.setattr(claims, "targets", self._targets)

    def _samples_of(self, setting: Setting, network: Network, layouts: Sequence[SolvedLayout], **sampling: Any) -> Rows:
        assert len(layouts[0].fleet) == 16
        if sampling:
            assert sampling == {"temperature": 1.0, "decide": False}
            return rows_of(node_saturation=self.saturated[None][network.variant])
        label = next((label for label, one in NETWORKS.items() if one == network), None)
        known = {} if label is None else self.networks[label]
        variant, dash, ending = network.variant.rpartition("-")
        if dash + ending in self.saturated:
            assert network.seeds == ((123,) if ending == "wide" else (123, 124, 125))
            known = {**known, "node_saturation": self.saturated[dash + ending][variant]}
        return rows_of(**known)

    def _targets(self, layouts: Sequence[SolvedLayout]) -> Rows:
        return rows_of(**paper.PROPERTIES["target"])

    def _throughput_rows(self, setting: Setting, nodes: int) -> dict[str, Rows]:
        figures = self.throughput[nodes]
        return {name: rows_of(throughput=figure, target=figures["target"]) for name, figure in figures.items()}

    def _sampled(self, setting: Setting, name: str, layouts: Sequence[SolvedLayout], **sampling: Any) -> Rows:
        if len(layouts[0].fleet) == 32:
            figures = self.at_32[name]
            return rows_of(throughput=100 * figures["ratio"], target=100.0, **figures)
        assert sampling in ({}, {"temperature": 1.0, "decide": False})
        return rows_of(**(self.as_in_the_paper if sampling else self.sampled)[name])

    def _partial_rows(self, setting: Setting, mode: str, movement: float, steps: int) -> dict[str, Rows]:
        self.asked.append((mode, movement, steps))
        return {way: rows_of(**figures) for way, figures in self.partial.items()}

    def _step_rows(self, setting: Setting) -> dict[float, dict[int, Rows]]:
        return {
            movement: {steps: rows_of(throughput=100 * ratio, target=100.0) for steps, ratio in by_steps.items()}
            for movement, by_steps in self.steps.items()
        }

    def _inference_times(self, setting: Setting, nodes: int) -> dict[str, Rows]:
        assert nodes == 16
        return {stage: rows_of(milliseconds=spent) for stage, spent in self.milliseconds.items()}


@pytest.fixture
def world(monkeypatch: pytest.MonkeyPatch) -> World:
    return World(monkeypatch)


def verdicts(table: str, setting: Setting) -> dict[str, str]:
    made = list(CLAIMS[table](setting))
    assert len({one.claim for one in made}) == len(made) > 0
    return {one.claim: one.verdict for one in made}


def _not_agreed(table: str, setting: Setting) -> set[str]:
    return {claim for claim, verdict in verdicts(table, setting).items() if verdict != "agrees"}


class TestClaims:
    @pytest.mark.parametrize("table", CLAIMS)
    def test_all_agree_where_we_measure_what_the_paper_did(self, table: str, world: World, setting: Setting) -> None:
        assert set(verdicts(table, setting).values()) == {"agrees"}

    def test_of_properties_are_those_in_which_the_papers_rows_come_nearer(self, world: World, setting: Setting) -> None:
        made = list(verdicts("properties", setting))
        # Five steps down the table, four columns; with CAM the paper's links are farther from the target than before.
        assert len(made) == 5 * 4 - 1
        assert "links: NetDiff (CAM) nearer to the target than DDPM-GT with features" not in made
        assert "links: NetDiff (ACAM) nearer to the target than NetDiff (CAM)" in made
        assert "mean length: GT-VAE nearer to the target than GraphVAE" in made
        assert not [claim for claim in made if "T / target" in claim]
        worse = {**world.networks["NetDiff (CAM)"], "links": 20.0}
        world.networks["NetDiff (ACAM)"] = worse
        found = verdicts("properties", setting)
        assert found["links: NetDiff (ACAM) nearer to the target than NetDiff (CAM)"] == "opposite"
        assert found["mean length: NetDiff (ACAM) nearer to the target than NetDiff (CAM)"] == "level"

    def test_of_constraints_are_those_in_which_the_papers_rows_differ(
        self, world: World, setting: Setting, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        made = verdicts("constraints", setting)
        statistics, cam, acam = paper.CONSTRAINTS
        assert list(made) == [
            *(f"{what}: {cam} better than {statistics}" for what in ("connected", "saturated nodes", "parity")),
            *(f"{what}: {acam} better than {cam}" for what in ("saturated nodes", "parity")),
        ]
        monkeypatch.setitem(paper.CONSTRAINTS, cam, {**paper.CONSTRAINTS[statistics], "parity": 0.9864})
        assert list(verdicts("constraints", setting)) == [
            f"parity: {cam} better than {statistics}",
            *(f"{what}: {acam} better than {cam}" for what in ("connected", "saturated nodes")),
        ]

    def test_of_constraints_go_the_way_that_is_better(self, world: World, setting: Setting) -> None:
        statistics, cam, _ = paper.CONSTRAINTS
        # Of everything a little more, which is better of what is kept and worse of what is saturated.
        world.networks[cam] = {metric: value + 0.001 for metric, value in world.networks[statistics].items()}
        found = verdicts("constraints", setting)
        assert [found[f"{what}: {cam} better than {statistics}"] for what in ("connected", "parity")] == ["agrees"] * 2
        assert found[f"saturated nodes: {cam} better than {statistics}"] == "opposite"

    def test_of_throughput_are_the_order_of_the_methods_and_the_share_of_the_target(
        self, world: World, setting: Setting
    ) -> None:
        found = verdicts("throughput", setting)
        assert list(found)[:6] == [
            "16 nodes: Huang above omni",
            "16 nodes: MST+greedy above Huang",
            "16 nodes: DDPM-GT above MST+greedy",
            "16 nodes: NetDiff above DDPM-GT",
            "16 nodes: target above NetDiff",
            "16 nodes: NetDiff has as large a share of the target",
        ]
        assert len(found) == 12
        shown = [one.paper for one in CLAIMS["throughput"](setting) if "share" in one.claim]
        assert shown == ["99.48 %", "94.68 %"]
        world.throughput[32]["NetDiff"] = 341.0
        world.throughput[16]["NetDiff"] = 77.0
        assert _not_agreed("throughput", setting) == {
            "16 nodes: NetDiff has as large a share of the target",
            "32 nodes: target above NetDiff",
        }

    def test_of_the_losses_are_judged_as_we_sample_and_as_the_paper_does(self, world: World, setting: Setting) -> None:
        world.sampled["acam-123"] |= {"node_saturation": 0.2, "parity": 0.9864}
        world.sampled["cross-entropy-123"]["parity"] = 0.9864
        assert list(verdicts("losses", setting).items()) == [
            ("fewer saturated nodes with the penalties", "opposite"),
            ("parity with the penalties", "level"),
            ("fewer saturated nodes with the penalties, sampled as in the paper", "agrees"),
            ("parity with the penalties, sampled as in the paper", "agrees"),
        ]

    def test_of_tokens_are_beside_the_difference_that_the_paper_gives(self, world: World, setting: Setting) -> None:
        antennas, nodes = CLAIMS["tokens"](setting)
        assert (antennas.paper, nodes.paper) == ("0.8 points less",) * 2
        assert (antennas.ours, nodes.ours) == ("12.00 % against 12.80 %", "7.05 % against 8.00 %")
        world.sampled["one-token-123"] = {"antenna_saturation": 0.11, "node_saturation": 0.06}
        assert set(verdicts("tokens", setting).values()) == {"opposite"}

    def test_of_the_modulation_are_asked_in_five_ways_each_of_its_own_networks(
        self, world: World, setting: Setting
    ) -> None:
        ways = {
            "as trained here": None,
            "sampled as in the paper": None,
            "after a sixth of the training": "-brief",
            "without features": "-plain",
            "larger networks": "-wide",
        }
        claim = "{}: ACAM saturates fewer nodes than statistics".format
        assert list(verdicts("modulation", setting)) == [claim(way) for way in ways]
        assert {one.paper for one in CLAIMS["modulation"](setting)} == {"7.05 % against 11.62 %"}
        world.networks["NetDiff (ACAM)"]["node_saturation"] = 0.2
        assert _not_agreed("modulation", setting) == {claim("as trained here")}
        world.networks["NetDiff (ACAM)"]["node_saturation"] = 0.0
        for way, ending in list(ways.items())[1:]:
            before = world.saturated[ending]
            world.saturated[ending] = {"acam": 0.2, "ddpm-gt": 0.1}
            assert _not_agreed("modulation", setting) == {claim(way)}
            world.saturated[ending] = before

    def test_of_32_nodes_are_against_16_nodes_alone_and_against_the_papers_figures(
        self, world: World, setting: Setting
    ) -> None:
        found = list(CLAIMS["thirty-two"](setting))
        assert [one.paper for one in found] == ["in words"] * 3 + ["98.78 %", "97.18 %", "14.08 %"]
        assert found[0].ours == "95.00 % against 90.00 %"
        world.at_32["acam-mixed-123"] = {"ratio": 0.8, "connected": 0.95, "parity": 0.96, "node_saturation": 0.15}
        assert list(verdicts("thirty-two", setting).values()) == [
            "opposite",
            "agrees",
            "agrees",
            "opposite",
            "opposite",
            "opposite",
        ]

    def test_of_updates_are_of_the_papers_two_cases_and_of_steps(self, world: World, setting: Setting) -> None:
        found = {one.claim: one for one in CLAIMS["partial"](setting)}
        assert world.asked == [("standard", 0.3, 15), ("minor", 0.1, 10)]
        assert found["standard: more links kept than anew"].paper == "21 % more"
        assert found["minor: more links kept than anew"].paper == "41 % more"
        assert found["minor: more links kept than anew"].ours == "50 % more (30.00 % against 20.00 %)"
        assert found["standard: connected within a point of anew"].paper == "98.83 %"
        assert found["minor: parity within a point of anew"].paper == "98.66 %"
        assert found["movement 0.3: 10 steps better than 3"].paper == "10 to 15 best"
        assert found["movement 0.1: 10 steps better than 3"].paper == "7 to 10 best"
        assert found["movement 0.3: 10 steps better than 3"].ours == "91.00 % against 90.30 %"

    def test_of_updates_have_a_point_to_spare_and_steps_of_their_own_movement(
        self, world: World, setting: Setting
    ) -> None:
        world.partial["raw"] = {"continuity": 0.1, "connected": 0.9790, "parity": 0.9710}
        world.steps[0.1] = {3: 0.95, 10: 0.94}
        found = verdicts("partial", setting)
        assert found.pop("movement 0.3: 10 steps better than 3") == "agrees"
        assert found.pop("movement 0.1: 10 steps better than 3") == "opposite"
        for mode in ("standard", "minor"):
            assert found.pop(f"{mode}: more links kept than anew") == "opposite"
            assert found.pop(f"{mode}: connected within a point of anew") == "opposite"
            assert found.pop(f"{mode}: parity within a point of anew") == "agrees"
        assert found == {}

    def test_of_times_are_kept_or_broken(self, world: World, setting: Setting) -> None:
        world.milliseconds = {FULL: 2_010.0, CORRECTION: 99.0}
        assert list(verdicts("inference", setting).values()) == ["opposite", "agrees"]
        world.milliseconds = {FULL: 1_990.0, CORRECTION: 101.0}
        assert list(verdicts("inference", setting).values()) == ["agrees", "opposite"]


class TestPage:
    def test_every_table_of_claims_has_its_reasons_and_no_other_has(self) -> None:
        found = agreement.reasons()
        assert set(found) == {*CLAIMS, "in short"}
        assert all(found.values())
        assert set(CLAIMS) <= set(STUDIES)

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

    def test_counts_the_verdicts_of_its_rows(self, setting: Setting, monkeypatch: pytest.MonkeyPatch) -> None:
        sides = {"agrees": (0.1, 0.2), "level": (-0.1, 0.1), "opposite": (-0.2, -0.1)}
        told = {
            table: ["agrees"] * place + ["level"] * (place % 3) + ["opposite"] * (place % 2)
            for place, table in enumerate(CLAIMS)
        }

        def claims_of(table: str, setting: Setting) -> Iterator[Comparison]:
            for place, verdict in enumerate(told[table]):
                yield Comparison(f"claim {place}", f"paper {place}", f"ours {place}", *sides[verdict])

        for table in CLAIMS:
            monkeypatch.setitem(CLAIMS, table, partial(claims_of, table))
        why = {name: f"Because of {name}." for name in (*CLAIMS, "in short")}
        monkeypatch.setattr(agreement, "reasons", lambda: why)
        summary, *tables = STUDIES["agreement"].run(setting)
        assert summary.columns == ["table", "agrees", "level", "opposite"]
        assert summary.note == "Because of in short."
        assert [grid.title for grid in tables] == [label for label, _ in summary.rows] == list(CLAIMS)
        for (table, counted), grid in zip(summary.rows, tables, strict=True):
            assert grid.note == f"Because of {table}."
            assert [row[-1] for _, row in grid.rows] == told[table]
            found = Counter(row[-1] for _, row in grid.rows)
            assert counted == [str(found[word]) for word in ("agrees", "level", "opposite")]
        assert tables[-1].columns == ["claim", "paper", "ours", "verdict"]
        assert tables[-1].rows[0] == ("claim 0", ["paper 0", "ours 0", "agrees"])
