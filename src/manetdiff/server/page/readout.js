// The numbers over the map, the clock, the status chip, and what a screen without a topology says.

import { byId, say } from "./dom.js";
import { get, network, on, seen } from "./store.js";
import { clock, count, number, throughput } from "./units.js";

export function startReadout() {
  on(["live", "shown", "mode"], numbers);
  on(["live", "connection", "mode", "chosen"], status);
  on(["live", "chosen", "connection"], emptiness);
}

function numbers() {
  const state = seen();
  const metrics = state?.version == null ? null : state.metrics;
  say(byId("r-throughput"), throughput(metrics?.throughput));
  say(byId("r-sustained"), throughput(metrics?.sustained));
  say(byId("r-links"), metrics === null ? "–" : String(state.links.size));
  say(byId("r-nodes"), metrics === null ? "" : `of ${count(state.nodes.size, "node")}`);
  // A step of the denoising is no update: it has neither a continuity nor a time that it took.
  const update = metrics === null ? null : state.update;
  say(byId("r-continuity"), update?.continuity == null ? "–" : number(100 * update.continuity).replace(/\.0+$/, ""));
  say(byId("r-milliseconds"), number(update?.milliseconds));
  byId("r-percent").hidden = update?.continuity == null;
  byId("r-ms").hidden = update?.milliseconds == null;
  byId("readout").hidden = metrics === null; // there is nothing to read, and nothing to explain
  byId("legend").hidden = metrics === null;
  verdict(state, metrics);
  const version = state?.version ?? null;
  say(byId("clock"), clock(state?.time));
  say(byId("version"), version === null ? "no version yet" : `version ${version}`);
}

function verdict(state, metrics) {
  const line = byId("r-verdict");
  const problems = [];
  if (metrics !== null && get("mode") !== "denoising") {
    if (metrics.connected === 0) problems.push("not connected");
    if (metrics.parity < 1) problems.push("slots clash");
    if (metrics.antenna_saturation > 0) problems.push("antennas shared");
    if (state.update?.unmet) problems.push(state.update.unmet);
  }
  line.hidden = problems.length === 0;
  say(line, problems.join(", "));
}

function status() {
  const { kind, text } = get("connection");
  const chip = byId("status");
  let [shownKind, words] = [kind, text];
  const live = get("live");
  if (kind === "live" && live !== null) {
    if (live.version === null) [shownKind, words] = ["waiting", "Waiting"];
    else if (live.network.flight?.playing === false) [shownKind, words] = ["paused", "Paused"];
    else if (live.network.stale.length > 0) [shownKind, words] = ["stale", `Live, ${live.network.stale.length} stale`];
  }
  chip.dataset.kind = shownKind;
  say(byId("status-text"), words);
}

function emptiness() {
  const live = get("live");
  const waits = live !== null && live.version === null && live.network.flight === null;
  byId("start").hidden = !(get("chosen") === null && get("connection").kind === "idle");
  byId("waiting").hidden = !waits;
  if (!waits) return;
  say(byId("waiting-why"), live.network.waiting === null ? "This network has no topology yet." : `This network waits for ${live.network.waiting}.`);
  say(byId("waiting-curl"), curlLine(network().id));
}

function curlLine(id) {
  const address = new URL(`v1/networks/${encodeURIComponent(id)}/positions`, document.baseURI).href;
  return [
    `curl -X POST ${address} \\`,
    `  -H 'Content-Type: application/json' \\`,
    `  -d '{"time": 0, "nodes": [`,
    `    {"id": "A", "x": 0, "y": 0, "yaw": 0},`,
    `    {"id": "B", "x": 3000, "y": 500, "yaw": 0},`,
    `    {"id": "C", "x": 1500, "y": 2500, "yaw": 0}]}'`,
  ].join("\n");
}
