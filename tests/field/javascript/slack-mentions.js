// Mentions in messages replaced by names; times from decimal seconds.
// servers: slack
// calls: slack.list_users 1, slack.get_channel_history 1
// result: ["09:00 ana: Checkout is down","09:03 ben: Looking. @ana what do you see?","09:05 buildbot: build 512 failed","09:15 ben: Rolled back, errors are gone"]
const { members } = await slackListUsers({});
const names = Object.fromEntries(members.map((m) => [m.id, m.name]));
const { messages } = await slackGetChannelHistory({ channel: "incidents" });
return messages.map(({ user, text, ts }) => {
  const when = new Date(parseFloat(ts) * 1000).toISOString().substring(11, 16);
  return `${when} ${names[user]}: ${text.replace(/<@(\w+)>/g, (_, id) => "@" + names[id]).replace(/:\w+:/g, "").trim()}`;
});
