// Base64 there and back; bytes of a text that is not ASCII.
// servers: slack
// calls: slack.list_channels 1
// result: {"position":"2","coded":"bmHDr3ZlIOKYlQ==","decoded":"naïve ☕"}
const { response_metadata } = await slackListChannels({});
const position = atob(response_metadata.next_cursor);
const coded = btoa(String.fromCharCode(...new TextEncoder().encode("naïve ☕")));
const decoded = new TextDecoder().decode(Uint8Array.from(atob(coded), (c) => c.charCodeAt(0)));
return { position, coded, decoded };
