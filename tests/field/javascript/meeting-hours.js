// Hours in meetings per day, from differences of dates.
// servers: calendar
// calls: calendar.list-events 1
// result: {"hours":{"2026-03-09":1.75,"2026-03-10":2,"2026-03-12":1,"2026-03-13":1},"busiest":"2026-03-10"}
const { events } = calendarListEvents({});
const hours = {};
for (const { start, end } of events) {
  const day = start.split("T")[0];
  hours[day] = (hours[day] ?? 0) + (new Date(end) - new Date(start)) / 36e5;
}
const busiest = Object.keys(hours).reduce((a, b) => (hours[a] >= hours[b] ? a : b));
return { hours, busiest };
