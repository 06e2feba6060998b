// Before the first paint, so that a dark room is not lit up by a page that turns dark a moment later.
{
  let theme = null;
  try {
    theme = localStorage.getItem("manetdiff-theme");
  } catch {
    // The browser keeps nothing for the page.
  }
  document.documentElement.dataset.theme = theme ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
}
