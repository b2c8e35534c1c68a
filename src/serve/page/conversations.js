// The list of conversations at the side: search, titles, renaming, deleting, and where else to go.
import { confirmDialog, h, icon, iconButton, openDialog, replace, setText } from "./dom.js";
import { dayGroup, plain, titleOf } from "./format.js";
import { path } from "./page_api.js";

const SEARCH_MS = 200; // after the last key
const PAGE = 50;

export function openConversations(context) {
  const side = new Conversations(context);
  return {
    element: side.element,
    start: () => side.start(),
    mark: (hash) => side.mark(hash),
    focus: () => side.element.querySelector("a, button, input").focus(),
    search: () => side.search.focus(),
  };
}

class Conversations {
  #context;
  #known = new Map(); // id -> conversation, as the server has it
  #order = [];
  #cursor;
  #current = "";
  #open = new Map(); // promptId -> {conversation, state} of prompts that have not ended
  #timer;
  #asked = 0;

  constructor(context) {
    this.#context = context;
    this.search = h("input", { type: "search", placeholder: "Search", "aria-label": "Search conversations", "aria-keyshortcuts": "/" });
    this.list = h("div", { class: "conversations" });
    this.more = h("button", { type: "button", class: "quiet", hidden: true, onclick: () => this.#read(true) }, "Show older ones");
    this.leave = h("button", { type: "button", class: "quiet", hidden: true, onclick: () => this.#signOut() }, icon("leave"), "Sign out");
    const link = (href, name, words) => h("a", { href, "data-at": href }, icon(name), words);
    this.links = h("div", { class: "places" }, link("#/program", "code", "Run a program"), link("#/tools", "tool", "Tools"), this.leave);
    this.element = h("nav", { id: "side", "aria-label": "Conversations" },
      h("div", { class: "side-head" }, h("a", { class: "button new", href: "#/" }, icon("plus"), "New conversation"), h("div", { class: "search" }, icon("search"), this.search)),
      h("div", { class: "side-list" }, this.list, this.more), this.links);
    this.search.addEventListener("input", () => {
      clearTimeout(this.#timer);
      this.#timer = setTimeout(() => this.#read(), SEARCH_MS);
    });
    this.search.addEventListener("keydown", (event) => {
      if (event.key === "Escape" && this.search.value !== "") {
        event.stopPropagation();
        this.search.value = "";
        this.#read();
      }
    });
  }

  start() {
    const { events } = this.#context;
    events.on((event) => this.#take(event));
    events.watch((is) => is && this.#read());
  }

  mark(hash) {
    this.#current = /^#\/c\/(.+)$/.exec(hash)?.[1] ?? "";
    for (const link of this.element.querySelectorAll("a[href]")) {
      const href = link.getAttribute("href");
      const isHere = href === hash || (href === "#/tools" && hash.startsWith("#/tools/"));
      if (isHere) link.setAttribute("aria-current", "page");
      else link.removeAttribute("aria-current");
    }
  }

  async #read(isMore = false) {
    const mine = ++this.#asked;
    const query = this.search.value.trim();
    const parts = new URLSearchParams({ limit: PAGE, ...(query && { query }), ...(isMore && this.#cursor && { cursor: this.#cursor }) });
    const { value, error } = await this.#context.api.get(`conversations?${parts}`);
    if (mine !== this.#asked) return;
    this.leave.hidden = !this.#context.api.hasToken;
    if (error) {
      if (error.status !== 0) replace(this.list, h("p", { class: "problem" }, error.message));
      return;
    }
    if (!isMore) this.#order = [];
    for (const one of value.conversations) {
      this.#known.set(one.id, one);
      this.#order.push(one.id);
    }
    this.#cursor = value.nextCursor;
    this.more.hidden = !this.#cursor;
    this.#draw(query);
  }

  #take({ event, data }) {
    const { promptId, conversationId } = data;
    if (event === "prompt.created" || event === "prompt.resumed") {
      this.#open.set(promptId, { conversation: conversationId, state: "running" });
      this.#readSoon();
    } else if (event === "prompt.approval-requested" && this.#open.has(promptId)) {
      this.#open.get(promptId).state = "waiting";
      this.#drawStates();
    } else if (event === "prompt.approval-decided" && this.#open.has(promptId)) {
      this.#open.get(promptId).state = "running";
      this.#drawStates();
    } else if (["prompt.completed", "prompt.cancelled", "prompt.error"].includes(event)) {
      this.#open.delete(promptId);
      this.#drawStates();
    } else if (event === "conversation.updated") {
      this.#readSoon();
    }
  }

  #readSoon() {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#read(), SEARCH_MS);
  }

  #draw(query) {
    const parts = [];
    let group;
    for (const id of this.#order) {
      const one = this.#known.get(id);
      const day = query ? "Found" : dayGroup(one.updatedAt);
      if (day !== group) {
        group = day;
        parts.push(h("h2", {}, day), h("ul", {}));
      }
      parts.at(-1).append(this.#item(one));
    }
    if (parts.length === 0) parts.push(h("p", { class: "hint none" }, query ? "Nothing was found." : "Conversations will be listed here."));
    const focused = document.activeElement?.closest?.("[data-conversation]")?.dataset.conversation;
    replace(this.list, parts);
    if (focused) this.list.querySelector(`[data-conversation="${focused}"] a`)?.focus();
    this.mark(location.hash);
    this.#drawStates();
  }

  #item(one) {
    const title = nameOf(one);
    return h("li", { "data-conversation": one.id },
      h("a", { href: `#/c/${one.id}`, title }, h("span", { class: "item-title" }, title), h("span", { class: "item-state" })),
      iconButton("more", `Rename or delete “${title}”`, { onclick: () => this.#change(one) }));
  }

  #drawStates() {
    const states = new Map();
    for (const { conversation, state } of this.#open.values()) states.set(conversation, state);
    for (const item of this.list.querySelectorAll("[data-conversation]")) {
      const state = states.get(item.dataset.conversation) ?? "";
      const place = item.querySelector(".item-state");
      place.dataset.state = state;
      setText(place, state === "waiting" ? "waits for you" : state === "running" ? "runs" : "");
    }
  }

  async #change(one) {
    const title = h("input", { type: "text", id: "conversation-title", maxlength: 200, value: nameOf(one), autofocus: true });
    const problem = h("p", { class: "problem", role: "alert" });
    const action = await openDialog("Rename or delete", (close) => h("form", { class: "rename", onsubmit: async (event) => {
      event.preventDefault();
      const { error } = await this.#context.api.ask("PATCH", path`conversations/${one.id}`, { title: title.value.trim() });
      if (error) setText(problem, error.message);
      else close("renamed");
    } }, h("h2", {}, "Conversation"), h("label", { for: title.id }, "Title"), title, problem,
    h("div", { class: "actions" },
      h("button", { type: "button", class: "danger apart", onclick: () => close("delete") }, icon("trash"), "Delete…"),
      h("button", { type: "button", onclick: () => close() }, "Cancel"),
      h("button", { type: "submit", class: "primary" }, "Rename"))));
    if (action === "delete") await this.#remove(one);
  }

  async #remove(one) {
    const isSure = await confirmDialog("Delete this conversation?", `“${nameOf(one)}” will be removed with its programs, calls and files. This cannot be taken back.`, "Delete");
    if (!isSure) return;
    const { error } = await this.#context.api.ask("DELETE", path`conversations/${one.id}`);
    if (error) {
      await openDialog("Not deleted", (close) => [h("h2", {}, "It was not deleted"), h("p", {}, error.code === "busy" ? "Something in it still runs, or waits for you. Wait for its end, or stop it first." : error.message),
        h("div", { class: "actions" }, h("button", { type: "button", class: "primary", autofocus: true, onclick: () => close() }, "Close"))]);
      return;
    }
    if (one.id === this.#current) this.#context.go("#/");
    this.#context.announce("The conversation was deleted");
    await this.#read();
  }

  #signOut() {
    this.#context.api.forgetToken();
    location.assign("#/");
    location.reload();
  }
}

const nameOf = (one) => plain(one.title || titleOf(one.firstMessage)) || "Untitled conversation";
