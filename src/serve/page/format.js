// How numbers, times and values are written for people.

export function duration(ms) {
  if (ms < 1) return "<1 ms";
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 10_000) return `${(ms / 1000).toFixed(1)} s`;
  if (ms < 60_000) return `${Math.round(ms / 1000)} s`;
  const minutes = Math.floor(ms / 60_000);
  if (minutes < 60) return `${minutes} min ${Math.round((ms % 60_000) / 1000)} s`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

const grouped = new Intl.NumberFormat("en");

export const number = (n) => grouped.format(n);
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

/** What a prompt cost in US dollars by its model's price; undefined where there is none. */
export function cost(usage, price) {
  if (!usage || !price) return undefined;
  const cached = usage.cachedInputTokens ?? 0;
  const plain = Math.max(0, (usage.inputTokens ?? 0) - cached);
  return (plain * (price.input ?? 0) + cached * (price.cachedInput ?? price.input ?? 0) + (usage.outputTokens ?? 0) * (price.output ?? 0)) / 1e6;
}

/** A message as the title of what it began. A run without a model has its request for a message, and that may be cut off. */
export function titleOf(message) {
  const program = /^\{"language":"\w+".*?"code":"((?:[^"\\]|\\.)*)/.exec(message ?? "");
  if (!program) return (message ?? "").slice(0, 80);
  try {
    return `Program: ${JSON.parse(`"${program[1]}"`).trim().split("\n")[0].slice(0, 70)}`;
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
