// Dates by toLocaleDateString with a time zone.
// servers: mail
// calls: mail.search_messages 1
// prints:
//   Sun, Mar 8: Budget 2026
//   Mon, Mar 2: Re: Launch date
const r = await search_messages({ query: "from:ana" });
if (!r.success) throw new Error(r.error);
const options: Intl.DateTimeFormatOptions = { weekday: "short", day: "numeric", month: "short", timeZone: "Europe/Lisbon" };
for (const m of r.value.messages) console.log(`${new Date(m.date).toLocaleDateString("en-US", options)}: ${m.subject}`);
