// Real MCP servers, as npm has them, called by programs.
import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, failure, folder, program, report, root, run, servers, test, value } from "./harness.mjs";
import { entries, entry as npm, missing } from "./npm-servers.mjs";

const entry = (name, ...args) => npm(`@modelcontextprotocol/${name}`, args);
const absent = (...names) => missing(names).length > 0 && `npm ci has not been run: ${missing(names).join(", ")} not there`;
const skip = absent("filesystem", "memory", "everything");

describe("server-filesystem", { skip }, () => {
  const dir = folder({ "a.txt": "alpha\nbeta\n", "b.txt": "\u00e9\u{1f600}", "c.json": '{"n": 1}' });
  const args = skip ? [] : servers({ files: entry("server-filesystem", dir) });

  test("is listed", async () => {
    const end = await run(["tools", ...args]);
    assert.equal(end.code, 0);
    assert.match(end.stdout, /^files\.read_text_file  filesReadTextFile  /m);
  });
  test("reads, writes, lists", async () => {
    const code = `filesWriteFile({ path: "${dir}/new.txt", content: "written by a program" });
      const names = filesListDirectory({ path: "${dir}" });
      const text = (r) => r.content ?? r;
      [text(filesReadTextFile({ path: "${dir}/a.txt" })), text(filesReadTextFile({ path: "${dir}/b.txt" })), JSON.stringify(names).includes("new.txt")]`;
    assert.deepEqual(await value(code, args), ["alpha\nbeta\n", "\u00e9\u{1f600}", true]);
    assert.equal(readFileSync(join(dir, "new.txt"), "utf8"), "written by a program");
  });
  test("all at once", async () => {
    const code = `const all = await Promise.all(["a.txt", "b.txt", "c.json"].map((f) => filesReadTextFile({ path: "${dir}/" + f }))); all.length`;
    assert.equal(await value(code, args), 3);
  });
  test("outside its folder is the server's own error", async () => {
    const r = await failure('filesReadTextFile({ path: "/etc/passwd" })', args);
    assert.match(r.error, /^Tool "files\.read_text_file" failed: .*(denied|outside)/i);
  });
  test("bad input is said with its path", async () => {
    const said = await value('[{ path: 5 }, {}].map((input) => { try { filesReadTextFile(input) } catch (e) { return e.message } })', args);
    assert.match(said[0], /input\.path: expected string, got/);
    assert.match(said[1], /input\.path: is required/);
  });
  test("a folder that is not there: the server's own words", async () => {
    const r = await report("1", servers({ files: entry("server-filesystem", "/no/such/folder") }));
    assert.equal(r.exit, 0);
    assert.match(r.stderr, /warning: .*files.*\/no\/such\/folder|warning: .*files/);
  });
  test("from TypeScript", async () => {
    const code = `const r = await read_text_file({ path: "${dir}/c.json" }); if (r.success) console.log(typeof r.value); r.success`;
    assert.equal(await value(code, [...args, "--lang", "ts"]), true);
  });
});

describe("server-memory", { skip }, () => {
  const file = join(folder(), "memory.jsonl");
  const args = skip ? [] : servers({ memory: { ...entry("server-memory"), env: { MEMORY_FILE_PATH: file } } });

  test("keeps what a program tells it, for the next program", async () => {
    const code = `memoryCreateEntities({ entities: [{ name: "lathe", entityType: "program", observations: ["turns \\ud83d\\ude00"] }, { name: "c", entityType: "language", observations: [] }] });
      memoryCreateRelations({ relations: [{ from: "lathe", to: "c", relationType: "is written in" }] }); "kept"`;
    assert.equal(await value(code, args), "kept");
    const graph = await value("const g = memoryReadGraph(); ({ names: g.entities.map((e) => e.name).sort(), said: g.entities.find((e) => e.name === 'lathe').observations, relations: g.relations.length })", args);
    assert.deepEqual(graph, { names: ["c", "lathe"], said: ["turns \u{1f600}"], relations: 1 });
  });
  test("parallel()", async () => {
    const r = await value("parallel([{ tool: 'memory.search_nodes', input: { query: 'lathe' } }, { tool: 'memory.open_nodes', input: { names: ['c'] } }]).map((g) => g.entities.map((e) => e.name))", args);
    assert.deepEqual(r, [["lathe"], ["c"]]);
  });
});

