// A call that waits for a person: what it would do, and the ways to answer.
import { valueView } from "./code_view.js";
import { h, icon, plainly, replace, setText } from "./dom.js";
import { editable, plain, pretty } from "./format.js";
import { path } from "./page_api.js";
import { guard, holdDecisions } from "./question_guard.js";

const FAULTS = {
  decided: "This has been decided already.",
  notfound: "This has been decided already.",
  offline: "The server does not answer, so this may not have been decided. Try again when the connection is back.",
};
const FOR_HOW_LONG = [
  ["", "this call only"],
  ["call", "the same call again"],
  ["tool", "every call of this tool"],
  ["session", "everything in this conversation"],
];

/** {element, set(call), close()} for a call of a prompt; `close` when it is no question any more. */
export function openQuestion(context, promptId, first) {
  const { api, announce } = context;
  let call = first;
  let isSending = false;

  const problem = h("p", { class: "problem", role: "alert" });
  const remember = h("select", { "aria-label": "The answer holds for" }, FOR_HOW_LONG.map(([value, label]) => h("option", { value }, label)));
  const body = h("div", { class: "question-body" });
  const buttons = h("div", { class: "question-buttons" });
  const reason = h("p", { class: "question-reason" });
  const element = h("section", { class: "question", "aria-label": `Question about ${plain(call.function)}` },
    h("h4", {}, icon("question"), "May ", h("code", {}, plainly(call.function)), " be called?"), reason, body, problem, buttons);

  async function send(verb, more) {
    if (isSending) return;
    isSending = true;
    setText(problem, "");
    element.inert = true;
    const holds = remember.value && { remember: remember.value };
    const { error } = await api.post(path`prompts/${promptId}/${verb}`, { toolCallId: call.id, ...more, ...holds });
    isSending = false;
    element.inert = false;
    if (!error) {
      announce(verb === "approve" ? `${call.function} was approved` : `${call.function} was rejected`);
      return;
    }
    setText(problem, FAULTS[error.code] ?? error.message);
  }

  const buttonOf = (label, onclick, type = "") => h("button", { type: "button", class: type, onclick }, label);
  const rememberChoice = () => h("label", { class: "choice holds" }, "For", remember);

  function showAsked() {
    const input = valueView(pretty(call.input), `Input of ${call.function}`);
    replace(body, input);
    replace(buttons, guard(buttonOf("Approve", () => send("approve"), "primary")), buttonOf("Reject…", showReject), buttonOf("Edit input…", showEdit), rememberChoice());
    loadPreview(input);
  }

  /** Where the lines that would change can be had, they stand in the input's place, and the input is behind a click. */
  async function loadPreview(input) {
    const { value } = await api.get(path`prompts/${promptId}/preview` + `?toolCallId=${encodeURIComponent(call.id)}`);
    if (!value?.diff || !body.contains(input)) return;
    replace(body, diffView(value.diff), h("details", {}, h("summary", {}, "Input, as JSON"), input));
  }

  function showReject() {
    const why = h("textarea", { rows: 2, id: `why-${call.id}`, placeholder: "What should be done instead? The program and the model are told." });
    replace(body, valueView(pretty(call.input), `Input of ${call.function}`), h("label", { for: why.id }, "Reason (optional)"), why);
    replace(buttons, guard(buttonOf("Reject", () => send("reject", why.value.trim() ? { reason: why.value.trim() } : {}), "danger")), buttonOf("Back", back), rememberChoice());
    why.focus();
  }

  function showEdit() {
    const given = editable(call.input);
    const text = h("textarea", { class: "mono", rows: Math.min(16, given.split("\n").length + 1), id: `input-${call.id}`, spellcheck: "false", autocapitalize: "off", value: given, "aria-describedby": `fault-${call.id}` });
    const fault = h("p", { class: "problem", id: `fault-${call.id}`, role: "status" });
    const approve = guard(buttonOf("Approve with this input", () => { const input = check(); if (input) send("approve", { input }); }, "primary"));
    function check() {
      const { input, message } = readInput(text.value);
      setText(fault, message ?? "");
      text.setAttribute("aria-invalid", String(!input));
      approve.disabled = !input;
      return input;
    }
    text.addEventListener("input", check);
    text.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) approve.click();
    });
    replace(body, h("label", { for: text.id }, "Input, as JSON"), text, fault);
    replace(buttons, approve, buttonOf("Back", back), rememberChoice());
    text.focus();
  }

  function back() {
    showAsked();
    buttons.querySelector("button").focus();
  }
  element.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && body.querySelector("textarea")) {
      event.stopPropagation();
      back();
    }
  });

  holdDecisions();
  showAsked();
  return {
    element,
    set(newCall) {
      call = newCall;
      setText(reason, plain(call.result.reason ?? ""));
      if (call.refusal) setText(problem, `That input was not taken: ${plain(call.refusal)}`);
    },
    close: holdDecisions,
  };
}

/** {input} or {message}: what is wrong with the text. */
function readInput(text) {
  try {
    const input = JSON.parse(text);
    if (input !== null && typeof input === "object" && !Array.isArray(input)) return { input };
    return { message: "The input has to be an object: { … }" };
  } catch (problem) {
    return { message: `This is no JSON: ${problem.message}` };
  }
}

/** Lines of a diff, each with its sign, so that colour is not all that tells them apart. */
function diffView(diff) {
  const kinds = { "+": "added", "-": "removed", "@": "place" };
  const kindOf = (line) => (/^(\+\+\+|---) /.test(line) ? "place" : kinds[line[0]] ?? "");
  const lines = diff.replace(/\n$/, "").split("\n").map((line) => h("span", { class: `diff-line ${kindOf(line)}` }, plainly(line), "\n"));
  return h("pre", { class: "code diff", tabindex: "0", role: "region", "aria-label": "What would change" }, h("code", {}, lines));
}
