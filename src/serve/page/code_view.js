// A program or a value that is only shown: numbered lines with colours, folded when there are many.
import { h, icon, replace } from "./dom.js";
import { count } from "./format.js";

const FOLDED_LINES = 14;
let colours; // highlight.js, once it has been loaded
const loadColours = () => import("./highlight.js").then((module) => (colours = module), () => undefined);

const lineOf = (pieces) => h("span", { class: "line" }, pieces.map(([text, style]) => (style ? h("span", { class: style }, text) : text)), "\n");

/** {element, set(code, language, {isFolded})}: what has not changed is not made again, so that growing code does not flicker. */
export function codeView(label) {
  const code = h("code");
  const pre = h("pre", { class: "code", tabindex: "0", role: "region", "aria-label": label }, code);
  const more = h("button", { type: "button", class: "quiet more-lines", hidden: true, "aria-expanded": "false" });
  const element = h("div", { class: "code-view" }, pre, more);
  let shown = [];
  let language;
  let text;
  let isOpen = false;

  function fold() {
    const lines = shown.length;
    const isLong = lines > FOLDED_LINES + 2;
    if (isLong && !isOpen && !element.closest(".is-streamed")) pre.scrollTop = 0;
    more.hidden = !isLong;
    element.classList.toggle("is-folded", isLong && !isOpen);
    more.setAttribute("aria-expanded", String(isOpen));
    const words = isOpen ? "Show less" : `Show all ${count(lines, "line")}`;
    if (isLong && more.textContent !== words) replace(more, icon("chevron"), words);
  }
  more.onclick = () => {
    isOpen = !isOpen;
    fold();
  };

  function draw() {
    const lines = colours ? colours.highlight(text, language) : text.split("\n").map((line) => [[line, ""]]);
    lines.forEach((pieces, i) => {
      const key = JSON.stringify(pieces);
      if (shown[i] === key) return;
      const line = lineOf(pieces);
      if (i < code.children.length) code.replaceChild(line, code.children[i]);
      else code.append(line);
      shown[i] = key;
    });
    while (code.children.length > lines.length) code.lastChild.remove();
    shown.length = lines.length;
    fold();
    if (element.closest(".is-streamed")) pre.scrollTop = pre.scrollHeight; // what is written last
  }

  return {
    element,
    set(newText, newLanguage) {
      if (text === newText && language === newLanguage) return fold();
      text = newText;
      language = newLanguage;
      if (!colours && language) loadColours().then(draw);
      draw();
    },
  };
}

/** A value's text in a block that grows to its height, and is folded where it is long. */
export function valueView(text, label) {
  const view = codeView(label);
  view.element.classList.add("value");
  view.set(text, undefined);
  return view.element;
}
