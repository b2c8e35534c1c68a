// One moment in the time zones of several people.
// servers: slack
// calls: slack.list_users 1
// result: ["Ana Sousa: 03:00 PM","Ben Okoro: 04:00 PM","Chloe Martin: 04:00 PM"]
const { members } = await slackListUsers();
const meeting = new Date("2026-03-12T15:00:00Z");
return members
  .filter((m) => !m.is_bot)
  .map((m) => `${m.real_name}: ${meeting.toLocaleTimeString("en-US", { hour: "2-digit", minute: "2-digit", timeZone: m.tz })}`);
