// An abstract class, an override, a static counter.
// servers: github, mail
// calls: github.list_issues 1, mail.search_messages 1
// prints:
//   Issues: 9
//   Mails: 4
//   2
abstract class Source {
  static made = 0;
  constructor() { Source.made++; }
  abstract count(): Promise<number>;
  async line(): Promise<string> { return `${this.constructor.name}: ${await this.count()}`; }
}
class Issues extends Source {
  override async count() {
    const r = await list_issues({ owner: "acme", repo: "shop" });
    return r.success ? r.value.length : 0;
  }
}
class Mails extends Source {
  override async count() {
    const r = await search_messages({ query: "is:unread" });
    return r.success ? r.value.total : 0;
  }
}
for (const s of [new Issues(), new Mails()] satisfies Source[]) console.log(await s.line());
console.log(Source.made);
