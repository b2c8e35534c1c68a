// An opaque cursor in a nested object; an empty text ends it.
// servers: slack
// calls: slack.list_channels 3
// result: {"total":5,"smallest":"incidents","members":9}
let cursor = undefined;
const channels = [];
for (;;) {
  const response = await slackListChannels({ limit: 2, cursor });
  channels.push(...response.channels);
  cursor = response.response_metadata?.next_cursor;
  if (!cursor) break;
}
const { name, num_members: members } = channels.filter((c) => !c.is_archived).sort((a, b) => a.num_members - b.num_members)[0];
return { total: channels.length, smallest: name, members };
