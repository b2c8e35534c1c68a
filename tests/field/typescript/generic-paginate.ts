// A generic async generator over pages.
// servers: mail
// calls: mail.search_messages 3
// prints:
//   Budget 2026 | Weekly digest | Lunch on Thursday? | Invoice #1043
async function* paginate<T>(fetchPage: (token?: string) => Promise<{ items: T[]; next?: string }>): AsyncGenerator<T, void, undefined> {
  let token: string | undefined;
  do {
    const { items, next } = await fetchPage(token);
    yield* items;
    token = next;
  } while (token);
}

const subjects: string[] = [];
const pages = paginate(async (pageToken) => {
  const r = await search_messages({ pageSize: 3, ...(pageToken ? { pageToken } : {}) });
  if (!r.success) throw new Error(r.error);
  return { items: r.value.messages, next: r.value.nextPageToken };
});
for await (const m of pages) {
  if (m.unread) subjects.push(m.subject);
}
console.log(subjects.join(" | "));
