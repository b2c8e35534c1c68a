// Optional fields, nullish values and default parameters.
// servers: crm
// calls: crm.search-contacts 1
// prints:
//   Ana Sousa ☎ +351 912 000 111 Acme
//   Chloe Martin ☎ +33 6 00 00 00 00 Initech
//   Ana Sousa no phone Acme
type Contact = { id: string; name: string; phone?: string | null; company?: string };
const card = ({ name, phone, company = "-" }: Contact, prefix = "☎ "): string => `${name} ${phone ? prefix + phone : "no phone"} ${company}`;
const r = await search_contacts({ query: "example.com" });
if (!r.success) throw new Error(r.error);
(r.value.contacts as Contact[]).forEach((c) => console.log(card(c)));
