// What comes to the page of lathe serve while a person watches, in a real browser: a program that is being written, pictures and files,
// what a prompt costs, a change of a file before it is allowed, and the wait for that in the chart.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { before } from "node:test";
import { closePage, openPage, pageTest } from "./browser.mjs";
import { describe, folder, root, scripted, test, until } from "./harness.mjs";
import { recorded } from "./model.mjs";
import { serve } from "./server.mjs";

const LONG = `${Array.from({ length: 12 }, (_, i) => `const step${i} = ${i};`).join("\n")}\noutput("Written."); done()`;
const turns = [
  { user: "long", replies: [{ text: `\`\`\`js\n${LONG}\n\`\`\`` }] },
  { user: "picture", replies: ["camShot({}); camNotes({}); output('Taken.'); done()"] },
  { user: "write", replies: ["diskWriteFile({ path: 'a.txt', content: 'one\\nthree\\n' }); output('written'); done()"] },
  { user: "again", replies: ["output('It was yesterday.'); done()"] },
  { user: "hello", replies: ["output('Hello!'); done()"] },
];
// One red point.
const PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGP4z8AAAAMBAQDJ/pLvAAAAAElFTkSuQmCC";

let env;
let slowly;
before(async () => {
  env = await recorded(turns, { title: "A title" });
  slowly = await recorded(turns, { title: "A title" }, "--pace=25");
});

async function say(page, message) {
  await page.getByLabel("Message").fill(message);
  await page.keyboard.press("Control+Enter");
}
const ended = (page) => page.locator(".prompt").last().locator(".prompt-foot", { hasText: "Done" }).waitFor();

test("a chart is to scale; where waiting for a person is most of it, waits alone are drawn shorter, and nothing changes its order", async () => {
  const source = readFileSync(join(root, "src/serve/page/time_scale.js"));
  const { spanOf, timeScale } = await import(`data:text/javascript;base64,${source.toString("base64")}`);
  const at = (ms) => new Date(1_000_000 + ms).toISOString();
  const spans = (...calls) => calls.map(([start, end, decided]) => spanOf({ start: at(start), end: at(end), ...(decided && { decided: at(decided) }) }, 0));
  const plain = timeScale(spans([0, 500], [250, 1000]), 1_000_000, 1_001_000);
  assert.deepEqual([0, 250, 500, 1000].map((ms) => plain.place(1_000_000 + ms)), [0, 0.25, 0.5, 1]);
  assert.equal(plain.isShortened, false);
  // One second of work, an hour of waiting, one second of work.
  const hour = 3_600_000;
  const long = timeScale(spans([0, 1000], [1000, hour + 2000, hour + 1000]), 1_000_000, 1_000_000 + hour + 2000);
  const places = [0, 500, 1000, 1000 + hour, 1500 + hour, 2000 + hour].map((ms) => long.place(1_000_000 + ms));
  assert.equal(long.isShortened, true);
  assert.deepEqual(places, [...places].sort((a, b) => a - b));
  const close = (a, b) => assert.ok(Math.abs(a - b) < 1e-6, `${a} is not ${b}: ${places}`);
  close(places[1] - places[0], places[4] - places[3]); // work has one scale
  close(places[3] - places[2], 0.35);
  close(places[5], 1);
});

