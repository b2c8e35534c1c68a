// structuredClone before a change.
// servers: shop
// calls: shop.getOrder 1
// result: {"before":[1,2],"after":[2,4],"year":2026,"tag":true}
const order = await shopGetOrder({ id: "o3" });
const draft = structuredClone(order);
draft.items.forEach((i) => { i.quantity *= 2; });
draft.note = { placed: new Date(order.placed), tags: new Set(["double"]) };
const copy = structuredClone(draft);
return { before: order.items.map((i) => i.quantity), after: copy.items.map((i) => i.quantity), year: copy.note.placed.getUTCFullYear(), tag: copy.note.tags.has("double") };
