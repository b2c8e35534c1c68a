// A lookup table with a default; string methods.
// servers: slack
// calls: slack.list_users 1, slack.get_channel_history 1
// prints:
//   Ben Okoro: 2; Ana Sousa: 1; Build Bot: 1
interface Member { id: string; name: string; real_name: string; is_bot: boolean }
const users = await list_users();
const history = await get_channel_history({ channel: "incidents" });
if (!users.success || !history.success) throw new Error("slack");
const byId: ReadonlyMap<string, Member> = new Map((users.value.members as Member[]).map((m) => [m.id, m] as const));
const counts = (history.value.messages as { user: string }[]).reduce<Record<string, number>>((acc, { user }) => {
  const name = byId.get(user)?.real_name ?? "unknown";
  acc[name] = (acc[name] ?? 0) + 1;
  return acc;
}, {});
console.log(Object.entries(counts).sort((a, b) => b[1] - a[1]).map(([n, c]) => `${n}: ${c}`).join("; "));
