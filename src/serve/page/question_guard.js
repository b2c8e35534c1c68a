// A click decides only about what somebody has seen: for a moment after a question came, or went and others moved to its
// place, no question takes a decision. Tools choose when questions come, so they must not choose what a click hits.

const MOMENT_MS = 500;
const buttons = new Set();
let timer;

function letGo() {
  timer = undefined;
  for (const button of buttons) {
    button.removeAttribute("aria-disabled");
    if (!button.isConnected) buttons.delete(button);
  }
}

/** Something moved: what decides waits for a moment. */
export function holdDecisions() {
  for (const button of buttons) button.setAttribute("aria-disabled", "true");
  clearTimeout(timer);
  timer = setTimeout(letGo, MOMENT_MS);
}

/** A button that decides. */
export function guard(button) {
  buttons.add(button);
  if (timer !== undefined) button.setAttribute("aria-disabled", "true");
  button.addEventListener("click", (event) => {
    if (button.getAttribute("aria-disabled") === "true") event.stopImmediatePropagation();
  }, { capture: true });
  return button;
}
