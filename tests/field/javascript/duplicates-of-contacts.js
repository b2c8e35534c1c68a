// Duplicates by a normalised key.
// servers: crm
// calls: crm.search-contacts 1, crm.update-contact 1
// result: {"duplicates":[{"keep":"c1","drop":"c4"}],"fixed":["c3"],"noPhone":2}
const { contacts } = await crmSearchContacts({ query: "@" });
const seen = {};
const duplicates = [];
for (const c of contacts) {
  const key = c.name.trim().toLowerCase();
  if (seen[key]) duplicates.push({ keep: seen[key].id, drop: c.id });
  else seen[key] = c;
}
const invalid = contacts.filter(({ email }) => email !== email.toLowerCase());
for (const c of invalid) await crmUpdateContact({ id: c.id, fields: { email: c.email.toLowerCase() } });
return { duplicates, fixed: invalid.map((c) => c.id), noPhone: contacts.filter((c) => c.phone == null).length };
