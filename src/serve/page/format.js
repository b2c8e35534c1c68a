// How numbers, times and values are written for people.

// Characters that are not seen, or that change the order of what is seen, but for line breaks, tabs, and what emoji need.
const UNSEEN = /(?![\n\t]|(?<=\p{Extended_Pictographic}\ufe0f?)[\u200d\ufe0f])[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{DI}]/gu;
const escaped = (sign) => `\\u{${sign.codePointAt(0).toString(16)}}`;

/** The text with such characters as \u{...}: nobody decides by something that reads as something else. */
export const plain = (text) => text.replace(UNSEEN, escaped);

/** The same in pieces: [text, whether it stands for such a character]. */
export function plainPieces(text) {
  const pieces = [];
  let end = 0;
  for (const { 0: sign, index } of text.matchAll(UNSEEN)) {
    if (index > end) pieces.push([text.slice(end, index), false]);
    pieces.push([escaped(sign), true]);
    end = index + sign.length;
  }
  if (end < text.length) pieces.push([text.slice(end), false]);
  return pieces;
}

export function duration(ms) {
  if (ms < 1) return "<1 ms";
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 10_000) return `${(ms / 1000).toFixed(1)} s`;
  if (ms < 60_000) return `${Math.round(ms / 1000)} s`;
  const minutes = Math.floor(ms / 60_000);
  if (minutes < 60) return `${minutes} min ${Math.round((ms % 60_000) / 1000)} s`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

/** A whole number in groups of three digits. Intl.NumberFormat takes longer to make than the rest of the page. */
export const number = (n) => String(n).replace(/\B(?=(\d{3})+$)/g, ",");
export const count = (n, word) => `${number(n)} ${word}${n === 1 ? "" : "s"}`;

export function money(usd) {
  if (usd === 0) return "$0";
  if (usd < 0.0001) return "<$0.0001";
  return `$${usd < 0.01 ? usd.toFixed(4) : usd < 1 ? usd.toFixed(3) : usd.toFixed(2)}`;
}

export function bytes(n) {
  if (n < 1024) return `${n} B`;
  return n < 1024 ** 2 ? `${(n / 1024).toFixed(1)} KB` : `${(n / 1024 ** 2).toFixed(1)} MB`;
}

/** A value as JSON for people. A text is shown as it is. */
export const pretty = (value) => (typeof value === "string" ? value : JSON.stringify(value, null, 2) ?? "nothing");

const escapedInJson = (sign) => [...Array(sign.length).keys()].map((i) => `\\u${sign.charCodeAt(i).toString(16).padStart(4, "0")}`).join("");

/** A value as JSON that somebody changes: what would not be seen is escaped, and stays what it is. */
export const editable = (value) => JSON.stringify(value, null, 2).replace(UNSEEN, escapedInJson);

/** What a prompt cost in US dollars by its model's price; undefined where there is none. */
export function cost(usage, price) {
  if (!price || !usage?.totalTokens) return undefined;
  if (usage.cost !== undefined) return usage.cost;
  const cached = usage.cachedInputTokens ?? 0, written = usage.cacheWriteTokens ?? 0;
  const plain = Math.max(0, (usage.inputTokens ?? 0) - cached - written);
  return (plain * (price.input ?? 0) + written * (price.cacheWrite ?? price.input ?? 0) + cached * (price.cachedInput ?? price.input ?? 0) + (usage.outputTokens ?? 0) * (price.output ?? 0)) / 1e6;
}

/** A message as the title of what it began. A run without a model has its request for a message, and that may be cut off. */
export function titleOf(message) {
  const program = /^\{"language":"\w+".*?"code":"((?:[^"\\]|\\.)*)/.exec(message ?? "");
  if (!program) return (message ?? "").slice(0, 80);
  try {
    const lines = JSON.parse(`"${program[1]}"`).trim().split("\n");
    return `Program: ${(lines.find((line) => /^\s*(?!\/\/|#)\S/.test(line)) ?? lines[0]).trim().slice(0, 70)}`;
  } catch {
    return "Program";
  }
}

const DAY_MS = 24 * 3600 * 1000;

/** Under which heading something of this time stands in a list. */
export function dayGroup(iso, now = new Date()) {
  const midnight = new Date(now.getFullYear(), now.getMonth(), now.getDate()).getTime();
  const at = new Date(iso).getTime();
  if (at >= midnight) return "Today";
  if (at >= midnight - DAY_MS) return "Yesterday";
  return at >= midnight - 7 * DAY_MS ? "Last 7 days" : "Earlier";
}
