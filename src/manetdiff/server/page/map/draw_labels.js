// Ids beside the darts: at the first corner where nothing else is, and left out where there is no room at all.

import { onTheme, palette } from "../theme.js";

const CELL_PX = 4; // what is taken is kept in cells of this size
const HIGH_PX = 13;
const LONGEST = 14; // letters
const FEW = 32; // labels that are all written, come what may
const CORNERS = [[1, -1], [1, 1], [-1, -1], [-1, 1]]; // right or left of the dart, above or below it
const known = new Map(); // id -> {text, width}; to measure text is slow

let taken = new Uint8Array(0);
let across = 0;
let down = 0;

onTheme(() => known.clear()); // also when the font has come

/** `always`: ids that are written whatever is under them. */
export function drawLabels(context, camera, scene, size, always) {
  context.font = `500 12px ${palette.font}`;
  context.textAlign = "left";
  context.textBaseline = "middle";
  context.lineJoin = "round";
  context.lineWidth = 3.5;
  context.strokeStyle = palette.halo;
  clear(camera);
  const seen = [];
  for (const node of scene.nodes.values()) {
    const x = camera.screenX(node.x);
    const y = camera.screenY(node.y);
    if (x < -10 || y < -10 || x > camera.width + 10 || y > camera.height + 10) continue;
    take(x - 0.6 * size, y - 0.6 * size, x + 0.6 * size, y + 0.6 * size);
    if (always.has(node.id)) seen.unshift([node, x, y]);
    else if (size >= 5) seen.push([node, x, y]); // smaller: there are too many
  }
  for (const [node, x, y] of seen) {
    const { text, width } = measured(context, node.id);
    const place = placed(camera, node, x, y, size, width, seen.length <= FEW || always.has(node.id));
    if (place === null) continue;
    context.fillStyle = node.stale || node.silent ? palette.quiet : palette.ink;
    context.strokeText(text, ...place);
    context.fillText(text, ...place);
  }
}

/** Where the label of a node begins; null where there is no room. Those that must be there lie over something then. */
function placed(camera, node, x, y, size, width, must) {
  let fallback = null;
  for (let k = 0; k < CORNERS.length; k++) {
    const corner = (node.corner + k) % CORNERS.length; // where it was last comes first: it should not hop about
    const [right, below] = CORNERS[corner];
    const left = right > 0 ? x + 0.9 * size + 4 : x - 0.9 * size - 4 - width;
    const middle = y + below * (0.9 * size + 3);
    if (left < 2 || left + width > camera.width - 2) continue;
    const box = [left, middle - HIGH_PX / 2, left + width, middle + HIGH_PX / 2];
    if (free(...box)) {
      node.corner = corner;
      take(...box);
      return [left, middle];
    }
    fallback ??= [left, middle];
  }
  return must ? fallback : null;
}

function measured(context, id) {
  let found = known.get(id);
  if (found === undefined) {
    const letters = [...id]; // by whole characters, also those that are two code units
    const text = letters.length > LONGEST ? `${letters.slice(0, LONGEST - 1).join("")}…` : id;
    if (known.size > 5000) known.clear();
    known.set(id, (found = { text, width: context.measureText(text).width }));
  }
  return found;
}

function clear({ width, height }) {
  across = Math.ceil(width / CELL_PX);
  down = Math.ceil(height / CELL_PX);
  if (taken.length === across * down) taken.fill(0);
  else taken = new Uint8Array(across * down);
}

const cell = (px, most) => Math.min(most - 1, Math.max(0, Math.floor(px / CELL_PX)));

function take(left, top, right, bottom) {
  const [from, to] = [cell(left, across), cell(right, across)];
  for (let row = cell(top, down); row <= cell(bottom, down); row++) taken.fill(1, row * across + from, row * across + to + 1);
}

function free(left, top, right, bottom) {
  const [from, to] = [cell(left, across), cell(right, across)];
  for (let row = cell(top, down); row <= cell(bottom, down); row++) {
    for (let k = row * across + from; k <= row * across + to; k++) if (taken[k] === 1) return false;
  }
  return true;
}
