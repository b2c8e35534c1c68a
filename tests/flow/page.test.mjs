// The page of lathe serve in a real browser: what a person does with it, from the first message to a server that was killed.
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { request } from "node:http";
import { join } from "node:path";
import { before } from "node:test";
import { gunzipSync } from "node:zlib";
import { closePage, openPage, pageTest } from "./browser.mjs";
import { describe, folder, recording, scripted, test, until } from "./harness.mjs";
import { recorded, scriptedModel } from "./model.mjs";
import { serve } from "./server.mjs";

const LOOK = `const all = await Promise.all([shopLook({ n: 1 }), shopLook({ n: 2 })]);
const last = await shopLook({ n: 3 });
output("Found **" + all.length + "**\\n\\n| n |\\n|---|\\n| " + all[0].n + " |\\n\\n[a](https://lathe.example/a) ![picture](https://evil.example/p.png) [b](javascript:alert(1))\\n\\n<img src=x onerror=\\"alert(1)\\">");
done();`;
const PAY = "let r = 'none';\ntry { r = cashPay({ n: 1 }).n } catch (e) { r = e.message }\noutput('paid ' + r); done()";
const turns = [
  { user: "hello", replies: ["output('Hello!'); done()"] },
  { user: "look", replies: [LOOK] },
  { user: "pay", replies: [PAY] },
  { user: "pay twice", replies: ["output('paid ' + cashPay({ n: 1 }).n + ' and ' + cashPay({ n: 2 }).n); done()"] },
  { user: "never", replies: ["shopNever({ n: 1 }); done()"] },
];

let env;
before(async () => {
  env = await recorded(turns, { title: "A title" });
});

/** As it stands on the wire: fetch would uncompress it. */
const wire = (url, headers = {}) => new Promise((done, no) => {
  request(url, { headers }, (answer) => {
    const parts = [];
    answer.on("data", (part) => parts.push(part)).on("end", () => done({ status: answer.statusCode, headers: answer.headers, body: Buffer.concat(parts) }));
  }).on("error", no).end();
});

test("the page's files are compressed, known again by their ETag, and under a strict policy", async () => {
  const s = await serve({}, { env });
  const gzip = { "accept-encoding": "gzip, br" };
  const page = await wire(`${s.url}/`, gzip);
  assert.deepEqual([page.status, page.headers["content-type"], page.headers["content-encoding"], page.headers["cache-control"]], [200, "text/html; charset=utf-8", "gzip", "no-cache"]);
  const hash = "'sha256-[\\w+/]{43}='";
  assert.match(page.headers["content-security-policy"], new RegExp(`^default-src 'none'; script-src 'self' ${hash}; style-src 'self' ${hash};.*frame-ancestors 'none'$`));
  assert.equal(page.headers["referrer-policy"], "no-referrer");
  const html = gunzipSync(page.body).toString();
  assert.match(html, /^<!doctype html>/);
  assert.deepEqual([...html.matchAll(/<(script|style|link)\b/g)].map(([, name]) => name), ["link", "style", "script"], "an icon, one style, one script");
  for (const [, name] of html.matchAll(/(?:src|href)="(page\/[^"]+)"/g)) {
    const file = await wire(`${s.url}/${name}`, gzip);
    assert.deepEqual([file.status, file.headers["content-encoding"]], [200, "gzip"], name);
    const again = await wire(`${s.url}/${name}`, { ...gzip, "if-none-match": file.headers.etag });
    assert.deepEqual([again.status, again.body.length], [304, 0], name);
  }
  assert.equal((await wire(`${s.url}/page/markdown.js`)).status, 406);
  // A window that another site has opened is cut off from it; one that a person opened has nobody to be cut off from.
  const opener = async (site) => (await wire(`${s.url}/`, { ...gzip, ...site && { "sec-fetch-site": site, "sec-fetch-mode": "navigate" } })).headers["cross-origin-opener-policy"];
  assert.deepEqual(await Promise.all(["none", "same-origin", "same-site", "cross-site", undefined].map(opener)), [undefined, undefined, "same-origin", "same-origin", "same-origin"]);
  for (const name of ["nothing.js", "..%2fserve.c", "main.js/x"]) assert.equal((await wire(`${s.url}/page/${name}`, gzip)).status, 404, name);
  await s.stop();
});

