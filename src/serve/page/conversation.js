// A conversation: what was said and done, what happens now, and the next message. Without an id: a new one.
import { openComposer } from "./composer.js";
import { add, h, replace, setText } from "./dom.js";
import { cost, money, number, plain, titleOf } from "./format.js";
import { path } from "./page_api.js";
import { openText } from "./outputs.js";
import { openPrompt } from "./prompt_view.js";

const NEAR_END = 80; // px from the end within which what comes is followed
const TICK_MS = 100;
const CALM_TICK_MS = 1000;
const PAGE = 50; // prompts that are read at once
const CHOICES = "lathe.choices";

export function open(root, { id }, context) {
  const view = new ConversationView(root, id, context);
  view.start();
  return { close: () => view.close(), focus: () => view.focus(), refresh: () => view.refresh() };
}

class ConversationView {
  #root;
  #context;
  #id;
  #title = "";
  #prompts = new Map();
  #reads = 0; // requests for prompts that are under way
  #summary; // what the model is told in place of the earliest prompts, as it is shown
  #waiting = []; // events that come meanwhile: what is read may be older than they are
  #isClosed = false;
  #isFollowing = true;
  #frame;
  #clock;
  #ends = [];

  constructor(root, id, context) {
    this.#root = root;
    this.#id = id;
    this.#context = context;
  }

  start() {
    const { events, menuButton } = this.#context;
    this.heading = h("h1", {}, this.#id ? "" : "New conversation");
    this.figures = h("p", { class: "hint figures" });
    this.mode = openChoice("Mode");
    this.model = openChoice("Model");
    this.mode.select.onchange = this.model.select.onchange = () => writeChoices({ mode: this.mode.select.value, model: this.model.select.value });
    this.refresh();
    this.list = h("div", { class: "timeline" });
    this.earlier = h("button", { type: "button", class: "quiet earlier", hidden: true, onclick: () => this.#readEarlier() }, "Show earlier prompts");
    this.scroller = h("div", { class: "scroller", tabindex: "-1" }, this.earlier, this.list);
    this.scroller.onscroll = () => {
      this.#isFollowing = this.scroller.scrollHeight - this.scroller.scrollTop - this.scroller.clientHeight < NEAR_END;
    };
    // What unfolds stays where it is; what grows by itself is followed.
    this.list.addEventListener("click", (event) => {
      if (event.target.closest(".row, .more-lines, summary")) this.#isFollowing = false;
    });
    this.sizes = new ResizeObserver(() => this.#follow());
    this.sizes.observe(this.list);
    this.sizes.observe(this.scroller);
    this.composer = openComposer({ send: (text) => this.#send(text), stop: () => this.#stop() });
    add(this.#root, h("header", { class: "head" }, menuButton(), h("div", { class: "head-title" }, this.heading, this.figures), h("div", { class: "choices" }, this.mode.element, this.model.element)),
      this.scroller, this.composer.element);
    this.#ends.push(events.on((event) => this.#take(event)), events.watch((is) => is && this.#read()));
    if (this.#id) this.#read();
    else this.#drawEmpty();
  }

  close() {
    this.#isClosed = true;
    this.#ends.forEach((end) => end());
    this.sizes.disconnect();
    clearTimeout(this.#clock);
    cancelAnimationFrame(this.#frame);
    for (const prompt of this.#prompts.values()) prompt.close();
  }

  focus() {
    this.composer.focus();
  }

  /** What there is to choose from. */
  refresh() {
    const { models, modes } = this.#context;
    const wish = readChoices();
    this.mode.set(modes.filter((one) => one.id !== "program").map((one) => [one.id, one.name]), wish.mode ?? defaultMode(modes));
    this.model.set(models.map((one) => [one.ref, one.isUsable ? one.ref : `${one.ref} (no key)`, one.isUsable]), wish.model ?? models.find((one) => one.isDefault)?.ref);
    const last = [...this.#prompts.values()].at(-1);
    if (last) this.#choose(last.state.prompt);
  }

  // --- Reading -------------------------------------------------------------------------------------------------------

  /** Asks for something, and heeds what happened meanwhile after `put` has taken it. */
  async #readWith(address, put) {
    this.#reads++;
    await this.#context.events.ready;
    const answer = await this.#context.api.get(address);
    this.#reads--;
    if (this.#isClosed) return;
    put(answer);
    this.#heedWaiting();
    this.#drawSoon();
  }

  #heedWaiting() {
    if (this.#reads === 0) for (const event of this.#waiting.splice(0)) this.#take(event);
  }

  #read() {
    if (!this.#id) return undefined;
    return this.#readWith(path`conversations/${this.#id}` + `?limit=${PAGE}`, ({ value, error }) => {
      if (value) this.#show(value);
      else if (error.status !== 0) this.#drawMissing(error);
    });
  }

  #readPrompt(id) {
    return this.#readWith(path`prompts/${id}`, ({ value }) => {
      if (value && value.conversationId === this.#id) this.#put(value);
    });
  }

  /** Earlier prompts come above, and what is read stays where it is. */
  #readEarlier() {
    const cursor = encodeURIComponent(this.earlier.dataset.cursor);
    return this.#readWith(path`conversations/${this.#id}` + `?limit=${PAGE}&cursor=${cursor}`, ({ value }) => {
      if (!value) return;
      const { scrollHeight, scrollTop } = this.scroller;
      const first = this.list.querySelector(".prompt");
      for (const prompt of value.prompts) this.#put(prompt, first);
      this.#putSummary(value.summary);
      this.#setCursor(value.nextCursor);
      this.#isFollowing = false;
      this.scroller.scrollTop = scrollTop + this.scroller.scrollHeight - scrollHeight;
    });
  }

  #setCursor(cursor) {
    this.earlier.hidden = !cursor;
    this.earlier.dataset.cursor = cursor ?? "";
  }

  #show({ conversation, prompts, summary, nextCursor }) {
    const isFirst = this.#prompts.size === 0;
    this.composer.element.hidden = false;
    this.#setTitle(conversation.title || titleOf(prompts[0]?.input) || "Conversation");
    for (const prompt of prompts) this.#put(prompt);
    this.#putSummary(summary);
    if (isFirst) this.#setCursor(nextCursor);
    if (isFirst && prompts.length > 0) this.#choose(prompts.at(-1)); // not what somebody chose since
  }

  /** A conversation goes on in its last mode, with its last model. */
  #choose({ mode, model }) {
    this.mode.choose(mode);
    this.model.choose(model);
  }

  #put(prompt, before = null) {
    const known = this.#prompts.get(prompt.id);
    if (known) {
      known.take(prompt);
      return;
    }
    if (this.#prompts.size === 0) replace(this.list);
    const view = openPrompt(this.#context, prompt, (text) => {
      this.composer.setText(text);
      this.composer.focus();
    });
    this.#prompts.set(prompt.id, view);
    this.list.insertBefore(view.element, before);
  }

