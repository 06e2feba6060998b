// Under the fleet: a grid in round numbers of metres, and the scale bar that says which.

import { palette } from "../theme.js";
import { metres } from "../units.js";

const LEAST_GRID_PX = 64;

/** 1, 2 or 5 times a power of ten, at least `least`. */
function round(least) {
  const power = 10 ** Math.floor(Math.log10(least));
  for (const factor of [1, 2, 5]) if (factor * power >= least) return factor * power;
  return 10 * power;
}

export function drawGround(context, camera) {
  const { width, height } = camera;
  context.fillStyle = palette.sea;
  context.fillRect(0, 0, width, height);
  const step = round(LEAST_GRID_PX / camera.scale);
  context.lineWidth = 1;
  for (const [strong, colour] of [[false, palette.grid], [true, palette["grid-strong"]]]) {
    context.strokeStyle = colour;
    context.beginPath();
    for (let k = Math.ceil(camera.worldX(0) / step); k * step <= camera.worldX(width); k++) {
      if ((k % 5 === 0) !== strong) continue;
      const x = Math.round(camera.screenX(k * step)) + 0.5;
      context.moveTo(x, 0);
      context.lineTo(x, height);
    }
    for (let k = Math.ceil(camera.worldY(height) / step); k * step <= camera.worldY(0); k++) {
      if ((k % 5 === 0) !== strong) continue;
      const y = Math.round(camera.screenY(k * step)) + 0.5;
      context.moveTo(0, y);
      context.lineTo(width, y);
    }
    context.stroke();
  }
}

export function drawScaleBar(context, camera) {
  const long = round(80 / camera.scale);
  const px = long * camera.scale;
  const x = 20.5;
  const y = camera.height - 20.5;
  context.strokeStyle = palette.quiet;
  context.lineWidth = 1;
  context.beginPath();
  context.moveTo(x, y - 5);
  context.lineTo(x, y);
  context.lineTo(x + px, y);
  context.lineTo(x + px, y - 5);
  context.stroke();
  context.font = `12px ${palette.font}`;
  context.textAlign = "left";
  context.textBaseline = "alphabetic";
  context.fillStyle = palette.quiet;
  context.fillText(metres(long).replace(/\.0+ /, " "), x + 1, y - 8);
}
