// A program or a value that is only shown: numbered lines with colours, folded when there are many. Of a text that is very
// long a part is drawn, and more with each click, so that it does not keep the page busy.
import { h, icon, plainly, replace } from "./dom.js";
import { bytes, count, number } from "./format.js";

const FOLDED_LINES = 14;
const FOLDED = { lines: 40, characters: 20_000 }; // drawn while it is folded: more than is in sight
const STEP = { lines: 2000, characters: 200_000 }; // drawn when it is unfolded, and with each further click
let colours; // highlight.js, once it has been loaded
const loadColours = () => import("./highlight.js").then((module) => (colours = module), () => undefined);

const lineOf = (pieces) => h("span", { class: "line" }, pieces.map(([text, style]) => (style ? h("span", { class: style }, plainly(text)) : plainly(text))), "\n");

function countLines(text) {
  let lines = 1;
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) lines++;
  return lines;
}

/** The beginning of a text: so many lines and characters at most. */
function beginning(text, { lines, characters }) {
  let end = -1;
  for (let i = 0; i < lines; i++) {
    end = text.indexOf("\n", end + 1);
    if (end < 0 || end > characters) return text.slice(0, characters);
  }
  return text.slice(0, end);
}

/** {element, set(code, language)}: what has not changed is not made again, so that growing code does not flicker. */
export function codeView(label) {
  const code = h("code");
  const pre = h("pre", { class: "code", tabindex: "0", role: "region", "aria-label": label }, code);
  const more = h("button", { type: "button", class: "quiet more-lines", hidden: true, "aria-expanded": "false" });
  const element = h("div", { class: "code-view" }, pre, more);
  const shown = [];
  let language;
  let text;
  let part = "";
  let lines = 0;
  let steps = 0; // 0: folded

  const isLong = () => lines > FOLDED_LINES + 2 || text.length > FOLDED.characters;
  const isStreamed = () => Boolean(element.closest(".is-streamed"));
  const limits = () => (isLong() && steps === 0 && !isStreamed() ? FOLDED : { lines: STEP.lines * Math.max(1, steps), characters: STEP.characters * Math.max(1, steps) });

  function words() {
    const all = lines > FOLDED_LINES + 2 ? count(lines, "line") : bytes(text.length);
    if (steps > 0) return part.length < text.length ? `Show more of ${all}` : "Show less";
    const isWhole = lines <= STEP.lines && text.length <= STEP.characters;
    return isWhole ? `Show all ${all}` : lines > STEP.lines ? `Show the first ${number(STEP.lines)} of ${all}` : `Show more of ${all}`;
  }

  function fold() {
    const isFolded = isLong() && steps === 0;
    if (isFolded && !isStreamed()) pre.scrollTop = 0;
    more.hidden = !isLong();
    element.classList.toggle("is-folded", isFolded);
    more.setAttribute("aria-expanded", String(steps > 0));
    if (isLong() && more.textContent !== words()) replace(more, icon("chevron"), words());
  }
  more.onclick = () => {
    steps = steps === 0 || part.length < text.length ? steps + 1 : 0;
    draw();
  };

  function draw() {
    part = beginning(text, limits());
    const wanted = colours && language ? colours.highlight(part, language) : part.split("\n").map((line) => [[line, ""]]);
    wanted.forEach((pieces, i) => {
      const key = JSON.stringify(pieces);
      if (shown[i] === key) return;
      const line = lineOf(pieces);
      if (i < shown.length) code.replaceChild(line, code.children[i]);
      else code.append(line);
      shown[i] = key;
    });
    while (shown.length > wanted.length) {
      code.lastChild.remove();
      shown.pop();
    }
    fold();
    if (isStreamed()) pre.scrollTop = pre.scrollHeight; // what is written last
  }

  return {
    element,
    set(newText, newLanguage) {
      if (text === newText && language === newLanguage) return fold();
      text = newText;
      language = newLanguage;
      lines = countLines(text);
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
