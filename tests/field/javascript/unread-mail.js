// Unread messages, all pages, newest first.
// servers: mail
// calls: mail.search_messages 2
// result: ["2026-03-08 ana@example.com: Budget 2026","2026-03-07 news@letters.example: Weekly digest","2026-03-05 chloe@example.com: Lunch on Thursday?","2026-03-04 ben@example.org: Invoice #1043"]
const unread = [];
let pageToken;
do {
  const page = await mailSearchMessages({ query: "is:unread", pageSize: 2, ...(pageToken && { pageToken }) });
  unread.push(...page.messages);
  pageToken = page.nextPageToken;
} while (pageToken);
return unread.map((m) => `${m.date.slice(0, 10)} ${m.from}: ${m.subject}`);