describe("live", { concurrency: 2 }, () => {
  pageTest("a program is seen while it is written, and becomes the program that runs, in its place", async () => {
    const s = await serve({}, { env: slowly });
    const page = await openPage(s);
    await say(page, "long");
    await page.getByText("Writing a program…").waitFor();
    const lines = page.locator(".card.program .line");
    const first = await lines.count();
    await until(async () => (await lines.count()) > first + 2, "it grows");
    assert.equal(await lines.first().textContent(), "const step0 = 0;\n", "without its fence");
    await page.locator(".card.program").evaluate((card) => (card.isTheSame = true));
    await ended(page);
    assert.equal(await page.locator(".card.program").count(), 1);
    assert.equal(await page.locator(".card.program").evaluate((card) => card.isTheSame), true);
    assert.equal((await lines.allTextContents()).join(""), `${LONG}\n`);
    assert.equal(await page.getByText("Writing a program…").count(), 0);
    await closePage(page);
    await s.stop();
  });

  pageTest("two windows show the same prompt, and one that is opened later, too", async () => {
    const s = await serve({}, { env });
    const page = await openPage(s);
    await say(page, "hello");
    await ended(page);
    const other = await page.context().newPage();
    await other.goto(`${s.url}/#/c/%`); // cut off
    await other.getByRole("heading", { name: "What should be done?" }).waitFor();
    await other.goto(page.url());
    await other.locator(".text", { hasText: "Hello!" }).waitFor();
    await say(page, "hello");
    await other.locator(".text").nth(1).waitFor();
    await ended(other);
    assert.equal(await other.locator(".prompt").count(), 2);
    await closePage(page);
    await s.stop();
  });

  pageTest("a picture is shown, and a file is downloaded with its bytes", async () => {
    const image = { content: [{ type: "image", mimeType: "image/png", data: PNG }] };
    const svg = { content: [{ type: "image", mimeType: "image/svg+xml", data: Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"/>').toString("base64") }] };
    const tool = (name, result) => ({ tool: { name, inputSchema: { type: "object" } }, result });
    const s = await serve({ mcpServers: { cam: scripted([tool("shot", image), tool("notes", svg)]) } }, { env });
    const page = await openPage(s);
    await say(page, "picture");
    await ended(page);
    const picture = page.locator(".file img");
    await until(() => picture.evaluate((one) => one.naturalWidth === 1), "the picture is there");
    assert.match(await picture.getAttribute("src"), /^blob:/);
    // What could run is a download and no picture.
    assert.equal(await page.locator(".file").count(), 2);
    const file = page.locator(".file", { hasText: "image/svg+xml" });
    const [download] = await Promise.all([page.waitForEvent("download"), file.getByRole("button", { name: "Download" }).click()]);
    const place = `${folder()}/file`;
    await download.saveAs(place);
    assert.match(readFileSync(place, "utf8"), /^<svg/);
    await closePage(page);
    await s.stop();
  });

  pageTest("a change of a file is shown as lines before it is allowed, the wait is a gap in the chart, and the prompt has its price", async () => {
    const read = { tool: { name: "read_file", annotations: { readOnlyHint: true }, inputSchema: { type: "object", properties: { path: { type: "string" } }, required: ["path"] } }, result: { content: [{ type: "text", text: "one\ntwo\n" }] } };
    const write = { tool: { name: "write_file", inputSchema: { type: "object", properties: { path: { type: "string" }, content: { type: "string" } }, required: ["path", "content"] } } };
    const s = await serve({
      mcpServers: { disk: scripted([read, write]) },
      tools: { policy: [{ match: "disk.write_file", action: "ask" }] },
      models: [{ ref: "normal", model: "recorded", baseUrl: env.OPENAI_BASE_URL, price: { input: 1000, output: 1000 } }],
    }, { env });
    const page = await openPage(s);
    await say(page, "write");
    const question = page.getByRole("region", { name: "Question about disk.write_file" });
    await question.locator(".diff-line.added", { hasText: "+three" }).waitFor();
    await question.locator(".diff-line.removed", { hasText: "-two" }).waitFor();
    // It has not run: its row has a gap that grows, and no bar.
    const row = page.locator(".row", { hasText: "write_file" });
    await until(() => row.locator(".wait").evaluate((one) => one.getBoundingClientRect().width > 20), "the gap is seen");
    assert.equal(await row.locator(".bar").isVisible(), false);
    await question.getByRole("button", { name: "Approve", exact: true }).click();
    await ended(page);
    // Afterwards the gap ends where the bar begins, also for who comes later.
    for (const again of [false, true]) {
      if (again) await page.reload();
      const at = (part) => row.locator(part).evaluate((one) => one.getBoundingClientRect().toJSON());
      await row.locator(".wait").waitFor();
      const [wait, bar] = await Promise.all([at(".wait"), at(".bar")]);
      assert.ok(wait.width > 0 && Math.abs(wait.right - bar.left) <= 4, JSON.stringify([wait, bar]));
    }
    const { usage } = await s.prompt(await page.locator(".prompt").getAttribute("data-prompt"));
    const usd = `$${(usage.totalTokens / 1000).toFixed(usage.totalTokens < 1000 ? 3 : 2)}`;
    assert.match(await page.locator(".prompt-foot").innerText(), new RegExp(`\\${usd}`));
    assert.match(await page.locator(".figures").innerText(), new RegExp(`\\${usd}`));
    await closePage(page);
    await s.stop();
  });

  pageTest("a conversation is found by a word of its answer, with the keyboard", async () => {
    const s = await serve({}, { env });
    for (const input of ["hello", "again", "hello"]) await s.prompt((await s.post("/prompt", { input, mode: "code" })).json.promptId);
    const page = await openPage(s);
    const list = page.locator(".conversations li");
    await until(async () => (await list.count()) === 3, "three are listed");
    await page.locator("#main").focus();
    await page.keyboard.press("/");
    await page.keyboard.type("yesterday");
    await until(async () => (await list.count()) === 1, "one is found");
    await page.keyboard.press("Tab");
    await page.keyboard.press("Enter");
    await page.locator(".text", { hasText: "yesterday" }).waitFor();
    await page.keyboard.press("/"); // in the message it is a sign like others
    assert.equal(await page.getByLabel("Message").inputValue(), "/");
    await page.getByLabel("Search conversations").press("Escape");
    await until(async () => (await list.count()) === 3, "all are listed again");
    await closePage(page);
    await s.stop();
  });

  pageTest("a long conversation is read from its end, and its beginning when it is wanted", async () => {
    const s = await serve({}, { env });
    const first = (await s.post("/prompt", { input: "hello", mode: "code" })).json;
    await s.prompt(first.promptId);
    for (let i = 0; i < 51; i++) {
      const { json } = await s.post("/prompt", { input: "again", mode: "code", conversationId: first.conversationId });
      await s.prompt(json.promptId);
    }
    const page = await openPage(s, { hash: `#/c/${first.conversationId}` });
    const prompts = page.locator(".prompt");
    await until(async () => (await prompts.count()) === 50, "the last ones are there");
    await page.getByRole("button", { name: "Show earlier prompts" }).click();
    await until(async () => (await prompts.count()) === 52, "all are there");
    assert.match(await prompts.first().innerText(), /hello/);
    assert.equal(await page.getByRole("button", { name: "Show earlier prompts" }).isVisible(), false);
    await closePage(page);
    await s.stop();
  });
});