test("--page FOLDER serves files as they are now, the embedded ones where it has none, and nothing outside", async () => {
  const place = folder({ "main.js": "// first", "secret.txt": "no page's file" });
  const s = await serve({}, { env, more: ["--page", place] });
  const gzip = { "accept-encoding": "gzip" };
  const first = await wire(`${s.url}/page/main.js`, gzip);
  assert.deepEqual([first.status, first.body.toString(), first.headers["content-type"]], [200, "// first", "text/javascript; charset=utf-8"]);
  writeFileSync(join(place, "main.js"), "// second");
  assert.equal((await wire(`${s.url}/page/main.js`)).body.toString(), "// second");
  assert.equal((await wire(`${s.url}/page/markdown.js`, gzip)).headers["content-encoding"], "gzip");
  for (const name of ["secret.txt", "..%2flathe.yaml", "..%2f..%2fetc%2fpasswd", ".hidden.js"]) assert.equal((await wire(`${s.url}/page/${name}`, gzip)).status, 404, name);
  await s.stop();
});

/** Writes a message and sends it by the keyboard. */
async function say(page, message) {
  await page.getByLabel("Message").fill(message);
  await page.keyboard.press("Control+Enter");
}
const ended = (page, word = "Done") => page.locator(".prompt").last().locator(".prompt-foot", { hasText: word }).waitFor();
const box = async (locator) => locator.evaluate((element) => {
  const { left, right, width } = element.getBoundingClientRect();
  return { left, right, width };
});

/** A server with slow tools, and one that is asked about. `paid` has what it was called with. */
async function shop(options = {}) {
  const effects = recording();
  const tool = (name, more) => ({ tool: { name, inputSchema: { type: "object", properties: { n: { type: "number" } } } }, ...more });
  const one = await serve({
    mcpServers: { shop: scripted([tool("look", { delayMs: 300 }), tool("never", { delayMs: 600_000 })]), cash: scripted([tool("pay")], effects.option) },
    tools: { policy: [{ match: "cash.pay", action: "ask", reason: "Payments are asked about." }] },
  }, { env, ...options });
  return { ...one, paid: () => effects.of("tools/call").map((call) => call.params.arguments) };
}

