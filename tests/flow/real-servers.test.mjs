// Real MCP servers, as npm has them: filesystem, memory, everything.
import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { failure, folder, program, report, root, run, servers, value } from "./harness.mjs";

const at = (name) => join(root, "node_modules/@modelcontextprotocol", name);
const missing = ["server-filesystem", "server-memory", "server-everything"].filter((name) => !existsSync(at(name)));
const skip = missing.length > 0 && `npm ci has not been run: ${missing.join(", ")} not in node_modules`;
const entry = (name, ...args) => {
  const bin = JSON.parse(readFileSync(join(at(name), "package.json"), "utf8")).bin;
  return { command: process.execPath, args: [join(at(name), typeof bin === "string" ? bin : Object.values(bin)[0]), ...args] };
};

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
    assert.match((await failure("filesReadTextFile({ path: 5 })", args)).error, /input\.path: expected string, got/);
    assert.match((await failure("filesReadTextFile({})", args)).error, /input\.path: is required/);
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
  test("every tool has declarations in every form", async () => {
    for (const types of ["ts", "python", "json", "prompt"]) {
      const end = await run(["tools", "--types", types, ...args]);
      assert.equal(end.code, 0);
      assert.match(end.stdout, /[eE]cho/);
    }
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
