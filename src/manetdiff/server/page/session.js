// Which network is looked at, and the stream of its events into the store.

import { getChoices, getNetworks } from "./api.js";
import { toast } from "./dom.js";
import { follow } from "./events.js";
import { fromSnapshot, merged } from "./merge.js";
import { get, set } from "./store.js";

const AGAIN_MS = 2000;
const LOST = { kind: "lost", text: "Connection lost" };
let stream = null;

export async function startSession() {
  addEventListener("hashchange", () => {
    const wanted = fromHash();
    if (wanted !== null && wanted !== get("chosen")) choose(wanted);
  });
  for (;;) {
    try {
      set({ choices: await getChoices() });
      await chooseAny(fromHash());
      return;
    } catch (error) {
      set({ connection: LOST });
      if (error.status !== undefined) toast(error.message);
      await new Promise((resolve) => setTimeout(resolve, AGAIN_MS));
    }
  }
}

/** The wanted network if there is one, else the demo's, else the first; the start panel if there is none. */
export async function chooseAny(wanted = null) {
  const networks = await getNetworks();
  set({ networks });
  const ids = networks.map(({ id }) => id);
  const found = [wanted, get("choices").demo, ids[0]].find((id) => ids.includes(id));
  choose(found ?? null);
}

export async function refreshNetworks() {
  set({ networks: await getNetworks() });
}

export function choose(id) {
  stream?.stop();
  stream = null;
  set({ chosen: id, live: null, shown: null, mode: "live", selected: null, lastChange: null });
  history.replaceState(null, "", id === null ? location.pathname : `#network=${encodeURIComponent(id)}`);
  if (id === null) {
    set({ connection: { kind: "idle", text: "No network" } });
    return;
  }
  set({ connection: { kind: "connecting", text: "Connecting" } });
  stream = follow(id, {
    heard: (kind, data) => heard(id, kind, data),
    lost: () => set({ connection: LOST }),
    missing: gone,
  });
}

function heard(id, kind, data) {
  if (id !== get("chosen")) return;
  if (kind === "deleted") {
    gone();
    return;
  }
  const before = get("live");
  if (kind !== "snapshot" && (kind !== "delta" || before === null)) return;
  const live = kind === "snapshot" ? fromSnapshot(data) : merged(before, data);
  const changes = { live, connection: { kind: "live", text: "Live" } };
  const { added, dropped } = live.update ?? { added: [], dropped: [] };
  if (added.length + dropped.length > 0 && get("lastChange")?.version !== live.version) {
    changes.lastChange = { version: live.version, added, dropped, isNews: before !== null };
  }
  set(changes);
}

async function gone() {
  toast("This network was deleted.");
  set({ chosen: null });
  try {
    await chooseAny();
  } catch {
    startSession();
  }
}

function fromHash() {
  const found = /^#network=(.+)$/.exec(location.hash);
  try {
    return found === null ? null : decodeURIComponent(found[1]);
  } catch {
    return null; // somebody has cut the address off in the middle
  }
}
