// The first free half hour of a day, with steps of a Date.
// servers: calendar
// calls: calendar.list-events 1, calendar.create-event 1
// result: {"id":"e7","start":"2026-03-10T09:30:00.000Z"}
const day = "2026-03-10";
const { events } = await calendarListEvents({ timeMin: `${day}T00:00:00Z`, timeMax: `${day}T23:59:59Z` });
const busy = events.map((e) => [Date.parse(e.start), Date.parse(e.end)]);

let slot = null;
const from = new Date(`${day}T08:00:00Z`);
for (let t = new Date(from); t.getUTCHours() < 18; t.setUTCMinutes(t.getUTCMinutes() + 30)) {
  const begin = t.getTime(), end = begin + 30 * 60 * 1000;
  if (!busy.some(([s, e]) => begin < e && s < end)) {
    slot = { start: new Date(begin).toISOString(), end: new Date(end).toISOString() };
    break;
  }
}
const event = await calendarCreateEvent({ title: "Focus", ...slot });
return { id: event.id, start: event.start };
