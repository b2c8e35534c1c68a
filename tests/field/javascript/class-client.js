// A class round the tools, with a private field, a getter and a static method.
// servers: github
// calls: github.get_issue 1
// result: {"path":"acme/shop","title":"Slow search","same":true}
class Repo {
  #cache = new Map();
  constructor(owner, name) {
    this.owner = owner;
    this.name = name;
  }
  static of(path) {
    const [owner, name] = path.split("/");
    return new Repo(owner, name);
  }
  get path() {
    return `${this.owner}/${this.name}`;
  }
  async issue(n) {
    if (!this.#cache.has(n)) {
      this.#cache.set(n, await githubGetIssue({ owner: this.owner, repo: this.name, issue_number: n }));
    }
    return this.#cache.get(n);
  }
}
const repo = Repo.of("acme/shop");
const first = await repo.issue(4);
const again = await repo.issue(4);
return { path: repo.path, title: first.title, same: first === again };
