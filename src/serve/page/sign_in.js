// Asks for a token where the server wants one, until it takes it.
import { h, openDialog, setText } from "./dom.js";

async function tryToken(api, token, remember) {
  if (!/^[\x21-\x7e]+$/.test(token)) return { status: 401 }; // no header could carry it
  api.setToken(token, remember);
  const { error } = await api.get("modes", { quiet: true });
  if (error) api.forgetToken();
  return error;
}

/** Resolves when the server knows the token. */
export async function signIn(api) {
  const words = api.hasToken ? "The token that was used here is no longer valid." : "This server wants a token.";
  api.forgetToken();
  while (!(await openDialog("Sign in", (close) => form(api, words, close)))) { /* nothing can be seen without */ }
}

function form(api, words, close) {
  const token = h("input", { type: "password", id: "sign-in-token", autocomplete: "current-password", required: true, spellcheck: "false", autofocus: true, "aria-describedby": "sign-in-problem" });
  const remember = h("input", { type: "checkbox", id: "sign-in-remember" });
  const problem = h("p", { id: "sign-in-problem", class: "problem", role: "alert" });
  const submit = async (event) => {
    event.preventDefault();
    const error = await tryToken(api, token.value.trim(), remember.checked);
    if (!error) return close(true);
    setText(problem, error.status === 401 ? "The server does not know this token. Check it, or ask for a new one." : error.message);
    token.select();
  };
  return h("form", { class: "sign-in", onsubmit: submit },
    h("h2", {}, "Sign in to Lathe"),
    h("p", { class: "hint" }, `${words} Who runs the server makes one with `, h("code", {}, "lathe serve token add NAME"), "."),
    h("label", { for: "sign-in-token" }, "Token"),
    token,
    h("label", { class: "choice" }, remember, "Remember on this device"),
    problem,
    h("div", { class: "actions" }, h("button", { type: "submit", class: "primary" }, "Sign in")));
}
