// Metrics over versions: filled from what the server has kept, then appended to as versions come.

import uPlot from "./vendor/uplot/uPlot.esm.js";
import { of } from "./api.js";
import { byId, el } from "./dom.js";
import { setOldest } from "./history.js";
import { get, on } from "./store.js";
import { onTheme, palette } from "./theme.js";
import { onOpen } from "./tabs.js";

const KEPT = 600; // points; then every other one of the older half goes
const COLUMNS = ["version", "throughput", "sustained", "links", "changes", "continuity", "milliseconds"];
const CHARTS = [
  { title: "Throughput", unit: "Mbit/s", series: [["throughput", "T", "a"], ["sustained", "sustained", "c"]] },
  { title: "Links", unit: "", series: [["links", "links", "c"], ["changes", "changes", "b"]], fromZero: true },
  { title: "Continuity", unit: "%", series: [["continuity", "", "a"]] },
  { title: "Update", unit: "ms", series: [["milliseconds", "", "a"]], fromZero: true },
];
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
  const named = series.filter(([, label]) => label !== "");
  return el("figure", { aria: { label: `${title}${unit === "" ? "" : ` in ${unit}`} over versions` } },
    el("figcaption", {}, el("strong", { textContent: title }), el("span", { textContent: unit }),
      ...named.map(([, label, swatch]) => el("span", { className: `series swatch-${swatch}`, textContent: label }))),
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
  if (byId("charts").offsetWidth === 0) return;
  plots.forEach((plot, k) => plot.setData(columns(CHARTS[k])));
}

function resized() {
  hosts().forEach((host, k) => {
    if (host.clientWidth > 0) plots[k]?.setSize({ width: host.clientWidth, height: host.clientHeight });
  });
  draw();
}

function options({ series, fromZero }, host) {
  const axis = { stroke: palette.quiet, font: "11px system-ui, sans-serif", ticks: { show: false }, grid: { stroke: palette.faint, width: 1 } };
  return {
    width: Math.max(120, host.clientWidth),
    height: Math.max(80, host.clientHeight || 120),
    legend: { show: false },
    cursor: { y: false, drag: { x: false, y: false }, points: { size: 5 } },
    padding: [8, 4, 0, 0],
    scales: { x: { time: false }, y: { range: (_, low, high) => room(low, high, fromZero) } },
    axes: [
      { ...axis, size: 22, space: 70, grid: { show: false }, values: (_, marks) => marks.map((mark) => (Number.isInteger(mark) ? String(mark) : "")) },
      { ...axis, size: 42, space: 28 },
    ],
    series: [{}, ...series.map(([, , swatch]) => ({ stroke: palette[COLOURS[swatch]], width: 1.5, points: { show: false }, spanGaps: true }))],
  };
}

/** A little room above and below; from zero where the size itself is what matters. */
function room(low, high, fromZero) {
  if (low === null || high === null) return [0, 1];
  if (fromZero) return [0, Math.max(1, 1.1 * high)];
  const margin = Math.max(0.12 * (high - low), 0.02 * Math.abs(high), 0.01);
  return [Math.max(0, low - margin), high + margin];
}