  /** Behind the last prompt that it covers. */
  #putSummary(summary) {
    const isOpen = this.#summary?.element.open;
    this.#summary?.element.remove();
    this.#summary?.text.close();
    this.#summary = undefined;
    if (!summary) return;
    const text = openText();
    const element = h("details", { class: "told", open: Boolean(isOpen) }, h("summary", {}, "From here on the model is told a summary of what stands above"), text.element);
    text.set(summary.text);
    const next = [...this.#prompts.keys()].filter((id) => id > summary.upTo).sort()[0];
    this.list.insertBefore(element, this.#prompts.get(next)?.element ?? null);
    this.#summary = { element, text };
  }

  // --- Events --------------------------------------------------------------------------------------------------------

  #take(event) {
    if (this.#reads > 0) {
      this.#waiting.push(event);
      return;
    }
    const { promptId, conversationId, title, summary } = event.data;
    if (event.event === "conversation.updated") {
      if (conversationId !== this.#id) return;
      if (title) this.#setTitle(title);
      if (summary) this.#putSummary(summary);
      return;
    }
    if (event.event === "prompt.summarized" && conversationId === this.#id) this.#read();
    const prompt = this.#prompts.get(promptId);
    if (!prompt) {
      if (conversationId !== undefined && conversationId === this.#id) this.#readPrompt(promptId);
      return;
    }
    const before = prompt.state.state;
    if (prompt.apply(event)) this.#readPrompt(promptId);
    this.#tell(prompt.state, before, event);
    this.#drawSoon();
  }

  #tell(state, before, { event, data }) {
    const { announce } = this.#context;
    if (event === "prompt.approval-requested" && data.request.refusal === undefined) announce(`${data.request.toolName} waits for your approval`);
    else if (event === "prompt.completed") announce("Done");
    else if (event === "prompt.error") announce("The prompt failed");
    else if (event === "prompt.cancelled") announce("Stopped");
  }

  // --- Drawing -------------------------------------------------------------------------------------------------------

  #drawSoon() {
    this.#frame ??= requestAnimationFrame(() => {
      this.#frame = undefined;
      this.#draw();
    });
  }

  #draw() {
    if (this.#isClosed) return;
    const running = [...this.#prompts.values()].filter((one) => !one.state.hasEnded);
    for (const prompt of this.#prompts.values()) prompt.draw();
    this.composer.setBusy(running.length > 0);
    this.#drawFigures();
    this.#follow();
    clearTimeout(this.#clock);
    if (running.length > 0) this.#clock = setTimeout(() => this.#tick(), running.some((one) => one.state.state === "running") ? TICK_MS : CALM_TICK_MS);
  }

  #follow() {
    if (this.#isFollowing && this.#prompts.size > 0) this.scroller.scrollTop = this.scroller.scrollHeight;
  }

  /** Bars of what runs grow. */
  #tick() {
    for (const prompt of this.#prompts.values()) if (!prompt.state.hasEnded) prompt.draw();
    if (document.hidden) this.#clock = setTimeout(() => this.#tick(), CALM_TICK_MS);
    else this.#draw();
  }

  #drawFigures() {
    let tokens = 0;
    let usd;
    for (const { state } of this.#prompts.values()) {
      const { usage, model } = state.prompt;
      tokens += usage?.totalTokens ?? 0;
      const one = cost(usage, this.#context.models.find((known) => known.ref === model)?.price);
      if (one !== undefined) usd = (usd ?? 0) + one;
    }
    setText(this.figures, [tokens > 0 && `${number(tokens)} tokens`, usd !== undefined && money(usd)].filter(Boolean).join(" · "));
  }

  #setTitle(given) {
    const title = plain(given);
    this.#title = title;
    setText(this.heading, title);
    this.heading.title = title;
    this.#context.title(title);
  }

  #drawEmpty() {
    replace(this.list, h("div", { class: "empty" },
      h("h2", {}, "What should be done?"),
      h("p", {}, "In code mode the model writes a small program that calls your tools. You see the program while it is written, each call while it runs, and you are asked before anything that your rules want to be asked about."),
      h("p", {}, h("a", { href: "#/tools" }, "See which tools there are"), " or ", h("a", { href: "#/program" }, "run a program without a model"), ".")));
  }

  #drawMissing(error) {
    const isGone = error.status === 404;
    if (!isGone && this.#prompts.size > 0) return; // what is known stays; each connection reads again
    for (const prompt of this.#prompts.values()) prompt.close();
    this.#prompts.clear();
    this.#setTitle(isGone ? "Not found" : "Conversation");
    replace(this.list, h("div", { class: "empty" },
      h("h2", {}, isGone ? "This conversation is not here" : "This conversation cannot be shown"),
      h("p", {}, isGone ? "It was deleted, or it belongs to somebody else." : error.message),
      isGone ? h("a", { class: "button", href: "#/" }, "Start a new one") : h("button", { type: "button", onclick: () => this.#read() }, "Try again")));
    this.composer.element.hidden = true;
  }

  // --- Doing ---------------------------------------------------------------------------------------------------------

  async #send(text) {
    const wish = readChoices(); // the lists to choose from may still be on their way
    const body = { input: text, mode: this.mode.select.value || wish.mode, model: this.model.select.value || wish.model, conversationId: this.#id };
    // The same request once more, after a connection that was lost in between, is the same prompt.
    const headers = { "idempotency-key": crypto.randomUUID?.() ?? `${Date.now()}-${Math.random()}` };
    this.#reads++; // what the prompt says before its id is known here is heeded, too
    const answer = await this.#post(body, headers);
    this.#reads--;
    if (answer.error) this.#heedWaiting();
    if (answer.error?.code === "busy") this.#read(); // what runs was begun elsewhere, and is not shown yet
    if (answer.error) return answer.error.code === "busy" ? "This conversation still runs. Wait for its end, or stop it." : answer.error.message;
    this.composer.setText("");
    this.#isFollowing = true;
    if (!this.#id) {
      this.#id = answer.value.conversationId;
      this.#setTitle(text.slice(0, 80));
      this.#context.moveTo(`#/c/${this.#id}`);
    }
    await this.#readPrompt(answer.value.promptId);
    return undefined;
  }

  async #post(body, headers) {
    const answer = await this.#context.api.post("prompt", body, { headers });
    return answer.error?.code === "offline" ? this.#context.api.post("prompt", body, { headers }) : answer;
  }

  async #stop() {
    const running = [...this.#prompts.values()].filter((one) => !one.state.hasEnded);
    const answers = await Promise.all(running.map((one) => this.#context.api.post(path`prompts/${one.state.id}/cancel`)));
    for (const one of running) this.#readPrompt(one.state.id);
    return answers.map((one) => one.error).find((error) => error && error.status !== 404)?.message;
  }
}

// --- Choices ---------------------------------------------------------------------------------------------------------

/** {element, select, set(options, value), choose(value)}; an option is [value, words, isUsable]. */
function openChoice(label) {
  const select = h("select", { "aria-label": label, title: label });
  const element = h("div", { class: "choice-of", hidden: true }, select);
  const choose = (value) => {
    if ([...select.options].some((one) => one.value === value)) select.value = value;
  };
  return {
    element,
    select,
    choose,
    set(options, value) {
      replace(select, options.map(([id, words, isUsable = true]) => h("option", { value: id, disabled: !isUsable }, words)));
      choose(value);
      element.hidden = options.length === 0;
    },
  };
}

const defaultMode = (modes) => modes.find((one) => one.isDefault)?.id;

function readChoices() {
  try {
    return JSON.parse(localStorage.getItem(CHOICES)) ?? {};
  } catch {
    return {};
  }
}

function writeChoices(choices) {
  try {
    localStorage.setItem(CHOICES, JSON.stringify(choices));
  } catch { /* it is only a convenience */ }
}
