// One prompt of a conversation: the person's message, what was done about it, and how it ended.
import { openChart } from "./chart.js";
import { codeView, valueView } from "./code_view.js";
import { add, h, icon, iconButton, replace, setText } from "./dom.js";
import { cost, count, duration, money, number, pretty } from "./format.js";
import { keepProgram } from "./kept_program.js";
import { openFile, openText } from "./outputs.js";
import { PromptState } from "./prompt_state.js";
import { openQuestion } from "./question.js";

const LONG_MESSAGE = 4000; // characters: folded like a program
const WORDS = {
  running: "Running",
  waiting_for_approval: "Waits for your approval",
  completed: "Done",
  failed: "Failed",
  cancelled: "Stopped",
};
const ADVICE = {
  rounds: "The model was asked as often as is allowed. Send another message to go on.",
  length: "The answer reached the model's limit. Ask for a shorter one, or for the rest.",
  filter: "The provider ended the answer.",
  empty: "The model said nothing. Try again, or another model.",
};

/** {element, state, draw(), apply(event), take(prompt), close()}. `again(text)` puts a message into the composer. */
export function openPrompt(context, prompt, again) {
  const state = new PromptState(prompt);
  const steps = h("div", { class: "steps" });
  const foot = h("div", { class: "prompt-foot" });
  const problem = h("div", { class: "prompt-problem" });
  const message = messageOf(prompt);
  const element = h("article", { class: "prompt", "aria-label": `Prompt: ${message.slice(0, 80)}`, "data-prompt": prompt.id },
    h("div", { class: "message" }, prompt.mode === "program" ? codeBlock(message, "javascript") : message.length > LONG_MESSAGE ? codeBlock(message) : h("p", {}, message)), steps, problem, foot);
  const shown = new Map();
  let drawn;

  function draw(now = Date.now()) {
    const wanted = state.steps;
    if (wanted === drawn && state.hasEnded) return drawEnd();
    drawn = wanted;
    const ids = new Set(wanted.map((one) => one.id));
    for (const step of wanted) if (!shown.has(step.id)) adopt(step, ids);
    for (const [id, view] of shown) {
      if (ids.has(id)) continue;
      view.close?.();
      view.element.remove();
      shown.delete(id);
    }
    let before = steps.firstChild;
    for (const step of wanted) {
      const view = shown.get(step.id) ?? openStep(context, state, step);
      shown.set(step.id, view);
      view.set(step, now);
      if (view.element === before) before = before.nextSibling;
      else steps.insertBefore(view.element, before);
    }
    drawEnd();
    element.dataset.state = state.state;
  }

  /** What was being written becomes the output in place: nothing jumps. */
  function adopt({ id, kind, isStreamed }, ids) {
    const isOf = { program: (one) => one.startsWith("draft-"), text: (one) => one === "streamed-text" }[kind];
    const from = isOf && !isStreamed && [...shown.keys()].find((one) => isOf(one) && !ids.has(one));
    if (!from) return;
    shown.set(id, shown.get(from));
    shown.delete(from);
  }

  function drawEnd() {
    const { usage, error, incomplete, createdAt, completedAt } = state.prompt;
    const price = context.models.find((one) => one.ref === state.prompt.model)?.price;
    const usd = cost(usage, price);
    const words = [
      completedAt && createdAt && duration(Date.parse(completedAt) - Date.parse(createdAt)),
      usage && usage.totalTokens > 0 && `${number(usage.totalTokens)} tokens`,
      usd !== undefined && money(usd),
    ].filter(Boolean);
    const key = JSON.stringify([state.state, words, error, incomplete]);
    if (foot.dataset.key === key) return;
    foot.dataset.key = key;
    replace(foot,
      h("span", { class: "state" }, h("span", { class: "dot", "aria-hidden": "true" }), WORDS[state.state] ?? state.state),
      words.map((one) => h("span", {}, one)),
      usage && usage.totalTokens > 0 && h("span", { class: "unseen" }, `${number(usage.inputTokens ?? 0)} in, ${number(usage.outputTokens ?? 0)} out`),
      state.hasEnded && h("a", { href: `#/replay/${state.id}` }, "Step through"));
    replace(problem,
      error && h("div", { class: "failure", role: "alert" }, h("p", {}, icon("warning"), h("span", {}, error)),
        prompt.mode !== "program" && h("button", { type: "button", onclick: () => again(message) }, "Write it again")),
      !error && incomplete && h("div", { class: "failure soft" }, h("p", {}, icon("warning"), h("span", {}, ADVICE[incomplete.reason] ?? "The answer is not whole."))));
  }

  draw();
  return {
    element,
    state,
    draw,
    apply: (event) => state.apply(event),
    take(newPrompt) {
      state.take(newPrompt);
      draw();
    },
    close: () => shown.forEach((view) => view.close?.()),
  };
}

