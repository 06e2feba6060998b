// Pins: links to keep, links to forbid, nodes to silence. The server makes a new version under them at once.

import { of } from "./api.js";
import { byId, el, toast } from "./dom.js";
import { listed } from "./merge.js";
import { get, network, on } from "./store.js";
import { visible } from "./tabs.js";
import { linkName } from "./units.js";

const KINDS = [
  ["keep", "Kept links", "Release"],
  ["avoid", "Forbidden links", "Allow"],
  ["silent", "Silenced nodes", "Let it send"],
];

let drawn = "";

export function startPins() {
  on(["live", "chosen"], () => {
    if (visible("pins")) show();
  });
}

/** "keep", "avoid" or null: what is pinned about a link. */
export function pinOf(a, b) {
  const pins = network()?.pins;
  if (pins === undefined) return null;
  return listed(pins.keep, a, b) ? "keep" : listed(pins.avoid, a, b) ? "avoid" : null;
}

/** Keep a link, forbid it, or (null) leave it to NetDiff again. */
export function pinLink(a, b, kind) {
  const { keep, avoid, silent } = network().pins;
  const without = (pairs) => pairs.filter((pair) => !listed([pair], a, b));
  const pins = { keep: without(keep), avoid: without(avoid), silent };
  if (kind !== null) pins[kind].push([a, b]);
  return put(pins);
}

export function toggleSilent(id) {
  const { keep, avoid, silent } = network().pins;
  return put({ keep, avoid, silent: silent.includes(id) ? silent.filter((other) => other !== id) : [...silent, id] });
}

export const isSilent = (id) => network()?.pins.silent.includes(id) ?? false;

async function put(pins) {
  try {
    await of(get("chosen")).pin(pins);
  } catch (error) {
    toast(`Not pinned: ${error.message}`);
  }
}

export function show() {
  const pins = network()?.pins ?? { keep: [], avoid: [], silent: [] };
  const now = JSON.stringify([get("chosen"), pins]);
  if (now === drawn) return; // a list that is rebuilt at every update loses the focus
  drawn = now;
  const panel = byId("panel-pins");
  const parts = KINDS.filter(([kind]) => pins[kind].length > 0).flatMap(([kind, title, remove]) => [
    el("h2", { textContent: title }),
    el("ul", { className: "pins" }, ...pins[kind].map((pin) => entry(kind, pin, remove))),
  ]);
  const hint = "Nothing is pinned. Click a link on the map, or its Pin button under Tables, to keep or forbid it. Select a node to silence it.";
  panel.replaceChildren(...(parts.length > 0 ? parts : [el("p", { className: "empty", textContent: hint })]));
}

function entry(kind, pin, remove) {
  const name = kind === "silent" ? pin : linkName(...pin);
  const button = el("button", { type: "button", className: "small", textContent: remove, aria: { label: `${remove}: ${name}` } });
  button.addEventListener("click", () => (kind === "silent" ? toggleSilent(pin) : pinLink(...pin, null)));
  return el("li", {}, el("span", { textContent: name }), button);
}
