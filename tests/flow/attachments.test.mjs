// Images and files that go with a message, and images that tools answer with: what the model is sent by each of the three
// APIs, what is refused before anything is sent, and what the next process has of it.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { copyFileSync, mkdirSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { bare, describe, folder, run, scripted, servers, start, test, until } from "./harness.mjs";
import { scriptedModel } from "./model.mjs";
import { serve } from "./server.mjs";

const APIS = { messages: "/messages", responses: "/responses", chat: "" };
const PNG = Buffer.from("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==", "base64");
const PDF = Buffer.from(`%PDF-1.4\n${"1 0 obj <<>> endobj\n".repeat(3)}%%EOF\n`);
const files = () => folder({ "shot.png": PNG, "paper.pdf": PDF, "notes.md": "# Notes\nBuy wörms.\n" });

async function modelOf(api, replies) {
  const model = await scriptedModel(replies);
  const env = { ...model.env, OPENAI_BASE_URL: model.env.OPENAI_BASE_URL + APIS[api] };
  return { ...model, env, say: (message, ...args) => run(["chat", message, ...args], { env }) };
}

/** What a request has of the user's last message, whatever the API: each part as one word. */
const SHAPES = {
  messages: (body) => body.messages.at(-1).content,
  responses: (body) => body.input.at(-1).content,
  chat: (body) => body.messages.at(-1).content,
};
const data = (url, type) => { assert.ok(url.startsWith(`data:${type};base64,`), url.slice(0, 40)); return url.slice(url.indexOf(",") + 1); };
const PARTS = {
  text: (p) => p.text, input_text: (p) => p.text,
  image: (p) => { assert.equal(p.source.type, "base64"); return [p.source.media_type, p.source.data]; },
  document: (p) => [p.source.media_type, p.source.data, p.title],
  image_url: (p) => ["image/png", data(p.image_url.url, "image/png")],
  input_image: (p) => ["image/png", data(p.image_url, "image/png")],
  file: (p) => ["application/pdf", data(p.file.file_data, "application/pdf"), p.file.filename],
  input_file: (p) => ["application/pdf", data(p.file_data, "application/pdf"), p.filename],
};
const read = (parts) => parts.map((p) => PARTS[p.type](p));
const IMAGE = ["image/png", PNG.toString("base64")], PAPER = ["application/pdf", PDF.toString("base64"), "paper.pdf"];

