// The flight that the server flies: play and pause, pace, scenario.

import { of } from "./api.js";
import { byId, fill, offer, say, toast } from "./dom.js";
import { get, network, on } from "./store.js";
import { number } from "./units.js";

export const RATES = [0.5, 1, 2, 3, 4, 5, 8, 10]; // updates a second on the slider
export const DEMO = { family: "wedge", motion: null, nodes: 16, seed: 0, speed: 4, rate: 2, playing: true };

let launchedFor = null; // network whose flight the form has been filled from

export function startFlight() {
  byId("play").addEventListener("click", togglePlay);
  byId("speed").addEventListener("input", tellPace);
  byId("rate").addEventListener("input", tellPace);
  byId("speed").addEventListener("change", () => patch({ speed: speed() }));
  byId("rate").addEventListener("change", () => patch({ rate: rate() }));
  byId("family").addEventListener("change", motions);
  byId("scenario").addEventListener("submit", (event) => {
    event.preventDefault();
    launch();
  });
  byId("end-flight").addEventListener("click", () => tried(() => of(get("chosen")).endFlight()));
  on(["choices"], families);
  on(["live", "chosen", "mode"], show);
}

export function togglePlay() {
  const flight = network()?.flight ?? null;
  if (flight !== null) patch({ playing: !flight.playing });
}

const speed = () => 2 ** Number(byId("speed").value);
const rate = () => RATES[Number(byId("rate").value)];

function patch(change) {
  tried(() => of(get("chosen")).changeFlight(change));
}

async function launch() {
  const flight = {
    family: byId("family").value,
    motion: byId("motion").value || null,
    nodes: Number(byId("nodes").value),
    seed: Number(byId("seed").value),
    speed: speed(),
    rate: rate(),
    playing: true,
  };
  const button = byId("launch");
  button.disabled = true;
  button.setAttribute("aria-busy", "true");
  await tried(() => of(get("chosen")).fly(flight));
  button.removeAttribute("aria-busy");
  button.disabled = get("chosen") === null;
}

export async function tried(work) {
  try {
    return await work();
  } catch (error) {
    toast(error.message);
    return null;
  }
}

function families() {
  const { families: all, limits } = get("choices");
  offer(byId("family"), Object.keys(all).map((name) => [name, words(name)]));
  byId("family").value = DEMO.family in all ? DEMO.family : Object.keys(all)[0];
  byId("nodes").max = limits.nodes;
  motions();
}

function motions() {
  const found = get("choices").families[byId("family").value] ?? [];
  offer(byId("motion"), [["", "as usual"], ...found.map((name) => [name, words(name)])]);
}

const words = (name) => name.charAt(0).toUpperCase() + name.slice(1).replaceAll("-", " ");

function show() {
  const chosen = get("chosen");
  const flight = network()?.flight ?? null;
  const play = byId("play");
  play.disabled = flight === null || get("mode") !== "live";
  play.setAttribute("aria-label", flight?.playing ? "Pause" : "Play");
  byId("play-icon").setAttribute("href", flight?.playing ? "#i-pause" : "#i-play");
  for (const id of ["speed", "rate", "end-flight"]) byId(id).disabled = flight === null;
  byId("launch").disabled = chosen === null || byId("launch").hasAttribute("aria-busy");
  if (flight === null) {
    launchedFor = null;
    tellPace();
    return;
  }
  fill(byId("speed"), Math.round(2 * Math.log2(flight.speed)) / 2);
  fill(byId("rate"), nearest(flight.rate));
  tellPace();
  const identity = `${chosen} ${flight.family} ${flight.motion} ${flight.nodes} ${flight.seed}`;
  if (identity === launchedFor || get("choices") === null) return;
  launchedFor = identity; // only once: what is being put together for the next flight stays
  byId("family").value = flight.family;
  motions();
  byId("motion").value = flight.motion ?? "";
  fill(byId("nodes"), flight.nodes);
  fill(byId("seed"), flight.seed);
}

function nearest(wanted) {
  let best = 0;
  RATES.forEach((value, k) => {
    if (Math.abs(value - wanted) < Math.abs(RATES[best] - wanted)) best = k;
  });
  return best;
}

function tellPace() {
  const plain = (value) => number(value).replace(/\.0+$/, "").replace(/(\.\d)0$/, "$1");
  say(byId("speed-told"), `${plain(speed())} × time`);
  say(byId("rate-told"), `${plain(rate())} a second`);
  byId("speed").setAttribute("aria-valuetext", `${plain(speed())} flight seconds a second`);
  byId("rate").setAttribute("aria-valuetext", `${plain(rate())} updates a second`);
}
