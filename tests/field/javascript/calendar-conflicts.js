// Events that overlap, by comparing every pair.
// servers: calendar
// calls: calendar.list-events 1
// result: [["Dentist","1:1 Ana"]]
const { events } = await calendarListEvents({ timeMin: "2026-03-09T00:00:00Z", timeMax: "2026-03-14T00:00:00Z" });
const conflicts = [];
for (let i = 0; i < events.length; i++) {
  for (let j = i + 1; j < events.length; j++) {
    const a = events[i], b = events[j];
    if (new Date(a.start) < new Date(b.end) && new Date(b.start) < new Date(a.end)) {
      conflicts.push([a.title, b.title]);
    }
  }
}
return conflicts;
