// Old versions: the slider under the map, the list of versions, before and after, and the way back to live.

import { of } from "./api.js";
import { byId, el, say, throttled, toast } from "./dom.js";
import { fromSnapshot } from "./merge.js";
import { comparison } from "./map/fleet_view.js";
import { get, on, set } from "./store.js";
import { onOpen, visible } from "./tabs.js";
import { clock, throughput } from "./units.js";

const BETWEEN_MS = 120;
const LIST_MS = 2000;
const slider = byId("history");
let oldest = 1;
let asked = null; // the request that is under way, called off by a newer one
let older = []; // versions that were asked for beyond the newest page

export function startHistory() {
  slider.addEventListener("input", () => {
    const version = Number(slider.value);
    if (version >= Number(slider.max)) backToLive();
    else look(version);
  });
  byId("banner-back").addEventListener("click", () => {
    backToLive();
    byId("map").focus({ preventScroll: true });
  });
  byId("before").addEventListener("click", () => set({ before: !get("before") }));
  on(["live", "shown", "mode", "chosen", "before", "lastChange"], show);
  on(["chosen"], () => {
    asked?.abort();
    asked = null;
    oldest = 1;
    older = [];
    byId("panel-history").replaceChildren();
  });
  on(["live"], () => visible("history") && list());
  onOpen("history", () => list());
}

/** The oldest version that the server still has, as the charts have learnt it. */
export function setOldest(version) {
  oldest = version;
  show();
}

export function backToLive() {
  asked?.abort();
  asked = null;
  set({ mode: "live", shown: null });
}

export const look = throttled(async (version) => {
  asked?.abort();
  const mine = (asked = new AbortController());
  try {
    const state = await of(get("chosen")).state(version, mine.signal);
    if (asked === mine) set({ mode: "history", shown: fromSnapshot(state) });
  } catch (error) {
    if (!mine.signal.aborted) toast(error.message);
  }
}, BETWEEN_MS);

function show() {
  const live = get("live");
  const mode = get("mode");
  const newest = live?.version ?? null;
  slider.disabled = newest === null || newest <= oldest;
  if (newest !== null) {
    slider.min = String(Math.min(oldest, newest));
    slider.max = String(newest);
    if (mode === "live") slider.value = String(newest);
    slider.setAttribute("aria-valuetext", mode === "history" ? `version ${get("shown").version} of ${newest}` : `version ${newest}, live`);
  }
  byId("history-box").hidden = mode === "denoising";
  byId("stage").dataset.mode = mode;
  byId("banner").hidden = mode === "live";
  if (mode === "history") say(byId("banner-text"), `Viewing version ${get("shown").version} of ${newest}${comparedWords()}`);
  byId("before").disabled = newest === null || mode === "denoising";
  byId("before").setAttribute("aria-pressed", String(get("before")));
}

function comparedWords() {
  const change = comparison();
  return change === null ? "" : ` (${change.added.length} added, ${change.dropped.length} dropped)`;
}

const list = throttled(async (more = false) => {
  const chosen = get("chosen");
  if (chosen === null) return;
  try {
    const { versions } = await of(chosen).history(null);
    if (more) {
      const last = (older.at(-1) ?? versions.at(-1))?.version ?? null;
      older.push(...(await of(chosen).history(last)).versions);
    }
    const newest = new Set(versions.map(({ version }) => version));
    if (chosen === get("chosen")) draw([...versions, ...older.filter(({ version }) => !newest.has(version))], more);
  } catch (error) {
    toast(error.message);
  }
}, LIST_MS);

function draw(rows, asked) {
  const panel = byId("panel-history");
  if (panel.contains(document.activeElement) && !asked) return; // do not pull a button away from under a finger
  const body = el("tbody", {}, ...rows.map(row));
  const titles = ["Version", "Time", "T, Mbit/s", "Links", "+", "−", "View"];
  const spoken = { "+": "links added", "−": "links dropped" };
  const head = el("tr", {}, ...titles.map((textContent) => el("th", { scope: "col", textContent, aria: textContent in spoken ? { label: spoken[textContent] } : {} })));
  const more = el("button", { type: "button", className: "more", textContent: "Older versions" });
  more.addEventListener("click", () => {
    more.blur();
    list(true);
  });
  panel.replaceChildren(
    el("div", { className: "scroll" }, el("table", {}, el("caption", { textContent: "Versions, newest first" }), el("thead", {}, head), body)), more,
  );
}

function row({ version, time, throughput: t, links, added, dropped }) {
  const button = el("button", { type: "button", textContent: "View", aria: { label: `View version ${version}` } });
  button.addEventListener("click", () => look(version));
  const cell = (textContent) => el("td", { textContent });
  return el("tr", {}, el("th", { scope: "row", textContent: String(version) }), cell(clock(time)), cell(throughput(t)),
    cell(String(links)), cell(added ? String(added) : ""), cell(dropped ? String(dropped) : ""), el("td", {}, button));
}
