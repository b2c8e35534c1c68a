// A refused post is answered with another channel.
// servers: slack
// calls: slack.post_message 3
// prints:
//   old-project: Tool "slack.post_message" failed: is_archived
//   nowhere: Tool "slack.post_message" failed: channel_not_found
//   posted to random
async function post(channels: string[], text: string): Promise<string> {
  for (const channel of channels) {
    const r = await post_message({ channel, text });
    if (r.success) return channel;
    console.log(`${channel}: ${r.error}`);
  }
  throw new Error("nobody heard it");
}
console.log(`posted to ${await post(["old-project", "nowhere", "random"], "Hello")}`);
