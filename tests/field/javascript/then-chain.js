// A chain of then, catch and finally, the older way.
// servers: weather, slack
// calls: weather.get-alerts 1, slack.post_message 2
// result: {"failed":true}
let finished = false;
return weatherGetAlerts({ area: "NO" })
  .then((text) => text.split("\n").length)
  .then((n) => slackPostMessage({ channel: "#general", text: `${n} alerts` }))
  .then((r) => slackPostMessage({ channel: "#old-project", text: `see ${r.channel}` }))
  .catch((e) => ({ failed: e.message.includes("is_archived") }))
  .finally(() => { finished = true; });
