// A template string over several lines in a loop of messages.
// servers: mail
// calls: mail.search_messages 1, mail.get_message 2, mail.send_email 2, mail.list_sent 1
// result: [["Re: Budget 2026",6],["Re: Launch date",6]]
const { messages } = await mailSearchMessages({ query: "from:ana", pageSize: 10 });
const names = { "ana@example.com": "Ana" };
for (const m of messages) {
  const full = await mailGetMessage({ id: m.id });
  await mailSendEmail({
    to: full.from,
    subject: full.subject.startsWith("Re:") ? full.subject : `Re: ${full.subject}`,
    body: `Hi ${names[full.from] ?? "there"},

thank you for your message of ${new Date(full.date).toISOString().slice(0, 10)}.

Best,
Lathe`,
  });
}
const { messages: sent } = await mailListSent();
return sent.map((s) => [s.subject, s.body.split("\n").length]);
