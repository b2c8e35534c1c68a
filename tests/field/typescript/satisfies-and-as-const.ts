// satisfies, as const, keyof, template literal types.
// servers: weather
// calls: weather.get-current 3
// prints:
//   Oslo is above 0
//   Cairo is below 30
//   London is below 12
const limits = { Oslo: 0, Cairo: 30, London: 12 } as const satisfies Record<string, number>;
type Name = keyof typeof limits;
type Message = `${Name} is ${"below" | "above"} ${number}`;

for (const name of Object.keys(limits) as Name[]) {
  const r = await get_current({ city: name });
  if (!r.success) continue;
  const message: Message = `${name} is ${r.value.temperature < limits[name] ? "below" : "above"} ${limits[name]}`;
  console.log(message);
}
