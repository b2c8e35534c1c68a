// The tools that there are: a list by server with a search, what each takes and gives, and a form to try it.
import { path } from "./page_api.js";
import { add, h, icon, plainly, replace, setText } from "./dom.js";
import { plain } from "./format.js";
import { inputForm } from "./schema_form.js";
import { javascriptSignature, schemaList } from "./schema_text.js";
import { resultView } from "./result_view.js";

const SLICE = 120; // tools that are added to the list at once
const TYPING_MS = 150;

export function open(root, parameters, context) {
  const close = new AbortController();
  const list = toolList(context, close.signal);
  const detail = h("section", { class: "tool-detail", "aria-label": "Tool" });
  add(root, h("header", { class: "head" }, context.menuButton(), h("h1", {}, "Tools"), list.count),
    h("div", { class: `tools${parameters.id ? " with-tool" : ""}` }, list.element, detail));
  context.title("Tools");
  list.start(parameters.id);
  if (parameters.id) showTool(detail, parameters.id, context, close.signal);
  else add(detail, h("div", { class: "empty" }, h("p", {}, "Choose a tool to see what it takes and gives, and to try it.")));
  return { close: () => close.abort() };
}

// --- The list ---------------------------------------------------------------------------------------------------------

let lastQuery = ""; // stays when one tool after the other is looked at

function toolList(context, signal) {
  const count = h("span", { class: "hint", role: "status" });
  const search = h("input", { type: "search", placeholder: "Search tools", "aria-label": "Search tools", value: lastQuery });
  const server = h("select", { "aria-label": "Server", hidden: true });
  const rows = h("div", { class: "tool-rows" });
  let all = [];
  let chosen;
  let asked = new AbortController();

  async function load() {
    asked.abort();
    asked = new AbortController();
    signal.addEventListener("abort", () => asked.abort());
    const { value, error } = await context.api.get(`tools?brief=true&query=${encodeURIComponent(search.value.trim())}`, { signal: asked.signal });
    if (error?.code === "aborted" || signal.aborted) return;
    if (error?.code === "offline") context.missed();
    if (error) return replace(rows, h("p", { class: "problem", role: "alert" }, error.message));
    all = value.tools;
    offerServers();
    show();
  }

  function offerServers() {
    const names = [...new Set(all.map((one) => one.source))].sort();
    const before = server.value;
    replace(server, h("option", { value: "*" }, `All servers (${names.length})`), names.map((name) => h("option", { value: name }, name || "(none)")));
    server.value = names.includes(before) ? before : "*";
    server.hidden = names.length < 2;
  }

  function show() {
    const shown = all.filter((one) => server.value === "*" || one.source === server.value || server.hidden);
    setText(count, `${shown.length.toLocaleString("en")} ${shown.length === 1 ? "tool" : "tools"}`);
    if (shown.length === 0) {
      return replace(rows, h("p", { class: "hint none" }, search.value.trim() ? "No tool matches. Try fewer words." : "There are no tools. Servers are named in lathe.yaml under mcpServers."));
    }
    inSlices(rows, bySource(shown), chosen, signal);
  }

  let typing;
  search.addEventListener("input", () => {
    lastQuery = search.value;
    clearTimeout(typing);
    typing = setTimeout(load, TYPING_MS);
  });
  search.addEventListener("keydown", (event) => {
    if (event.key === "ArrowDown") {
      event.preventDefault();
      rows.querySelector("a")?.focus();
    }
  });
  rows.addEventListener("keydown", (event) => moveFocus(event, rows, search));
  server.addEventListener("change", show);
  return {
    element: h("nav", { class: "tool-list", "aria-label": "Tools" }, h("div", { class: "tool-search" }, search, server), rows),
    count,
    start(id) {
      chosen = id;
      load();
    },
  };
}

/** Arrow keys go through the list as well as Tab does. */
function moveFocus(event, rows, search) {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (!step || !event.target.matches("a")) return;
  event.preventDefault();
  const links = [...rows.querySelectorAll("a")];
  (links[links.indexOf(event.target) + step] ?? (step < 0 ? search : event.target)).focus();
}

