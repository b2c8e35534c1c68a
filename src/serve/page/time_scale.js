// The scale of a chart: from times to places between 0 and 1. Time is drawn to scale. A long wait for a person would press
// everything else together, so a stretch in which nothing but waiting happens is drawn shorter when it is too long; its
// own words say how long it was.

const WAIT_SHARE = 0.35; // of the width, for all shortened waits together
const NICE = [1, 2, 5];

/** When a call ran and when it waited: {start, end, waits: [from, to] or undefined}. Times in ms. */
export function spanOf(call, now) {
  const start = Date.parse(call.start);
  const isAsked = call.result?.type === "pending" && call.result.question !== undefined;
  const decided = call.decided ? Date.parse(call.decided) : undefined;
  const end = call.end ? Date.parse(call.end) : Math.max(now, start);
  if (isAsked) return { start, end, waits: [start, end] };
  if (decided > start) return { start, end: Math.max(end, decided), waits: [start, decided] };
  return { start, end };
}

/** The stretches of waiting in which no call runs. */
function idleWaits(spans) {
  if (!spans.some((one) => one.waits)) return [];
  const changes = spans.flatMap(({ start, end, waits }) => [
    { at: waits ? waits[1] : start, runs: 1, waits: 0 }, { at: end, runs: -1, waits: 0 },
    ...(waits ? [{ at: waits[0], runs: 0, waits: 1 }, { at: waits[1], runs: 0, waits: -1 }] : []),
  ]).sort((a, b) => a.at - b.at);
  const idle = [];
  let [runs, waits, before] = [0, 0, -Infinity];
  for (const change of changes) {
    if (waits > 0 && runs === 0 && change.at > before) idle.push([before, change.at]);
    runs += change.runs;
    waits += change.waits;
    before = change.at;
  }
  return idle;
}

/** {place(time), total (ms), isShortened, ticks: [{at, label ms}]} for spans between `from` and `to`. */
export function timeScale(spans, from, to) {
  const total = Math.max(1, to - from);
  const waits = idleWaits(spans);
  const waited = waits.reduce((sum, [a, b]) => sum + b - a, 0);
  const busy = Math.max(1, total - waited);
  const isShortened = waited / total > WAIT_SHARE + 0.15;
  const shrink = isShortened ? (busy * WAIT_SHARE) / (1 - WAIT_SHARE) / waited : 1;
  const drawn = busy + waited * shrink;
  const place = (time) => {
    let at = Math.min(Math.max(time, from), to) - from;
    for (const [a, b] of waits) at -= Math.max(0, Math.min(time, b) - a) * (1 - shrink);
    return Math.min(1, Math.max(0, at / drawn));
  };
  return { place, total, isShortened, ticks: isShortened ? [] : ticksOf(total) };
}

/** About four round times. */
function ticksOf(total) {
  const rough = total / 4;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = Math.max(1, (NICE.find((one) => one * power >= rough) ?? 10) * power);
  const ticks = [];
  for (let ms = 0; ms <= total * 0.98; ms += step) ticks.push({ at: ms / total, ms });
  return ticks;
}
