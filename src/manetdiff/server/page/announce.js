// What changed, for those who listen: at most one line every five seconds, the newest, and only when something did.

import { byId, say } from "./dom.js";
import { get, on } from "./store.js";
import { count, throughput } from "./units.js";

const BETWEEN_MS = 5000;
let last = -Infinity;
let waiting = null; // the timer of a line that comes later

/** Say a line politely; `now` for answers to what somebody has just done. */
export function announce(text, now = false) {
  clearTimeout(waiting);
  const wait = now ? 0 : Math.max(0, last + BETWEEN_MS - performance.now());
  if (wait > 0) {
    waiting = setTimeout(() => announce(text, true), wait);
    return;
  }
  last = performance.now();
  say(byId("said"), text);
}

export function startAnnouncements() {
  on(["chosen"], () => clearTimeout(waiting)); // what was to be said of another network
  on(["lastChange"], () => {
    const change = get("lastChange");
    if (change === null || !change.isNews || get("mode") !== "live") return;
    const added = count(change.added.length, "link");
    const dropped = String(change.dropped.length);
    announce(`Version ${change.version}: ${added} added, ${dropped} dropped. Throughput ${throughput(get("live").metrics.throughput)} megabits a second.`);
  });
}