/** Tools of one server together; servers in the order of their best tool. */
function bySource(tools) {
  const groups = new Map();
  for (const one of tools) {
    if (!groups.has(one.source)) groups.set(one.source, []);
    groups.get(one.source).push(one);
  }
  return groups;
}

/** Adds rows as somebody scrolls: thousands of them at once would keep the page busy. */
function inSlices(rows, groups, chosen, signal) {
  const steps = rowsOf(groups, chosen);
  const end = h("div", { class: "more-rows" });
  let list;
  const addSlice = () => {
    for (let i = 0; i < SLICE; i++) {
      const { done, value } = steps.next();
      if (done) {
        watch.disconnect();
        end.remove();
        return;
      }
      if (value.heading) {
        list = h("ul");
        end.before(h("section", {}, value.heading, list));
      } else {
        list.append(value.row);
      }
    }
  };
  const watch = new IntersectionObserver((entries) => entries.some((one) => one.isIntersecting) && addSlice(), { root: rows, rootMargin: "600px" });
  signal.addEventListener("abort", () => watch.disconnect());
  replace(rows, end);
  addSlice();
  watch.observe(end);
  rows.querySelector("[aria-current]")?.scrollIntoView({ block: "nearest" });
}

function* rowsOf(groups, chosen) {
  for (const [source, tools] of groups) {
    yield { heading: h("h2", {}, source || "No server", h("span", { class: "hint" }, String(tools.length))) };
    for (const one of tools) {
      yield {
        row: h("li", {}, h("a", { href: `#/tools/${encodeURIComponent(one.id)}`, "aria-current": one.id === chosen ? "page" : undefined },
          h("span", { class: "tool-name" }, plain(shortName(one))), h("span", { class: "tool-about" }, plain(firstSentence(one.description))))),
      };
    }
  }
}

const shortName = (tool) => (tool.source && tool.id.startsWith(`${tool.source}.`) ? tool.id.slice(tool.source.length + 1) : tool.id);
const firstSentence = (text) => (/^[^\n]*?[.!?](?=\s|$)|^[^\n]*/.exec(text ?? "")?.[0] ?? "").slice(0, 140);

// --- One tool ---------------------------------------------------------------------------------------------------------

async function showTool(root, id, context, signal) {
  const { value: tool, error } = await context.api.get(path`tools/${id}`, { signal });
  if (signal.aborted) return;
  const back = h("a", { class: "back", href: "#/tools" }, icon("chevron"), "All tools");
  if (error) {
    if (error.code === "offline") context.missed();
    add(root, back, h("div", { class: "empty" }, h("h2", {}, error.status === 404 ? "This tool is not there" : "This tool cannot be shown"), h("p", {}, error.message)));
    return;
  }
  context.title(plain(tool.id));
  root.setAttribute("aria-label", plain(tool.id));
  add(root, back,
    h("h2", { class: "tool-title mono" }, plainly(tool.id)),
    badges(tool),
    tool.description && h("p", { class: "tool-description" }, plainly(tool.description)),
    signatures(tool, context),
    h("div", { class: "columns" },
      h("div", {},
        h("h3", {}, "Input"), readableSchema(tool.inputSchema ?? {}), rawSchema("input", tool.inputSchema),
        h("h3", {}, "Result"),
        tool.outputSchema ? [readableSchema(tool.outputSchema), rawSchema("result", tool.outputSchema)] : h("p", { class: "hint" }, "The server does not say what this tool gives.")),
      tryIt(tool, context, signal)));
}

/** A schema may be anything that a server sends: one that cannot be read is shown as JSON only, and does no other harm. */
function tolerate(read, otherwise) {
  try {
    return read();
  } catch {
    return otherwise();
  }
}

const readableSchema = (schema) => tolerate(() => schemaList(schema), () => h("p", { class: "hint" }, "This schema cannot be read: see its JSON."));

const HINTS = [
  [(tool) => tool.requiresApproval, "Needs approval", "warn"],
  [(tool) => tool.annotations?.readOnlyHint === true, "Read-only", "good"],
  [(tool) => tool.annotations?.readOnlyHint !== true && tool.annotations?.destructiveHint === true, "Destructive", "bad"],
  [(tool) => tool.annotations?.idempotentHint === true, "Idempotent", ""],
  [(tool) => tool.annotations?.openWorldHint === true, "Reaches the outside world", ""],
];