describe("server-everything", { skip }, () => {
  const args = skip ? [] : servers({ everything: entry("server-everything") });

  test("its tools can be found and called", async () => {
    const r = await value("const [t] = discoverTools('echo'); [t.id, tools[t.id]({ message: 'hi' })]", args);
    assert.deepEqual(r, ["everything.echo", "Echo: hi"]);
  });
  test("structured content, images, resources", async () => {
    const code = `const names = discoverTools().map((t) => t.id); const out = {};
      for (const [key, part, input] of [["structured", "structured", { location: "New York" }], ["image", "tiny-image", {}], ["image2", "TinyImage", {}]]) {
        const id = names.find((n) => n.toLowerCase().includes(part.toLowerCase())); if (id) out[key] = tools[id](input) }
      out`;
    const r = await value(code, args);
    assert.ok(Object.keys(r).length > 0, "none of the tools is there any more");
    if (r.structured) assert.equal(typeof r.structured.temperature, "number");
    if (r.image) assert.ok(!JSON.stringify(r.image).includes("iVBOR"), "no image bytes in a program");
  });
  test("a long operation with progress is cancelled at the deadline", async () => {
    const find = "const id = discoverTools().map((t) => t.id).find((n) => /long|trigger-long/i.test(n));";
    const end = await program(`${find} output(id ?? "none"); if (id) tools[id]({ duration: 60, steps: 60 }); else for (;;) {}`, [...args, "--timeout", 3000]);
    assert.equal(end.code, 124, end.stderr);
  });
});

describe("server-sequential-thinking", { skip: absent("thinking") }, () => {
  const args = absent("thinking") ? [] : servers(entries(folder(), ["thinking"]));

  test("counts the thoughts of one program", async () => {
    const code = `const think = (thoughtNumber, more) => thinkingSequentialthinking({ thought: "t" + thoughtNumber, thoughtNumber, totalThoughts: 3, nextThoughtNeeded: thoughtNumber < 3, ...more });
      think(1); think(2, { isRevision: true, revisesThought: 1, branchFromThought: 1, branchId: "other" }); think(3)`;
    assert.deepEqual(await value(code, args), { thoughtNumber: 3, totalThoughts: 3, nextThoughtNeeded: false, branches: ["other"], thoughtHistoryLength: 3 });
  });
  test("what its schema does not allow does not reach it", async () => {
    const r = await failure('thinkingSequentialthinking({ thought: "x", thoughtNumber: 0, totalThoughts: 1, nextThoughtNeeded: false })', args);
    assert.match(r.error, /input\.thoughtNumber: must be at least 1, got 0/);
  });
});

