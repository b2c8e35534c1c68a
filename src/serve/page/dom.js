// Elements of the page. Text becomes text nodes and nothing else: what a model or a tool says is never read as HTML.
import { plainPieces } from "./format.js";

/**
 * An element: h("button", { class: "primary", onclick: send }, "Send"). A property that begins with "on" is a listener,
 * `true` an attribute without a value, and null, undefined or false is left out. Children are elements or texts; arrays
 * are flattened, and what is empty is left out.
 */
export function h(tag, properties = {}, ...children) {
  return fill(document.createElement(tag), properties, children);
}

const SVG = "http://www.w3.org/2000/svg";

/** The same for a picture's parts. */
export function svg(tag, properties = {}, ...children) {
  return fill(document.createElementNS(SVG, tag), properties, children);
}

function fill(element, properties, children) {
  for (const [name, value] of Object.entries(properties ?? {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "value" || name === "checked" || name === "indeterminate") element[name] = value;
    else element.setAttribute(name, value === true ? "" : value);
  }
  add(element, ...children);
  return element;
}

/** Appends children as `h` does. Returns the element. */
export function add(element, ...children) {
  for (const child of children.flat(Infinity)) {
    if (child !== null && child !== undefined && child !== false) element.append(child);
  }
  return element;
}

/** A text in which what would not be seen is seen. */
export const plainly = (text) => plainPieces(text).map(([piece, isSign]) => (isSign ? h("span", { class: "sign", title: "A character that is not seen" }, piece) : piece));

/** Makes these the only children. */
export function replace(element, ...children) {
  element.textContent = "";
  return add(element, ...children);
}

/** Sets the text where it differs, so that a selection in what stays the same is kept. */
export function setText(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

// Outlines of 16 by 16, drawn with a line of 1.5.
const ICONS = {
  menu: "M2 4h12M2 8h12M2 12h12",
  plus: "M8 3v10M3 8h10",
  search: "M7 12A5 5 0 1 0 7 2a5 5 0 0 0 0 10ZM11 11l3 3",
  send: "M8 13V3M4 7l4-4 4 4",
  stop: "M4 4h8v8H4z",
  chevron: "M6 4l4 4-4 4",
  more: "M3 8h.01M8 8h.01M13 8h.01",
  pencil: "M3 13l.6-2.8L10.8 3 13 5.2 5.8 12.4 3 13Z",
  trash: "M3 4.5h10M6.5 4.5V3h3v1.5M4.5 4.5l.5 8.5h6l.5-8.5",
  check: "M3 8.5l3.5 3.5L13 4.5",
  cross: "M4 4l8 8M12 4l-8 8",
  warning: "M8 2.5l6 11H2l6-11ZM8 7v3M8 11.8v.01",
  question: "M5.8 6a2.2 2.2 0 1 1 3.3 1.9C8.3 8.4 8 8.8 8 9.7M8 12v.01",
  clock: "M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12ZM8 5v3l2 1.5",
  file: "M4 2h5l3 3v9H4V2ZM9 2v3h3",
  download: "M8 2v8M4.5 7L8 10.5 11.5 7M3 13.5h10",
  copy: "M6 6h7v7H6zM10 6V3H3v7h3",
  tool: "M9.5 6.5L4 12l-1.5 1.5M13.5 5a3 3 0 0 1-4 2.8A3 3 0 0 1 12 3l-1.5 2 1 1.5 2 .1Z",
  code: "M5.5 4.5L2 8l3.5 3.5M10.5 4.5L14 8l-3.5 3.5",
  first: "M4 3v10M12 3L6 8l6 5V3Z",
  back: "M11 3L5 8l6 5V3Z",
  forward: "M5 3l6 5-6 5V3Z",
  last: "M12 3v10M4 3l6 5-6 5V3Z",
  replay: "M3 8a5 5 0 1 0 1.6-3.7M3 2.5v2.8h2.8",
  leave: "M6 3H3v10h3M7 8h7M11 5l3 3-3 3",
};

/** A picture beside words, which readers of screens skip. */
export function icon(name) {
  return svg("svg", { class: "icon", viewBox: "0 0 16 16", width: 16, height: 16, "aria-hidden": "true" }, svg("path", { d: ICONS[name] }));
}

/** A button with a picture alone; `label` is its name. */
export function iconButton(name, label, properties = {}) {
  return h("button", { type: "button", class: "quiet icon-only", "aria-label": label, title: label, ...properties }, icon(name));
}

/**
 * A dialog over the page. `build(close)` gives its children; the promise has what it was closed with (Esc: undefined).
 * The focus goes back to where it was.
 */
export function openDialog(label, build) {
  const before = document.activeElement;
  return new Promise((done) => {
    let answer;
    const dialog = h("dialog", { "aria-label": label });
    const close = (value) => {
      answer = value;
      dialog.close();
    };
    dialog.addEventListener("close", () => {
      dialog.remove();
      before?.focus?.();
      done(answer);
    });
    add(dialog, build(close));
    document.body.append(dialog);
    dialog.showModal();
  });
}

/** Asks before something that cannot be taken back: true or false. */
export async function confirmDialog(title, text, action) {
  const answer = await openDialog(title, (close) => [
    h("h2", {}, title),
    h("p", {}, text),
    h("div", { class: "actions" },
      h("button", { type: "button", autofocus: true, onclick: () => close(false) }, "Cancel"),
      h("button", { type: "button", class: "danger", onclick: () => close(true) }, action)),
  ]);
  return answer === true;
}
