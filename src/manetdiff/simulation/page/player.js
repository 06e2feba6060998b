"use strict";
(() => {
  const STAY_MS = 200;
  const player = document.getElementById("player");
  const moments = [...player.querySelectorAll(".moment")];
  const [play, back, on] = player.querySelectorAll("button");
  const slider = player.querySelector("input");
  const told = player.querySelector("output");
  const why = player.querySelector(".why");
  const last = moments.length - 1;
  let shown = 0;
  let clock = null;

  function show(place) {
    moments[shown].setAttribute("hidden", "");
    shown = Math.min(Math.max(place, 0), last);
    moments[shown].removeAttribute("hidden");
    told.textContent = moments[shown].dataset.told;
    if (why !== null) {
      const lines = (moments[shown].dataset.why ?? "").split("\n").filter((line) => line !== "");
      why.replaceChildren(
        ...lines.map((line) => {
          const item = document.createElement("li");
          item.textContent = line;
          return item;
        }),
      );
    }
    slider.value = shown;
    slider.setAttribute("aria-valuetext", told.textContent);
    back.disabled = shown === 0;
    on.disabled = shown === last;
  }

  function pause() {
    clearInterval(clock);
    clock = null;
    play.textContent = "Play";
    told.setAttribute("aria-live", "polite");
  }

  function start() {
    told.setAttribute("aria-live", "off"); // read aloud at every picture, it would never end
    play.textContent = "Pause";
    if (shown === last) show(0);
    clock = setInterval(() => (shown === last ? pause() : show(shown + 1)), STAY_MS);
  }

  function step(place) {
    pause();
    show(place);
  }

  play.addEventListener("click", () => (clock === null ? start() : pause()));
  back.addEventListener("click", () => step(shown - 1));
  on.addEventListener("click", () => step(shown + 1));
  slider.addEventListener("input", () => step(Number(slider.value)));
  player.classList.add("ready");
  show(0);
})();
