// A program's run as it goes: its state in words, questions in place, its calls on a common scale of time, what it said,
// its result, and where it failed.
import { openChart } from "./chart.js";
import { h, icon, plainly, replace } from "./dom.js";
import { count, duration } from "./format.js";
import { path } from "./page_api.js";
import { hasEnded } from "./prompt_watch.js";
import { openQuestion } from "./question.js";
import { valueView } from "./result_view.js";
import { endOf, placeIn, programOf, programsOf, runOf } from "./recorded_program.js";

const GROW_MS = 200;
const SAID_MAX = 500; // texts that are shown
const SAID_LONG = 4000; // characters: a longer one is folded
const STATES = { running: "Running…", waiting_for_approval: "Waits for your decision", completed: "Completed", failed: "Failed", cancelled: "Stopped" };

/** {element, show(prompt)}: `show` resolves with the program's end, once it has ended. `onPlace` goes to a line. */
export function programRunView(promptId, { context, signal, onPlace }) {
  const head = h("p", { class: "run-state", role: "status" });
  const said = h("div", { class: "said-list" });
  const chart = openChart((call) => openQuestion(context, promptId, call));
  const calls = h("div", { class: "card calls", hidden: true }, chart.element);
  const foot = h("p", { class: "run-links" });
  const element = h("div", { class: "run" }, head, calls, said, foot);
  let isDone = false;
  let latest;

  /** Bars of calls that run grow; a wait is told once a second. */
  const clock = setInterval(() => latest && !isDone && drawCalls(), GROW_MS);
  signal.addEventListener("abort", () => clearInterval(clock));

  function drawCalls() {
    const made = latest.output.filter((one) => one.type === "tool" && programOf(one) === undefined).sort(byBegin);
    calls.hidden = made.length === 0;
    if (made.length === 0) return;
    const { start, end } = programsOf(latest)[0]?.output ?? {};
    chart.set(made, start && { from: Date.parse(start), to: end ? Date.parse(end) : Date.now() }, Date.now());
  }

  async function showEnd(prompt) {
    const [program] = programsOf(prompt);
    const { value } = await context.api.get(path`prompts/${promptId}/record`, { signal });
    const end = endOf(value && program && runOf(value, program.output)) ?? endWithoutRecord(prompt, program?.output);
    replace(said, endParts(end, onPlace));
    replace(foot, h("a", { href: `#/replay/${promptId}` }, icon("replay"), "Step through this run"));
    return end;
  }

  return {
    element,
    async show(prompt) {
      if (isDone) return undefined;
      const [program] = programsOf(prompt);
      latest = prompt;
      drawCalls();
      replace(head, h("span", { class: `state ${prompt.state}` }, STATES[prompt.state] ?? prompt.state), took(program?.output));
      if (!hasEnded(prompt)) {
        replace(said, saidViews(prompt.output.filter((one) => one.type === "text").map((one) => ({ said: "output", text: one.content }))));
        return undefined;
      }
      isDone = true;
      clearInterval(clock);
      return showEnd(prompt);
    },
  };
}

/** Calls that began in the same moment stand in the order of their numbers. */
const byBegin = (a, b) => (a.start === b.start ? inOrder.compare(a.id, b.id) : Date.parse(a.start) - Date.parse(b.start));
const inOrder = new Intl.Collator("en", { numeric: true });

function took(output) {
  if (output?.start === undefined || output.end === undefined) return null;
  return h("span", { class: "hint" }, ` in ${duration(new Date(output.end) - new Date(output.start))}`);
}

/** A prompt that ended before its program did has no end on record. */
function endWithoutRecord(prompt, output) {
  const error = prompt.error ?? output?.result?.error;
  const texts = prompt.output.filter((one) => one.type === "text").map((one) => ({ said: "output", text: one.content }));
  return { texts, ...(error !== undefined && { error, ...placeIn(output?.result?.error) }), status: prompt.state };
}

export function endParts(end, onPlace) {
  return [
    saidViews(end.texts),
    "value" in end && h("div", { class: "result" }, h("h3", {}, "Result"), valueView(end.value, "Result")),
    end.error !== undefined && errorView(end, onPlace),
    end.error === undefined && end.texts.length === 0 && !("value" in end) && h("p", { class: "hint" }, end.status === "cancelled" ? "The program was stopped." : "The program said nothing and gave no result."),
  ];
}

function errorView(end, onPlace) {
  const place = end.line === undefined ? null
    : h("button", { type: "button", class: "small", onclick: () => onPlace?.(end) }, `Go to line ${end.line}`);
  return h("div", { class: "failed", role: "alert" },
    h("p", { class: "bad" }, icon("cross"), end.isTypeError ? " The types are not right; nothing was run." : " The program failed."),
    h("pre", { class: "said", tabindex: "0" }, end.error),
    end.context && h("pre", { class: "failed-line", tabindex: "0" }, `${end.line} │ ${end.context}`),
    onPlace && place);
}

const NAMES = { output: "", log: "log", warning: "warning", error: "error" };

/** What a program said; what it said last, where that is very much. */
function saidViews(texts) {
  const left = texts.length - SAID_MAX;
  return [left > 0 && h("p", { class: "hint" }, `${count(left, "earlier text")} not shown here; “Step through this run” has all.`),
    texts.slice(-SAID_MAX).map((one) => saidView(one.said, one.text))];
}

function saidView(said, text) {
  const body = text.length > SAID_LONG ? valueView(text, "What it said") : h("pre", { tabindex: "0" }, plainly(text));
  return h("div", { class: `said-line ${said}` }, NAMES[said] ? h("span", { class: "said-kind" }, NAMES[said]) : null, body);
}
