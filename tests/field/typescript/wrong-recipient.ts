// A failure of one message among several does not end the others.
// servers: mail
// calls: mail.send_email 3
// prints:
//   ana@example.com: s1
//   not an address: failed (Tool "mail.send_email" failed: Invalid recipient: not an address)
//   ben@example.org: s2
const recipients = ["ana@example.com", "not an address", "ben@example.org"];
const outcome: Record<string, string> = {};
for (const to of recipients) {
  const r = await send_email({ to, subject: "Hello", body: "Hi" });
  outcome[to] = r.success ? r.value.id : `failed (${r.error})`;
}
for (const [to, what] of Object.entries(outcome)) console.log(`${to}: ${what}`);