describe("a message with files", { concurrency: 3 }, () => {
  for (const api of Object.keys(APIS)) {
    test(`by ${api}: an image, a PDF and a text; the next message has them, too`, async () => {
      const { say, asked } = await modelOf(api, ["A dot.", "Still a dot."]), at = files();
      const end = await say("What is this?", "--attach", join(at, "shot.png"), `--attach=${join(at, "paper.pdf")}`, "--attach", join(at, "notes.md"));
      assert.equal(end.stdout, "A dot.\n", end.stderr);
      assert.deepEqual(read(SHAPES[api](asked()[0])), ["[Attached: shot.png]", IMAGE, PAPER, "[Attached: notes.md]\n# Notes\nBuy wörms.\n", "What is this?"]);
      assert.equal((await say("Sure?", "-c", "last")).code, 0);
      const earlier = asked()[1].messages ?? asked()[1].input;
      assert.deepEqual(read(earlier.at(-3).content), read(SHAPES[api](asked()[0])));
    });
    test(`by ${api}: an image that a tool answers with`, async () => {
      const shot = { tool: { name: "shot", inputSchema: { type: "object" } }, result: { content: [{ type: "text", text: "the page" }, { type: "image", mimeType: "image/png", data: PNG.toString("base64") }] } };
      const call = (id) => ({ id, name: "page_shot", arguments: {} });
      const { say, asked } = await modelOf(api, [{ calls: [call("one"), call("two")] }, "A dot."]);
      const end = await say("Look", ...servers({ page: scripted([shot]) }, bare));
      assert.equal(end.stdout, "A dot.\n", end.stderr);
      const sent = asked()[1];
      if (api === "chat") {
        const [one, two, shown] = sent.messages.slice(-3);
        assert.deepEqual([one.role, two.role, shown.role], ["tool", "tool", "user"]);
        assert.match(one.content, /the page/);
        assert.deepEqual(read(shown.content), ["What the tools above have answered with:", IMAGE, IMAGE]);
      } else {
        const results = api === "messages" ? sent.messages.at(-1).content.map((block) => block.content) : sent.input.slice(-2).map((item) => item.output);
        assert.equal(results.length, 2);
        for (const parts of results) {
          assert.match(parts[0].text, /the page/);
          assert.deepEqual(read(parts.slice(1)), [IMAGE]);
        }
      }
    });
    test(`by ${api}: image() of a program in mode codex, of a URL and of a result`, async () => {
      const shot = { tool: { name: "shot", inputSchema: { type: "object" } }, result: { content: [{ type: "image", mimeType: "image/png", data: PNG.toString("base64") }] } };
      const input = `image("data:image/png;base64,${PNG.toString("base64")}"); image((await tools.mcp__page__shot({})).content[0]); text("seen");`;
      const { say, asked } = await modelOf(api, [{ calls: [{ id: "e1", name: "exec", input }] }, "A dot."]);
      const end = await say("Look", "-m", "codex", ...servers({ page: scripted([shot]) }, bare));
      assert.equal(end.stdout, "A dot.\n", end.stderr);
      const sent = asked()[1], last = (sent.messages ?? sent.input).at(-1);
      if (api === "chat") {
        assert.deepEqual([sent.messages.at(-2).role, sent.messages.at(-2).tool_call_id, last.role], ["tool", "e1", "user"]);
        assert.deepEqual(read(last.content), ["What the tools above have answered with:", IMAGE, IMAGE]);
        return;
      }
      const [type, id, parts] = api === "messages" ? [last.content[0].type, last.content[0].tool_use_id, last.content[0].content] : [last.type, last.call_id, last.output];
      assert.deepEqual([type, id], [api === "messages" ? "tool_result" : "custom_tool_call_output", "e1"]);
      assert.match(parts[0].text, /^Script completed\n[^]*seen/);
      assert.deepEqual(read(parts.slice(1)), [IMAGE, IMAGE]);
    });
  }
  test("killed while the model answers: the next process sends the same bytes", async () => {
    const { env, asked, count } = await modelOf("messages", [{ text: "A", hang: true }, "A dot."]);
    const first = start(["chat", "What is this?", "--attach", join(files(), "shot.png")], { env });
    await until(() => count() === 1, "it is asked");
    first.child.kill("SIGKILL");
    await first.ended;
    assert.equal((await run(["chat", "-c", "last"], { env, stdin: "" })).stdout, "A dot.\n");
    assert.deepEqual(asked()[1].messages, asked()[0].messages);
  });
  test("of many images the oldest are left out, half of them at once", async () => {
    const { say, asked } = await modelOf("messages", ["Seen."]), at = files();
    const twenty = Array.from({ length: 20 }, () => ["--attach", join(at, "shot.png")]).flat();
    for (const [message, ...more] of [["1"], ["2", "-c", "last"], ["3", "-c", "last", "--attach", join(at, "shot.png")]]) assert.equal((await say(message, ...more, ...(message < 3 ? twenty : []))).code, 0);
    const images = (body) => body.messages.flatMap((m) => m.content).filter((block) => block.type === "image").length;
    assert.deepEqual(asked().map(images), [20, 40, 20]);
    assert.match(JSON.stringify(asked()[2].messages[0]), /shot\.png \(image\/png, \d+ bytes\): left out, later ones took its place/);
  });
});

