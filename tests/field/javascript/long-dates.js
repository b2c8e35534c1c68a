// Dates as people read them.
// servers: calendar
// calls: calendar.list-events 1
// prints:
//   Monday, March 9: Stand-up
//   Monday, March 9: Design review
//   Tuesday, March 10: Dentist
const { events } = await calendarListEvents({});
const format = new Intl.DateTimeFormat("en-US", { weekday: "long", month: "long", day: "numeric", timeZone: "UTC" });
for (const e of events.slice(0, 3)) {
  output(`${format.format(new Date(e.start))}: ${e.title}`);
}
