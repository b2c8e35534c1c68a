// What a tool answered, as people read it: texts as they are, values as JSON, failures with what to do.
import { valueView as textView } from "./code_view.js";
import { h, icon, setText } from "./dom.js";
import { bytes, duration, pretty } from "./format.js";
import { path } from "./page_api.js";

/** A value: text as text, everything else as JSON; folded when it is long. */
export const valueView = (value, label = "Value") => textView(value === "" ? "(empty text)" : pretty(value), label);

/** A file that a tool left: {type, mimeType, bytes, artifact}. */
function fileView(file, context) {
  const save = async () => {
    const { value, error } = await context.api.blob(path`artifacts/${file.artifact}`);
    if (error) return setText(problem, error.message);
    const link = h("a", { href: URL.createObjectURL(new Blob([value])), download: file.artifact });
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
  };
  const problem = h("p", { class: "problem", role: "alert" });
  return h("div", { class: "tool-file" }, h("button", { type: "button", class: "small", onclick: save }, icon("download"), `${file.mimeType ?? file.type}, ${file.bytes === undefined ? "size unknown" : bytes(file.bytes)}`), problem);
}

const isFile = (value) => value !== null && typeof value === "object" && typeof value.artifact === "string";

const ADVICE = {
  denied: "A rule of the configuration refuses this call: tools.policy in lathe.yaml.",
  timeout: "The tool took too long. Try less at once.",
  offline: "Start the server again; this page notices.",
  notfound: "The list of tools may be old: load it again.",
};

/**
 * The answer of POST /tools/{id}/invoke. A call that waits for an approval is shown as a question, and its result when
 * somebody has decided. `at`: {form, context, signal, ms}.
 */
export async function resultView(given, at) {
  const { value, error, status } = given;
  if (error?.code === "aborted") return h("p", { class: "hint" }, "Stopped. The tool may have had its effect.");
  if (error) return errorView(error, at);
  if (status === 202 || value.promptId !== undefined) return (await import("./waiting_view.js")).waitingView(value.promptId, at);
  return doneView(value.result, at);
}

export function doneView(result, at) {
  const took = at.ms === undefined ? "" : ` in ${duration(at.ms)}`;
  return h("div", { class: "done" }, h("p", { class: "good" }, icon("check"), ` Answered${took}`), isFile(result) && fileView(result, at.context), valueView(result, "Result"));
}

/** A complaint about the input stands at its field. */
export function errorView(error, at) {
  const isShown = at.form?.show(error.message);
  return h("div", { class: "failed" }, h("p", { class: "bad" }, icon("cross"), isShown ? " The input is not right: see its fields." : " The call failed."),
    h("p", { class: "said" }, error.message), ADVICE[error.code] && !isShown ? h("p", { class: "hint" }, ADVICE[error.code]) : null);
}
