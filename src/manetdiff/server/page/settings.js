// How the network is updated: radio, effort, loyalty, setup. Each change is sent when it is made.

import { of } from "./api.js";
import { byId, fill, offer } from "./dom.js";
import { tried } from "./flight.js";
import { get, network, on } from "./store.js";

const OWN = "(own)";

export function startSettings() {
  byId("settings").addEventListener("submit", (event) => event.preventDefault());
  byId("preset").addEventListener("change", () => patch({ settings: { preset: byId("preset").value } }));
  byId("loyalty").addEventListener("change", () => patchNumber("loyalty"));
  byId("setup").addEventListener("change", () => patchNumber("setup"));
  byId("radio").addEventListener("change", () => {
    const found = get("choices").radios.find(({ name }) => name === byId("radio").value);
    if (found !== undefined) patch({ radio: found.radio });
  });
  on(["choices"], () => offer(byId("preset"), get("choices").presets.map((name) => [name, name])));
  on(["choices", "live", "chosen"], show);
}

function patch(change) {
  tried(() => of(get("chosen")).change(change)).then(show);
}

function patchNumber(name) {
  const field = byId(name);
  if (!field.reportValidity()) return;
  patch({ settings: { [name]: field.value === "" ? null : Number(field.value) } });
}

function show() {
  const seen = network();
  for (const id of ["radio", "preset", "loyalty", "setup"]) byId(id).disabled = seen === null;
  if (seen === null || get("choices") === null) return;
  fill(byId("preset"), seen.settings.preset);
  fill(byId("loyalty"), seen.settings.loyalty);
  fill(byId("setup"), seen.settings.setup);
  const { radios } = get("choices");
  const found = radios.find(({ radio }) => same(radio, seen.radio));
  const options = radios.map(({ name, title }) => [name, title]);
  if (found === undefined) options.push([OWN, "This network's own radio"]);
  const select = byId("radio");
  if (select.options.length !== options.length) offer(select, options);
  fill(select, found?.name ?? OWN);
}

/** Radios are equal where all parameters are; one that is left out and one that is null say the same. */
function same(a, b) {
  const names = new Set([...Object.keys(a), ...Object.keys(b)]);
  return [...names].every((name) => (a[name] ?? null) === (b[name] ?? null));
}
