// Dates are computed, tasks made; the ids are collected.
// servers: crm
// calls: crm.list-deals 1, crm.create-task 2
// prints:
//   t1@2026-03-24 t2@2026-04-08
const r = await list_deals({ stage: "open" });
if (!r.success) throw new Error(r.error);
const ids: string[] = [];
for (const deal of r.value.deals) {
  const due = new Date(deal.closeDate);
  due.setUTCDate(due.getUTCDate() - 7);
  const task = await create_task({ title: `Prepare ${deal.name}`, due: due.toISOString().slice(0, 10), contactId: deal.contactId });
  if (task.success) ids.push(`${task.value.taskId}@${task.value.due}`);
}
console.log(ids.join(" "));