describe("a model that does not take them", () => {
  test("is told what is left out: by its configuration, and by its name", async () => {
    for (const [model, more] of [["m", { images: false }], ["openai/gpt-oss-20b", {}]]) {
      const { env, asked } = await modelOf("chat", ["I cannot see it."]);
      const conf = servers({}, { models: [{ ref: "normal", model, baseUrl: env.OPENAI_BASE_URL, ...more }] });
      assert.equal((await run(["chat", "What?", "--attach", join(files(), "shot.png"), ...conf], { env })).code, 0);
      assert.match(asked()[0].messages.at(-1).content[0].text, /^\[Attached: shot\.png \(image\/png, 70 bytes\): left out, this model takes no images\]$/);
    }
  });
  test("or by its provider's refusal: it is asked once more, without", async () => {
    const { say, asked } = await modelOf("chat", [{ status: 500, text: "image input is not supported - hint: if this is unexpected, you may need to provide the mmproj" }, "I cannot see it."]);
    const end = await say("What?", "--attach", join(files(), "shot.png"));
    assert.equal(end.stdout, "I cannot see it.\n", end.stderr);
    assert.match(asked()[1].messages.at(-1).content[0].text, /left out, this model takes no images/);
  });
});

describe("what is refused before anything is sent", () => {
  test("files that are none, and images that are none: what to do, and exit code 2", async () => {
    const { say, count } = await modelOf("chat", ["no"]), at = files();
    mkdirSync(join(at, "folder.png"));
    assert.equal(spawnSync("mkfifo", [join(at, "pipe")]).status, 0);
    symlinkSync("gone.png", join(at, "link.png"));
    symlinkSync("shot.png", join(at, "good-link.png"));
    writeFileSync(join(at, "page.png"), "<html>not found</html>");
    writeFileSync(join(at, "half.png"), PNG.subarray(0, 12));
    writeFileSync(join(at, "program"), Buffer.from([0x7f, 0x45, 0x4c, 0x46, 0, 1, 2]));
    writeFileSync(join(at, "latin.txt"), Buffer.from([0x66, 0xfc, 0x72]));
    writeFileSync(join(at, "empty"), "");
    writeFileSync(join(at, "long.txt"), "x".repeat(600_000));
    writeFileSync(join(at, "huge.png"), PNG);
    truncateSync(join(at, "huge.png"), 5_000_000);
    writeFileSync(join(at, "sparse"), "");
    truncateSync(join(at, "sparse"), 1 << 30);
    for (const [name, words] of [
      ["missing", /cannot attach .*missing: No such file/], ["folder.png", /it is a folder; attach its files/], ["pipe", /it is no file/], ["/dev/zero", /it is no file/],
      ["link.png", /it is a link, and what it names is not there/], ["page.png", /named like an image or a PDF, and its content is none/], ["half.png", /named like an image/],
      ["program", /models take images .* convert it/], ["latin.txt", /texts in UTF-8/], ["empty", /the file is empty/], ["long.txt", /a text may have 512 KiB/],
      ["huge.png", /an image may have 3\.75 MiB/], ["sparse", /it has 1073741824 bytes/],
    ]) {
      const end = await say("look", "--attach", name.startsWith("/") ? name : join(at, name));
      assert.match(end.stderr, words);
      assert.equal(end.code, 2, name);
    }
    const many = await say("look", ...Array.from({ length: 21 }, () => ["--attach", join(at, "notes.md")]).flat());
    assert.match(many.stderr, /a message may have 20 attachments; send several messages/);
    assert.equal(count(), 0);
    assert.equal((await say("look", "--attach", join(at, "good-link.png"))).code, 0);
  });
});

test("in the dialogue: @FILE, with what stands behind it, in quotes; other words with an @ are text", async () => {
  const { env, asked } = await modelOf("chat", ["Seen."]), at = files();
  writeFileSync(join(at, "my notes.md"), "Mine.");
  const chat = start(["chat"], { env, cwd: at, terminal: true });
  chat.type('Compare @shot.png, @"my notes.md" and @no/such.md with me@example.com and @alice\r');
  await until(() => chat.text().includes("Seen."), chat.text);
  chat.type("\x04");
  await chat.ended;
  assert.match(chat.text(), /attached shot\.png \(image\/png, 70 bytes\)[^]*attached my notes\.md \(text\/plain, 5 bytes\)[^]*no file no\/such\.md: it is sent as text/);
  assert.deepEqual(read(asked()[0].messages.at(-1).content), ["[Attached: shot.png]", IMAGE, "[Attached: my notes.md]\nMine.", 'Compare @shot.png, @"my notes.md" and @no/such.md with me@example.com and @alice']);
});

