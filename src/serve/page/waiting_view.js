// A call that waits for somebody's decision, outside of a conversation: it is a prompt of its own.
import { h, icon, replace } from "./dom.js";
import { isQuestion } from "./prompt_state.js";
import { hasEnded, watchPrompt } from "./prompt_watch.js";
import { openQuestion } from "./question.js";
import { doneView, errorView } from "./result_view.js";

/** The question of a prompt that makes one call; the call's result when somebody has decided. */
export function waitingView(promptId, { context, signal }) {
  const element = h("div", { class: "waits" }, h("p", { class: "hint" }, "Waiting…"));
  let question;
  const ask = (call) => {
    question ??= openQuestion(context, promptId, call);
    question.set(call);
    if (!element.contains(question.element)) replace(element, question.element);
  };
  watchPrompt(promptId, context, {
    signal,
    onError: (error) => replace(element, errorView(error, {})),
    onChange(prompt) {
      const waiting = prompt.output.find(isQuestion);
      if (waiting) return ask(waiting);
      if (!hasEnded(prompt)) return replace(element, h("p", { class: "hint" }, "Calling…"));
      const call = prompt.output.find((one) => one.type === "tool" && one.result?.type !== "pending");
      if (prompt.state === "cancelled") return replace(element, h("p", { class: "hint" }, icon("stop"), " Stopped."));
      if (call?.result?.type === "success") return replace(element, doneView(call.result.output, { context }));
      return replace(element, errorView({ code: "failed", message: call?.result?.error ?? prompt.error ?? "The call failed." }, {}));
    },
  });
  return element;
}
