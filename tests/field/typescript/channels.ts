// Cursor pages into a typed list; sort by two keys.
// servers: slack
// calls: slack.list_channels 3
// prints:
//   #general #random #releases #incidents #old-project*
interface Channel { id: string; name: string; num_members: number; is_archived: boolean }
let cursor: string | undefined;
const channels: Channel[] = [];
do {
  const r = await list_channels({ limit: 2, ...(cursor && { cursor }) });
  if (!r.success) throw new Error(r.error);
  channels.push(...r.value.channels);
  cursor = r.value.response_metadata.next_cursor || undefined;
} while (cursor !== undefined);
channels.sort((a, b) => Number(a.is_archived) - Number(b.is_archived) || b.num_members - a.num_members);
console.log(channels.map((c) => `#${c.name}${c.is_archived ? "*" : ""}`).join(" "));
