// Ids by crypto.randomUUID: their shape, and that they differ.
// servers: crm
// calls: crm.create-task 2
// result: {"ok":true,"different":true}
const ids = [];
for (const title of ["Call", "Write"]) {
  const id = crypto.randomUUID();
  await crmCreateTask({ title: `${title} [${id}]`, due: "2026-03-10" });
  ids.push(id);
}
const ok = ids.every((id) => /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/.test(id));
return { ok, different: ids[0] !== ids[1] };
