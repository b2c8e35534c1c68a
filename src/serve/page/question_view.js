// Questions of a prompt where no conversation shows them: may this call be made?
import { path } from "./page_api.js";
import { h, icon, replace, setText } from "./dom.js";
import { valueView } from "./result_view.js";

/** {element, show(prompt)}: a box for each call that waits; what is being typed there stays when the prompt is shown again. */
export function questionsOf(promptId, context) {
  const boxes = new Map();
  const element = h("div", { class: "questions" });
  return {
    element,
    show(prompt) {
      const waiting = prompt.output.filter((one) => one.type === "tool" && one.result?.type === "pending" && one.result.question !== undefined);
      for (const id of [...boxes.keys()]) if (!waiting.some((one) => one.id === id)) boxes.delete(id);
      for (const one of waiting) if (!boxes.has(one.id)) boxes.set(one.id, questionBox(promptId, one, context));
      if (element.children.length !== boxes.size || [...element.children].some((one, i) => one !== [...boxes.values()][i])) replace(element, [...boxes.values()]);
      return element;
    },
  };
}

function questionBox(promptId, call, context) {
  const problem = h("p", { class: "problem", role: "alert" });
  const decide = async (verb) => {
    buttons.forEach((one) => (one.disabled = true));
    const { error } = await context.api.post(path`prompts/${promptId}/${verb}`, { toolCallId: call.id });
    if (!error) return;
    buttons.forEach((one) => (one.disabled = false));
    setText(problem, error.message);
  };
  const buttons = [
    h("button", { type: "button", onclick: () => decide("reject") }, "Reject"),
    h("button", { type: "button", class: "primary", onclick: () => decide("approve") }, "Approve"),
  ];
  return h("div", { class: "question", role: "group", "aria-label": `Question: ${call.function}` },
    h("p", {}, icon("question"), h("strong", { class: "mono" }, ` ${call.function}`), ` ${call.result.reason ?? ""}`),
    valueView(call.input), problem, h("div", { class: "actions" }, buttons));
}
