// What a model writes in TypeScript mode, about as long as such programs are.
interface Repository { name: string; stars: number; topics: string[]; archived?: boolean }
type Group<T> = Record<string, T[]>;
enum Size { Small = "small", Large = "large" }

const repositories: Repository[] = ["alpha", "beta", "gamma", "delta", "epsilon"].map((name, i): Repository => ({
  name, stars: (i * 37) % 100, topics: i % 2 === 0 ? ["c", "wasm"] : ["agents"], archived: i === 3,
}));

function groupBy<T>(items: readonly T[], key: (item: T) => string): Group<T> {
  return items.reduce<Group<T>>((groups, item) => ({ ...groups, [key(item)]: [...(groups[key(item)] ?? []), item] }), {});
}

class Report {
  readonly #lines: string[] = [];
  constructor(private readonly title: string) {}
  add(line: string): this { this.#lines.push(line); return this; }
  toString(): string { return [this.title, ...this.#lines].join("\n"); }
}

const report = new Report("Repositories");
for (const [size, group] of Object.entries(groupBy(repositories, (r) => (r.stars > 50 ? Size.Large : Size.Small)))) {
  report.add(`${size}: ${group!.filter((r) => !r.archived).map((r) => r.name as string).join(", ")}`);
}
console.log(report.toString());
