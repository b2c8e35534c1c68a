// Starts the page: the frame around a view, and which view the address asks for.
import { Api } from "./page_api.js";
import * as conversation from "./conversation.js";
import { openConversations } from "./conversations.js";
import { add, h, icon, iconButton, replace, setText } from "./dom.js";
import { Events } from "./events.js";
import { signIn } from "./sign_in.js";

// What stands behind the "#" of the address, and the module that shows it: open(root, parameters, context) returns
// {close(), focus?(), refresh?()}; refresh: models and modes are known now. The first one is what most people open.
const VIEWS = [
  { at: /^\/(?:c\/([^/]+))?$/, name: "conversation", module: conversation },
  { at: /^\/tools(?:\/(.+))?$/, name: "tools", load: () => import("./tools.js") },
  { at: /^\/program$/, name: "program", load: () => import("./program_view.js") },
  { at: /^\/replay\/([^/]+)$/, name: "replay", load: () => import("./replay.js") },
];

const api = new Api((...asked) => {
  lost.hidden = true; // what is missing is the token
  return signIn(...asked);
});
const events = new Events(api);
const announcer = h("div", { class: "unseen", "aria-live": "polite", role: "status" });
const main = h("main", { id: "main", tabindex: "-1" });
const lost = h("p", { class: "lost", role: "status", hidden: true }, icon("warning"), "Connection lost. Trying again…");

const context = {
  api,
  events,
  models: [],
  modes: [],
  /** Goes to another view. */
  go(hash) {
    if (location.hash === hash) showView();
    else location.hash = hash;
  },
  /** A view could not read what it shows: it is opened again when the connection is back. */
  missed() {
    isMissed = true;
  },
  /** The address of what is shown becomes another one, and nothing is opened. */
  moveTo(hash) {
    history.replaceState(null, "", hash);
    sidebar.mark(hash);
  },
  /** Says something to readers of screens. */
  announce(text) {
    announcer.textContent = "";
    setTimeout(() => setText(announcer, text), 50);
  },
  title(text) {
    document.title = text ? `${text} · Lathe` : "Lathe";
  },
  /** The button that opens the list on a narrow screen; each view puts it at the start of its head. */
  menuButton: () => iconButton("menu", "Show conversations", { class: "quiet icon-only menu", "aria-expanded": "false", "aria-controls": "side", onclick: () => showSide(true) }),
};

const sidebar = openConversations(context);
const app = h("div", { id: "app" });

function showSide(is) {
  app.classList.toggle("with-side", is);
  document.querySelector(".menu")?.setAttribute("aria-expanded", String(is));
  main.inert = is;
  if (is) sidebar.focus();
  else document.querySelector(".menu")?.focus();
}

// --- Views -----------------------------------------------------------------------------------------------------------

let view;
let opening = 0;
let isMissed = false;

/** What stands behind the "#"; an address that somebody has cut off is one of no view. */
function findView() {
  const hash = location.hash.slice(1) || "/";
  for (const one of VIEWS) {
    const found = one.at.exec(hash);
    if (found) return { one, parameters: { id: decoded(found[1]) } };
  }
  return { one: VIEWS[0], parameters: {} };
}

function decoded(text) {
  try {
    return text && decodeURIComponent(text);
  } catch {
    return undefined;
  }
}

async function showView() {
  const mine = ++opening;
  isMissed = false;
  const { one, parameters } = findView();
  if (app.classList.contains("with-side")) showSide(false);
  sidebar.mark(location.hash);
  let module;
  try {
    module = one.module ?? await one.load();
  } catch {
    module = { open: openMissing };
    context.missed();
  }
  if (mine !== opening) return;
  view?.close();
  main.className = `view-${one.name}`;
  context.title("");
  view = module.open(replace(main), parameters, context);
  performance.mark("lathe-view");
  requestAnimationFrame(() => mine === opening && view.focus?.()); // focus asks for a layout: the next frame has one
}

function openMissing(root) {
  add(root, h("div", { class: "empty" }, h("h1", {}, "This part could not be loaded"),
    h("p", {}, "The server may have been replaced by another version."),
    h("button", { type: "button", class: "primary", onclick: () => location.reload() }, "Load the page again")));
  return { close() {} };
}

// --- The start -------------------------------------------------------------------------------------------------------

async function loadChoices() {
  const [modes, models] = await Promise.all([api.get("modes"), api.get("models")]);
  if (modes.value) context.modes = modes.value.modes;
  if (models.value) context.models = models.value.models;
  if (modes.error?.code !== "offline") return;
  wasConnected = true; // it says so, and comes back with the events
  lost.hidden = false;
}

/** Keys that hold everywhere but where somebody writes. */
function takeKey(event) {
  const isWriting = event.target.closest?.("input, textarea, select, [contenteditable], dialog, .cm-editor") || event.composedPath?.().some((one) => one.isContentEditable);
  if (event.key === "Escape" && app.classList.contains("with-side")) showSide(false);
  if (isWriting || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === "/") {
    event.preventDefault();
    if (getComputedStyle(document.getElementById("side")).visibility === "hidden") showSide(true);
    sidebar.search();
  } else if (event.key === "n") {
    event.preventDefault();
    context.go("#/");
  }
}

async function start() {
  add(app, h("a", { class: "skip", href: "#main", onclick: (event) => { event.preventDefault(); main.focus(); } }, "Skip to the content"),
    sidebar.element, h("div", { class: "curtain", onclick: () => showSide(false) }), main);
  document.body.append(app, lost, announcer);
  document.addEventListener("keydown", takeKey);
  window.addEventListener("hashchange", showView);
  events.watch((is) => {
    lost.hidden = is || !wasConnected;
    wasConnected ||= is;
    if (is && isMissed) showView();
  });
  const shown = showView(); // first: what others answer comes later anyway
  events.run();
  sidebar.start();
  await Promise.all([shown, loadChoices()]);
  view.refresh?.();
}
let wasConnected = false;

start();
