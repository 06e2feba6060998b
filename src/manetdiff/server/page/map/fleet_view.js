// The map: takes in states as they come, and draws while anything moves. Nothing is drawn while nothing changes.

import { byId } from "../dom.js";
import { get, on, seen } from "../store.js";
import { linkBetween } from "../merge.js";
import { onTheme } from "../theme.js";
import { Camera } from "./camera.js";
import { drawGround, drawScaleBar } from "./draw_ground.js";
import { drawLabels } from "./draw_labels.js";
import { drawAdded, drawDropped, drawLinks } from "./draw_links.js";
import { dartSize, drawNodes, drawRing, drawTrails } from "./draw_nodes.js";
import { drawRates } from "./draw_rates.js";
import { drawSectors } from "./draw_sectors.js";
import { margins, startMargins } from "./margins.js";
import { Scene } from "./scene.js";

const SLACK_PX = 20; // a view that does not glide lets nodes come so near to what lies over the map
const MANY = 300; // nodes; beyond, half as many frames do
const still = matchMedia("(prefers-reduced-motion: reduce)");

export const camera = new Camera();
export const scene = new Scene();
/** What is under the pointer: {node} or {link} or neither. */
export const hover = { node: null, link: null };

const canvas = byId("canvas");
const context = canvas.getContext("2d");
const always = new Set();
let scheduled = false;
let last = 0;
let arrived = 0;
let interval = 500;
let drawnState = null;
let drawnLive = true;
let size = 9;
let fitted = false;
let middle = null; // of the fleet as it was last drawn or taken in

export function startView() {
  new ResizeObserver(resize).observe(byId("stage"));
  startMargins(() => {
    if (camera.following) aim();
    redraw();
  });
  onTheme(redraw);
  on(["live", "shown", "mode"], takeIn);
  on(["selected", "before", "lastChange"], redraw);
  on(["chosen"], () => {
    scene.clear();
    drawnState = null;
    fitted = false;
    camera.following = true;
    tellFollowing();
    redraw();
  });
  resize();
}

/** Draw again at the next frame. */
export function redraw() {
  if (scheduled) return;
  scheduled = true;
  requestAnimationFrame(frame);
}

/** Show the whole fleet, and follow it from here on. */
export function fit() {
  camera.following = true;
  aim();
  redraw();
}

export const dart = () => size;

function takeIn() {
  const state = seen();
  if (state === null || state === drawnState) return;
  const now = performance.now();
  const live = get("mode") === "live";
  if (live && drawnState?.version !== state.version) {
    // The observed interval, without pauses, a little stretched: a node should still be under way when news comes.
    const gap = now - arrived;
    if (gap < 3000) interval += (Math.min(Math.max(gap, 60), 2000) - interval) * 0.35;
    arrived = now;
  }
  const first = scene.nodes.size === 0;
  const asNews = live && drawnLive && !first;
  const lasts = still.matches || first ? 0 : asNews ? 1.08 * interval : 260;
  const carried = scene.show(state, now, { lasts, glow: asNews && !still.matches });
  camera.shift(carried.x, carried.y);
  drawnState = state;
  drawnLive = live;
  middle = middleOf(scene.box());
  tellLegend(state);
  if (camera.following) aim();
  redraw();
}

/** Signs that are explained only where they are on the map. */
function tellLegend({ network }) {
  const nodes = [...scene.nodes.values()];
  byId("legend-broken").hidden = scene.broken === 0;
  byId("legend-stale").hidden = !nodes.some(({ stale }) => stale);
  byId("legend-silent").hidden = !nodes.some(({ stale, silent }) => silent && !stale);
  byId("legend-kept").hidden = (network?.pins.keep.length ?? 0) === 0;
  byId("legend-forbidden").hidden = scene.forbidden.length === 0;
}

function aim() {
  const box = scene.box();
  if (box === null) return;
  if (still.matches && fitted && comfortable(box)) return;
  camera.fit(box, margins, !fitted || still.matches);
  fitted = true;
}

