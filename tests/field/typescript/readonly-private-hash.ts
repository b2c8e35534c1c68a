// Private names, readonly arrays, a getter, an index signature.
// servers: weather
// calls: weather.get-current 2
// prints:
//   Oslo 0; Lisbon 1
class Log {
  #lines: string[] = [];
  readonly limits: readonly number[] = [10, 20];
  [key: string]: unknown;
  add(line: string): this { this.#lines.push(line); return this; }
  get text(): string { return this.#lines.join("; "); }
}
const log2 = new Log();
for (const city of ["Oslo", "Lisbon"]) {
  const r = await get_current({ city });
  if (r.success) log2.add(`${city} ${log2.limits.filter((l) => r.value.temperature > l).length}`);
}
console.log(log2.text);
