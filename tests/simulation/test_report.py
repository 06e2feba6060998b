"""The report page of a simulation: what it says, that it holds together, and that it fetches nothing."""

from __future__ import annotations

import base64
import dataclasses
import hashlib
import json
import math
import re
from html.parser import HTMLParser

import numpy as np
import pytest

import manetdiff as md
from manetdiff.fleet import Fleet
from manetdiff.flights.delivery import link_names
from manetdiff.layout import Layout
from manetdiff.pictures.marks import DARK, LIGHT
from manetdiff.pictures.page_svg import LONGEST, topology_group
from manetdiff.pictures.view import View
from manetdiff.radio import Radio
from manetdiff.simulation import Moment, flight, report, simulate
from manetdiff.simulation.plots import plots
from manetdiff.simulation.radio_facts import radio_facts
from manetdiff.simulation.report import report_html
from manetdiff.topology import Topology

NOT_CLOSED = {"meta", "input", "br"}


class Page(HTMLParser):
    """Elements with their attributes, and the text of the page; fails where a tag is not closed where it should be."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str]]] = []
        self.text = ""
        self.open: list[str] = []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, {name: value or "" for name, value in attrs}))
        if tag not in NOT_CLOSED:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, {name: value or "" for name, value in attrs}))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data

    def named(self, tag: str) -> list[dict[str, str]]:
        return [attributes for name, attributes in self.elements if name == tag]

    def of_class(self, name: str) -> list[dict[str, str]]:
        return [attributes for _, attributes in self.elements if attributes.get("class") == name]


@pytest.fixture(scope="module")
def moments() -> list[Moment]:
    turn = np.linspace(0, 2 * np.pi, 6, endpoint=False)
    ring = np.stack([np.cos(turn), 0.7 * np.sin(turn)], axis=1) * 3000.0
    fleets = [Fleet(ring * (1 + 0.4 * k, 1 - 0.3 * k), turn) for k in range(4)]
    flown = [(2.0 * k, fleet) for k, fleet in enumerate(fleets)]
    return list(simulate(flown, md.load(), seed=7, compare=True))


@pytest.fixture(scope="module")
def page(moments: list[Moment]) -> Page:
    return Page(report_html(moments, "Flight <b>7</b> & more"))


class TestThePage:
    def test_runs_nothing_but_its_own_script_and_fetches_nothing(self, moments: list[Moment]) -> None:
        text = report_html(moments, "Flight <b>7</b> & more")
        page = Page(text)
        assert not {"iframe", "link", "img", "b"} & {tag for tag, _ in page.elements}
        pointed = [value for _, one in page.elements for name, value in one.items() if name.endswith(("src", "href"))]
        assert pointed
        assert all(value.startswith("#") for value in pointed)
        assert "@import" not in text
        assert not re.search(r"url\((?!#)", text)
        assert not any(name.startswith("on") for _, one in page.elements for name in one)
        policy = next(one["content"] for one in page.named("meta") if "content" in one and "http-equiv" in one)
        (script,) = re.findall(r"<script>(.*?)</script>", text, re.DOTALL)
        digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
        assert policy.startswith("default-src 'none';")
        assert policy.endswith(f"script-src 'sha256-{digest}'")

    def test_says_what_it_is_of_in_words_and_numbers_that_people_use(self, moments: list[Moment], page: Page) -> None:
        assert "Flight <b>7</b> & more" in page.text
        for words in (
            f"manetdiff {md.__version__}",
            "seed",
            "network",
            "radio: longest link",
            "radio: bandwidth",
            "1 MHz",
        ):
            assert words in page.text
        assert {"T", "valid", "continuity", "sustained"} <= set(re.findall(r"<dt>(.*?)</dt>", report_html(moments, "")))
        large = [_with(one, throughput=6043.2, valid=1.0) for one in moments]
        text = report_html(large, "Flight")
        assert "6,043 Mbit/s" in text
        assert "6,043.20" in text
        assert not re.search(r"\de[+-]\d", Page(text).text)

    def test_shows_sustained_rates_where_there_are_any(self, moments: list[Moment]) -> None:
        told = [_with(one, throughput=1000.0, sustained=500.0) for one in moments]
        text = report_html(told, "Flight")
        assert "500 Mbit/s" in text
        assert "sustained, Mbit/s" in text
        assert text.count("<td>500.00</td>") == len(moments)

    def test_every_picture_and_plot_says_what_it_shows(self, page: Page) -> None:
        pictures = [one for one in page.named("svg") if one.get("aria-hidden") != "true"]
        assert len(pictures) == 2 + 1 + 4
        assert all(one["role"] == "img" and one["aria-label"] for one in pictures)
        assert all(one.get("scope") in ("row", "col") for one in page.named("th"))

    def test_identifiers_are_of_one_element_each(self, page: Page) -> None:
        names = [one["id"] for _, one in page.elements if "id" in one]
        assert {"player", "terms"} <= set(names)
        assert len(set(names)) == len(names)

    def test_is_light_and_dark_by_the_colours_of_pictures(self, moments: list[Moment]) -> None:
        text = report_html(moments, "Flight")
        light, dark = (text.index(f"--ink: {style.ink};") for style in (LIGHT, DARK))
        assert text.rindex("@media", 0, dark) > light
        assert "prefers-color-scheme: dark" in text[text.rindex("@media", 0, dark) : dark]
        body = text[text.index("<body>") :]
        assert not re.search(r"(?:fill|stroke): #(?!fff)[0-9a-f]{6}", body)

    def test_is_the_same_text_each_time_also_of_one_moment(self, moments: list[Moment]) -> None:
        for some in (moments[:1], moments[:2]):
            assert report_html(some, "Flight") == report_html(some, "Flight")
        alone = Page(report_html(moments[:1], "Flight"))
        assert not alone.named("script")
        assert not alone.named("button")

    def test_has_no_more_rows_than_people_read(self, moments: list[Moment], monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(report, "SHOWN_ROWS", 2)
        text = report_html(moments, "Flight")
        assert text.count("<tr><td>") == 2
        assert "One moment of 2; all of them are in metrics.csv." in text


class TestTheFlight:
    def test_has_a_picture_a_moment_of_which_the_first_is_shown(self, moments: list[Moment], page: Page) -> None:
        pictures = page.of_class("moment")
        assert ["hidden" in one for one in pictures] == [False, True, True, True]
        for one, picture in zip(moments, pictures, strict=True):
            assert picture["data-told"].startswith(f"At {one.time:g} s: 6 nodes, {len(one.topology.links)} links")
        for one, picture in zip(moments[1:], pictures[1:], strict=True):
            assert f"({one.added} new, {one.dropped} dropped)" in picture["data-told"]
        (slider,) = page.named("input")
        assert (slider["min"], slider["max"]) == ("0", "3")
        assert len(page.named("button")) == 3

    def test_of_a_long_one_there_are_not_too_many(self, moments: list[Moment], monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(flight, "MOST_NODES", 13)
        page = Page(flight.flight_html(moments))
        assert len(page.of_class("moment")) == 2
        assert "One moment of 2 is shown." in page.text


class TestPicturesOfAPage:
    def test_first_and_last_show_what_went_and_what_came_also_where_nodes_join(self, moments: list[Moment]) -> None:
        first, last = moments[0], moments[-1]
        fewer = Fleet(last.fleet.positions[:5], last.fleet.yaw[:5], last.fleet.ids[:5])
        made = md.solve(fewer, method="greedy")
        for end in (last, dataclasses.replace(last, fleet=fewer, topology=made)):
            page = Page(report_html([first, end], "Flight"))
            old, new = set(link_names(first.topology)), set(link_names(end.topology))
            dropped, added = (sum(_lines(one["d"]) for one in page.of_class(name)) for name in ("dropped", "new"))
            legend = 1
            assert dropped - legend == len(old - new)
            assert added - 2 * legend == 2 * len(new - old)  # in the last picture, and in the flight's second

    def test_a_link_is_drawn_from_node_to_node_with_north_up(self) -> None:
        fleet = Fleet([(0.0, 0.0), (1000.0, 0.0), (1000.0, 800.0)], [0.0, 0.0, 0.0])
        made = Topology([(0, 1), (1, 2)], [0, 1, 0], layout=Layout(fleet, Radio()))
        view = View.of([fleet])
        (links,) = Page(topology_group(made, view, np.zeros(2, bool), "new")).of_class("kept")
        ends = np.array([point.split() for point in re.split("[ML]", links["d"]) if point], float).reshape(2, 2, 2)
        pixel = 2 * view.half.max() / LONGEST
        assert np.diff(ends, axis=1)[:, 0] * pixel == pytest.approx(np.array([(1000.0, 0.0), (0.0, -800.0)]), abs=0.5)
        assert ends.min() > 0  # inside the picture, with room for the nodes

    def test_what_is_wrong_is_marked(self) -> None:
        fleet = Fleet([(0.0, 0.0), (1000.0, 10.0), (2000.0, -10.0), (1500.0, 900.0)], np.zeros(4))
        made = Topology([(0, 1), (0, 2), (1, 3)], [0, 1, 1, 1], layout=Layout(fleet, Radio()))
        page = Page(topology_group(made, View.of([fleet]), np.zeros(3, bool), "new"))
        assert [_lines(one["d"]) for one in page.of_class("wrong")] == [1]  # 1 and 3 have one parity
        assert [_lines(one["d"]) for one in page.of_class("kept")] == [2]
        assert len(page.of_class("crowded")) == 1  # both links of node 0 are on its forward antenna

    def test_antennas_are_drawn_where_the_boresight_turns_them(self) -> None:
        fleet = Fleet([(0.0, 0.0), (1000.0, 10.0), (2000.0, -10.0), (1500.0, 900.0)], np.zeros(4))

        def drawn(where: Fleet, radio: Radio, name: str) -> list[str]:
            made = Topology([(0, 1), (0, 2), (1, 3)], [0, 1, 1, 0], layout=Layout(where, radio))
            page = Page(topology_group(made, View.of([fleet]), np.zeros(3, bool), "new"))
            return [one["d"] for one in page.of_class(name)]

        straight, turned = Radio(sectors=3), Radio(sectors=3, boresight=0.5)
        heading = fleet.replace(yaw=fleet.yaw + 0.5)
        for name in ("sectors", "crowded"):
            assert drawn(fleet, turned, name) == drawn(heading, straight, name) != drawn(fleet, straight, name)
        assert drawn(fleet, turned, "parity-0") == drawn(fleet, straight, "parity-0")

    def test_a_node_far_out_is_at_the_border_with_its_distance(self) -> None:
        near = [(0.0, 0.0), (1000.0, 0.0), (1000.0, 800.0), (0.0, 700.0)]
        fleet = Fleet([*near, (900_000.0, 0.0)], np.zeros(5), ["a", "b", "c", "d", "lost"])
        made = Topology([(0, 1), (1, 2)], [0, 1, 0, 1, 0], layout=Layout(fleet, Radio(unit=1000.0)))
        view = View.of([fleet])
        page = Page(topology_group(made, view, np.zeros(2, bool), "new"))
        assert view.half.max() < 2000.0
        assert len(page.of_class("arrow")) == 1
        assert "lost" in page.text
        assert "900 km" in page.text

    def test_names_are_escaped(self) -> None:
        fleet = Fleet([(0.0, 0.0), (1000.0, 0.0)], [0.0, 0.0], ["<&>", "b"])
        made = md.solve(fleet, Radio(unit=1000.0), method="greedy")
        assert "&lt;&amp;&gt;</text>" in topology_group(made, View.of([fleet]), np.zeros(len(made.links), bool), "new")


class TestPlots:
    def test_begin_at_zero_reach_beyond_the_data_and_name_their_lines(self, moments: list[Moment]) -> None:
        throughput, continuity, changes, spent = plots(moments)
        for plot, values in (
            (throughput, [one.metrics["throughput"] for one in moments]),
            (continuity, [100.0]),
            (spent, [one.milliseconds for one in moments[1:]]),
        ):
            low, high = plot.figure.axes[0].get_ylim()
            assert low == 0.0
            assert high >= max(values)
        assert [words for _, _, words in throughput.legend] == [
            "updated",
            "the first topology, never updated",
            "made anew",
        ]
        assert [words for _, _, words in changes.legend] == ["added", "dropped"]
        assert not any(plot.figure.axes[0].get_legend() for plot in (throughput, continuity, changes, spent))
        alone = [dataclasses.replace(one, anew=None) for one in moments]
        assert len(plots(alone)[0].legend) == 2
        broken = [_with(one, valid=0.0) for one in moments]
        assert plots(broken)[0].legend[-1][2] == "not valid"


class TestRadioFacts:
    def test_are_those_of_a_link_budget(self) -> None:
        fleet = Fleet([(0.0, 0.0), (1000.0, 0.0)], [0.0, 0.0])
        facts = dict(radio_facts(Radio.from_link_budget(5e9, 20e6, 2.0, 18.0, 5.0, min_snr=6.0, range=None), fleet))
        assert facts["signal over noise there"] == "6 dB"
        assert facts["bandwidth"] == "20 MHz"
        assert facts["power"] == "full power on every link"
        assert facts["beam"].startswith("steered, ")
        assert facts["longest link"].endswith(" km")

    def test_are_in_spreads_where_the_radio_is(self) -> None:
        fleet = Fleet([(0.0, 0.0), (4000.0, 0.0)], [0.0, 0.0])
        facts = dict(radio_facts(Radio(), fleet))
        metres = 2.5 * fleet.spread
        assert facts["longest link"] == f"{metres / 1000:.2f} km: 2.5 times the fleet's spread, here as it was at first"
        assert facts["antennas a node"] == "4, each for 90°"
        assert facts["beam"] == "a cone, 45° wide"
        assert "at most" not in facts and "needed over noise and interference" not in facts

    def test_say_what_limits_a_radio_and_how_its_sectors_are_turned(self) -> None:
        fleet = Fleet([(0.0, 0.0), (4000.0, 0.0)], [0.0, 0.0])
        facts = dict(radio_facts(Radio(sectors=6, boresight=-math.pi / 6, min_snr=5.0, ceiling=8.0), fleet))
        assert facts["antennas a node"] == "6, each for 60°, the first turned 30° to the right"
        assert facts["needed over noise and interference"] == "5 dB"
        assert facts["at most"] == "8 bit/s/Hz"


def test_the_radio_of_the_page_can_be_read_back(moments: list[Moment]) -> None:
    text = re.sub(r"&quot;", '"', report_html(moments, "Flight"))
    (file,) = re.findall(r"<pre>(.*?)</pre>", text, re.DOTALL)
    assert Radio.from_dict(json.loads(file)) == moments[0].topology.on().radio


def _with(one: Moment, **values: float) -> Moment:
    return dataclasses.replace(one, metrics={**one.metrics, **values})


def _lines(path: str) -> int:
    return path.count("M")
