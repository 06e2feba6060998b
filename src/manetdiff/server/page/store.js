// The one store: plain values by name, and who wants to know when they change.
//
// choices, networks, chosen (id or null), live (merge.js) or null, connection {kind, text},
// mode ("live", "history", "denoising"), shown (the old state or null), selected (node id or null), before (bool),
// lastChange {version, added, dropped, isNews: it came while somebody was looking} or null.

const values = {
  choices: null,
  networks: [],
  chosen: null,
  live: null,
  connection: { kind: "connecting", text: "Connecting" },
  mode: "live",
  shown: null,
  selected: null,
  before: false,
  lastChange: null,
};
const listeners = [];

export const get = (name) => values[name];

/** Set some values; those that wait for any of them are called once, after all are set. */
export function set(changes) {
  const changed = Object.keys(changes).filter((name) => values[name] !== changes[name]);
  if (changed.length === 0) return;
  Object.assign(values, changes);
  for (const { names, work } of listeners) {
    if (names.some((name) => changed.includes(name))) work();
  }
}

export function on(names, work) {
  listeners.push({ names, work });
}

/** The state that the map and the tables show: an old version, or what is live. */
export const seen = () => values.shown ?? values.live;

export const network = () => values.live?.network ?? values.networks.find(({ id }) => id === values.chosen) ?? null;
