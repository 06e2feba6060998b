// Metrics over versions: filled from what the server has kept, then appended to as versions come.

import uPlot from "./vendor/uplot/uPlot.esm.js";
import { of } from "./api.js";
import { byId, el, say } from "./dom.js";
import { setOldest } from "./history.js";
import { get, on } from "./store.js";
import { onTheme, palette } from "./theme.js";
import { onOpen } from "./tabs.js";
import { number } from "./units.js";

const KEPT = 600; // points; then every other one of the older half goes
const COLUMNS = ["version", "throughput", "sustained", "links", "changes", "continuity", "milliseconds"];
const CHARTS = [
  { title: "Throughput", unit: "Mbit/s", series: [["throughput", "Throughput", "a"], ["sustained", "sustained", "c"]] },
  { title: "Links", unit: "", series: [["links", "Links", "c"], ["changes", "changes", "b"]], fromZero: true, whole: true },
  { title: "Continuity", unit: "%", series: [["continuity", "Continuity", "a"]], most: 100 },
  { title: "Update", unit: "ms", series: [["milliseconds", "Update", "a"]], fromZero: true, cut: true },
];
const WHOLE = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000];
const COLOURS = { a: "accent", b: "parity-1", c: "link" };

const data = Object.fromEntries(COLUMNS.map((name) => [name, []]));
let plots = [];
let asked = null;
let due = false;

export function startCharts() {
  byId("charts").replaceChildren(...CHARTS.map(figure));
  new ResizeObserver(resized).observe(byId("charts"));
  onTheme(build);
  onOpen("charts", resized);
  on(["chosen"], load);
  on(["live"], append);
  build();
}

function figure({ title, unit, series }) {
  // The caption is the legend, too: each name stands beside the colour of its line, if there is more than one.
  const names = series.map(([, label, swatch], k) =>
    el(k === 0 ? "strong" : "span", { className: series.length > 1 ? `series swatch-${swatch}` : "", textContent: label }));
  return el("figure", { aria: { label: `${title}${unit === "" ? "" : ` in ${unit}`} over versions` } },
    el("figcaption", {}, ...names, el("span", { textContent: unit }), el("span", { className: "beyond" })),
    el("div", { className: "plot" }));
}

async function load() {
  asked?.abort();
  for (const name of COLUMNS) data[name].length = 0;
  draw();
  const chosen = get("chosen");
  if (chosen === null) return;
  const mine = (asked = new AbortController());
  try {
    const rows = await of(chosen).metrics(mine.signal);
    if (mine.signal.aborted) return;
    const later = COLUMNS.map((name) => data[name].slice());
    for (const name of COLUMNS) data[name].length = 0;
    rows.version.forEach((version, k) => push(version, {
      throughput: rows.throughput[k],
      sustained: rows.sustained?.[k] ?? rows.throughput[k] / 2,
      links: rows.links[k],
      changes: rows.added[k] + rows.dropped[k],
      continuity: rows.continuity[k],
      milliseconds: rows.milliseconds[k],
    }));
    // What came live in the meantime goes after it.
    later[0].forEach((version, k) => push(version, Object.fromEntries(COLUMNS.map((name, c) => [name, later[c][k]])), true));
    if (data.version.length > 0) setOldest(data.version[0]);
    draw();
  } catch (error) {
    if (!mine.signal.aborted) console.warn(error.message);
  }
}

function push(version, values, asIs = false) {
  if (data.version.length > 0 && version <= data.version.at(-1)) return;
  data.version.push(version);
  for (const name of COLUMNS.slice(1)) {
    const value = values[name] ?? null;
    data[name].push(name === "continuity" && value !== null && !asIs ? 100 * value : value);
  }
  if (data.version.length <= KEPT) return;
  for (const name of COLUMNS) data[name] = data[name].filter((_, k) => k > KEPT / 2 || k % 2 === 0);
}

function append() {
  const live = get("live");
  if (live === null || live.version === null) return;
  const { added, dropped, continuity, milliseconds } = live.update;
  const { throughput, sustained } = live.metrics;
  const before = data.version.length;
  push(live.version, { throughput, sustained, links: live.links.size, changes: added.length + dropped.length, continuity, milliseconds });
  if (data.version.length !== before && !due) {
    due = true;
    setTimeout(() => {
      due = false;
      draw();
    }, 200);
  }
}

const hosts = () => [...byId("charts").querySelectorAll(".plot")];

function build() {
  plots.forEach((plot) => plot.destroy());
  plots = CHARTS.map((chart, k) => new uPlot(options(chart, hosts()[k]), columns(chart), hosts()[k]));
}

const columns = ({ series }) => [data.version, ...series.map(([name]) => data[name])];

function draw() {
  byId("charts").dataset.empty = String(data.version.length === 0);
  if (byId("charts").offsetWidth === 0) return;
  plots.forEach((plot, k) => plot.setData(columns(CHARTS[k])));
  CHARTS.forEach(({ cut, series }, k) => cut && tellBeyond(k, data[series[0][0]]));
}

function resized() {
  hosts().forEach((host, k) => {
    if (host.clientWidth > 0) plots[k]?.setSize({ width: host.clientWidth, height: host.clientHeight });
  });
  draw();
}

/** What is cut off at the top is said instead. */
function tellBeyond(k, values) {
  const most = values.reduce((high, value) => Math.max(high, value ?? 0), 0);
  say(byId("charts").querySelectorAll(".beyond")[k], most > usual(values) ? `at most ${number(most)}` : "");
}

/**
 * The top of a scale for values of which one may be a hundred times the others, as the first topology of a network
 * takes: four times what nine of ten keep to, or simply the largest where that is less.
 */
function usual(values) {
  const sorted = values.filter((value) => value !== null).sort((a, b) => a - b);
  if (sorted.length === 0) return 1;
  return Math.min(sorted.at(-1), 4 * sorted[Math.floor(0.9 * (sorted.length - 1))]);
}

function options({ series, fromZero, cut, whole, most }, host) {
  const axis = { stroke: palette.quiet, font: `11px ${palette.font}`, ticks: { show: false }, grid: { stroke: palette.faint, width: 1 } };
  return {
    width: Math.max(120, host.clientWidth),
    height: Math.max(80, host.clientHeight || 120),
    legend: { show: false },
    cursor: { y: false, drag: { x: false, y: false }, points: { size: 5 } },
    padding: [8, 16, 0, 0],
    scales: { x: { time: false }, y: { range: (_, low, high) => room(low, cut && high !== null ? usual(data[series[0][0]]) : high, fromZero, most) } },
    axes: [
      { ...axis, size: 22, space: 70, grid: { show: false }, values: (_, marks) => marks.map((mark) => (Number.isInteger(mark) ? `v${mark}` : "")) },
      { ...axis, size: 42, space: 28, ...(whole ? { incrs: WHOLE } : {}) },
    ],
    series: [{}, ...series.map(([, , swatch]) => ({ stroke: palette[COLOURS[swatch]], width: 1.5, points: { show: false }, spanGaps: true }))],
  };
}

/** A little room above and below; from zero where the size itself is what matters; never above what there can be. */
function room(low, high, fromZero, most = Infinity) {
  if (low === null || high === null) return [0, 1];
  if (fromZero) return [0, Math.max(1, 1.1 * high)];
  const margin = Math.max(0.12 * (high - low), 0.02 * Math.abs(high), 0.01);
  return [Math.max(0, low - margin), Math.min(high + margin, most + 0.2 * margin)];
}
