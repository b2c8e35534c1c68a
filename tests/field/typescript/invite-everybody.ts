// A set of addresses, an event, a message to each.
// servers: calendar, mail
// calls: calendar.list-events 1, calendar.create-event 1, mail.send_email 3
// prints:
//   e7: 3 of 3 invited
const events = await list_events({});
if (!events.success) throw new Error(events.error);
const people = [...new Set(events.value.events.flatMap((e) => e.attendees))].sort();
const event = await create_event({ title: "Retro", start: "2026-03-16T10:00:00Z", end: "2026-03-16T11:00:00Z", attendees: people });
if (!event.success) throw new Error(event.error);
const sent = await Promise.all(
  people.map((to) => send_email({ to, subject: event.value.title, body: `Join on ${event.value.start.slice(0, 10)}` })),
);
console.log(`${event.value.id}: ${sent.filter((s) => s.success).length} of ${people.length} invited`);
