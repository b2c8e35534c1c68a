// A record of records, filled in parallel.
// servers: bank
// calls: bank.get_rate 4
// prints:
//   EUR 1.000 1.080
//   USD 0.926 1.000
const codes = ["EUR", "USD"] as const;
type Code = (typeof codes)[number];
const table = {} as Record<Code, Partial<Record<Code, number>>>;
await Promise.all(
  codes.flatMap((base) =>
    codes.map(async (quote) => {
      const r = await get_rate({ base, quote });
      if (r.success) (table[base] ??= {})[quote] = r.value.rate;
    }),
  ),
);
for (const base of codes) console.log(base, codes.map((quote) => table[base][quote]?.toFixed(3)).join(" "));
