// Where a person writes: the message, and the button that sends it or stops what runs.
import { h, icon, replace, setText } from "./dom.js";

const isMac = /Mac|iP(hone|ad)/.test(navigator.platform);

/** {element, setBusy(isBusy), setText(text), focus()}. `send(text)` has an error's message, or nothing; so has `stop()`. */
export function openComposer({ send, stop }) {
  let isBusy = false;
  let isSending = false;
  const problem = h("p", { class: "problem", role: "alert", id: "composer-problem" });
  const text = h("textarea", { id: "message", rows: 1, placeholder: "What should be done?", "aria-label": "Message", "aria-describedby": "composer-hint composer-problem", autocomplete: "off" });
  const button = h("button", { type: "submit", class: "primary" });
  const keys = [h("kbd", {}, isMac ? "⌘" : "Ctrl"), " ", h("kbd", {}, "Enter"), " sends"];
  const hint = h("p", { class: "hint", id: "composer-hint" });
  const element = h("form", { class: "composer", onsubmit: submit }, h("div", { class: "composer-box" }, text, h("div", { class: "composer-row" }, hint, button)), problem);

  function grow() {
    text.style.height = "auto";
    text.style.height = `${text.scrollHeight + 2}px`;
  }

  function draw() {
    replace(hint, isBusy ? "The next message can be sent when this has ended." : keys);
    replace(button, icon(isBusy ? "stop" : "send"), isBusy ? "Stop" : "Send");
    button.className = isBusy ? "danger" : "primary";
    button.disabled = isSending;
  }

  async function submit(event) {
    event?.preventDefault();
    const message = text.value.trim();
    if (isSending || (!isBusy && message === "")) {
      text.focus();
      return;
    }
    isSending = true;
    draw();
    const fault = isBusy ? await stop() : await send(message);
    isSending = false;
    setText(problem, fault ?? "");
    draw();
  }

  text.addEventListener("input", grow);
  text.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey) && !event.isComposing) {
      event.preventDefault();
      if (isBusy) setText(problem, "Wait for the end of what runs, or stop it first.");
      else submit();
    }
  });
  draw();
  return {
    element,
    setBusy(is) {
      if (is === isBusy) return;
      isBusy = is;
      if (!is) setText(problem, "");
      draw();
    },
    setText(value) {
      text.value = value;
      grow();
    },
    focus: () => text.focus(),
  };
}
