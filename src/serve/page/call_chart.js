// The calls of a program while it runs, and what they wait for.
import { h, replace } from "./dom.js";
import { duration, valueView } from "./result_view.js";

export function callChart() {
  const element = h("div", { class: "calls" });
  return {
    element,
    show(prompt, program) {
      const calls = prompt.output.filter((one) => one.type === "tool" && one.parent === program?.id);
      if (calls.length === 0) return;
      replace(element, h("h3", {}, `Calls (${calls.length})`), h("ul", {}, calls.map((one) => h("li", {},
        h("details", {}, h("summary", {}, h("code", {}, one.function), " ", one.result?.type ?? "", " ", one.end ? duration(new Date(one.end) - new Date(one.start)) : ""),
          valueView(one.input), valueView(one.result?.output ?? one.result?.error ?? ""))))));
    },
  };
}
