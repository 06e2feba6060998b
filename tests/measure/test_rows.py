"""What was measured: intervals, pooled seeds, cells, and how each metric is written."""

from __future__ import annotations

import numpy as np
import pytest

from manetdiff.measure.measures import (
    MEASURES,
    OF_LAYOUTS,
    Cell,
    Measure,
    labels,
    markdown_table,
    seconds_text,
    unbroken,
)
from manetdiff.measure.resampling import RESAMPLES, bootstrap, resampled_means
from manetdiff.measure.rows import Rows
from manetdiff.topology import METRICS
from support.measured_help import rows_of

SHARE = Measure("share", "share", percent=True)
BY_SEED = ((1.0, 4.0, 2.0, 8.0), (3.0, 3.0, 5.0, 7.0), (0.0, 6.0, 6.0, 9.0))
OVER = (2.0, 3.0, 3.0, 9.0)


def _between(ascending: list[float], share: float) -> float:
    """The quantile, read on the line between its two neighbours."""
    place = share * (len(ascending) - 1)
    below = int(place)
    return ascending[below] + (place - below) * (ascending[below + 1] - ascending[below])


class TestBootstrap:
    @pytest.mark.parametrize("over", [None, OVER])
    @pytest.mark.parametrize("seeds", [1, 3])
    def test_draws_layouts_and_seeds_again_as_a_plain_loop_does(
        self, seeds: int, over: tuple[float, ...] | None
    ) -> None:
        values, layouts = BY_SEED[:seeds], len(OVER)
        generator = np.random.default_rng(0)
        picks = generator.integers(0, layouts, (RESAMPLES, layouts)).tolist()
        chosen = generator.integers(0, seeds, (seeds, RESAMPLES)).T.tolist()
        expected = []
        for pick, some in zip(picks, chosen, strict=True):
            mean = sum(values[seed][k] for seed in some for k in pick) / (seeds * layouts)
            expected.append(mean if over is None else mean / (sum(over[k] for k in pick) / layouts))
        assert resampled_means(values, over) == pytest.approx(np.array(expected))
        mean, low, high = bootstrap(values, over)
        assert mean == pytest.approx(np.mean(values) / (1 if over is None else np.mean(over)))
        assert [low, high] == pytest.approx([_between(sorted(expected), share) for share in (0.025, 0.975)])

    def test_of_a_ratio_is_of_sums_and_paired(self) -> None:
        # The mean of the two ratios would be 2.
        assert bootstrap([1.0, 9.0], [1.0, 3.0])[0] == pytest.approx(2.5)
        # Twice as much on every layout is twice as much on any of them, however far apart these are.
        assert bootstrap([2.0, 20.0, 200.0], [1.0, 10.0, 100.0]) == pytest.approx((2.0, 2.0, 2.0))

    def test_of_one_layout_of_equal_ones_or_of_equal_seeds_adds_no_width(self) -> None:
        assert bootstrap([0.7]) == pytest.approx((0.7, 0.7, 0.7))
        assert bootstrap([0.25] * 9) == (0.25, 0.25, 0.25)
        values = np.random.default_rng(4).random(12)
        assert bootstrap([values] * 3) == pytest.approx(bootstrap(values))

    def test_of_seeds_that_differ_is_wider_than_of_layouts_alone(self) -> None:
        over_layouts = np.random.default_rng(3).normal(5.0, 1.0, 40)
        mean, low, high = bootstrap(np.stack([over_layouts + shift for shift in (-2.0, 0.0, 2.0)]))
        alone, alone_low, alone_high = bootstrap(over_layouts)
        assert mean == pytest.approx(alone)
        assert high - low > 3 * (alone_high - alone_low)
        # One of 27 draws has the lowest seed three times: more than the tail of a fortieth.
        assert bootstrap([[0.1] * 5, [0.2] * 5, [0.3] * 5]) == pytest.approx((0.2, 0.1, 0.3))


@pytest.mark.parametrize(
    ("cell", "text"),
    [
        (Cell(Measure("links", "links"), 22.416), "22.42"),
        (Cell(Measure("links", "links", digits=0), 22.416), "22"),
        (Cell(Measure("links", "links"), 22.416, 21.0, 23.5, 21.95), "22.42 [21.00, 23.50] (paper: 21.95)"),
        (Cell(SHARE, 0.98641), "98.64 %"),
        (Cell(SHARE, 0.98641, 0.97, 1.0), "98.64 [97.00, 100.00] %"),
        # The paper has two digits, whatever ours has.
        (Cell(MEASURES["parity"], 0.986412, 0.97, 1.0, 0.9868), "98.641 [97.000, 100.000] % (paper: 98.68)"),
        (Cell(MEASURES["mean_length"], 0.8476, paper=0.94), "0.848 (paper: 0.94)"),
        # A figure of 0 is a figure, and so is an end of an interval.
        (Cell(SHARE, 0.0, 0.0, 0.0, 0.0), "0.00 [0.00, 0.00] % (paper: 0.00)"),
    ],
)
def test_a_cell_shows_ours_the_interval_and_the_papers_figure_in_one_unit(cell: Cell, text: str) -> None:
    assert cell.text == text


def test_ratios_are_those_of_the_layouts_and_not_of_their_sums() -> None:
    rows = rows_of(throughput=[1.0, 90.0], target=[2.0, 100.0])
    assert rows.ratios.tolist() == [[0.5, 0.9]]
    assert rows.mean("ratio") == pytest.approx(91 / 102)


