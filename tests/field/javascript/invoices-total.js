// Amounts from the bodies of messages, several calls per message.
// servers: mail
// calls: mail.search_messages 1, mail.get_message 2
// result: {"invoices":[{"number":"#1042","amount":1250,"due":"2026-03-20"},{"number":"#1043","amount":310.5,"due":"2026-03-25"}],"total":"1560.50"}
const { messages } = await mailSearchMessages({ query: "subject:invoice" });
let total = 0;
const invoices = [];
for (const { id } of messages) {
  const { subject, body } = await mailGetMessage({ id });
  const amount = parseFloat(body.match(/\$([\d,]+\.\d{2})/)[1].replace(/,/g, ""));
  const due = body.match(/Due: (\S+)/)?.[1];
  invoices.push({ number: subject.replace("Invoice ", ""), amount, due });
  total += amount;
}
return { invoices, total: total.toFixed(2) };
