// What changed and why: asked for only when something has, at most once a second, and only while somebody looks.

import { of } from "./api.js";
import { byId, el, throttled } from "./dom.js";
import { get, on } from "./store.js";
import { onOpen, visible } from "./tabs.js";
import { count, linkName, number, signed } from "./units.js";

const BETWEEN_MS = 1000;
const MOST = 60;
const SIGNS = { added: "+", dropped: "−", turned: "↻" };
let told = null; // network and version that the panel is about

export function startChanges() {
  on(["lastChange", "shown", "chosen"], look);
  onOpen("changes", look);
  empty();
}

function look() {
  if (visible("changes")) refresh();
}

const refresh = throttled(async () => {
  const chosen = get("chosen");
  const version = get("mode") === "history" ? get("shown")?.version : get("lastChange")?.version;
  if (chosen === null || version === undefined) {
    told = null;
    empty();
    return;
  }
  const wanted = `${chosen} ${version}`;
  if (wanted === told) return;
  told = wanted;
  try {
    const explanation = await of(chosen).explain(version);
    if (told === wanted) show(version, explanation);
  } catch (error) {
    if (told === wanted) empty(error.message);
  }
}, BETWEEN_MS);

function empty(words = "No link has changed yet. As soon as one does, this says which, and why.") {
  byId("panel-changes").replaceChildren(el("p", { className: "empty", textContent: words }));
}

function show(version, { throughput, before, continuity, changes, held_back: heldBack }) {
  const added = changes.filter(({ kind }) => kind === "added").length;
  const dropped = changes.filter(({ kind }) => kind === "dropped").length;
  const gain = Number.isFinite(before) ? `T ${signed(throughput - before)} Mbit/s against the old links, ` : "";
  const parts = [
    el("div", { className: "lede" },
      el("strong", { textContent: `Version ${version}: ${added} added, ${dropped} dropped` }),
      el("span", { className: "quiet-text", textContent: `${gain}${number(100 * continuity)} % of the links kept` })),
    el("ul", { className: "changes" }, ...changes.slice(0, MOST).map(entry)),
  ];
  if (changes.length > MOST) parts.push(el("p", { className: "quiet-text", textContent: `and ${count(changes.length - MOST, "more", "more")}` }));
  if (heldBack.length > 0) {
    parts.push(el("h2", { textContent: "Held back" }), el("ul", { className: "changes" }, ...heldBack.slice(0, 10).map(entry)));
  }
  byId("panel-changes").replaceChildren(...parts);
}

function entry({ kind, link, node, reason, forced, gain }) {
  const gained = typeof gain === "number" ? `${signed(gain)} Mbit/s` : "";
  return el("li", { data: { kind } },
    el("span", { className: "sign", textContent: SIGNS[kind] ?? "·", aria: { hidden: "true" } }),
    el("span", { className: "what" }, el("span", { className: "unseen", textContent: `${kind} ` }), link ? linkName(...link) : String(node ?? "")),
    el("span", { className: "gain", textContent: gained }),
    el("span", { className: "why", textContent: forced ? `${reason} (forced)` : reason }));
}
