// What a prompt says besides its programs: text as Markdown, pictures, and files.
import { valueView } from "./code_view.js";
import { add, h, icon, replace } from "./dom.js";
import { bytes, plain } from "./format.js";
import { path } from "./page_api.js";

let markdown; // markdown.js, once it has been loaded
const loadMarkdown = () => import("./markdown.js").then((module) => (markdown = module), () => undefined);

const LONG = 200_000; // characters: a longer text stands as it was written, folded
const REST = 4; // times as long as drawing took

/** {element, set(text, isStreamed), close()}. Until Markdown can be read, the text stands as it is. */
export function openText() {
  const element = h("div", { class: "text" });
  let shown;
  let resting;
  let restUntil = 0;

  function draw() {
    const began = performance.now();
    clearTimeout(resting);
    resting = undefined;
    if (shown.length > LONG) replace(element, valueView(shown, "Text"));
    else if (markdown) replace(element, markdown.render(shown));
    else replace(element, h("p", { class: "plain" }, shown));
    restUntil = performance.now() + REST * (performance.now() - began);
  }

  /** A text that is being written is read again with each piece: the longer that takes, the fewer pieces are shown. */
  function drawStreamed() {
    const rest = restUntil - performance.now();
    if (rest <= 0) draw();
    else resting ??= setTimeout(draw, rest);
  }

  return {
    element,
    set(text, isStreamed) {
      element.classList.toggle("is-streamed", Boolean(isStreamed));
      if (shown === text) return;
      shown = text;
      if (!markdown) loadMarkdown().then(draw);
      if (isStreamed) drawStreamed();
      else draw();
    },
    close: () => clearTimeout(resting),
  };
}

// Pictures that a browser shows without running anything in them.
const PICTURES = new Set(["image/png", "image/jpeg", "image/gif", "image/webp", "image/avif", "image/bmp"]);

/** {element, set(), close()} for a file that a program or a tool made. */
export function openFile(api, output) {
  const place = plain(output.path ?? "");
  const name = place.split("/").pop() || "file";
  const type = output.mimeType ?? "application/octet-stream";
  const size = h("span", {});
  const problem = h("p", { class: "problem", role: "alert" });
  const save = h("button", { type: "button", class: "quiet", onclick: download }, icon("download"), "Download");
  const about = h("figcaption", {}, icon("file"), h("span", { class: "file-name" }, place || name), h("span", { class: "hint" }, type, size), save);
  const element = h("figure", { class: "file" }, about, output.description && h("p", { class: "hint" }, output.description), problem);
  let address;

  async function load() {
    if (address) return true;
    const { value, error } = await api.blob(path`artifacts/${output.artifact}`);
    replace(problem, error?.message);
    if (error) return false;
    replace(size, ` · ${bytes(value.size)}`);
    // An address of this page's origin: as a page or as SVG it could do what the page can.
    address = URL.createObjectURL(new Blob([value], { type: PICTURES.has(type) ? type : "application/octet-stream" }));
    return true;
  }

  async function download() {
    if (await load()) h("a", { href: address, download: name }).click();
  }

  async function show() {
    if (!(await load())) return;
    const picture = h("img", { src: address, alt: output.description ?? name });
    add(element, picture);
    element.insertBefore(picture, about);
  }

  if (PICTURES.has(type) && output.artifact) show();
  return { element, set() {}, close: () => address && URL.revokeObjectURL(address) };
}
