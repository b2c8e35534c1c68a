// What a prompt says besides its programs: text as Markdown, pictures, and files.
import { add, h, icon, replace } from "./dom.js";
import { bytes } from "./format.js";
import { path } from "./page_api.js";

let markdown; // markdown.js, once it has been loaded
const loadMarkdown = () => import("./markdown.js").then((module) => (markdown = module), () => undefined);

/** {element, set(text, isStreamed)}. Until Markdown can be read, the text stands as it is. */
export function openText() {
  const element = h("div", { class: "text" });
  let shown;
  function draw() {
    if (markdown) replace(element, markdown.render(shown));
    else replace(element, h("p", { class: "plain" }, shown));
  }
  return {
    element,
    set(text, isStreamed) {
      element.classList.toggle("is-streamed", Boolean(isStreamed));
      if (shown === text) return;
      shown = text;
      if (!markdown) loadMarkdown().then(draw);
      draw();
    },
  };
}

// Pictures that a browser shows without running anything in them.
const PICTURES = new Set(["image/png", "image/jpeg", "image/gif", "image/webp", "image/avif", "image/bmp"]);

/** {element, set(), close()} for a file that a program or a tool made. */
export function openFile(api, output) {
  const name = output.path?.split("/").pop() || "file";
  const type = output.mimeType ?? "application/octet-stream";
  const size = h("span", {});
  const problem = h("p", { class: "problem", role: "alert" });
  const save = h("button", { type: "button", class: "quiet", onclick: download }, icon("download"), "Download");
  const about = h("figcaption", {}, icon("file"), h("span", { class: "file-name" }, output.path ?? name), h("span", { class: "hint" }, type, size), save);
  const element = h("figure", { class: "file" }, about, output.description && h("p", { class: "hint" }, output.description), problem);
  let address;

  async function load() {
    if (address) return true;
    const { value, error } = await api.blob(path`artifacts/${output.artifact}`);
    replace(problem, error?.message);
    if (error) return false;
    replace(size, ` · ${bytes(value.size)}`);
    address = URL.createObjectURL(new Blob([value], { type }));
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
