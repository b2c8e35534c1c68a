// randomUUID and a digest, both typed.
// servers: crm
// calls: crm.create-task 1
// prints:
//   true 36 32 7f27
const id: string = crypto.randomUUID();
const bytes: Uint8Array = new TextEncoder().encode("lathe");
const hash = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes as BufferSource));
const r = await create_task({ title: id, due: "2026-04-01" });
console.log(r.success && r.value.title === id, id.length, hash.length, [...hash.slice(0, 2)].map((b) => b.toString(16).padStart(2, "0")).join(""));
