// What the browser keeps for the page: nothing, where somebody has forbidden it to keep anything.

export function kept(storage, name) {
  try {
    return globalThis[storage].getItem(name);
  } catch {
    return null;
  }
}

export function keep(storage, name, value) {
  try {
    globalThis[storage].setItem(name, value);
  } catch {
    // Then it is forgotten with the page.
  }
}
