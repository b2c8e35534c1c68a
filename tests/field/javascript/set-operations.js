// Sets: union, difference and intersection, the new methods and the old way.
// servers: calendar, crm
// calls: calendar.list-events 1, crm.search-contacts 1
// result: {"unknown":["chloe@example.com"],"both":["ana@example.com","ben@example.org"],"all":5}
const { events } = await calendarListEvents({});
const invited = new Set(events.flatMap((e) => e.attendees));
const { contacts } = await crmSearchContacts({ query: "example" });
const known = new Set(contacts.map((c) => c.email));
return {
  unknown: [...invited].filter((a) => !known.has(a)),
  both: [...invited.intersection(known)].sort(),
  all: invited.union(known).size,
};
