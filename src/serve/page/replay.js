// A recorded prompt, step by step: what its programs got from outside, in the order in which they got it. Nothing runs.
import { add, h, icon, iconButton, plainly, replace, setText } from "./dom.js";
import { duration } from "./format.js";
import { keepProgram } from "./kept_program.js";
import { path } from "./page_api.js";
import { hasEnded } from "./prompt_watch.js";
import { programOf, programsOf } from "./recorded_program.js";
import { stepsOf } from "./replay_steps.js";
import { valueView } from "./result_view.js";

const ICONS = { begin: "code", end: "code", call: "tool", answer: "check", failure: "cross", timer: "clock", approved: "check", rejected: "cross", completion: "send", file: "file", "end-of-prompt": "check" };

const LINES_MAX = 5000; // of a program that are shown

export function open(root, parameters, context) {
  const close = new AbortController();
  Promise.all([context.api.get(path`prompts/${parameters.id}/record`, { signal: close.signal }), import("./highlight.js")]).then(([{ value, error }, { highlight }]) => {
    if (close.signal.aborted) return;
    if (error) showMissing(root, error, context);
    else showRecord(root, value, context, close.signal, highlight);
  }, () => close.signal.aborted || showMissing(root, { code: "offline", message: "A part of the page could not be loaded. Is the server running?" }, context));
  context.title("Replay");
  return { close: () => close.abort() };
}

function showMissing(root, error, context) {
  if (error.code === "offline") context.missed();
  add(root, h("header", { class: "head" }, context.menuButton(), h("h1", {}, "Replay")),
    h("div", { class: "empty" }, h("h2", {}, error.status === 404 ? "There is no record to step through" : "The record cannot be shown"), h("p", { role: "alert" }, error.message),
      error.status === 404 && h("p", {}, "Open a conversation and choose “Step through” at one of its prompts.")));
}

function showRecord(root, record, context, signal, highlight) {
  const steps = stepsOf(record);
  const { prompt } = record;
  const code = codePanel(highlight);
  const list = h("ol", { class: "steps", "aria-label": "All steps" });
  const detail = h("section", { class: "step-detail", "aria-label": "What happened", tabindex: "0" });
  const count = h("output", { class: "step-count" });
  const slider = h("input", { type: "range", class: "step-slider", min: 1, max: steps.length, step: 1, "aria-label": "Step", oninput: () => go(Number(slider.value) - 1) });
  const first = iconButton("first", "First step", { onclick: () => go(0) });
  const back = iconButton("back", "Step back", { onclick: () => go(at - 1) });
  const forward = iconButton("forward", "Step forward", { onclick: () => go(at + 1) });
  const last = iconButton("last", "Last step", { onclick: () => go(steps.length - 1) });
  const rows = steps.map((step, i) => stepRow(step, i, go));
  let at = -1;

  function go(to) {
    const now = Math.min(Math.max(to, 0), steps.length - 1);
    if (now === at) return;
    at = now;
    const step = steps[at];
    rows.forEach((row, i) => {
      row.firstChild.setAttribute("aria-current", i === at ? "step" : "false");
      row.classList.toggle("past", i < at);
    });
    keepInSight(list, rows[at]);
    first.disabled = back.disabled = at === 0;
    last.disabled = forward.disabled = at === steps.length - 1;
    slider.value = String(at + 1);
    slider.setAttribute("aria-valuetext", `${at + 1} of ${steps.length}: ${step.title}`);
    setText(count, `Step ${at + 1} of ${steps.length}`);
    code.show(step, steps.slice(0, at + 1));
    replace(detail, detailOf(step));
    detail.scrollTop = 0;
    context.announce(`${step.title}. Step ${at + 1} of ${steps.length}.`);
  }

  const onKey = (event) => {
    const by = { ArrowLeft: at - 1, ArrowUp: at - 1, ArrowRight: at + 1, ArrowDown: at + 1, Home: 0, End: steps.length - 1 }[event.key];
    if (by === undefined || event.ctrlKey || event.metaKey || event.altKey || event.target.closest?.("input, textarea, select, pre, dialog, #side")) return;
    event.preventDefault();
    go(by);
    if (rows.some((row) => row.contains(event.target))) rows[at].firstChild.focus();
  };
  document.addEventListener("keydown", onKey, { signal });

  add(root, h("header", { class: "head" }, context.menuButton(), h("h1", {}, "Replay"), h("span", { class: `state ${prompt.state}` }, stateWords(prompt)), h("span", { class: "space" }),
      h("a", { class: "button", href: `#/c/${prompt.conversationId}` }, "Conversation"), editButton(prompt, context)),
    h("div", { class: "replay" },
      !hasEnded(prompt) && h("p", { class: "hint note" }, "This prompt has not ended: these are its steps so far. ", h("button", { type: "button", class: "small", onclick: () => context.go(location.hash) }, "Load again")),
      h("div", { class: "stepper", role: "group", "aria-label": "Stepping" }, first, back, slider, forward, last, count),
      h("div", { class: "replay-columns" }, list, code.element, detail)));
  add(list, rows);
  go(0);
}

