// The token of a server that asks for one: in memory and for this tab, never in a URL.

import { byId } from "./dom.js";
import { keep, kept } from "./kept.js";

const KEPT = "manetdiff-token";
const TOKEN = /^[A-Za-z0-9._~+/-]+=*$/; // what a header can hold
let token = kept("sessionStorage", KEPT);
let asking = null;

export const current = () => token;

// Nothing works without it: who closes the dialog is asked again.
byId("token-dialog").addEventListener("cancel", (event) => event.preventDefault());
byId("token-dialog").addEventListener("close", () => {
  if (asking !== null) byId("token-dialog").showModal();
});

/** Ask for the token; several calls that were refused at once share one dialog. */
export function ask(refused) {
  if (refused !== token) return Promise.resolve(token); // somebody has typed a newer one meanwhile
  asking ??= new Promise((resolve) => {
    const dialog = byId("token-dialog");
    const field = byId("token");
    const why = byId("token-why");
    if (refused !== null) why.textContent = "That was not the token. It was set when the server was started.";
    field.value = "";
    const answered = (event) => {
      event.preventDefault();
      const typed = field.value.trim();
      if (!TOKEN.test(typed)) {
        why.textContent = "A token has letters, digits and . _ ~ + / - alone, no spaces.";
        field.focus();
        return;
      }
      token = typed;
      keep("sessionStorage", KEPT, token);
      dialog.querySelector("form").removeEventListener("submit", answered);
      asking = null;
      dialog.close();
      resolve(token);
    };
    dialog.querySelector("form").addEventListener("submit", answered);
    dialog.showModal();
    field.focus();
  });
  return asking;
}
