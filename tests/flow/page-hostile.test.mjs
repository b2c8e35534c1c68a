// What tools, programs and servers may put on the page of lathe serve, in a real browser: nothing of it runs, decides, hides, or keeps
// the page from being used.
import assert from "node:assert/strict";
import { cpus, loadavg } from "node:os";
import { before } from "node:test";
import { closePage, openPage, pageTest, sources } from "./browser.mjs";
import { describe, patience, recording, scripted, sleep, until } from "./harness.mjs";
import { recorded } from "./model.mjs";
import { serve } from "./server.mjs";

const MARKUP = `<img src=x onerror="document.title='PWNED'"><script>document.title='PWNED'</script><svg/onload=alert(1)>`;
const HIDDEN = "pay \u202Eevil\u202C ann\u200B\u00AD\u0007 \u{E0041}end";
const SHOWN = "pay \\u{202e}evil\\u{202c} ann\\u{200b}\\u{ad}\\u{7} \\u{e0041}end";
const MANY = 5000;
const LINES = 100_000;
const turns = [
  { user: "pay", replies: [`output('paid ' + cashPay({ to: ${JSON.stringify(HIDDEN)} }).to.length); done()`] },
  { user: "pay many", replies: ["await Promise.all([1, 2, 3].map((n) => cashPay({ n }))); output('paid'); done()"] },
  { user: "markup", replies: [`log(${JSON.stringify(MARKUP)}); cashFile({}); try { cashFail({ n: ${JSON.stringify(MARKUP)} }) } catch (e) { output(e.message + '\\n\\n[x](javascript:alert(1)) <javascript:alert(1)> [y](data:text/html,x) <style>*{display:none}</style>') } done()`] },
  { user: "many", replies: [`for (let i = 0; i < ${MANY}; i += 500) await Promise.all(Array.from({ length: 500 }, (_, k) => cashLook({ n: i + k }))); output('looked'); done()`] },
];

let env;
before(async () => {
  env = await recorded(turns, { title: MARKUP });
});

async function say(page, message) {
  await page.getByLabel("Message").fill(message);
  await page.keyboard.press("Control+Enter");
}
const ended = (page, ms = 10_000) => page.locator(".prompt").last().locator(".prompt-foot", { hasText: "Done" }).waitFor({ timeout: ms * patience });
const questions = (page) => page.getByRole("region", { name: "Question about cash.pay" });
const approve = (place) => place.getByRole("button", { name: "Approve", exact: true });

async function cash(options = {}) {
  const effects = recording();
  const tool = (name, more) => ({ tool: { name, description: MARKUP, inputSchema: { type: "object" } }, ...more });
  const file = { content: [{ type: "image", mimeType: "text/html", data: Buffer.from(`<script>parent.document.title='PWNED'</script>`).toString("base64") }] };
  const one = await serve({
    mcpServers: {
      cash: scripted([
        tool("pay"), tool("look"), tool("file", { result: file }), tool("fail", { result: { isError: true, content: [{ type: "text", text: MARKUP }] } }),
      ], effects.option),
    },
    tools: { policy: [{ match: "cash.pay", action: "ask", reason: HIDDEN }] },
  }, { env, ...options });
  return { ...one, paid: () => effects.of("tools/call").filter((call) => call.params.name === "pay").map((call) => call.params.arguments) };
}

/** Of a machine that has other work, too. */
const quick = (ms) => ms * patience * Math.max(1, loadavg()[0] / cpus().length);

/** The longest time for which the page did nothing else, from now on. */
async function watchWork(page) {
  await page.evaluate(() => {
    globalThis.longest = 0;
    new PerformanceObserver((list) => list.getEntries().forEach((one) => (globalThis.longest = Math.max(globalThis.longest, one.duration)))).observe({ type: "longtask" });
  });
  return () => page.evaluate(() => globalThis.longest);
}

