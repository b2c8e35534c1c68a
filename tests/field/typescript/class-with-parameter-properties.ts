// A class whose constructor declares its fields.
// servers: crm
// calls: crm.search-contacts 1
// prints:
//   c1 example.com Acme
//   c4 example.com Acme
class Contact {
  constructor(
    public readonly id: string,
    private readonly email: string,
    protected company?: string,
  ) {}

  get domain(): string {
    return this.email.toLowerCase().split("@")[1];
  }

  describe(): string {
    return `${this.id} ${this.domain} ${this.company ?? "-"}`;
  }
}

const found = await search_contacts({ query: "ana" });
if (!found.success) throw new Error(found.error);
const contacts: Contact[] = found.value.contacts.map((c: any) => new Contact(c.id, c.email, c.company));
for (const c of contacts) console.log(c.describe());