class TestMeasures:
    def test_every_metric_has_one_under_its_own_name_and_shares_are_in_percent(self) -> None:
        assert {*METRICS, "ratio"} == set(OF_LAYOUTS) < set(MEASURES)
        assert all(name == measure.metric for name, measure in MEASURES.items())
        assert len({measure.label for measure in MEASURES.values()}) == len(MEASURES)
        absolute = {"links", "mean_length", "link_throughput", "throughput", "sustained", "milliseconds"}
        assert {name for name, measure in MEASURES.items() if not measure.percent} == absolute
        assert labels(("ratio", "links")) == ["T / target", "links"]

    def test_means_have_their_digits_and_a_spread_the_same(self) -> None:
        shown = {name: MEASURES[name].text(0.98765) for name in ("links", "mean_length", "parity", "valid")}
        assert shown == {"links": "0.99", "mean_length": "0.988", "parity": "98.765 %", "valid": "98.77 %"}
        assert MEASURES["valid"].text(0.98765, 0.01234) == "98.77 ± 1.23 %"

    def test_one_topology_has_whole_links_and_is_connected_or_not(self) -> None:
        values = {"links": 21.0, "mean_length": 0.8476, "connected": 1.0, "valid": 0.0, "throughput": 1.0}
        shown = [MEASURES[name].text_of_one(value) for name, value in values.items()]
        assert shown == ["21", "0.848", "yes", "no", "1.00"]
        # Not all of them.
        assert MEASURES["parity"].text_of_one(0.99999) == "99.9990 %"

    def test_times_and_tables_are_written_for_people(self) -> None:
        assert [seconds_text(seconds) for seconds in (0.0123, 2.0)] == ["12.3 ms", "2 s"]
        assert markdown_table(("a", "b"), [("x", "1")]) == "| a | b |\n| --- | ---: |\n| x | 1 |\n"

    def test_an_interval_stays_on_one_line(self) -> None:
        cells = ["92 [13, 249] ms (paper: 4)", "60.0 ± 1.2 %", "none is in time", "-0.1 [-0.2, 0.0]"]
        shown = ["92_[13,_249]_ms (paper:_4)", "60.0_±_1.2_%", "none is in time", "-0.1_[-0.2,_0.0]"]
        assert [unbroken(cell) for cell in cells] == [cell.replace("_", "\u00a0") for cell in shown]


class TestRows:
    def test_a_cell_is_the_metrics_mean_and_ratio_that_of_t_over_the_target(self) -> None:
        rows = rows_of(throughput=[60.0, 90.0], target=[80.0, 100.0], parity=[1.0, 0.5])
        parity, ratio = rows.cells(("parity", "ratio"), {"parity": 0.9864, "valid": 1.0})
        assert (parity.measure, parity.mean, parity.paper) == (MEASURES["parity"], 0.75, 0.9864)
        assert (parity.low, parity.high) == (0.5, 1.0)
        assert (ratio.measure, ratio.paper) == (MEASURES["ratio"], None)
        # Not the mean of 60 / 80 and 90 / 100, which is 0.825.
        assert ratio.mean == pytest.approx(150 / 180)
        assert (ratio.low, ratio.high) == pytest.approx((0.75, 0.9))
        assert rows.means(("ratio", "parity")) == {"ratio": ratio.mean, "parity": 0.75}
        assert (rows.has("parity"), rows.has("milliseconds")) == (True, False)

    def test_of_several_seeds_are_pooled_by_seed_and_layout(self) -> None:
        first = rows_of(throughput=[60.0, 90.0, 30.0], target=[80.0, 100.0, 60.0])
        second = rows_of(throughput=[40.0, 70.0, 50.0], target=[80.0, 100.0, 60.0])
        pooled = Rows.pooled([first, second])
        assert (pooled.seeds, pooled.layouts, len(pooled.rows)) == (2, 3, 6)
        assert pooled.values("throughput").tolist() == [[60.0, 90.0, 30.0], [40.0, 70.0, 50.0]]
        assert Rows.pooled([first]) == first
        # All of what the seeds reach, over the target that they share.
        over = pooled.values("target")[0]
        assert pooled.mean("ratio") == pooled.cell("ratio").mean == pytest.approx(340 / 480)
        assert pooled.mean("throughput") == pytest.approx(340 / 6)
        assert pooled.resampled("ratio") == pytest.approx(resampled_means(pooled.values("throughput"), over))
        # 60 and 53.3 a layout, of 80.
        assert pooled.spread("throughput") == pytest.approx(np.std([60, 160 / 3], ddof=1))
        assert pooled.spread("ratio") == pytest.approx(np.std([180 / 240, 160 / 240], ddof=1))
        assert first.spread("ratio") == 0.0

    @pytest.mark.parametrize("seeds", [1, 3])
    def test_on_the_same_layouts_are_resampled_on_the_same_layouts(self, seeds: int) -> None:
        layouts = np.array([1.0, 100.0, 3.0, 10_000.0, 7.0])
        one = rows_of(links=layouts.tolist())
        other = Rows.pooled([rows_of(links=(layouts + 0.5).tolist())] * seeds)
        assert one.resampled("links").std() > 100
        assert other.resampled("links") - one.resampled("links") == pytest.approx(np.full(RESAMPLES, 0.5))
