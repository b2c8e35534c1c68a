// What a model writes in TypeScript, about as long as such programs are.
interface Repository {
  name: string;
  stars: number;
  archived?: boolean;
}
type Groups<T> = Record<string, T[]>;

const names: string[] = ["alpha", "beta", "gamma", "delta"];
const repositories = names.map((name, i): Repository => ({ name, stars: (i * 37) % 100 }));

function groupBy<T>(items: readonly T[], key: (item: T) => string): Groups<T> {
  const groups: Groups<T> = {};
  for (const item of items) {
    (groups[key(item)] ??= []).push(item);
  }
  return groups;
}

const groups = groupBy(repositories, (r) => (r.stars > 50 ? "large" : "small"));
for (const [size, group] of Object.entries(groups)) {
  const listed = group.filter((r) => !r.archived).map((r) => r.name as string);
  console.log(`${size}: ${listed.join(", ")}`);
}
console.log("total", repositories.reduce((sum: number, r) => sum + r.stars, 0));
