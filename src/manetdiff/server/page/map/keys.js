// The map by keyboard and for screen readers: a list of nodes of which one is active, and keys that move it.

import { byId, el } from "../dom.js";
import { get, on, seen, set } from "../store.js";
import { announce } from "../announce.js";
import { togglePlay } from "../flight.js";
import { toggleSilent } from "../pins.js";
import { letGo, moveTo } from "../moving.js";
import { count, heading } from "../units.js";
import { camera, fit, redraw, scene, tellFollowing } from "./fleet_view.js";
import { zoomBy } from "./pointer.js";

const STEP_PX = 24;
const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };

const map = byId("map");
let picked = null; // the node that arrow keys move
let nudged = null; // the node that they have moved, until the key is up

export function startKeys() {
  map.addEventListener("keydown", pressed);
  map.addEventListener("keyup", (event) => {
    if (!(event.key in ARROWS) || nudged === null) return;
    letGo(nudged);
    nudged = null;
  });
  map.addEventListener("blur", putDown);
  on(["selected", "live", "shown", "mode"], list);
  list();
}

/** Options for the active node and its neighbours in the list: a thousand would only slow the page down. */
function list() {
  const state = seen();
  if (state === null || state.nodes.size === 0) {
    map.replaceChildren(el("div", { role: "option", id: "node-none", textContent: "No nodes yet", aria: { selected: "false" } }));
    map.removeAttribute("aria-activedescendant");
    return;
  }
  const ids = [...state.nodes.keys()];
  const at = Math.max(0, ids.indexOf(get("selected")));
  const active = get("selected") !== null && state.nodes.has(get("selected"));
  const near = ids.slice(Math.max(0, at - 1), at + 2);
  if (map.children.length !== near.length) {
    map.replaceChildren(...near.map(() => el("div", { role: "option" })));
  }
  near.forEach((id, k) => {
    const option = map.children[k];
    const place = ids.indexOf(id);
    option.id = `node-option-${place}`; // of the node, not of the element: another active node has to be another id
    option.setAttribute("aria-setsize", ids.length);
    option.setAttribute("aria-posinset", place + 1);
    option.setAttribute("aria-selected", String(active && place === at));
    const words = describe(state, id);
    if (option.textContent !== words) option.textContent = words;
    if (active && place === at) map.setAttribute("aria-activedescendant", option.id);
  });
  if (!active) map.removeAttribute("aria-activedescendant");
}

function describe(state, id) {
  const node = state.nodes.get(id);
  let links = 0;
  for (const { source, target } of state.links.values()) links += source === id || target === id ? 1 : 0;
  const also = node.stale ? ", not heard of lately" : "";
  return `${id}, slot ${node.parity}, ${count(links, "link")}, heading ${heading(node.yaw)}${also}`;
}

function pressed(event) {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const arrow = ARROWS[event.key];
  if (arrow !== undefined && (picked !== null || event.shiftKey)) nudge(arrow, event.shiftKey && picked !== null ? 4 : 1);
  else if (arrow !== undefined) walk(arrow[0] > 0 || arrow[1] < 0 ? 1 : -1);
  else if (!act(event.key)) return;
  event.preventDefault();
}

function act(key) {
  const ids = [...(seen()?.nodes.keys() ?? [])];
  if (key === "Home" && ids.length > 0) set({ selected: ids[0] });
  else if (key === "End" && ids.length > 0) set({ selected: ids.at(-1) });
  else if (key === "Enter") pickUp();
  else if (key === "Escape") escape();
  else if (key === "+" || key === "=") zoomBy(1.25);
  else if (key === "-" || key === "_") zoomBy(0.8);
  else if (key === "f" || key === "F" || key === "0") {
    fit();
    tellFollowing();
  } else if (get("mode") !== "live") return false; // old versions are to look at
  else if (key === " ") togglePlay();
  else if ((key === "s" || key === "S") && get("selected") !== null) toggleSilent(get("selected"));
  else return false;
  return true;
}

function walk(by) {
  const ids = [...(seen()?.nodes.keys() ?? [])];
  if (ids.length === 0) return;
  const at = ids.indexOf(get("selected"));
  set({ selected: ids[at < 0 ? 0 : (at + by + ids.length) % ids.length] });
  redraw();
}

function nudge([dx, dy], times) {
  const id = get("selected");
  const node = scene.nodes.get(id);
  if (node === undefined || get("mode") !== "live") return;
  const step = (STEP_PX * times) / camera.scale;
  nudged = id;
  moveTo(id, node.x + dx * step, node.y + dy * step);
}

function pickUp() {
  if (picked !== null) {
    putDown();
    return;
  }
  if (get("selected") === null || get("mode") !== "live") return;
  picked = get("selected");
  announce(`${picked} picked up. Arrow keys move it, Enter puts it down.`, true);
}

function putDown() {
  if (picked === null) return;
  letGo(picked);
  announce(`${picked} put down.`, true);
  picked = null;
}

function escape() {
  if (picked !== null) putDown();
  else set({ selected: null });
}
