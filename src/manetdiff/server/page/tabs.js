// The panels at the side: one is open. On a phone they are in a sheet, and the charts are one of them.

import { byId } from "./dom.js";

const NAMES = ["flight", "changes", "pins", "tables", "history", "charts"];
const narrow = matchMedia("(max-width: 900px)");
const openers = {};
let open = "flight";

/** Whether a panel can be seen; what is not seen is not kept up to date. */
export function visible(name) {
  return open === name && (!narrow.matches || byId("sheet").classList.contains("open"));
}

/** Work to do whenever a panel comes into view. */
export function onOpen(name, work) {
  openers[name] = work;
}

export function startTabs() {
  NAMES.forEach((name) => byId(`tab-${name}`).addEventListener("click", () => show(name)));
  byId("tab-flight").parentElement.addEventListener("keydown", (event) => {
    const offered = NAMES.filter((name) => name !== "charts" || narrow.matches);
    const at = offered.indexOf(open);
    const to = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: offered.length - 1 }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    show(offered[(to + offered.length) % offered.length]);
    byId(`tab-${open}`).focus();
  });
  byId("sheet-handle").addEventListener("click", () => {
    const isOpen = byId("sheet").classList.toggle("open");
    byId("sheet-handle").setAttribute("aria-expanded", String(isOpen));
    if (isOpen) openers[open]?.();
  });
  narrow.addEventListener("change", arrange);
  arrange();
}

function show(name) {
  open = name;
  for (const other of NAMES) {
    const chosen = other === name;
    byId(`tab-${other}`).setAttribute("aria-selected", String(chosen));
    byId(`tab-${other}`).tabIndex = chosen ? 0 : -1;
    byId(`panel-${other}`).hidden = !chosen;
  }
  openers[name]?.();
}

function arrange() {
  const home = narrow.matches ? byId("panel-charts") : document.querySelector("main");
  if (byId("charts").parentElement !== home) home.append(byId("charts"));
  if (!narrow.matches && open === "charts") show("flight");
}
