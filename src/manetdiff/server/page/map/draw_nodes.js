// Aircraft: a dart that points where the node heads, in the colour of the slot that it sends in.

import { palette } from "../theme.js";

const STALE = 2;
const SILENT = 3;

/** How large a dart is on the screen, by the room that there is. */
export function dartSize(camera, box, count) {
  const area = Math.max(1, (box.maxX - box.minX) * camera.scale) * Math.max(1, (box.maxY - box.minY) * camera.scale);
  return Math.min(11, Math.max(3.6, 0.15 * Math.sqrt(area / count)));
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
  for (let look = 0; look < 4; look++) {
    context.beginPath();
    for (const node of scene.nodes.values()) if (lookOf(node) === look) dart(context, camera, node, size);
    context.setLineDash([]);
    context.lineJoin = "round";
    if (look >= STALE) {
      context.fillStyle = palette.sea;
      context.fill();
      context.setLineDash(look === STALE ? [2.5, 2.5] : []);
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

/** 0 and 1 are slots. A node that does not send, or may not be there any more, is hollow. */
const lookOf = ({ parity, stale, silent }) => (stale ? STALE : silent ? SILENT : parity);

/** Ring around the node that is selected or under the pointer. */
export function drawRing(context, camera, node, size, strong) {
  context.strokeStyle = strong ? palette.accent : palette.quiet;
  context.lineWidth = strong ? 2 : 1.2;
  context.beginPath();
  context.arc(camera.screenX(node.x), camera.screenY(node.y), size * 1.9 + 2, 0, 2 * Math.PI);
  context.stroke();
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
