// What changed, for those who listen: at most one line every five seconds, and only when something did.

import { byId, say } from "./dom.js";
import { get, on } from "./store.js";
import { count, throughput } from "./units.js";

const BETWEEN_MS = 5000;
let last = 0;
let told = null;

/** Say a line politely; `now` for answers to what somebody has just done. */
export function announce(text, now = false) {
  if (!now && performance.now() - last < BETWEEN_MS) return false;
  last = performance.now();
  say(byId("said"), text);
  return true;
}

export function startAnnouncements() {
  on(["lastChange"], () => {
    const change = get("lastChange");
    if (change === null || get("mode") !== "live" || change.version === told) return;
    const added = count(change.added.length, "link");
    const dropped = String(change.dropped.length);
    const words = `Version ${change.version}: ${added} added, ${dropped} dropped. Throughput ${throughput(get("live").metrics.throughput)} megabits a second.`;
    if (announce(words)) told = change.version;
  });
}