function badges(tool) {
  const shown = HINTS.filter(([is]) => is(tool)).map(([, name, tone]) => h("li", { class: `badge ${tone}` }, name));
  return shown.length > 0 ? h("ul", { class: "badges", "aria-label": "What the server says of it" }, shown) : null;
}

const rawSchema = (name, schema) => h("details", { class: "raw" }, h("summary", {}, `Schema of the ${name} as JSON`), h("pre", { tabindex: "0" }, JSON.stringify(schema ?? {}, null, 2)));

/** The function that the tool is, a tab for each language. */
function signatures(tool, context) {
  const texts = { JavaScript: tolerate(() => javascriptSignature(tool), () => `${tool.name}(any)`), TypeScript: tool.declarations.typescript.trim(), Python: tool.declarations.python.trim() };
  const names = Object.keys(texts);
  const text = h("pre", { id: "signature", role: "tabpanel", tabindex: "0" });
  const copy = h("button", { type: "button", class: "small", onclick: () => copyText(text.textContent, copy, context) }, icon("copy"), h("span", {}, "Copy"));
  const tabs = names.map((name) => h("button", { type: "button", role: "tab", id: `tab-${name}`, "aria-controls": "signature", onclick: () => choose(name) }, name));
  const choose = (name, hasFocus = false) => {
    tabs.forEach((tab, i) => {
      tab.setAttribute("aria-selected", String(names[i] === name));
      tab.tabIndex = names[i] === name ? 0 : -1;
      if (names[i] === name && hasFocus) tab.focus();
    });
    text.setAttribute("aria-labelledby", `tab-${name}`);
    setText(text, texts[name]);
  };
  const turn = (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    const at = tabs.indexOf(event.target);
    if (step && at >= 0) choose(names.at((at + step) % names.length), true);
  };
  choose(names[0]);
  return h("div", { class: "signatures" }, h("div", { class: "signature-bar" }, h("div", { class: "tabs", role: "tablist", "aria-label": "Language", onkeydown: turn }, tabs), copy), text);
}

async function copyText(text, button, context) {
  try {
    await navigator.clipboard.writeText(text);
    say("Copied");
  } catch {
    say("Not allowed");
  }
  function say(word) {
    setText(button.lastElementChild, word);
    context.announce(word);
    setTimeout(() => setText(button.lastElementChild, "Copy"), 1500);
  }
}

// --- Trying -----------------------------------------------------------------------------------------------------------

function tryIt(tool, context, signal) {
  const form = tolerate(() => inputForm(tool.inputSchema), () => inputForm({}));
  const answer = h("div", { class: "answer" });
  const call = h("button", { type: "submit", class: "primary" }, "Call the tool");
  const stop = h("button", { type: "button", hidden: true }, icon("stop"), "Stop");
  const setBusy = (is) => {
    call.disabled = is;
    stop.hidden = !is;
  };
  let running = new AbortController();
  stop.addEventListener("click", () => running.abort());
  signal.addEventListener("abort", () => running.abort());
  const submit = async (event) => {
    event.preventDefault();
    const { value, problems } = form.read();
    if (problems.length > 0) return context.announce(`${problems.length} ${problems.length === 1 ? "field is" : "fields are"} not right`);
    running = new AbortController();
    setBusy(true);
    replace(answer, h("p", { class: "hint", role: "status" }, "Calling…"));
    const began = performance.now();
    const given = await context.api.post(path`tools/${tool.id}/invoke`, { input: value }, { signal: running.signal });
    if (signal.aborted) return;
    const shown = await resultView(given, { tool, form, context, signal: running.signal, ms: performance.now() - began });
    setBusy(false);
    replace(answer, shown);
  };
  return h("form", { class: "try", novalidate: true, onsubmit: submit, onkeydown: (event) => sendByKey(event, call) },
    h("h3", {}, "Try it"), form.element, h("div", { class: "actions" }, stop, call), h("div", { "aria-live": "polite" }, answer));
}

function sendByKey(event, button) {
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
    event.preventDefault();
    button.click();
  }
}
