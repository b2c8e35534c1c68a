// The list of conversations at the side: search, titles, renaming, deleting.
import { h, icon } from "./dom.js";

export function openConversations() {
  const search = h("input", { type: "search", placeholder: "Search", "aria-label": "Search conversations" });
  const element = h("nav", { id: "side", "aria-label": "Conversations" }, h("a", { class: "new", href: "#/" }, icon("plus"), "New conversation"), search);
  return { element, mark() {}, start() {}, focus: () => search.focus(), search: () => search.focus() };
}
