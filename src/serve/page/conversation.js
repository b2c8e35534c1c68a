import { add, h } from "./dom.js";

export function open(root, parameters, context) {
  add(root, h("header", { class: "head" }, context.menuButton(), h("h1", {}, "New conversation")));
  return { close() {} };
}