describe("git-mcp-server", { skip: absent("git") || (spawnSync("git", ["--version"]).status !== 0 && "git is not there") }, () => {
  const args = absent("git") ? [] : servers(entries(folder(), ["git"]));
  const git = (path, ...more) => execFileSync("git", ["-C", path, ...more], { encoding: "utf8" }).trim();

  test("makes a repository, adds, commits, tells what is there", async () => {
    const path = folder({ "a.txt": "one\n", "b.txt": "two\n" });
    const code = `const path = ${JSON.stringify(path)};
      gitGitInit({ path, initialBranch: "main" });
      const found = gitGitStatus({ path }).untrackedFiles.sort();
      const added = gitGitAdd({ path, paths: ["a.txt"] }).stagedFiles;
      const { commitHash, filesChanged } = gitGitCommit({ path, message: ${JSON.stringify('first: \u00e9\u{1f600} "quoted"\n\nbody')} });
      const { untrackedFiles, isClean, currentBranch } = gitGitStatus({ path });
      const { commits } = gitGitLog({ path });
      ({ found, added, commitHash, filesChanged, untrackedFiles, isClean, currentBranch, log: commits.map((c) => [c.hash, c.author, c.subject]) })`;
    const { commitHash, log, ...rest } = await value(code, args, { limitMs: 60_000 });
    assert.deepEqual(rest, { found: ["a.txt", "b.txt"], added: ["a.txt"], filesChanged: 1, untrackedFiles: ["b.txt"], isClean: false, currentBranch: "main" });
    assert.deepEqual(log, [[commitHash, "Ada", 'first: \u00e9\u{1f600} "quoted"']]);
    assert.equal(git(path, "log", "--format=%H %B"), `${commitHash} first: \u00e9\u{1f600} "quoted"\n\nbody`);
  });
  test("a history read at once, in one program", async () => {
    const path = folder();
    git(path, "init", "-q", "-b", "main");
    const dates = { GIT_AUTHOR_NAME: "A", GIT_AUTHOR_EMAIL: "a@b", GIT_COMMITTER_NAME: "A", GIT_COMMITTER_EMAIL: "a@b" };
    for (let i = 0; i < 4; i++) {
      writeFileSync(join(path, "f.txt"), `${i}\n`);
      git(path, "add", "f.txt");
      execFileSync("git", ["-C", path, "commit", "-q", "-m", `c${i}`], { env: { ...process.env, ...dates } });
    }
    const code = `const path = ${JSON.stringify(path)};
      const { commits } = gitGitLog({ path, maxCount: 20 });
      const shown = await Promise.all(commits.map((c) => gitGitShow({ path, object: c.hash })));
      shown.map((s, i) => [commits[i].subject, /\\\\n\\+(\\d)/.exec(JSON.stringify(s))?.[1]])`;
    assert.deepEqual(await value(code, args, { limitMs: 60_000 }), Array.from({ length: 4 }, (_, i) => [`c${3 - i}`, `${3 - i}`]));
  });
  test("its own errors are a program's to catch", async () => {
    const path = folder();
    const r = await value(`try { gitGitLog({ path: ${JSON.stringify(path)} }) } catch (e) { e.message }`, args);
    assert.match(r, /^Tool "git\.git_log" failed: [^]*not a git repository/);
  });
});

describe("servers that are only listed", { skip: absent("notion", "playwright") }, () => {
  const plugins = ["artifact", "interpreter"].map((name) => ({ name, disabled: true }));
  for (const [name, least, known, property] of [["notion", 20, "notion.API-post-search", "query"], ["playwright", 20, "playwright.browser_navigate", "url"]]) {
    test(name, async () => {
      const end = await run(["tools", "--types", "json", ...servers(entries(folder(), [name]), { plugins })], { limitMs: 60_000 });
      assert.deepEqual([end.code, end.stderr], [0, ""]);
      const tools = JSON.parse(end.stdout);
      assert.ok(tools.length >= least, `${tools.length} tools`);
      for (const tool of tools) assert.equal(tool.inputSchema.type, "object", tool.id);
      assert.ok(property in tools.find((tool) => tool.id === known).inputSchema.properties);
      const ids = tools.map((tool) => tool.id);
      assert.deepEqual(ids, [...ids].sort());
    });
  }
});

describe("together", { skip }, () => {
  test("three servers, one program", async () => {
    const dir = folder({ "n.txt": "a\nb\nc\n" });
    const args = servers({ files: entry("server-filesystem", dir), memory: { ...entry("server-memory"), env: { MEMORY_FILE_PATH: join(folder(), "m.jsonl") } }, everything: entry("server-everything") });
    const code = `const text = filesReadTextFile({ path: "${dir}/n.txt" });
      const lines = (text.content ?? text).trim().split("\\n");
      memoryCreateEntities({ entities: lines.map((name) => ({ name, entityType: "line", observations: [everythingEcho({ message: name })] })) });
      memoryReadGraph().entities.map((e) => e.observations[0])`;
    assert.deepEqual(await value(code, args), ["Echo: a", "Echo: b", "Echo: c"]);
  });
  test("examples/layers.js, as make demo runs it", async () => {
    const end = await run(["run", join(root, "examples/layers.js"), "--config", join(root, "examples/lathe.yaml")],
      { cwd: root, env: { LATHE_DEMO_MEMORY: join(folder(), "memory.jsonl") }, limitMs: 60_000 });
    assert.equal(end.code, 0, end.stderr);
    assert.match(end.stdout, /^base .*stands alone$/m);
    assert.match(end.stdout, /\{"layers":\d+,"edges":\d+\}\n$/);
  });
});
