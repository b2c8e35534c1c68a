// Follows one prompt until it ends: reads it again when an event says that something changed.
import { path } from "./page_api.js";

const AGAIN_MS = 60; // several events at once are one reading

export const hasEnded = (prompt) => prompt.completedAt !== undefined || ["completed", "failed", "cancelled"].includes(prompt.state);

/** `onChange(prompt)` gets each state up to the last one; `onError(error)` when it cannot be read. Ends with `signal`. */
export function watchPrompt(id, context, { onChange, onError, signal }) {
  let timer;
  let isReading = false;
  let isStale = false;
  const end = () => {
    clearTimeout(timer);
    offEvent();
    offConnection();
  };
  const read = async () => {
    if (isReading) {
      isStale = true;
      return;
    }
    isReading = true;
    isStale = false;
    const { value, error } = await context.api.get(path`prompts/${id}`, { signal });
    isReading = false;
    if (signal.aborted) return;
    if (error && error.code !== "offline") {
      end();
      return onError?.(error);
    }
    if (value) onChange(value);
    if (value && hasEnded(value)) end();
    else if (isStale) soon();
  };
  const soon = () => {
    clearTimeout(timer);
    timer = setTimeout(read, AGAIN_MS);
  };
  const offEvent = context.events.on(({ data }) => data.promptId === id && soon());
  const offConnection = context.events.watch((isConnected) => isConnected && soon());
  signal.addEventListener("abort", end);
  read();
}
