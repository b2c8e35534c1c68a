// Numbers as people read them, the same as bench/measure.c writes; and tables.
import { appendFileSync } from "node:fs";

export function summary(samples) {
  const sorted = [...samples].sort((a, b) => a - b);
  return { count: sorted.length, min: sorted[0], median: sorted[Math.floor(sorted.length / 2)] };
}

const scaled = (number, unit) => `${number.toFixed(Math.abs(number) < 9.995 ? 2 : Math.abs(number) < 99.95 ? 1 : 0)} ${unit}`;

function time(ns) {
  if (ns < 999.5) return scaled(ns, "ns");
  if (ns < 999.5e3) return scaled(ns / 1e3, "µs");
  return ns < 999.5e6 ? scaled(ns / 1e6, "ms") : scaled(ns / 1e9, "s");
}

const bytes = (n) => (n < 999.5 * 1024 ? scaled(n / 1024, "KiB") : scaled(n / 1024 / 1024, "MiB"));

export const isBytes = (task) => task.startsWith("live");
export const value = (task, number) => (isBytes(task) ? bytes(number) : time(number));

/** How much longer or more than ours. */
export function ratio(cell, ours) {
  if (!(cell?.median > 0 && ours?.median > 0)) return "";
  const times = cell.median / ours.median;
  return `${times.toFixed(times < 0.095 ? 3 : times < 9.95 ? 2 : 0)} ×`;
}

/** For a terminal, and as markdown in the file that LATHE_BENCH_MD names. The first column is text, the others are numbers. */
export function printTable(title, head, rows) {
  const widths = head.map((h, i) => Math.max(h.length, ...rows.map((row) => row[i]?.length ?? 0)));
  const line = (row) => row.map((cell, i) => (i === 0 ? cell.padEnd(widths[i]) : cell.padStart(widths[i]))).join("  ").trimEnd();
  console.log(`\n${title}\n  ${[head, ...rows].map(line).join("\n  ")}`);
  if (!process.env.LATHE_BENCH_MD) return;
  const md = (row) => `| ${row.join(" | ")} |`;
  appendFileSync(process.env.LATHE_BENCH_MD, `\n**${title}**\n\n${[md(head), md(head.map((_, i) => (i ? "--:" : "---"))), ...rows.map(md)].join("\n")}\n`);
}
