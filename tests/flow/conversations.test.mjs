// lathe conversations and lathe artifacts: what was said and stored, without a model and without servers.
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { before } from "node:test";
import { config, describe, folder, prints, program, run, scripted, start, test, until } from "./harness.mjs";
import { recorded, scriptedModel } from "./model.mjs";

let env;
before(async () => {
  env = await recorded([
    { user: "first\nof two lines", replies: ["output('one'); try { bankLook({ n: 1 }) } catch (e) {} done()"] },
    { user: "second", replies: ["output('two \\x1b[31mred'); done()"] },
    { user: "pay", replies: ["bankPay({}); done()"] },
  ]);
});

function world() {
  const dir = folder();
  const tool = (name, annotations) => ({ tool: { name, inputSchema: { type: "object" }, annotations } });
  const args = ["--config", config({
    store: `sqlite:${join(dir, "lathe.db")}`,
    mcpServers: { bank: scripted([tool("look", { readOnlyHint: true }), tool("pay")]) },
    tools: { policy: [{ match: "bank.pay", action: "ask" }] },
  })];
  const lathe = (...words) => run([...words, ...args], { env });
  const chat = async (...more) => {
    const end = await lathe("chat", "-m", "code", ...more);
    assert.equal(end.code, 0, end.stderr);
    return /conversation ([0-9a-f]{32})/.exec(end.stderr)?.[1];
  };
  return { args, lathe, chat };
}
const SEE = "; see lathe conversations --help\n";

