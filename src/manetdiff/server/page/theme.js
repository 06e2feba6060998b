// Light or dark: as the system has it, until somebody chooses; and the colours for what is drawn by script.

import { byId } from "./dom.js";
import { keep, kept } from "./kept.js";

const KEPT = "manetdiff-theme";
const NAMES = ["paper", "panel", "sea", "ink", "quiet", "faint", "accent", "parity-0", "parity-1", "link", "added",
  "dropped", "broken", "stale", "grid", "grid-strong", "trail", "halo"];
const system = matchMedia("(prefers-color-scheme: dark)");
const watchers = [];
let chosen = kept("localStorage", KEPT);

/** The colours of the present theme, by the names that they have in colours.css; and the page's `font`. */
export const palette = {};

export function onTheme(work) {
  watchers.push(work);
}

export function startTheme() {
  const button = byId("theme");
  button.addEventListener("click", () => {
    chosen = document.documentElement.dataset.theme === "dark" ? "light" : "dark";
    keep("localStorage", KEPT, chosen);
    apply();
  });
  system.addEventListener("change", apply);
  document.fonts.ready.then(apply); // what is drawn by script was drawn in another font until now
  apply();
}

function apply() {
  const theme = chosen ?? (system.matches ? "dark" : "light");
  document.documentElement.dataset.theme = theme;
  byId("theme").setAttribute("aria-pressed", String(theme === "dark"));
  const style = getComputedStyle(document.documentElement);
  palette.font = getComputedStyle(document.body).fontFamily;
  for (const name of NAMES) palette[name] = style.getPropertyValue(`--${name}`).trim();
  for (const work of watchers) work();
}