/** A run without a model has its request for a message. */
function messageOf(prompt) {
  if (prompt.mode !== "program") return prompt.input;
  try {
    return JSON.parse(prompt.input).code ?? prompt.input;
  } catch {
    return prompt.input;
  }
}

function codeBlock(text, language) {
  const view = codeView(language ? "Program" : "Message");
  view.set(text, language);
  return view.element;
}

// --- Steps -----------------------------------------------------------------------------------------------------------

function openStep(context, state, step) {
  const ask = (call) => openQuestion(context, state.id, call);
  if (step.kind === "program") return openProgram(ask, state);
  if (step.kind === "file") return openFile(context.api, step.output);
  if (step.kind === "calls") {
    const chart = openChart(ask);
    const element = h("div", { class: "card calls" }, chart.element);
    return { element, set: (one, now) => chart.set(one.calls, undefined, now) };
  }
  const text = openText();
  return { element: text.element, set: (one) => text.set(one.text, one.isStreamed), close: text.close };
}

function openProgram(ask, state) {
  const code = codeView("Program");
  const title = h("span", { class: "card-title" });
  const about = h("span", { class: "hint" });
  const chart = openChart(ask);
  const result = h("div", { class: "program-result" });
  let text = "";
  const copy = iconButton("copy", "Copy the program", { onclick: () => navigator.clipboard?.writeText(text) });
  let language;
  const edit = iconButton("pencil", "Open the program in the editor", { onclick: () => {
    keepProgram({ code: text, language });
    location.hash = "#/program";
  } });
  const element = h("div", { class: "card program" }, h("header", {}, icon("code"), title, about, edit, copy), code.element, chart.element, result);
  let shownResult;

  function set(step, now) {
    text = step.code;
    ({ language } = step);
    element.classList.toggle("is-streamed", Boolean(step.isStreamed));
    element.hidden = state.prompt.mode === "program" && step.calls.length === 0 && !hasResult(step.output);
    code.element.hidden = state.prompt.mode === "program";
    code.set(step.code, step.language);
    setText(title, step.isStreamed ? "Writing a program…" : "Program");
    const { output } = step;
    const from = output && Date.parse(output.start);
    const to = output && (output.end ? Date.parse(output.end) : Math.max(now, from));
    const calls = step.calls.length > 0 ? ` · ${count(step.calls.length, "call")}` : "";
    setText(about, output ? `${output.end ? duration(to - from) : "running"}${calls}` : "");
    chart.element.hidden = step.calls.length === 0;
    if (step.calls.length > 0) chart.set(step.calls, { from, to }, now);
    if (output && shownResult !== output.result) {
      shownResult = output.result;
      drawResult(result, output.result);
    }
  }
  return { element, set };
}

const hasResult = (output) => output?.result?.type === "error" || output?.result?.output !== undefined || output?.result?.logs !== undefined;

function drawResult(place, result = {}) {
  const logs = [].concat(result.logs ?? []);
  replace(place,
    result.type === "error" && h("div", { class: "failure" }, h("p", {}, icon("cross"), h("span", { class: "mono" }, pretty(result.error)))),
    result.type === "success" && result.output !== undefined && h("section", {}, h("h4", {}, "Result"), valueView(pretty(result.output), "Result")));
  if (logs.length > 0) add(place, h("details", {}, h("summary", {}, `Log (${count(logs.length, "line")})`), valueView(logs.map(pretty).join("\n"), "Log")));
}
