// The little menu of one link: what it carries, and keep, forbid or release.

import { byId, say } from "./dom.js";
import { linkBetween } from "./merge.js";
import { pinLink, pinOf } from "./pins.js";
import { get, on } from "./store.js";
import { linkName, metres, number } from "./units.js";

const GAP_PX = 10;
const menu = byId("link-menu");
let ends = null;
let opener = null; // where the focus goes back to

export function startLinkMenu() {
  const choices = { "pin-keep": "keep", "pin-avoid": "avoid", "pin-release": null };
  for (const [id, kind] of Object.entries(choices)) {
    byId(id).addEventListener("click", () => {
      const [a, b] = ends;
      close();
      pinLink(a, b, kind);
    });
  }
  menu.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    event.preventDefault();
    close();
  });
  document.addEventListener("pointerdown", (event) => {
    if (!menu.hidden && !menu.contains(event.target)) close(false);
  });
  on(["live"], tell);
  on(["chosen", "mode"], () => close(false));
}

/** Open it at a point of the map; from elsewhere in the middle of it. */
export function openLinkMenu(a, b, at = null) {
  ends = [a, b];
  opener = document.activeElement;
  tell(true);
  menu.hidden = false;
  const stage = byId("stage");
  const x = at?.x ?? stage.clientWidth / 2 - menu.offsetWidth / 2;
  const y = at?.y ?? stage.clientHeight / 2 - menu.offsetHeight / 2;
  menu.style.left = `${Math.max(GAP_PX, Math.min(x + GAP_PX, stage.clientWidth - menu.offsetWidth - GAP_PX))}px`;
  menu.style.top = `${Math.max(GAP_PX, Math.min(y + GAP_PX, stage.clientHeight - menu.offsetHeight - GAP_PX))}px`;
  (pinOf(a, b) === null ? byId("pin-keep") : byId("pin-release")).focus({ preventScroll: true });
}

function close(back = true) {
  if (menu.hidden) return;
  menu.hidden = true;
  ends = null;
  if (back && opener?.isConnected) opener.focus({ preventScroll: true });
}

function tell(opening = false) {
  if (ends === null || (menu.hidden && opening !== true)) return;
  const [a, b] = ends;
  const link = linkBetween(get("live"), a, b);
  say(byId("link-menu-title"), linkName(a, b));
  say(byId("link-menu-facts"), link === null ? "no link at present"
    : `${number(link.forward)} and ${number(link.backward)} Mbit/s, ${metres(link.distance)}`);
  const pin = pinOf(a, b);
  byId("pin-keep").setAttribute("aria-pressed", String(pin === "keep"));
  byId("pin-avoid").setAttribute("aria-pressed", String(pin === "avoid"));
  byId("pin-release").disabled = pin === null;
}
