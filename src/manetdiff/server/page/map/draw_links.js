// Links: wider and clearer with their rate; those of one look are one path, so that thousands stay quick to draw.

import { palette } from "../theme.js";
import { FADE_MS, GLOW_MS } from "./scene.js";

const LOOKS = [
  { least: 0, width: 0.9, alpha: 0.42 },
  { least: 0.45, width: 1.4, alpha: 0.58 },
  { least: 0.65, width: 2, alpha: 0.76 },
  { least: 0.82, width: 2.8, alpha: 0.95 },
];

function trace(context, camera, { a, b }) {
  context.moveTo(camera.screenX(a.x), camera.screenY(a.y));
  context.lineTo(camera.screenX(b.x), camera.screenY(b.y));
}

function look(weight) {
  let found = 0;
  for (let k = 1; k < LOOKS.length; k++) if (weight >= LOOKS[k].least) found = k;
  return found;
}

/** All links of a scene; with `faint` only as a background to a comparison. */
export function drawLinks(context, camera, scene, now, { faint = false, thin = 1 }) {
  context.lineCap = "round";
  context.setLineDash([]);
  context.strokeStyle = faint ? palette.stale : palette.link;
  for (let k = 0; k < LOOKS.length; k++) {
    context.beginPath();
    for (const link of scene.links.values()) {
      if (!link.broken && look(link.weight) === k) trace(context, camera, link);
    }
    context.lineWidth = LOOKS[k].width * thin;
    context.globalAlpha = LOOKS[k].alpha * (faint ? 0.6 : 1);
    context.stroke();
  }
  context.globalAlpha = 1;
  drawBroken(context, camera, scene, thin);
  drawPinned(context, camera, scene);
  if (faint) return;
  for (const [since, links] of ofOneAge(scene.links.values(), now - GLOW_MS)) {
    glow(context, camera, links, 1 - (now - since) / GLOW_MS, thin);
  }
  for (const [since, links] of ofOneAge(scene.fading, now - FADE_MS)) {
    drawDropped(context, camera, links, 1 - (now - since) / FADE_MS, thin);
  }
  context.globalAlpha = 1;
}

/** Links that came or went after a moment, those of one update together: an update of a large fleet changes hundreds. */
function ofOneAge(links, after) {
  const groups = new Map();
  for (const link of links) {
    if (link.since <= after) continue;
    const group = groups.get(link.since);
    if (group === undefined) groups.set(link.since, [link]);
    else group.push(link);
  }
  return groups;
}

function glow(context, camera, links, left, thin) {
  context.strokeStyle = palette.added;
  context.beginPath();
  for (const link of links) trace(context, camera, link);
  context.globalAlpha = 0.22 * left;
  context.lineWidth = 11 * thin;
  context.stroke();
  context.globalAlpha = left;
  context.lineWidth = 3 * thin;
  context.stroke();
}

export function drawDropped(context, camera, links, left = 1, thin = 1) {
  context.strokeStyle = palette.dropped;
  context.globalAlpha = 0.85 * left;
  context.lineWidth = 2.2 * thin;
  context.setLineDash([1, 6]);
  context.beginPath();
  for (const link of links) trace(context, camera, link);
  context.stroke();
  context.setLineDash([]);
  context.globalAlpha = 1;
}

export function drawAdded(context, camera, links, thin = 1) {
  glow(context, camera, links, 1, thin);
  context.globalAlpha = 1;
}

function drawBroken(context, camera, scene, thin) {
  if (scene.broken === 0) return;
  context.strokeStyle = palette.broken;
  // Noise breaks nearly every rule: the few links that do not should still be seen.
  context.lineWidth = (2 * scene.broken > scene.links.size ? 1.3 : 2.4) * thin;
  context.setLineDash([12, 4, 2, 4]);
  context.beginPath();
  for (const link of scene.links.values()) if (link.broken) trace(context, camera, link);
  context.stroke();
  context.setLineDash([]);
}

/** A bead on each link that is kept by a pin; a cross on each that is forbidden. */
function drawPinned(context, camera, scene) {
  context.fillStyle = palette.ink;
  context.strokeStyle = palette.halo;
  context.lineWidth = 2;
  context.beginPath();
  for (const { a, b, pinned } of scene.links.values()) {
    if (!pinned) continue;
    const x = camera.screenX((a.x + b.x) / 2);
    const y = camera.screenY((a.y + b.y) / 2);
    context.moveTo(x + 5, y);
    context.arc(x, y, 5, 0, 2 * Math.PI);
  }
  context.stroke();
  context.fill();
  context.strokeStyle = palette.quiet;
  context.lineWidth = 1;
  for (const [a, b] of scene.forbidden) {
    const x = camera.screenX((a.x + b.x) / 2);
    const y = camera.screenY((a.y + b.y) / 2);
    context.setLineDash([2, 5]);
    context.beginPath();
    trace(context, camera, { a, b });
    context.stroke();
    context.setLineDash([]);
    context.beginPath();
    context.moveTo(x - 4, y - 4);
    context.lineTo(x + 4, y + 4);
    context.moveTo(x + 4, y - 4);
    context.lineTo(x - 4, y + 4);
    context.lineWidth = 2;
    context.stroke();
    context.lineWidth = 1;
  }
}