describe("in a browser", { concurrency: 2 }, () => {
  pageTest("a summary stands where the model is told it, in place of what is above", async () => {
    const { env: own } = await scriptedModel(["One.", { status: 429, text: "slow down", headers: { "retry-after-ms": "10" } }, "A title", "Two.", "**Red** is liked.", "Three."]);
    const s = await serve({ defaults: { mode: "classic" } }, { env: own });
    const reader = s.follow("?after=0");
    const ask = async (input, conversationId) => {
      const { json } = await s.post("/prompt", { input, conversationId });
      await s.prompt(json.promptId);
      return json.conversationId;
    };
    const id = await ask("red");
    await until(async () => (await s.get(`/conversations/${id}`)).json.conversation.title, "it has its title");
    const { reason, tries } = (await until(() => reader.events.find((one) => one.event === "conversation.retrying"), "the wait for the title is told")).data;
    assert.deepEqual([reason, tries], ["rate limited", 6]);
    reader.close();
    await ask("green", id);
    const page = await openPage(s, { hash: `#/c/${id}` });
    await ended(page);
    assert.equal((await s.post(`/conversations/${id}/compact`)).status, 200);
    const order = () => page.locator(".timeline > *").evaluateAll((all) => all.map((one) => (one.matches(".told") ? "summary" : one.querySelector(".message").textContent)));
    const told = page.locator(".told");
    await told.locator("summary").click();
    assert.equal(await told.locator("strong").textContent(), "Red");
    assert.deepEqual(await order(), ["red", "green", "summary"]);
    await ask("blue", id);
    await page.locator(".prompt").nth(2).waitFor();
    assert.deepEqual(await order(), ["red", "green", "summary", "blue"]);
    await page.reload();
    await told.waitFor();
    assert.deepEqual([await order(), page.faults()], [["red", "green", "summary", "blue"], []]);
    await s.stop();
  });
  pageTest("a message becomes a program, its calls overlap to scale, and its text is Markdown", async () => {
    const s = await shop();
    const page = await openPage(s);
    await page.getByRole("heading", { name: "New conversation" }).waitFor();
    await say(page, "look");
    await ended(page);
    assert.match(page.url(), /#\/c\/[0-9a-f]{32}$/);
    // The program, with numbered lines and colours.
    const program = page.locator(".card.program");
    assert.equal(await program.locator(".code-view .line").first().textContent(), "const all = await Promise.all([shopLook({ n: 1 }), shopLook({ n: 2 })]);\n");
    await program.locator(".code-keyword", { hasText: "const" }).first().waitFor();
    // Two calls of the same time beside a third one after them.
    const [first, second, third] = await Promise.all([0, 1, 2].map((i) => box(program.locator(".row .bar").nth(i))));
    assert.ok(first.right > second.left + first.width / 2 && second.right > first.left + second.width / 2, JSON.stringify([first, second]));
    assert.ok(third.left >= Math.max(first.right, second.right) - 3, JSON.stringify([first, second, third]));
    assert.ok(Math.abs(first.width - third.width) < first.width, "calls of the same length are about as wide");
    // A row unfolds to what went in and came out.
    const row = program.locator(".row").first();
    assert.equal(await row.getAttribute("aria-expanded"), "false");
    await row.click();
    assert.equal(await row.getAttribute("aria-expanded"), "true");
    assert.match(await program.locator(".details").first().innerText(), /Input\s+\{\s+"n": ([12])\s+\}\s+Result\s+\{\s+"n": \1/, "of either of the two that began at the same time");
    // Markdown, and nothing of it runs or is fetched.
    const text = page.locator(".text");
    assert.equal(await text.locator("strong").textContent(), "2");
    assert.equal(await text.locator("td").first().textContent(), "1");
    const links = await text.locator("a").evaluateAll((all) => all.map((one) => [one.getAttribute("href"), one.rel]));
    assert.deepEqual(links, [["https://lathe.example/a", "noreferrer noopener"], ["https://evil.example/p.png", "noreferrer noopener"]]);
    assert.equal(await text.locator("img, script, iframe").count(), 0);
    assert.match(await text.innerText(), /<img src=x onerror="alert\(1\)">/);
    // What it took.
    assert.match(await page.locator(".prompt-foot").innerText(), /tokens/);
    await page.locator(".conversations a", { hasText: "A title" }).waitFor();
    await closePage(page);
    await s.stop();
  });

  pageTest("a question is answered with another input, by the keyboard, and the wait is a gap in the chart", async () => {
    const s = await shop();
    const page = await openPage(s);
    await say(page, "pay");
    const question = page.getByRole("region", { name: "Question about cash.pay" });
    await question.waitFor();
    assert.match(await question.innerText(), /Payments are asked about\.[^]*"n": 1/);
    await page.locator(".prompt-foot", { hasText: "Waits for your approval" }).waitFor();
    await page.locator(".item-state", { hasText: "waits for you" }).waitFor();
    await question.getByRole("button", { name: "Edit input…" }).press("Enter");
    const input = question.getByLabel("Input, as JSON");
    const approve = question.getByRole("button", { name: "Approve with this input" });
    await input.fill("{ n: 7");
    await question.getByText("This is no JSON").waitFor();
    assert.equal(await approve.isDisabled(), true);
    await input.fill("[7]");
    await question.getByText("The input has to be an object").waitFor();
    // Esc goes back without losing the question.
    await input.press("Escape");
    await question.getByRole("button", { name: "Edit input…" }).click();
    await input.fill('{ "n": 7 }');
    await approve.and(page.locator(":not([aria-disabled])")).waitFor();
    await input.press("Control+Enter");
    await ended(page);
    assert.deepEqual(s.paid(), [{ n: 7 }]);
    assert.equal(await page.locator(".text").innerText(), "paid 7");
    assert.equal(await question.count(), 0);
    await closePage(page);
    await s.stop();
  });

  pageTest("a question is rejected with a reason, which the program is told", async () => {
    const s = await shop();
    const page = await openPage(s);
    await say(page, "pay");
    await page.getByRole("button", { name: "Reject…" }).click();
    await page.getByLabel("Reason (optional)").fill("too much");
    await page.getByRole("button", { name: "Reject", exact: true }).click();
    await ended(page);
    assert.match(await page.locator(".text").innerText(), /too much/);
    assert.deepEqual(s.paid(), []);
    assert.equal(await page.locator("li.is-failed .mark svg").count(), 1, "a mark, not only a colour");
    await closePage(page);
    await s.stop();
  });

  pageTest("an answer is remembered for the tool; one that somebody else gave ends the question here", async () => {
    const s = await shop();
    const page = await openPage(s);
    await say(page, "pay twice");
    const question = page.getByRole("region", { name: "Question about cash.pay" });
    await question.getByLabel("The answer holds for").selectOption("tool");
    await question.getByRole("button", { name: "Approve", exact: true }).click();
    await ended(page);
    assert.deepEqual(s.paid(), [{ n: 1 }, { n: 2 }]);
    await page.getByRole("link", { name: "New conversation" }).click();
    await say(page, "pay");
    await question.waitFor();
    const id = await page.locator(".prompt").getAttribute("data-prompt");
    const call = await s.waiting(id);
    await s.post(`/prompts/${id}/approve`, { toolCallId: call.id });
    await ended(page);
    assert.equal(await question.count(), 0);
    await closePage(page);
    await s.stop();
  });

  pageTest("what runs is stopped", async () => {
    const s = await shop();
    const page = await openPage(s);
    await say(page, "never");
    await page.locator("li.is-running .row", { hasText: "shop.never" }).waitFor();
    const bar = page.locator("li.is-running .time");
    const early = await bar.innerText();
    await until(async () => (await bar.innerText()) !== early, "what runs grows");
    await page.getByRole("button", { name: "Stop" }).click();
    await ended(page, "Stopped");
    await page.getByRole("button", { name: "Send" }).waitFor();
    await closePage(page);
    await s.stop();
  });

  pageTest("what cannot be done is said: a model that fails, a message to a server that is gone", async () => {
    const s = await shop();
    const page = await openPage(s);
    await say(page, "nobody recorded this");
    await ended(page, "Failed");
    assert.match(await page.getByRole("alert").first().innerText(), /nothing was for this/);
    await page.getByRole("button", { name: "Write it again" }).click();
    assert.equal(await page.getByLabel("Message").inputValue(), "nobody recorded this");
    await s.stop("SIGKILL");
    await page.getByText("Connection lost").waitFor();
    // A view that is opened meanwhile cannot be shown, and is when the server is there again.
    await page.evaluate(() => (location.hash = "#/program"));
    await page.getByText("The editor could not be loaded").waitFor();
    const later = await shop({ state: s.state, file: s.file, listen: `127.0.0.1:${s.port}` });
    await page.locator(".cm-content").waitFor();
    await closePage(page);
    await later.stop();
  });

  pageTest("what the server refuses because there are too many requests is read a little later", async () => {
    const s = await serve({ server: { limits: { requestsPerSecond: 5, requestsBurst: 1 } } }, { env });
    const page = await openPage(s, { hash: "#/tools" });
    const refused = await page.waitForResponse((answer) => answer.status() === 429);
    assert.equal(refused.request().method(), "GET");
    await page.locator(".tool-name").first().waitFor();
    await page.getByText("Conversations will be listed here.").waitFor();
    assert.equal(await page.locator(".problem:not(:empty)").count(), 0);
    await closePage(page);
    await s.stop();
  });

  pageTest("conversations are opened, renamed and deleted", async () => {
    const s = await shop();
    for (const input of ["hello", "look", "pay twice"]) {
      const { json } = await s.post("/prompt", { input, mode: "code" });
      await s.ask("PATCH", `/conversations/${json.conversationId}`, { title: `About ${input}` });
      if (input !== "pay twice") await s.prompt(json.promptId);
    }
    const page = await openPage(s);
    const list = page.locator(".conversations li");
    await until(async () => (await list.count()) === 3, "three are listed");
    await list.locator("a", { hasText: "About look" }).click();
    await page.getByRole("heading", { name: "About look" }).waitFor();
    const menu = (name) => page.getByRole("button", { name: `Rename or delete “${name}”` }).press("Enter");
    await menu("About look");
    await page.getByLabel("Title").fill("Another name");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "Another name" }).waitFor();
    await menu("Another name");
    await page.getByRole("button", { name: "Delete…" }).click();
    await page.getByRole("button", { name: "Delete", exact: true }).click();
    await page.getByRole("heading", { name: "New conversation" }).waitFor();
    await until(async () => (await list.count()) === 2, "it is gone");
    await menu("About pay twice");
    await page.getByRole("button", { name: "Delete…" }).click();
    await page.getByRole("button", { name: "Delete", exact: true }).click();
    await page.getByText("Something in it still runs, or waits for you").waitFor();
    await page.getByRole("button", { name: "Close" }).click();
    await closePage(page);
    await s.stop();
  });
});
