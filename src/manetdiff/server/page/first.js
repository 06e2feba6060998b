// Before the first paint, so that a dark room is not lit up by a page that turns dark a moment later.
document.documentElement.dataset.theme =
  localStorage.getItem("manetdiff-theme") ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
