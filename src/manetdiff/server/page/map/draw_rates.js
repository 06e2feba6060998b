// What a link carries, written on it: for the links of one node, or for one link.

import { palette } from "../theme.js";
import { number } from "../units.js";

const LEAST_PX = 96; // a shorter link has no room for it

export function drawRates(context, camera, links) {
  context.font = `11.5px ${palette.font}`;
  context.textAlign = "center";
  context.textBaseline = "middle";
  context.lineJoin = "round";
  context.lineWidth = 4;
  context.strokeStyle = palette.halo;
  context.fillStyle = palette.quiet;
  for (const { a, b, rate } of links) {
    const [ax, ay, bx, by] = [camera.screenX(a.x), camera.screenY(a.y), camera.screenX(b.x), camera.screenY(b.y)];
    if (rate === null || Math.hypot(bx - ax, by - ay) < LEAST_PX) continue;
    const text = `${number(rate)} Mbit/s`;
    context.strokeText(text, (ax + bx) / 2, (ay + by) / 2);
    context.fillText(text, (ax + bx) / 2, (ay + by) / 2);
  }
}
