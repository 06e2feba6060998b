// Moving a node by hand: it is there at once on the map, and the server is told a few times a second.

import { of } from "./api.js";
import { throttled, toast } from "./dom.js";
import { get } from "./store.js";
import { camera, redraw, scene } from "./map/fleet_view.js";

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
  const nodes = [...waiting].map(([id, { x, y }]) => ({ id, x, y, yaw: live.nodes.get(id)?.yaw ?? 0, ...height(live, id) }));
  waiting.clear();
  try {
    await of(get("chosen")).positions({ time: newer(live), nodes });
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

function height(live, id) {
  const z = live.nodes.get(id)?.z;
  return z === undefined || z === null ? {} : { z };
}
