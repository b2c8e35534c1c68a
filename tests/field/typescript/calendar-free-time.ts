// Gaps between events, with a tuple type.
// servers: calendar
// calls: calendar.list-events 1
// prints:
//   08:00-09:00 60 min
//   09:15-13:00 225 min
//   14:30-17:00 150 min
type Span = [start: number, end: number];
const r = await list_events({ timeMin: "2026-03-09T00:00:00Z", timeMax: "2026-03-10T00:00:00Z" });
if (!r.success) throw new Error(r.error);
const busy: Span[] = r.value.events.map((e): Span => [Date.parse(e.start), Date.parse(e.end)]).sort(([a], [b]) => a - b);
const day: Span = [Date.parse("2026-03-09T08:00:00Z"), Date.parse("2026-03-09T17:00:00Z")];
const free: Span[] = [];
let at = day[0];
for (const [start, end] of busy) {
  if (start > at) free.push([at, start]);
  at = Math.max(at, end);
}
if (at < day[1]) free.push([at, day[1]]);
const time = (t: number) => new Date(t).toISOString().slice(11, 16);
for (const [a, b] of free) console.log(`${time(a)}-${time(b)} ${(b - a) / 60000} min`);
