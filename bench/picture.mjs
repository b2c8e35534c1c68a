// What bench/side-by-side.mjs has measured, as an SVG: a row for each sandbox, and for each question a logarithmic axis
// with its median on it. Readable in light and dark.
import { value } from "./figures.mjs";

const LABELS = 220, PANEL = 148, GAP = 72, HEAD = 62, ROW = 23, FOOT = 50; // values stand in the gaps
const QUESTIONS = [
  { task: "call", first: 1, times: 10, title: "a program with", more: "one call of a tool" },
  { task: "burst1", first: 1, times: 10, title: "1,000 programs at once,", more: "each with a tool of 10 ms" },
  { task: "live3", first: 1024, times: 8, title: "memory of a program", more: "that waits for its tool" },
];
const STYLE = `
  text { font: 12px system-ui, sans-serif; fill: #1f2328 }
  .back { fill: #ffffff; stroke: #d1d9e0 } .grid { stroke: #d1d9e0 } .stem { stroke: #b6bfc8; stroke-width: 2 } .dot { fill: #6e7781 }
  .muted { fill: #59636e } .small { font-size: 11px } .title { font-weight: 600 } .end { text-anchor: end } .mid { text-anchor: middle }
  .ours { font-weight: 600 } .ours.stem { stroke: #54aeff } .ours.dot { fill: #0969da }
  @media (prefers-color-scheme: dark) {
    text { fill: #f0f6fc }
    .back { fill: #0d1117; stroke: #3d444d } .grid { stroke: #2f353d } .stem { stroke: #656c76 } .dot { fill: #9198a1 }
    .muted { fill: #9198a1 } .ours.stem { stroke: #1f6feb } .ours.dot { fill: #58a6ff }
  }`;

const escape = (text) => text.replace(/[&<>]/g, (c) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;" })[c]);
const text = (x, y, what, classes = "") => `<text x="${x}" y="${y}" class="${classes}">${escape(what)}</text>`;

/** The marks on an axis, each so many times the one before, with all of the values between them. */
function axis(values, { first, times }) {
  const power = (n) => Math.log(n / first) / Math.log(times), powers = values.map(power);
  const from = Math.floor(Math.min(...powers)), steps = Math.max(1, Math.ceil(Math.max(...powers)) - from);
  return { at: (n) => (power(n) - from) / steps, marks: Array.from({ length: steps + 1 }, (_, i) => first * times ** (from + i)) };
}

function panel(question, peers, x, bottom) {
  const cells = peers.map(({ cells: all }) => all[question.task]), there = cells.filter((cell) => cell?.median > 0);
  if (there.length === 0) return "";
  const { at, marks } = axis(there.map(({ median }) => median), question), place = (n) => (x + at(n) * PANEL).toFixed(1);
  const out = [text(x, 24, question.title, "title"), text(x, 40, question.more, "title")];
  for (const [i, mark] of marks.entries()) {
    out.push(`<line class="grid" x1="${place(mark)}" x2="${place(mark)}" y1="${HEAD - 10}" y2="${bottom}"/>`);
    if (i % Math.ceil(marks.length / 4) === 0) out.push(text(place(mark), bottom + 15, value(question.task, mark).replace(/\.0+ /, " "), "muted small mid"));
  }
  for (const [i, cell] of cells.entries()) {
    const y = HEAD + i * ROW + ROW / 2, ours = peers[i].isOurs ? " ours" : "";
    if (cell?.median > 0) {
      const end = place(cell.median);
      out.push(`<line class="stem${ours}" x1="${x}" x2="${end}" y1="${y}" y2="${y}"/><circle class="dot${ours}" cx="${end}" cy="${y}" r="4.5"/>`);
      out.push(text(Number(end) + 9, y + 4, value(question.task, cell.median), `small${ours}`));
    } else {
      out.push(text(x + 4, y + 4, "not measured", "muted small"));
    }
  }
  return out.join("\n");
}

/** Ours first, the others by the first question. */
export function draw({ peers: all, machine, date }) {
  const first = (peer) => peer.cells[QUESTIONS[0].task]?.median ?? Infinity;
  const peers = all.filter(({ absent }) => !absent).sort((a, b) => Boolean(b.isOurs) - Boolean(a.isOurs) || first(a) - first(b));
  const bottom = HEAD + peers.length * ROW, width = LABELS + QUESTIONS.length * (PANEL + GAP), height = bottom + FOOT;
  const names = peers.map(({ title, note, isOurs }, i) => text(LABELS - 14, HEAD + i * ROW + ROW / 2 + 4, note ? `${title} (${note})` : title, `end${isOurs ? " ours" : ""}${note ? " small" : ""}`));
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img">
<title>Lathe and other sandboxes: time of a program with one call, of 1,000 at once, and memory of one that waits</title>
<style>${STYLE}
</style>
<rect class="back" x="0.5" y="0.5" width="${width - 1}" height="${height - 1}" rx="8"/>
${names.join("\n")}
${QUESTIONS.map((question, i) => panel(question, peers, LABELS + i * (PANEL + GAP), bottom)).join("\n")}
${text(width - 16, height - 12, `Less is better. Medians on logarithmic axes; ${machine.cpu}, ${machine.cores} cores, ${date}.`, "muted small end")}
</svg>
`;
}
