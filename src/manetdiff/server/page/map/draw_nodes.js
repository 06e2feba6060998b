// Aircraft: a dart that points where the node heads, in the colour of the slot that it sends in, with its id.

import { palette } from "../theme.js";

const LABEL_CELL_W = 46;
const LABEL_CELL_H = 18;
const taken = new Set(); // cells of the screen that have a label, kept between frames to spare the collector

/** How large a dart is on the screen, by the room that there is. */
export function dartSize(camera, scene) {
  const box = scene.box();
  if (box === null) return 9;
  const area = Math.max(1, (box.maxX - box.minX) * camera.scale) * Math.max(1, (box.maxY - box.minY) * camera.scale);
  return Math.min(11, Math.max(3.6, 0.17 * Math.sqrt(area / scene.nodes.size)));
}

export function drawTrails(context, camera, scene) {
  context.strokeStyle = palette.trail;
  context.lineWidth = 1.1;
  context.lineCap = "round";
  // Three stretches of each trail, the oldest faintest: one path for all nodes each.
  for (let part = 0; part < 3; part++) {
    context.globalAlpha = 0.06 + 0.07 * part;
    context.beginPath();
    for (const node of scene.nodes.values()) {
      const { trail } = node;
      const points = trail.length / 2;
      if (points < 2) continue;
      const first = Math.floor((part * points) / 3);
      const last = part === 2 ? points : Math.floor(((part + 1) * points) / 3);
      context.moveTo(camera.screenX(trail[2 * first]), camera.screenY(trail[2 * first + 1]));
      for (let k = first + 1; k <= last; k++) {
        if (k < points) context.lineTo(camera.screenX(trail[2 * k]), camera.screenY(trail[2 * k + 1]));
        else context.lineTo(camera.screenX(node.x), camera.screenY(node.y));
      }
    }
    context.stroke();
  }
  context.globalAlpha = 1;
}

export function drawNodes(context, camera, scene, size) {
  for (let look = 0; look < 3; look++) {
    context.beginPath();
    for (const node of scene.nodes.values()) {
      if ((node.stale || node.silent ? 2 : node.parity) === look) dart(context, camera, node, size);
    }
    context.setLineDash([]);
    context.lineJoin = "round";
    if (look === 2) {
      context.fillStyle = palette.sea;
      context.fill();
      context.setLineDash([2.5, 2.5]);
      context.strokeStyle = palette.stale;
      context.lineWidth = 1.5;
      context.stroke();
      context.setLineDash([]);
    } else {
      context.strokeStyle = palette.halo;
      context.lineWidth = Math.min(3, size / 3);
      context.stroke();
      context.fillStyle = palette[`parity-${look}`];
      context.fill();
    }
  }
}

/** Ring around the node that is selected or under the pointer. */
export function drawRing(context, camera, node, size, strong) {
  context.strokeStyle = strong ? palette.accent : palette.quiet;
  context.lineWidth = strong ? 2 : 1.2;
  context.beginPath();
  context.arc(camera.screenX(node.x), camera.screenY(node.y), size * 1.9 + 2, 0, 2 * Math.PI);
  context.stroke();
}

export function drawLabels(context, camera, scene, size, always) {
  context.font = "500 12px system-ui, sans-serif";
  context.textAlign = "left";
  context.textBaseline = "middle";
  context.lineJoin = "round";
  context.lineWidth = 3.5;
  context.strokeStyle = palette.halo;
  taken.clear();
  const label = (node) => {
    const x = camera.screenX(node.x) + size * 0.9 + 5;
    const y = camera.screenY(node.y) - size * 0.9 - 2;
    if (x < -60 || y < -10 || x > camera.width + 10 || y > camera.height + 10) return;
    const cell = Math.floor(x / LABEL_CELL_W) * 100003 + Math.floor(y / LABEL_CELL_H);
    if (taken.has(cell) && !always.has(node.id)) return;
    taken.add(cell);
    const text = node.id.length > 14 ? `${node.id.slice(0, 13)}…` : node.id;
    context.fillStyle = node.stale || node.silent ? palette.stale : palette.ink;
    context.strokeText(text, x, y);
    context.fillText(text, x, y);
  };
  for (const id of always) if (scene.nodes.has(id)) label(scene.nodes.get(id));
  if (size < 5) return; // no room
  for (const node of scene.nodes.values()) if (!always.has(node.id)) label(node);
}

function dart(context, camera, node, size) {
  const x = camera.screenX(node.x);
  const y = camera.screenY(node.y);
  const cos = Math.cos(node.yaw) * size;
  const sin = -Math.sin(node.yaw) * size;
  context.moveTo(x + 1.35 * cos, y + 1.35 * sin);
  context.lineTo(x - 0.95 * cos - 0.85 * sin, y - 0.95 * sin + 0.85 * cos);
  context.lineTo(x - 0.5 * cos, y - 0.5 * sin);
  context.lineTo(x - 0.95 * cos + 0.85 * sin, y - 0.95 * sin - 0.85 * cos);
  context.closePath();
}
