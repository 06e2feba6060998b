// Mouse, pen and fingers on the map: pan, zoom, pinch, drag a node, click a node or a link.

import { byId } from "../dom.js";
import { get, set } from "../store.js";
import { openLinkMenu } from "../link_menu.js";
import { letGo, moveTo } from "../moving.js";
import { distanceToStretch } from "./geometry.js";
import { camera, dart, fit, hover, redraw, scene, tellFollowing } from "./fleet_view.js";

const CLICK_PX = 5;
const LINK_PX = 7;
const FINGER_PX = 22;

const map = byId("map");
const touches = new Map(); // pointers that are down, by id
let grabbed = null; // node under way with the pointer
let began = null;

export function startPointer() {
  map.addEventListener("pointerdown", down);
  map.addEventListener("pointermove", move);
  map.addEventListener("pointerup", up);
  map.addEventListener("pointercancel", up);
  map.addEventListener("pointerleave", () => over(null, null));
  map.addEventListener("wheel", wheel, { passive: false });
  byId("zoom-in").addEventListener("click", () => zoomBy(1.4));
  byId("zoom-out").addEventListener("click", () => zoomBy(1 / 1.4));
  byId("fit").addEventListener("click", () => {
    fit();
    tellFollowing();
  });
}

export function zoomBy(factor, x, y) {
  camera.zoom(factor, x, y);
  tellFollowing();
  redraw();
}

function place(event) {
  const box = map.getBoundingClientRect();
  return { x: event.clientX - box.left, y: event.clientY - box.top, finger: event.pointerType === "touch" };
}

/** The node nearest to a point of the screen, if it is near enough. */
function nodeAt({ x, y, finger }) {
  let nearest = null;
  let least = finger ? Math.max(FINGER_PX, dart() * 1.6) : Math.max(9, dart() * 1.6);
  for (const node of scene.nodes.values()) {
    const off = Math.hypot(camera.screenX(node.x) - x, camera.screenY(node.y) - y);
    if (off < least) [nearest, least] = [node, off];
  }
  return nearest;
}

function linkAt({ x, y, finger }) {
  let nearest = null;
  let least = finger ? FINGER_PX / 1.5 : LINK_PX;
  for (const link of scene.links.values()) {
    const { a, b } = link;
    const off = distanceToStretch(x, y, camera.screenX(a.x), camera.screenY(a.y), camera.screenX(b.x), camera.screenY(b.y));
    if (off < least) [nearest, least] = [link, off];
  }
  return nearest;
}

function over(node, link) {
  const key = link?.key ?? null;
  const id = node?.id ?? null;
  if (hover.node === id && hover.link === key) return;
  hover.node = id;
  hover.link = key;
  map.dataset.over = id !== null ? "node" : key !== null ? "link" : "";
  redraw();
}

function down(event) {
  if (event.button > 0) return;
  const at = place(event);
  map.setPointerCapture(event.pointerId);
  touches.set(event.pointerId, at);
  if (touches.size > 1) {
    drop(); // a second finger means a pinch
    began = null;
    return;
  }
  began = { ...at, moved: false, node: nodeAt(at) };
}

function move(event) {
  const at = place(event);
  const before = touches.get(event.pointerId);
  if (before === undefined) {
    const node = nodeAt(at);
    over(node, node === null ? linkAt(at) : null);
    return;
  }
  touches.set(event.pointerId, at);
  if (touches.size === 2) {
    pinch(event.pointerId, before, at);
    return;
  }
  if (began === null) return;
  if (!began.moved && Math.hypot(at.x - began.x, at.y - began.y) < CLICK_PX) return;
  if (!began.moved) {
    began.moved = true;
    // Old versions and the denoising are to look at: what is dragged there is the map.
    if (began.node !== null && get("mode") === "live") grabbed = began.node;
    map.dataset.drag = grabbed === null ? "map" : "node";
    if (grabbed !== null) set({ selected: grabbed.id });
  }
  if (grabbed === null) {
    camera.pan(at.x - before.x, at.y - before.y);
    tellFollowing();
    redraw();
  } else {
    moveTo(grabbed.id, camera.worldX(at.x), camera.worldY(at.y));
  }
}

function pinch(moved, before, at) {
  for (const [id, other] of touches) {
    if (id === moved) continue;
    const was = Math.hypot(before.x - other.x, before.y - other.y);
    const is = Math.hypot(at.x - other.x, at.y - other.y);
    camera.pan((at.x - before.x) / 2, (at.y - before.y) / 2);
    if (was > 1) zoomBy(is / was, (at.x + other.x) / 2, (at.y + other.y) / 2);
  }
}

function up(event) {
  if (!touches.delete(event.pointerId)) return;
  const clicked = began !== null && !began.moved && event.type === "pointerup";
  const at = began;
  drop();
  began = null;
  if (!clicked) return;
  const node = nodeAt(at);
  const link = node === null ? linkAt(at) : null;
  if (link !== null && get("mode") === "live") openLinkMenu(link.source, link.target, at);
  set({ selected: node?.id ?? null });
}

function drop() {
  if (grabbed !== null) letGo(grabbed.id);
  grabbed = null;
  delete map.dataset.drag;
}

function wheel(event) {
  event.preventDefault();
  const at = place(event);
  const lines = event.deltaMode === 1 ? 16 : 1;
  zoomBy(Math.exp(-Math.max(-120, Math.min(120, event.deltaY * lines)) * 0.0022), at.x, at.y);
}
