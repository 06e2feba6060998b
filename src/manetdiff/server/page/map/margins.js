// What lies over the map, measured: the camera keeps the fleet clear of it.

import { byId } from "../dom.js";

const LABEL_PX = 34; // for a dart and its label beyond the place of its node
const LEAST = { left: 44, right: 76, top: 48, bottom: 66 };
const LEAST_NARROW = { left: 26, right: 60, top: 48, bottom: 56 };
const NARROW_PX = 600;

/** Pixels at each side of the stage in which no node should be. */
export const margins = { ...LEAST };

/** Measure whenever something that lies over the map comes, goes or grows; `changed` is called where that matters. */
export function startMargins(changed) {
  const watch = new ResizeObserver(() => {
    const before = JSON.stringify(margins);
    measure();
    if (JSON.stringify(margins) !== before) changed();
  });
  for (const id of ["stage", "readout", "banner", "inspector"]) watch.observe(byId(id));
  measure();
}

function measure() {
  const stage = byId("stage").getBoundingClientRect();
  const narrow = stage.width < NARROW_PX;
  Object.assign(margins, narrow ? LEAST_NARROW : LEAST);
  keepClear(stage, byId("readout"));
  keepClear(stage, byId("banner"));
  if (narrow) keepClear(stage, byId("inspector")); // as wide as the stage there; elsewhere it stands aside
  // On a very low screen the fleet has to share: half of it is better than a line.
  const most = Math.max(0, stage.height - 120);
  const both = margins.top + margins.bottom;
  if (both > most) {
    margins.top *= most / both;
    margins.bottom *= most / both;
  }
}

function keepClear(stage, element) {
  const box = element.getBoundingClientRect();
  if (box.height === 0) return;
  const fromTop = box.bottom - stage.top;
  const fromBottom = stage.bottom - box.top;
  if (fromTop < fromBottom) margins.top = Math.max(margins.top, fromTop + LABEL_PX);
  else margins.bottom = Math.max(margins.bottom, fromBottom + LABEL_PX / 2);
}
