// The radio of one node: its range, the sectors of its antennas, and a beam towards each node that it has a link with.

import { palette } from "../theme.js";
import { sectorTowards } from "./geometry.js";

/** `radio` has range in metres, sectors, boresight and beam (full width), as states have. */
export function drawSectors(context, camera, scene, node, radio) {
  const x = camera.screenX(node.x);
  const y = camera.screenY(node.y);
  const range = radio.range * camera.scale;
  const colour = palette[`parity-${node.parity}`];
  const width = (2 * Math.PI) / radio.sectors;
  const busy = new Set();
  for (const { a, b } of scene.links.values()) {
    const peer = a === node ? b : b === node ? a : null;
    if (peer !== null) busy.add(sectorTowards(node, peer.x, peer.y, radio.sectors, radio.boresight));
  }
  for (let k = 0; k < radio.sectors; k++) {
    const centre = -(node.yaw + radio.boresight + k * width); // canvas angles go clockwise
    context.beginPath();
    context.moveTo(x, y);
    context.arc(x, y, range, centre - width / 2, centre + width / 2);
    context.closePath();
    context.globalAlpha = busy.has(k) ? 0.08 : 0.025;
    context.fillStyle = colour;
    context.fill();
    context.globalAlpha = 0.35;
    context.strokeStyle = colour;
    context.lineWidth = 1;
    context.setLineDash([]);
    context.stroke();
  }
  drawBeams(context, camera, scene, node, radio, colour);
  context.globalAlpha = 0.8;
  context.setLineDash([6, 5]);
  context.beginPath();
  context.arc(x, y, range, 0, 2 * Math.PI);
  context.stroke();
  context.setLineDash([]);
  context.globalAlpha = 1;
}

function drawBeams(context, camera, scene, node, { beam }, colour) {
  const x = camera.screenX(node.x);
  const y = camera.screenY(node.y);
  for (const { a, b } of scene.links.values()) {
    const peer = a === node ? b : b === node ? a : null;
    if (peer === null) continue;
    const dx = camera.screenX(peer.x) - x;
    const dy = camera.screenY(peer.y) - y;
    const towards = Math.atan2(dy, dx);
    context.globalAlpha = 0.2;
    context.fillStyle = colour;
    context.beginPath();
    context.moveTo(x, y);
    context.arc(x, y, Math.hypot(dx, dy), towards - beam / 2, towards + beam / 2);
    context.closePath();
    context.fill();
  }
  context.globalAlpha = 1;
}
