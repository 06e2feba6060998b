// Moving a node by hand: it is there at once on the map, and the server is told a few times a second.

import { of } from "./api.js";
import { throttled, toast } from "./dom.js";
import { get } from "./store.js";
import { camera, redraw, scene } from "./map/fleet_view.js";
import { degreesAt } from "./map/geometry.js";

const BETWEEN_MS = 125;
const HOLD_MS = 900; // after the last move, until the server's word counts again

const waiting = new Map(); // node id -> its newest place, not yet sent
let sending = false;
let nudges = 0;

/** Put a node at a place in metres. */
export function moveTo(id, x, y) {
  if (!scene.nodes.has(id)) return;
  camera.aim = null; // the ground should not slide away under the hand
  scene.hold(id, x, y, performance.now(), HOLD_MS);
  waiting.set(id, { x, y });
  send();
  redraw();
}

/** The hand is off: what was last sent is the node's place, and it flies on from there as soon as that is known. */
export function letGo(id) {
  const node = scene.nodes.get(id);
  if (node !== undefined) node.heldUntil = performance.now() + 350;
  send();
}

const send = throttled(async () => {
  // One request at a time, with the newest places: a slow server gets fewer, not a queue.
  if (sending || waiting.size === 0) return;
  sending = true;
  const live = get("live");
  const nodes = [...waiting].filter(([id]) => live.nodes.has(id)).map(([id, place]) => report(live.nodes.get(id), place));
  waiting.clear();
  try {
    if (nodes.length > 0) await of(get("chosen")).positions({ time: newer(live), nodes });
  } catch (error) {
    toast(`The node was not moved: ${error.message}`);
  } finally {
    sending = false;
    if (waiting.size > 0) send();
  }
}, BETWEEN_MS);

/** A flight heeds no time; otherwise the report has to be a little newer than what is known. */
function newer(live) {
  if (live.network.flight !== null) return 0;
  nudges = (nudges + 1) % 1000;
  return (live.time ?? 0) + 0.001 * (1 + nudges);
}

/** In the units that the network's other nodes are given in; it points where it did. */
function report(node, { x, y }) {
  const { id, z, yaw } = node;
  const high = z !== undefined && z !== null;
  if (node.lat === undefined || node.lat === null) return { id, x, y, yaw, ...(high ? { z } : {}) };
  return { id, ...degreesAt(node, x, y), heading: 90 - (yaw * 180) / Math.PI, ...(high ? { alt: z } : {}) };
}