describe("hostile", { concurrency: 2 }, () => {
  pageTest("a question shows what would not be seen, and a click on what has just come decides nothing", async () => {
    const s = await cash();
    const page = await openPage(s);
    await page.getByRole("heading", { name: "What should be done?" }).waitFor();
    // Somebody clicks in the moment in which the question comes.
    await page.evaluate(() => new MutationObserver(() => {
      const button = document.querySelector(".question button.primary");
      if (!button || globalThis.early) return;
      globalThis.early = true;
      button.click();
    }).observe(document.body, { childList: true, subtree: true }));
    await say(page, "pay");
    const question = questions(page);
    await approve(question).and(page.locator(":not([aria-disabled])")).waitFor();
    assert.ok(await page.evaluate(() => globalThis.early));
    assert.deepEqual(s.paid(), []);
    assert.equal(await question.locator(".question-reason").innerText(), SHOWN);
    assert.ok((await question.locator(".code").innerText()).includes(`"to": "${SHOWN}"`.replace("\\u{7}", "\\u0007")));
    // Who edits sees them, too, and what is not changed stays what it is.
    await question.getByRole("button", { name: "Edit input…" }).click();
    assert.match(await question.getByLabel("Input, as JSON").inputValue(), /pay \\u202eevil\\u202c ann\\u200b\\u00ad\\u0007 \\udb40\\udc41end/);
    await question.getByRole("button", { name: "Approve with this input" }).click();
    await ended(page);
    assert.deepEqual(s.paid(), [{ to: HIDDEN }]);
    await closePage(page);
    await s.stop();
  });

  pageTest("a double click answers one question, not the one that moves to its place", async () => {
    const s = await cash();
    const page = await openPage(s);
    await say(page, "pay many");
    await questions(page).nth(2).waitFor();
    await approve(questions(page).first()).dblclick();
    await until(async () => (await questions(page).count()) === 2, "one is answered");
    await sleep(200);
    assert.equal(await questions(page).count(), 2);
    assert.equal(s.paid().length, 1);
    for (let left = 2; left > 0; left--) {
      await approve(questions(page).first()).click();
      await until(async () => (await questions(page).count()) === left - 1, "the next is answered");
    }
    await ended(page);
    assert.equal(s.paid().length, 3);
    await closePage(page);
    await s.stop();
  });

  pageTest("two windows decide at the same time: it is done once, and both are right", async () => {
    const s = await cash();
    const page = await openPage(s);
    await say(page, "pay");
    await questions(page).waitFor();
    const other = await page.context().newPage();
    await other.goto(page.url());
    await questions(other).waitFor();
    for (const one of [page, other]) await approve(questions(one)).and(one.locator(":not([aria-disabled])")).waitFor();
    // One window may have heard of the decision of the other by then: its button is gone.
    await Promise.all([page, other].map((one) => one.evaluate(() => document.querySelector(".question .primary")?.click())));
    await Promise.all([ended(page), ended(other)]);
    assert.equal(s.paid().length, 1);
    for (const one of [page, other]) assert.equal(await questions(one).count(), 0);
    assert.equal(await page.locator(".text").innerText(), await other.locator(".text").innerText());
    await closePage(page);
    await s.stop();
  });

  pageTest("a decision while the server is gone is not lost silently, and can be made when it is back", async () => {
    const s = await cash();
    const page = await openPage(s);
    await say(page, "pay");
    await questions(page).waitFor();
    await s.stop("SIGKILL");
    await page.getByText("Connection lost").waitFor();
    await approve(questions(page)).click();
    await questions(page).getByText("this may not have been decided").waitFor();
    const later = await cash({ state: s.state, file: s.file, listen: `127.0.0.1:${s.port}` });
    await page.getByText("Connection lost").waitFor({ state: "hidden" });
    await approve(questions(page)).click();
    await ended(page);
    assert.equal(s.paid().length, 1);
    await closePage(page);
    await later.stop();
  });

  pageTest("markup in titles, descriptions, errors, logs, texts and files is text", async () => {
    const s = await cash();
    const page = await openPage(s);
    await page.evaluate(() => {
      const make = URL.createObjectURL;
      globalThis.types = [];
      URL.createObjectURL = (blob) => {
        globalThis.types.push(blob.type);
        return make.call(URL, blob);
      };
    });
    await say(page, "markup");
    await ended(page);
    await page.locator(".conversations a", { hasText: "<img" }).waitFor();
    for (const row of await page.locator(".row").all()) await row.click();
    await page.getByText("Log (1 line)").click();
    const file = page.locator(".file", { hasText: "text/html" });
    await Promise.all([page.waitForEvent("download"), file.getByRole("button", { name: "Download" }).click()]);
    assert.deepEqual(await page.evaluate(() => globalThis.types), ["application/octet-stream"]);
    assert.equal(await page.locator("main :is(img, script, iframe, style, object, embed, form[action])").count(), 0);
    assert.deepEqual(await page.locator(".text a").evaluateAll((all) => all.map((one) => one.protocol)), []);
    await page.goto(`${s.url}/#/tools/cash.fail`);
    await page.getByRole("heading", { name: "cash.fail" }).waitFor();
    await page.locator(".tool-description", { hasText: "<script>" }).waitFor();
    assert.equal(await page.locator("main :is(img, script, iframe, style)").count(), 0);
    assert.doesNotMatch(await page.title(), /^PWNED/);
    await closePage(page);
    await s.stop();
  });

  pageTest(`${MANY} calls in one prompt, and a value of ${LINES} lines: the page stays usable`, async () => {
    const s = await cash(sources);
    const page = await openPage(s);
    const longest = await watchWork(page);
    await say(page, "many");
    await ended(page, 60_000);
    const more = page.getByRole("button", { name: /more calls/ });
    // Of calls that begin in the same moment, one that is told of later may stand before others: what was shown stays.
    const rows = async (least) => {
      const count = await page.locator(".row").count();
      assert.ok(count >= least && count < 2 * least, `${count} rows, ${least} are expected`);
    };
    await rows(40);
    await more.click();
    await rows(400);
    assert.ok((await longest()) < quick(800), `the page did nothing else for ${await longest()} ms`);
    // A value of very many lines, and one of a very long line.
    const shown = (text) => page.evaluate(async (one) => {
      const { valueView } = await import("/page/code_view.js");
      const view = valueView(one, "Value");
      document.querySelector(".timeline").append(view);
      const more = view.querySelector(".more-lines");
      const states = [];
      for (let i = 0; i < 3; i++) {
        states.push([more.textContent, view.querySelectorAll(".line").length, view.querySelector("code").textContent.length]);
        more.click();
      }
      view.remove();
      return states;
    }, text);
    const lines = await shown("x\n".repeat(LINES - 1));
    assert.deepEqual(lines.map(([words, count]) => [words, count]), [["Show the first 2,000 of 100,000 lines", 40], ["Show more of 100,000 lines", 2000], ["Show more of 100,000 lines", 4000]]);
    assert.deepEqual(await shown("x".repeat(2 ** 21)), [["Show more of 2.0 MB", 1, 20_001], ["Show more of 2.0 MB", 1, 200_001], ["Show more of 2.0 MB", 1, 400_001]]);
    assert.ok((await longest()) < quick(800), `the page did nothing else for ${await longest()} ms`);
    await page.reload();
    await page.locator(".row").nth(39).waitFor();
    await closePage(page);
    await s.stop();
  });

  pageTest("schemas that contain themselves, are no schemas, or have patterns that take for ever", async () => {
    const s = await serve({}, sources);
    const page = await openPage(s, { hash: "#/tools" });
    const read = (schema, value) => page.evaluate(async ([one, given]) => {
      const [{ schemaForm }, { schemaList, typeText }] = await Promise.all([import("/page/schema_form.js"), import("/page/schema_text.js")]);
      const began = performance.now();
      const form = schemaForm(JSON.parse(one));
      if (given !== undefined) form.write(JSON.parse(given));
      schemaList(JSON.parse(one));
      typeText(JSON.parse(one));
      document.querySelector("main").replaceChildren(form.element);
      const { value, problems } = form.read();
      return { value: JSON.stringify(value), problems: problems.map((one) => `${one.path} ${one.message}`.slice(0, 80)), fields: form.element.querySelectorAll("input, textarea, select").length, ms: performance.now() - began };
    }, [JSON.stringify(schema), value]);
    const names = Array.from({ length: 12 }, (_, i) => `p${i}`);
    const itself = { type: "object", required: names, properties: Object.fromEntries(names.map((name) => [name, { $ref: "#" }])) };
    const found = await read(itself);
    assert.ok(found.fields <= 5000 && found.ms < quick(1500), `${found.fields} fields in ${found.ms} ms`);
    const slow = await read({ type: "object", properties: { a: { type: "string", pattern: "^(a+)+$" } } }, JSON.stringify({ a: `${"a".repeat(60)}!` }));
    assert.deepEqual(slow.problems, []);
    assert.equal((await read(JSON.parse('{"type":"object","properties":{"__proto__":{"type":"string"},"constructor":{"type":"string"}}}'), '{"__proto__":"x","constructor":"y"}')).value, '{"__proto__":"x","constructor":"y"}');
    await read({ type: "object", properties: { a: { $ref: "#/%" }, b: { $ref: "#/__proto__" }, c: { enum: Array.from({ length: 20_000 }, (_, i) => i) } } });
    await read({ type: "object", properties: Object.fromEntries(Array.from({ length: 3000 }, (_, i) => [`p${i}`, { type: "string" }])) });
    await closePage(page);
    await s.stop();
  });

  pageTest("an address names a tool by whatever its id has, and what is no id is none", async () => {
    const s = await serve({});
    const page = await openPage(s);
    const id = `a%b%2Fc/"#<d>`;
    const [asked] = await Promise.all([page.waitForRequest(/\/tools\/./), page.evaluate((one) => (location.hash = `#/tools/${encodeURIComponent(one)}`), id)]);
    assert.equal(new URL(asked.url()).pathname, `/tools/${encodeURIComponent(id)}`);
    await page.getByText("This tool is not there").waitFor();
    await page.evaluate(() => (location.hash = "#/tools/%"));
    await page.getByText("Choose a tool").waitFor();
    await page.evaluate(() => (location.hash = "#/replay/../../x"));
    await page.getByRole("heading", { name: "What should be done?" }).waitFor();
    await closePage(page);
    await s.stop();
  });
});
