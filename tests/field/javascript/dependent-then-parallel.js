// One call first, then many that need its answer, then one that needs all of those.
// servers: crm, mail
// calls: crm.list-deals 1, crm.get-contact 2, mail.send_email 2, mail.list_sent 1
// result: {"sent":2,"to":["ben@example.org","chloe@example.com"]}
const { deals } = await crmListDeals({ stage: "open" });
const contacts = await Promise.all(deals.map((d) => crmGetContact({ id: d.contactId })));
const mails = await Promise.all(
  contacts.map((c, i) =>
    mailSendEmail({ to: c.email.toLowerCase(), subject: deals[i].name, body: `Hello ${c.name.split(" ")[0]}` }),
  ),
);
const { messages } = await mailListSent();
return { sent: mails.length, to: messages.map((m) => m.to).sort() };
