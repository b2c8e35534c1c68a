// Mapped and conditional types are only for the checker; the values are plain.
// servers: crm
// calls: crm.get-contact 1, crm.update-contact 1
// prints:
//   ben@example.org -> ben.okoro@example.org, phone none
type Patch<T> = { [K in keyof T]?: T[K] };
type Email = { email: string; phone: string | null };
type NonNull<T> = T extends null | undefined ? never : T;

const patch: Patch<Email> = { email: "ben.okoro@example.org" };
const before = await get_contact({ id: "c2" });
const after = await update_contact({ id: "c2", fields: patch });
if (!before.success || !after.success) throw new Error("no contact");
const phone: NonNull<string | null> = after.value.phone ?? "none";
console.log(`${before.value.email} -> ${after.value.email}, phone ${phone}`);