/** Scrolls the list alone: on a phone it stands below what is looked at. */
function keepInSight(list, row) {
  const top = row.offsetTop - list.offsetTop;
  if (top < list.scrollTop) list.scrollTop = top;
  else if (top + row.offsetHeight > list.scrollTop + list.clientHeight) list.scrollTop = top + row.offsetHeight - list.clientHeight;
}

const stateWords = (prompt) => ({ running: "still runs", waiting_for_approval: "waits for a decision", completed: "completed", failed: "failed", cancelled: "cancelled" }[prompt.state] ?? prompt.state);

/** A prompt may have several programs: the last one is what somebody wants to go on with. */
function editButton(prompt, context) {
  const program = programsOf(prompt).at(-1);
  if (!program) return null;
  return h("button", { type: "button", onclick: () => {
    keepProgram(program);
    context.go("#/program");
  } }, icon("code"), "Edit the program");
}

function stepRow(step, i, go) {
  return h("li", { class: "step", "data-kind": step.kind }, h("button", { type: "button", class: "step-button", "aria-current": "false", onclick: () => go(i) },
    icon(ICONS[step.kind] ?? "more"), h("span", { class: "step-title" }, step.title), h("span", { class: "step-time" }, step.ms === undefined ? "" : duration(step.ms))));
}

function detailOf(step) {
  const place = step.lines.length === 1 && step.isCertain ? `Line ${step.lines[0]}` : "";
  return [
    h("h2", {}, step.title),
    h("p", { class: "hint" }, [step.ms === undefined ? "" : `${duration(step.ms)} after the prompt began`, place].filter(Boolean).join(" · ")),
    step.parts.map((one) => h("div", { class: `part${one.isError ? " bad" : ""}` }, h("h3", {}, one.name), valueView(one.value, one.name), one.note && h("p", { class: "hint" }, one.note))),
    step.unsure && h("p", { class: "hint unsure" }, icon("question"), " ", step.unsure),
  ];
}

// --- The code ---------------------------------------------------------------------------------------------------------

function codePanel(highlight) {
  const title = h("p", { class: "hint" });
  const lines = h("ol", { class: "code-lines" });
  const element = h("section", { class: "replay-code", "aria-label": "Program", tabindex: "0" }, title, lines);
  let shown;
  return {
    element,
    /** The program of a step, with the step's lines marked, and those that were certainly reached. */
    show(step, past) {
      const program = step.program && programOf(step.program);
      if (!program) {
        shown = undefined;
        setText(title, "No program has begun yet.");
        return replace(lines);
      }
      if (shown !== step.program.id) {
        shown = step.program.id;
        setText(title, program.language);
        const code = program.code.split("\n", LINES_MAX).join("\n");
        if (code.length < program.code.length) setText(title, `${program.language}, its first ${LINES_MAX} lines`);
        replace(lines, highlight(code, program.language).map((pieces) => h("li", {}, h("code", {}, pieces.map(([text, style]) => h("span", { class: style }, plainly(text)))))));
      }
      const reached = new Set(past.filter((one) => one.program === step.program && one.isCertain).flatMap((one) => one.lines));
      const isFailure = step.kind === "failure" || (step.kind === "end" && step.parts.some((one) => one.isError));
      [...lines.children].forEach((line, i) => {
        const isHere = step.lines.includes(i + 1);
        line.className = isHere ? `here ${step.isCertain ? "certain" : "possible"}${isFailure ? " bad" : ""}` : reached.has(i + 1) ? "reached" : "";
        if (isHere && step.isCertain) line.setAttribute("aria-current", "true");
        else line.removeAttribute("aria-current");
      });
      const here = lines.querySelector(".here");
      if (here) element.scrollTop = Math.max(0, here.offsetTop - element.clientHeight / 2);
    },
  };
}
