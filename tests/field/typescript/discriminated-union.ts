// Kinds of events told apart by a tag; an exhaustive switch.
// servers: calendar
// calls: calendar.list-events 1
// prints:
//   Stand-up with 3
//   Design review (1.5 h)
//   Dentist
//   1:1 Ana with 2
type Entry =
  | { kind: "solo"; title: string }
  | { kind: "meeting"; title: string; people: number }
  | { kind: "long"; title: string; hours: number };

const toEntry = (e: { title: string; start: string; end: string; attendees: string[] }): Entry => {
  const hours = (Date.parse(e.end) - Date.parse(e.start)) / 3_600_000;
  if (hours > 1) return { kind: "long", title: e.title, hours };
  return e.attendees.length ? { kind: "meeting", title: e.title, people: e.attendees.length + 1 } : { kind: "solo", title: e.title };
};

function show(entry: Entry): string {
  switch (entry.kind) {
    case "solo":
      return entry.title;
    case "meeting":
      return `${entry.title} with ${entry.people}`;
    case "long":
      return `${entry.title} (${entry.hours} h)`;
    default: {
      const never: never = entry;
      throw new Error(`unexpected ${never}`);
    }
  }
}

const r = await list_events({ timeMin: "2026-03-09", timeMax: "2026-03-11" });
if (r.success) r.value.events.map(toEntry).map(show).forEach((s) => console.log(s));
