// The calls of a program, or of a round, on one scale of time: a row for each, so that calls that ran at the same time are
// seen to, and a wait for a person is a gap. A row unfolds to what went in and what came out.
import { valueView } from "./code_view.js";
import { add, h, icon, replace, setText } from "./dom.js";
import { count, duration, plain, pretty } from "./format.js";
import { isQuestion } from "./prompt_state.js";
import { spanOf, timeScale } from "./time_scale.js";

const ROWS = 40; // shown at once; a button shows as many again, and more
const URGENT_ROWS = 100; // questions and failures that are never behind the button

const STATES = {
  question: { word: "waits for you", mark: "question" },
  running: { word: "running", mark: "clock" },
  failed: { word: "failed", mark: "cross" },
  done: { word: "done", mark: "check" },
};

function stateOf(call) {
  if (isQuestion(call)) return "question";
  if (call.result?.type === "pending") return call.end ? "failed" : "running";
  return call.result?.type === "error" ? "failed" : "done";
}

/** {element, set(calls, {from, to}, now)}. `askAbout(call)` gives the question's form. */
export function openChart(askAbout) {
  const axis = h("div", { class: "axis", "aria-hidden": "true" });
  const list = h("ol", { class: "rows" });
  const more = h("button", { type: "button", class: "quiet", hidden: true, onclick: () => { limit = limit < 1000 ? limit * 10 : limit + 4000; last && set(...last); } });
  const element = h("div", { class: "chart" }, axis, list, more);
  const rows = new Map();
  let limit = ROWS;
  let last;

  function set(calls, range, now) {
    last = [calls, range, now];
    const spans = calls.map((call) => spanOf(call, now));
    const from = spans.reduce((least, one) => Math.min(least, one.start), range?.from ?? Infinity);
    const to = spans.reduce((most, one) => Math.max(most, one.end), range?.to ?? 0);
    const scale = timeScale(spans, from, to);
    drawAxis(axis, scale);
    const ids = new Set(calls.map((call) => call.id));
    for (const [id, row] of rows) if (!ids.has(id)) { row.element.remove(); rows.delete(id); }
    let before = list.firstChild;
    let urgent = URGENT_ROWS;
    calls.forEach((call, i) => {
      if (i >= limit && !rows.has(call.id) && !(["question", "failed"].includes(stateOf(call)) && urgent-- > 0)) return;
      if (!rows.has(call.id)) rows.set(call.id, openRow(askAbout));
      const row = rows.get(call.id);
      if (row.element === before) before = before.nextSibling;
      else list.insertBefore(row.element, before);
      row.set(call, spans[i], scale, from);
    });
    const hidden = calls.length - rows.size;
    more.hidden = hidden <= 0;
    setText(more, `Show ${count(hidden, "more call")}`);
  }

  return { element, set };
}

function drawAxis(axis, scale) {
  const key = JSON.stringify(scale.ticks) + (scale.ticks.length === 0 ? duration(scale.total) : "");
  if (axis.dataset.key === key) return;
  axis.dataset.key = key;
  replace(axis, h("div", { class: "scale" }, scale.ticks.length === 0
    ? [tick(0, "0"), h("span", { class: "tick last" }, `${duration(scale.total)} in all, waits shortened`)]
    : scale.ticks.map((one) => tick(one.at, one.ms === 0 ? "0" : duration(one.ms)))));
}

function tick(at, label) {
  const element = h("span", { class: "tick" }, label);
  element.style.left = `${at * 100}%`;
  return element;
}

function openRow(askAbout) {
  const name = h("span", { class: "name" });
  const mark = h("span", { class: "mark" });
  const time = h("span", { class: "time" });
  const wait = h("span", { class: "wait", hidden: true });
  const bar = h("span", { class: "bar" });
  const track = h("span", { class: "track", "aria-hidden": "true" }, wait, bar);
  const said = h("span", { class: "unseen" });
  const details = h("div", { class: "details", hidden: true });
  const question = h("div", { class: "asked" });
  const button = h("button", { type: "button", class: "row", "aria-expanded": "false" }, h("span", { class: "who" }, mark, name), track, time, said);
  const element = h("li", {}, button, question, details);
  let call;
  let shownState;
  let form;

  button.onclick = () => {
    details.hidden = !details.hidden;
    button.setAttribute("aria-expanded", String(!details.hidden));
    if (!details.hidden) drawDetails(details, call);
  };

  function set(newCall, span, scale, from) {
    const hasChanged = call !== newCall;
    call = newCall;
    const state = stateOf(call);
    const ranFrom = span.waits ? span.waits[1] : span.start;
    setText(name, plain(call.function));
    name.title = plain(call.function);
    setText(time, duration(span.end - ranFrom > 0 || !span.waits ? span.end - ranFrom : span.end - span.start));
    if (shownState !== state) {
      shownState = state;
      element.className = `is-${state}`;
      replace(mark, icon(STATES[state].mark));
    }
    put(bar, scale.place(ranFrom), scale.place(span.end));
    bar.hidden = state === "question";
    wait.hidden = !span.waits;
    if (span.waits) {
      put(wait, scale.place(span.waits[0]), scale.place(span.waits[1]));
      wait.title = `Waited ${duration(span.waits[1] - span.waits[0])} for approval`;
    }
    const waited = span.waits ? `, waited ${duration(span.waits[1] - span.waits[0])} for approval` : "";
    setText(said, `${STATES[state].word}, from ${duration(span.start - from)} to ${duration(span.end - from)}${waited}`);
    if (hasChanged) {
      if (!details.hidden) drawDetails(details, call);
      drawQuestion(state === "question");
    }
  }

  function drawQuestion(isAsked) {
    if (!isAsked) {
      form?.close();
      form = undefined;
      question.textContent = "";
      return;
    }
    form ??= askAbout(call);
    form.set(call);
    if (!question.contains(form.element)) replace(question, form.element);
  }

  return { element, set };
}

function put(element, from, to) {
  element.style.left = `${from * 100}%`;
  element.style.width = `${Math.max(0, to - from) * 100}%`;
}

const part = (title, body) => h("section", {}, h("h4", {}, title), body);

function drawDetails(details, call) {
  const { result = {} } = call;
  const edited = call.editedInput !== undefined;
  replace(details,
    part(edited ? "Input, as the program gave it" : "Input", valueView(pretty(call.input), "Input")),
    edited && part("Input, as it was changed before the call", valueView(pretty(call.editedInput), "Changed input")),
    result.type === "success" && part("Result", valueView(pretty(result.output), "Result")),
    result.type === "error" && part("Error", valueView(pretty(result.error), "Error")),
    result.type === "pending" && h("p", { class: "hint" }, isQuestion(call) ? "It has not been called yet." : "It has not answered yet."));
  add(details, result.logs?.length > 0 && part("Log", valueView([].concat(result.logs).map(pretty).join("\n"), "Log")));
}
