// Several services, one answer in sentences.
// servers: weather, calendar, mail
// calls: weather.get-forecast 1, calendar.list-events 1, mail.send_email 1
// prints:
//   2026-03-09: windy, up to 11.4; Stand-up, Design review
//   2026-03-10: sunny, up to 13.4; Dentist, 1:1 Ana
//   2026-03-11: cloudy, up to 10.4; nothing planned
//   sent as s1
const [{ days }, { events }] = await Promise.all([
  weatherGetForecast({ city: "Berlin", days: 3 }),
  calendarListEvents({ timeMin: "2026-03-09T00:00:00Z", timeMax: "2026-03-12T00:00:00Z" }),
]);
const lines = days.map(({ date, condition, high }) => {
  const todays = events.filter((e) => e.start.startsWith(date)).map((e) => e.title);
  return `${date}: ${condition}, up to ${high}; ${todays.length ? todays.join(", ") : "nothing planned"}`;
});
const { id } = await mailSendEmail({ to: "me@example.com", subject: "Your days", body: lines.join("\n") });
output(lines.join("\n"));
output(`sent as ${id}`);
