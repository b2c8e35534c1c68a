// The program editor: write a program, see what is wrong with it while typing, and run it against the tools without a
// model. The program stays in this browser.
import { add, h, icon, replace, setText } from "./dom.js";
import { LANGUAGES, readKept, writeKept } from "./kept_program.js";
import { path } from "./page_api.js";
import { hasEnded, watchPrompt } from "./prompt_watch.js";
import { programRunView } from "./program_run.js";

const KEEP_MS = 300; // of rest, before the program is kept

const EXAMPLES = {
  javascript: "// Tools are functions that return their result. Ctrl+Space proposes; Ctrl+Enter runs.\nconst found = discoverTools();\noutput(`There are ${found.length} tools.`);\n",
  typescript: "// Tools are functions that return a promise of {success, value} or {success, error}. Ctrl+Space proposes; Ctrl+Enter runs.\nconst names = Object.keys(tools);\noutput(`There are ${names.length} tools.`);\n",
  python: "# Tools are functions with keyword arguments. Ctrl+Space proposes; Ctrl+Enter runs.\nset_result(sum(range(10)))\n",
};

export function open(root, parameters, context) {
  const close = new AbortController();
  let editor;
  import("./code_editor.js").then(({ codeEditor }) => {
    if (close.signal.aborted) return;
    editor = buildView(root, codeEditor, context, close.signal);
    editor.focus();
  }, () => {
    if (close.signal.aborted) return;
    context.missed();
    add(root, h("header", { class: "head" }, context.menuButton(), h("h1", {}, "Program")),
      h("div", { class: "empty" }, h("h2", {}, "The editor could not be loaded"), h("p", {}, "Is the server running? If it is, load the page again.")));
  });
  return {
    close() {
      close.abort();
      editor?.close();
    },
    focus: () => editor?.focus(),
  };
}

function buildView(root, codeEditor, context, signal) {
  const kept = readKept();
  const textOf = (language) => kept[language] ?? EXAMPLES[language];
  const status = h("p", { class: "check-status", role: "status" });
  const results = h("section", { class: "run-results", "aria-label": "Result", tabindex: "0" }, firstWords());
  const run = h("button", { type: "button", class: "primary", "aria-keyshortcuts": "Control+Enter", title: "Run (Ctrl+Enter)" }, "Run");
  const stop = h("button", { type: "button", hidden: true }, icon("stop"), "Stop");
  const language = h("select", { "aria-label": "Language" }, Object.entries(LANGUAGES).map(([id, name]) => h("option", { value: id }, name)));
  language.value = kept.language;

  let keeping;
  const keep = () => {
    kept[kept.language] = editor.text;
    writeKept(kept);
  };
  const editor = codeEditor({
    text: textOf(kept.language), language: kept.language, context,
    onRun: () => runner.run(),
    onChange() {
      clearTimeout(keeping);
      keeping = setTimeout(keep, KEEP_MS);
    },
    onChecked: (problems, error) => showProblems(status, problems, error, editor),
  });
  signal.addEventListener("abort", () => {
    clearTimeout(keeping);
    keep();
  });
  language.addEventListener("change", () => {
    keep();
    kept.language = language.value;
    writeKept(kept);
    replace(status);
    editor.setText(textOf(kept.language));
    editor.setLanguage(kept.language);
    editor.markLine(undefined);
    editor.focus();
  });
  const runner = makeRunner({ editor, results, run, stop, context, signal, language: () => kept.language });
  run.addEventListener("click", runner.run);
  stop.addEventListener("click", runner.stop);

  context.title("Program");
  add(root, h("header", { class: "head" }, context.menuButton(), h("h1", {}, "Program"), language, h("span", { class: "space" }), stop, run),
    h("div", { class: "workbench" }, h("section", { class: "program-text", "aria-label": "Program" }, editor.element, status), results));
  return editor;
}

const firstWords = () => h("div", { class: "empty small" }, h("h2", {}, "Nothing has run yet"),
  h("p", {}, "Run calls the tools for real, without a model. What the program says, its result and its calls will be here."));

/** A line below the editor: how many problems, and the first ones as buttons that go there. */
function showProblems(status, problems, error, editor) {
  if (error) return setText(status, error.status === 404 ? "" : `Not checked: ${error.message}`);
  if (problems.length === 0) return replace(status, h("span", { class: "fine" }, icon("check"), " No problems found"));
  const [first] = problems;
  return replace(status,
    h("button", { type: "button", class: `small problem-link ${first.severity}`, onclick: () => editor.goTo(first.line, first.column) },
      icon(first.severity === "error" ? "cross" : "warning"), `Line ${first.line}: ${first.message.split("\n")[0]}`),
    problems.length > 1 && h("span", { class: "hint" }, `and ${problems.length - 1} more`));
}

// --- Running ----------------------------------------------------------------------------------------------------------

function makeRunner({ editor, results, run, stop, context, signal, language }) {
  let current;
  let prompt; // its id, once the server has said it
  let isStopWanted = false; // before that
  const cancel = async () => {
    const { error } = await context.api.post(path`prompts/${prompt}/cancel`, {});
    if (error && error.status !== 404) context.announce(error.message);
  };
  const setBusy = (is) => {
    run.disabled = is;
    stop.hidden = !is;
  };
  const fail = (error) => {
    setBusy(false);
    replace(results, h("div", { class: "failed" }, h("p", { class: "bad" }, icon("cross"), " The program was not run."), h("p", { class: "said" }, error.message)));
  };
  return {
    async run() {
      if (run.disabled) return;
      setBusy(true);
      prompt = undefined;
      isStopWanted = false;
      editor.markLine(undefined);
      current?.abort();
      current = new AbortController();
      const mine = current;
      signal.addEventListener("abort", () => mine.abort());
      replace(results, h("p", { class: "hint", role: "status" }, "Starting…"));
      const { value, error } = await context.api.post("run", { code: editor.text, language: language(), waitMs: 0 }, { signal: mine.signal });
      if (mine.signal.aborted) return;
      if (error) return fail(error);
      prompt = value.promptId;
      if (isStopWanted) cancel();
      const view = programRunView(value.promptId, { context, signal: mine.signal, onPlace: (place) => editor.goTo(place.line, place.column) });
      replace(results, view.element);
      watchPrompt(value.promptId, context, {
        signal: mine.signal, onError: fail,
        async onChange(prompt) {
          const end = await view.show(prompt);
          if (!hasEnded(prompt) || mine.signal.aborted) return;
          setBusy(false);
          if (end?.line !== undefined) editor.markLine(end.line);
          context.announce(end?.error === undefined ? "The program has ended." : "The program failed.");
        },
      });
    },
    stop() {
      if (prompt === undefined) isStopWanted = true;
      else cancel();
    },
  };
}