/** Whether a box is well in view as it is: without gliding, a view that jumps at each update would be worse. */
function comfortable({ minX, maxX, minY, maxY }) {
  const wide = (maxX - minX) * camera.scale;
  const high = (maxY - minY) * camera.scale;
  const inside = camera.screenX(minX) > margins.left - SLACK_PX && camera.screenX(maxX) < camera.width - margins.right + SLACK_PX &&
    camera.screenY(maxY) > margins.top - SLACK_PX && camera.screenY(minY) < camera.height - margins.bottom + SLACK_PX;
  return inside && Math.max(wide / camera.width, high / camera.height) > 0.4;
}

/** Go the fleet's own way with it, and glide what is left to a view of all of it; whether there is still way to go. */
function follow(ms, now) {
  const box = scene.box();
  if (camera.following && box !== null && now > scene.heldUntil && !still.matches) {
    if (middle !== null) camera.shift(box.middleX - middle.x, box.middleY - middle.y);
    aim();
  }
  middle = middleOf(box);
  return camera.glide(ms);
}

const middleOf = (box) => (box === null ? null : { x: box.middleX, y: box.middleY });

function resize() {
  const { clientWidth, clientHeight } = byId("stage");
  const ratio = Math.min(devicePixelRatio || 1, 2);
  const width = Math.max(1, clientWidth);
  const height = Math.max(1, clientHeight);
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round(height * ratio);
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  camera.width = width;
  camera.height = height;
  if (camera.following) {
    fitted = false;
    aim();
  }
  draw(performance.now());
}

function frame(now) {
  scheduled = false;
  const passed = now - last;
  if (scene.nodes.size > MANY && passed < 30) {
    redraw();
    return;
  }
  last = now;
  const moving = scene.advance(now);
  const gliding = follow(Math.min(passed, 100), now);
  draw(now);
  if (moving || gliding || now <= scene.heldUntil) redraw();
}

function draw(now) {
  drawGround(context, camera);
  const state = seen();
  if (state !== null && scene.nodes.size > 0) drawFleet(state, now);
  drawScaleBar(context, camera);
}

function drawFleet(state, now) {
  size = dartSize(camera, scene.box(), scene.nodes.size);
  const thin = size < 6 ? 0.55 : 1;
  const focus = scene.nodes.get(hover.node ?? get("selected"));
  const selected = scene.nodes.get(get("selected"));
  const pointedAt = scene.links.get(hover.link);
  if (focus !== undefined) drawSectors(context, camera, scene, focus, state);
  drawTrails(context, camera, scene);
  const change = comparison();
  drawLinks(context, camera, scene, now, { faint: change !== null, thin });
  if (change !== null) drawComparison(state, change, thin);
  if (pointedAt !== undefined) drawAdded(context, camera, [pointedAt], thin);
  drawRates(context, camera, pointedAt !== undefined ? [pointedAt] : linksOf(focus));
  drawNodes(context, camera, scene, size);
  if (focus !== undefined && focus !== selected) drawRing(context, camera, focus, size, false);
  if (selected !== undefined) drawRing(context, camera, selected, size, true);
  always.clear();
  if (focus !== undefined) always.add(focus.id);
  if (selected !== undefined) always.add(selected.id);
  drawLabels(context, camera, scene, size, always);
}

const linksOf = (node) => (node === undefined ? [] : [...scene.links.values()].filter(({ a, b }) => a === node || b === node));

/** What the update to the version in view has added and dropped, if that is to be shown. */
export function comparison() {
  if (!get("before") || get("mode") === "denoising") return null;
  const shown = get("shown");
  return shown === null ? get("lastChange") : { version: shown.version, ...shown.update };
}

function drawComparison(state, { added, dropped }, thin) {
  const pairs = (links, there) => links
    .filter(([source, target]) => (linkBetween(state, source, target) !== null) === there) // else it has changed again since
    .map(([source, target]) => ({ a: scene.nodes.get(source), b: scene.nodes.get(target) }))
    .filter(({ a, b }) => a !== undefined && b !== undefined);
  drawAdded(context, camera, pairs(added, true), thin);
  drawDropped(context, camera, pairs(dropped, false), 1, thin);
}

/** Say on the button whether the view follows the fleet. */
export function tellFollowing() {
  byId("fit").setAttribute("aria-pressed", String(camera.following));
}