test("in the dialogue: images that are dropped on the terminal, or pasted as a path", async () => {
  const { env, asked } = await modelOf("chat", ["Seen.", "Read."]), at = files();
  copyFileSync(join(at, "shot.png"), join(at, "a 'b' ä.PNG"));
  const pasted = (text) => `\x1b[200~${text}\x1b[201~`, address = encodeURI(`file://${at}/a 'b' ä.PNG`);
  const chat = start(["chat"], { env: { ...env, TERM: "xterm" }, cwd: at, terminal: true });
  await until(() => chat.text().includes("> "), chat.text);
  chat.type(`Look:${pasted(`'${at}/shot.png' ${at}/a\\ \\'b\\'\\ ä.PNG`)}${pasted(`${address}\n`)}\r`);
  await until(() => chat.text().includes("Seen."), chat.text);
  chat.type(`${pasted(`${at}/none.png`)}, ${pasted(`${at}/notes.md`)}, ${pasted(`see ${at}/shot.png`)}, ${pasted("file://%00.png")}\r`);
  await until(() => chat.text().includes("Read."), chat.text);
  chat.type("\x04");
  await chat.ended;
  const sent = asked().map(({ messages }) => messages.at(-1).content), first = sent[0], second = sent.find((content) => content.includes("none.png")); // the title is asked for in between
  assert.deepEqual(read(first), ["[Attached: shot.png]", IMAGE, "[Attached: a 'b' ä.PNG]", IMAGE, "[Attached: a 'b' ä.PNG]", IMAGE, `Look: @${at}/shot.png @"${at}/a 'b' ä.PNG"  @"${at}/a 'b' ä.PNG"`]);
  assert.equal(second, `${at}/none.png, ${at}/notes.md, see ${at}/shot.png, file://%00.png`);
});

test("over HTTP: attachments of POST /prompt, and what is wrong with them", async (t) => {
  const { env, asked } = await modelOf("messages", ["Seen."]);
  const server = await serve({}, { env });
  t.after(() => server.stop());
  const attachments = [{ name: "../../etc/shot.png", data: PNG.toString("base64") }, { name: "notes.md", text: "Buy wörms." }];
  const { status, json } = await server.post("/prompt", { input: "What is this?", attachments });
  assert.equal(status, 200);
  const prompt = await server.prompt(json.promptId);
  assert.deepEqual(read(asked()[0].messages.at(-1).content), ["[Attached: shot.png]", IMAGE, "[Attached: notes.md]\nBuy wörms.", "What is this?"]);
  assert.deepEqual(prompt.attachments.map(({ id, ...rest }) => rest), [{ name: "shot.png", mimeType: "image/png", bytes: 70 }, { name: "notes.md", mimeType: "text/plain", bytes: 11 }]);
  const kept = await server.get(`/artifacts/${prompt.attachments[0].id}`);
  assert.equal(kept.status, 200);
  for (const [wrong, words] of [
    [[{ name: "a.png", data: Buffer.from("<html>").toString("base64") }], /attachment \"a\.png\": it is named like an image/], [[{ name: "a" }], /either `data` \(base64\) or `text`/],
    [[{ name: "a", data: "!!" }], /the file is empty/], [[{ name: "a", text: "x\0y" }], /it is none of them/], [Array(21).fill({ name: "a", text: "b" }), /at most 20/], ["a.png", /attachments/],
  ]) {
    const { status, json } = await server.post("/prompt", { input: "go", attachments: wrong });
    assert.equal(status, 400, JSON.stringify(wrong).slice(0, 80));
    assert.match(JSON.stringify(json), new RegExp(words.source.replaceAll('\\"', '\\\\"')));
  }
  assert.doesNotMatch(JSON.stringify(asked()), /"go"/);
});
