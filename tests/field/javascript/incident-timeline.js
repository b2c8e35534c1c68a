// Minutes between messages, and a post with the summary.
// servers: slack
// calls: slack.get_channel_history 2, slack.post_message 1
// result: {"ok":true,"text":"Incident closed after 15 minutes."}
const { messages } = slackGetChannelHistory({ channel: "C3" });
const times = messages.map((m) => Number(m.ts));
const minutes = Math.round((times[times.length - 1] - times[0]) / 60);
const posted = slackPostMessage({ channel: "general", text: `Incident closed after ${minutes} minutes.` });
const [last] = slackGetChannelHistory({ channel: "general", limit: 1 }).messages;
({ ok: posted.ok, text: last.text });
