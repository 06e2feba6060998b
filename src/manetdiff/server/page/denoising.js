// The denoising itself, step by step on the map: noise, sample, corrected, polished.

import { of } from "./api.js";
import { byId, say } from "./dom.js";
import { tried } from "./flight.js";
import { backToLive } from "./history.js";
import { linkKey } from "./merge.js";
import { sectorTowards } from "./map/geometry.js";
import { get, on, set } from "./store.js";
import { throughput } from "./units.js";

const STEP_MS = 650;
const still = matchMedia("(prefers-reduced-motion: reduce)");
const slider = byId("denoising-step");
let frames = []; // {label, links, parity, throughput} of each step, in order
let base = null; // the state that the nodes stand in
let ids = [];
let timer = null;
let seed = 0;

export function startDenoising() {
  byId("denoising").addEventListener("click", () => (get("mode") === "denoising" ? backToLive() : begin()));
  byId("denoising-again").addEventListener("click", () => {
    seed += 1;
    begin();
  });
  byId("denoising-play").addEventListener("click", () => (timer === null ? play() : pause()));
  slider.addEventListener("input", () => {
    pause();
    step(Number(slider.value));
  });
  on(["mode", "live", "chosen"], show);
}

async function begin() {
  const button = byId("denoising");
  const chosen = get("chosen");
  button.setAttribute("aria-busy", "true");
  const answer = await tried(() => of(chosen).denoising(seed));
  // The links are of one version: show the nodes where they were in it, where the server still knows.
  const stood = answer === null ? null : await tried(() => of(chosen).state(answer.version));
  button.removeAttribute("aria-busy");
  if (stood === null || chosen !== get("chosen")) return;
  ids = answer.nodes;
  base = { ...stood, nodes: new Map(stood.nodes.map((node) => [node.id, node])) };
  const last = answer.steps.length - 1;
  frames = answer.steps.map((found, k) => ({ ...found, label: k === 0 ? "Noise" : k === last ? "Sample" : `Step ${k} of ${last}` }));
  if (answer.corrected) frames.push({ ...answer.corrected, label: "Corrected" });
  if (answer.polished) frames.push({ ...answer.polished, label: "Polished" });
  slider.max = String(frames.length - 1);
  step(0);
  if (still.matches) pause();
  else play();
}

function step(k) {
  const { label, links, parity, throughput: t } = frames[k];
  slider.value = String(k);
  const nodes = new Map(ids.map((id, i) => [id, { ...base.nodes.get(id), id, parity: parity[i] }]));
  const joined = new Map();
  for (const [i, j] of links) {
    const [a, b] = [nodes.get(ids[i]), nodes.get(ids[j])];
    if (a?.x === undefined || b?.x === undefined) continue;
    joined.set(linkKey(a.id, b.id), {
      source: a.id, target: b.id, forward: null, backward: null, distance: Math.hypot(a.x - b.x, a.y - b.y), pinned: false,
      sector_source: sectorTowards(a, b.x, b.y, base.sectors, base.boresight),
      sector_target: sectorTowards(b, a.x, a.y, base.sectors, base.boresight),
    });
  }
  const words = `${label}, T ${throughput(t)} Mbit/s`;
  say(byId("banner-text"), words);
  slider.setAttribute("aria-valuetext", words);
  const metrics = { throughput: t, sustained: t / 2 };
  set({ mode: "denoising", shown: { ...base, nodes, links: joined, metrics, update: { continuity: null, milliseconds: null, added: [], dropped: [] } } });
}

function play() {
  if (Number(slider.value) >= frames.length - 1) step(0);
  say(byId("denoising-play"), "Pause");
  clearInterval(timer);
  timer = setInterval(() => {
    const next = Number(slider.value) + 1;
    if (next >= frames.length || get("mode") !== "denoising") pause();
    else step(next);
  }, STEP_MS);
}

function pause() {
  clearInterval(timer);
  timer = null;
  say(byId("denoising-play"), "Play");
}

function show() {
  const here = get("mode") === "denoising";
  if (!here && timer !== null) pause();
  byId("denoising-box").hidden = !here;
  byId("denoising").setAttribute("aria-pressed", String(here));
  byId("denoising").disabled = (get("live")?.version ?? null) === null;
}