describe("conversations", { concurrency: 2 }, () => {
  test("are listed and shown: messages, answers, calls", async () => {
    const w = world();
    const id = await w.chat("first\nof two lines");
    const list = await w.lathe("conversations");
    assert.match(list.stdout, new RegExp(`^${id}  \\d{4}-\\d\\d-\\d\\d \\d\\d:\\d\\d +1  first of two lines\\n$`));
    assert.equal((await w.lathe("conversations", "list")).stdout, list.stdout);
    for (const name of [id, id.slice(0, 8), "last"]) {
      const show = await w.lathe("conversations", "show", name);
      assert.equal(show.code, 0, show.stderr);
      assert.match(show.stdout, /^> first\n> of two lines\n  code\.execute [^\n]*\none\n  bank\.look \{"n":1\}\n$/);
    }
    const json = JSON.parse((await w.lathe("conversations", "show", id, "--json")).stdout);
    assert.deepEqual([json.length, json[0].input, json[0].state], [1, "first\nof two lines", "completed"]);
  });
  test("those with a text are found; letters may have either case", async () => {
    const w = world();
    const first = await w.chat("first\nof two lines"), second = await w.chat("second");
    for (const [text, id] of [["OF TWO", first], ["one", first], ["\x1b[31mred", second]]) {
      assert.match((await w.lathe("conversations", "search", text)).stdout, new RegExp(`^${id}[^\\n]*\\n$`), text);
    }
    assert.equal(JSON.parse((await w.lathe("conversations", "search", "second", "--json")).stdout)[0].id, second);
    const none = await w.lathe("conversations", "search", "no\x1b[31mthing");
    assert.deepEqual([none.code, none.stdout, none.stderr], [1, "", 'lathe conversations: no conversation has "nothing" in its title, a message or an answer\n']);
    assert.equal((await w.lathe("conversations", "search", "")).code, 2);
  });
  test("one is exported as Markdown and as JSON", async () => {
    const w = world();
    const id = await w.chat("first\nof two lines");
    const end = await w.lathe("conversations", "export", id);
    assert.deepEqual([end.code, end.stderr], [0, ""]);
    assert.equal(end.stdout, "> first\n> of two lines\n\n```js\noutput('one'); try { bankLook({ n: 1 }) } catch (e) {} done()\n```\n\n- the program\n\none\n\n- `bank.look {\"n\":1}`\n\n");
    const json = JSON.parse((await w.lathe("conversations", "export", "last", "--json")).stdout);
    assert.deepEqual([json.conversation.id, json.prompts.map((one) => one.input)], [id, ["first\nof two lines"]]);
  });
  test("a terminal gets no control characters of what was said", async () => {
    const w = world();
    await w.chat("second");
    const show = await run(["conversations", "show", "last", ...w.args], { env, terminal: true });
    assert.match(show.stdout, /two .*\[31mred/);
    assert.doesNotMatch(show.stdout, /\x1b\[31m/);
  });
  test("one is deleted with what belongs to it; the others stay", async () => {
    const w = world();
    const first = await w.chat("first\nof two lines"), second = await w.chat("second");
    const end = await w.lathe("conversations", "delete", first.slice(0, 10));
    assert.deepEqual([end.code, end.stderr], [0, `deleted the conversation ${first}; its artifacts stay\n`]);
    assert.match((await w.lathe("conversations")).stdout, new RegExp(`^${second}[^\\n]*\\n$`));
    const gone = await w.lathe("conversations", "show", first);
    assert.deepEqual([gone.code, gone.stdout], [1, ""]);
    assert.match(gone.stderr, /^lathe conversations: no conversation begins with/);
    assert.match((await w.lathe("store")).stdout, /\nconversations +1 /);
  });
  test("one that waits for approval is not deleted", async () => {
    const w = world();
    const one = start(["chat", "-m", "code", "pay", ...w.args], { env, terminal: true });
    await until(() => /ne\[v\]er: /.test(one.text()), "it is asked");
    const alive = await w.lathe("conversations", "delete", "last");
    assert.deepEqual([alive.code, alive.stdout], [2, ""]);
    assert.match(alive.stderr, /a prompt of the conversation [0-9a-f]{32} has not ended: wait for it, or cancel it/);
    one.child.kill("SIGKILL");
    await one.ended;
    assert.equal((await w.lathe("conversations", "delete", "last")).code, 2);
    assert.match((await w.lathe("conversations", "show", "last")).stdout, /bank\.pay \{\}  has not ended\n  \(waiting_for_approval\)\n$/);
  });
  test("/undo takes the last message and its answer from what the model is told, a summary of them, lists and exports, for good", async () => {
    const { env: own, asked } = await scriptedModel(["One.", "Two.", "All of that.", "Three.", "Title", "Four."]);
    const say = async (...words) => assert.equal((await run(["chat", ...words], { env: own })).code, 0);
    const file = join(folder(), "talk.md");
    await say("red");
    await say("green", "-c", "last");
    const talk = start(["chat", "-c", "last"], { env: { ...own, TERM: "xterm" }, terminal: true });
    for (const [typed, shown] of [["/undo 2", "one message: say it again"], ["/compact", "All of that\\."], [`/export ${file}`, "The conversation is in"], ["/undo", 'Taken back: "green" and its answer\\. What its calls have done is not undone\\.'],
      ["blue", "Three\\."], ["/history", "red\\s+One\\.\\s[^]{0,20}blue\\s+Three\\."]]) {
      await until(() => /2004h> $/.test(talk.text()), `there is a prompt for ${typed}`);
      talk.type(`${typed}\n`);
      await until(() => new RegExp(`${shown}[^]*2004h> $`).test(talk.text()), shown);
    }
    talk.type("\x04");
    assert.equal((await talk.ended).code, 0);
    assert.match(readFileSync(file, "utf8"), /^> red\n\nOne\.\n\n> green\n\nTwo\.\n\n---\n\n\*From here on the model is told this summary of what stands above:\*\n\nAll of that\.\n\n---\n\n$/);
    await say("pink", "-c", "last");
    const told = (i) => asked()[i].messages.filter((m) => m.role !== "system").map((m) => m.content);
    assert.deepEqual([told(1), told(3), told(5)], [["red", "One.", "green"], ["red", "One.", "blue"], ["red", "One.", "blue", "Three.", "pink"]]);
    assert.equal((await run(["conversations", "export", "last"], { env: own })).stdout, "# Title\n\n> red\n\nOne.\n\n> blue\n\nThree.\n\n> pink\n\nFour.\n\n");
    assert.equal((await run(["replay", "last"], { env: own })).code, 0);
  });
  for (const [words, message] of [
    [["show"], `show wants a conversation's id, its beginning, or "last"${SEE}`],
    [["burn", "x"], `say list, show ID, search TEXT, export ID or delete ID${SEE}`],
    [["list", "x"], `say list, show ID, search TEXT, export ID or delete ID${SEE}`],
  ]) {
    test(`usage: ${words.join(" ")}`, async () => {
      prints(await run(["conversations", ...words]), { stderr: `lathe conversations: ${message}`, code: 2 });
    });
  }
});

describe("artifacts", () => {
  test("are listed, and each comes back as it was stored", async () => {
    const w = world();
    await program("storeArtifact({ a: [1, 'ü'] }, 'an object'); storeArtifact('a text')", w.args);
    const list = await w.lathe("artifacts");
    assert.match(list.stdout, /^[0-9a-f]{32}  \d{4}-\d\d-\d\d +8  application\/json  .*\n[0-9a-f]{32}  .*an object\n$/);
    const ids = list.stdout.match(/^[0-9a-f]{32}/gm);
    assert.equal((await w.lathe("artifacts", "get", ids[1])).stdout, '{"a":[1,"ü"]}\n');
    assert.equal(JSON.parse((await w.lathe("artifacts", "get", ids[1], "--json")).stdout).description, "an object");
    assert.deepEqual(JSON.parse((await w.lathe("artifacts", "list", "--json")).stdout).map((a) => a.id), ids);
  });
  test("an image is written byte for byte, and not to a terminal", async () => {
    const bytes = Buffer.from([0x89, 0x50, 0, 255, 10, 13]);
    const result = { content: [{ type: "image", mimeType: "image/png", data: bytes.toString("base64") }] };
    const dir = folder();
    const args = ["--config", config({ store: `sqlite:${join(dir, "lathe.db")}`, mcpServers: { cam: scripted([{ tool: { name: "shot", inputSchema: { type: "object" } }, result }]) } })];
    await program("camShot({})", args);
    const [id] = (await run(["artifacts", ...args])).stdout.match(/^[0-9a-f]{32}/m);
    assert.deepEqual((await run(["artifacts", "get", id, ...args])).bytes, bytes);
    const shown = await run(["artifacts", "get", id, ...args], { terminal: true });
    assert.match(shown.stdout, /the artifact is no text: write it to a file, with -o FILE/);
    const path = join(dir, "shot.png"), get = (...more) => run(["artifacts", "get", id, ...more, ...args]);
    assert.deepEqual([(await get("-o", path)).code, readFileSync(path)], [0, bytes]);
    assert.deepEqual((await get("-o", "-")).bytes, bytes);
    assert.match((await run(["artifacts", "get", id, "-o", "-", ...args], { terminal: true })).stdout, /no text/);
    writeFileSync(path, "mine");
    const kept = await get("-o", path);
    assert.deepEqual([kept.code, kept.stderr, readFileSync(path, "utf8")], [2, `lathe artifacts: ${path} exists already: --force replaces it\n`, "mine"]);
    assert.deepEqual([(await get("-o", path, "--force")).code, readFileSync(path)], [0, bytes]);
    assert.match((await get("-o", join(dir, "none/shot.png"))).stderr, /cannot make .*none\/shot\.png: No such file/);
    for (const words of [["list", "-o", path], ["get", id, "--force"]]) assert.equal((await run(["artifacts", ...words, ...args])).code, 2);
  });
  test("an id that does not exist; words that are none", async () => {
    const w = world();
    await program("storeArtifact(1)", w.args);
    const none = await w.lathe("artifacts", "get", "abc");
    assert.deepEqual([none.code, none.stdout], [1, ""]);
    assert.match(none.stderr, /^lathe artifacts: there is no artifact "abc"/);
    for (const words of [["get"], ["list", "x"], ["put", "x"]]) assert.equal((await w.lathe("artifacts", ...words)).code, 2);
  });
  test("without a database nothing is made", async () => {
    const end = await run(["artifacts"]);
    assert.deepEqual([end.code, end.stdout], [1, ""]);
    assert.match(end.stderr, /there is no database yet/);
  });
});
