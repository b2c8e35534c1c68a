// How the page looks and holds up, in a real browser: WCAG in both schemes and on a phone, the keyboard, its weight on the wire and its
// time, tokens and users, and a server that is killed in the middle of a prompt.
import assert from "node:assert/strict";
import { before } from "node:test";
import { checkAccess, closePage, openPage, pageTest } from "./browser.mjs";
import { describe, recording, run, scripted, until } from "./harness.mjs";
import { recorded } from "./model.mjs";
import { serve } from "./server.mjs";

const WORK = "const all = await Promise.all([shopLook({ n: 1 }), shopLook({ n: 2 })]);\ntry { await shopBad({ n: 'x' }) } catch (e) { log(e.message) }\nawait cashPay({ n: 1 });\noutput('## Paid\\n\\nIt is **done**: [see](https://lathe.example/).\\n\\n```\\ncode\\n```'); done()";
const turns = [
  { user: "work", replies: [WORK] },
  { user: "hello", replies: ["output('Hello!'); done()"] },
];

let env;
before(async () => {
  env = await recorded(turns, { title: "A title" });
});

const PHONE = { viewport: { width: 320, height: 640 }, hasTouch: true, isMobile: true };

async function shop(options = {}) {
  const effects = recording();
  const tool = (name, more) => ({ tool: { name, inputSchema: { type: "object", properties: { n: { type: "number" } } } }, ...more });
  const one = await serve({
    mcpServers: { shop: scripted([tool("look"), tool("bad")]), cash: scripted([tool("pay")], effects.option) },
    tools: { policy: [{ match: "cash.pay", action: "ask", reason: "Payments are asked about." }] },
  }, { env, ...options });
  return { ...one, paid: () => effects.of("tools/call").length };
}

async function say(page, message) {
  await page.getByLabel("Message").fill(message);
  await page.keyboard.press("Control+Enter");
}
const ended = (page) => page.locator(".prompt").last().locator(".prompt-foot", { hasText: "Done" }).waitFor();
const question = (page) => page.getByRole("region", { name: "Question about cash.pay" });
/** The button of a question that has been there long enough. */
const usable = (page) => question(page).getByRole("button", { name: "Approve", exact: true }).and(page.locator(":not([aria-disabled])"));
/** A view against WCAG, in both schemes. */
async function checkBoth(page, what) {
  for (const colorScheme of ["light", "dark"]) {
    await page.emulateMedia({ colorScheme });
    await checkAccess(page, `${what}, ${colorScheme}`);
  }
}
/** Nothing is wider than the window. */
const isWithin = (page) => page.evaluate(() => document.documentElement.scrollWidth <= innerWidth && document.querySelector("main").scrollWidth <= document.querySelector("main").clientWidth);

describe("the page", { concurrency: 2 }, () => {
  for (const [name, options] of [["a wide screen", {}], ["a phone", PHONE]]) {
    pageTest(`axe finds nothing against WCAG 2.1 AA: ${name}, light and dark`, async () => {
      const s = await shop();
      const page = await openPage(s, { ...options, reducedMotion: "reduce" });
      await page.getByRole("heading", { name: "What should be done?" }).waitFor();
      await checkBoth(page, "a new conversation");
      await say(page, "work");
      await question(page).waitFor();
      await page.locator(".code-keyword").first().waitFor();
      await usable(page).waitFor(); // its buttons are pale for a moment
      await checkBoth(page, "a question");
      await question(page).getByRole("button", { name: "Edit input…" }).click();
      await question(page).getByLabel("Input, as JSON").fill("{");
      await checkBoth(page, "a question that is edited");
      await question(page).getByLabel("Input, as JSON").fill('{ "n": 2 }');
      await question(page).getByRole("button", { name: "Approve with this input" }).click();
      await ended(page);
      for (const row of await page.locator(".row").all()) await row.click();
      await page.locator(".text strong").waitFor();
      await checkBoth(page, "an ended prompt, unfolded");
      assert.equal(await isWithin(page), true);
      if (options.isMobile) {
        await page.getByRole("button", { name: "Show conversations" }).click();
        await page.locator("#side").getByText("A title").waitFor();
        await checkBoth(page, "the drawer");
        await page.keyboard.press("Escape");
        await page.getByRole("button", { name: "Send" }).waitFor();
      }
      await closePage(page);
      await s.stop();
    });
  }

  pageTest("everything of a prompt is done with the keyboard alone, and the focus is seen", async () => {
    const s = await shop();
    const page = await openPage(s);
    await page.getByRole("heading", { name: "What should be done?" }).waitFor();
    assert.equal(await page.evaluate(() => document.activeElement.id), "message");
    await page.keyboard.type("work");
    await page.keyboard.press("Control+Enter");
    await question(page).waitFor();
    await usable(page).waitFor();
    // Backwards from the message to the question: nothing in between takes the focus away.
    const focused = () => page.evaluate(() => ({ name: document.activeElement.textContent, outline: getComputedStyle(document.activeElement).outlineStyle }));
    await until(async () => {
      await page.keyboard.press("Shift+Tab");
      return (await focused()).name === "Approve";
    }, "the focus is on Approve");
    assert.equal((await focused()).outline, "solid");
    await page.keyboard.press("Enter");
    await ended(page);
    assert.equal(s.paid(), 1);
    await closePage(page);
    await s.stop();
  });

  pageTest("it has under 300 KB on the wire", async () => {
    const s = await shop();
    const page = await openPage();
    const sizes = [];
    const look = (answer) => {
      const { pathname } = new URL(answer.url());
      if (/^\/(page\/.*)?$/.test(pathname)) sizes.push(answer.request().sizes().then((one) => [pathname, one.responseBodySize + one.responseHeadersSize]));
    };
    page.on("response", look);
    await page.goto(s.url);
    await page.getByRole("heading", { name: "What should be done?" }).waitFor();
    const first = (await Promise.all(sizes)).map(([name]) => name).filter((name) => name !== "/page/icon.svg");
    assert.deepEqual(first.sort(), ["/"], "what the first view waits for");
    await say(page, "work");
    await question(page).getByRole("button", { name: "Approve", exact: true }).click();
    await page.locator(".text strong").waitFor();
    page.off("response", look);
    const files = await Promise.all(sizes);
    const total = files.reduce((sum, [, size]) => sum + size, 0);
    for (const name of ["highlight", "lezer", "markdown"]) assert.ok(files.some(([one]) => one === `/page/${name}.js`), `${name}.js was seen`);
    assert.ok(total < 300 * 1024, `${total} bytes, the colours of code and Markdown included: ${JSON.stringify(files)}`);
    await closePage(page);
    await s.stop();
  });

  pageTest("a server that is killed in the middle of a prompt: the page is right again without a reload", async () => {
    const s = await shop();
    const page = await openPage(s);
    await say(page, "work");
    await question(page).waitFor();
    await page.evaluate(() => (window.isTheSamePage = true));
    await s.stop("SIGKILL");
    await page.getByText("Connection lost").waitFor();
    const later = await shop({ state: s.state, file: s.file, listen: `127.0.0.1:${s.port}` });
    await page.getByText("Connection lost").waitFor({ state: "hidden" });
    await question(page).getByRole("button", { name: "Approve", exact: true }).click();
    await ended(page);
    assert.equal(await page.locator(".card.program").count(), 1, "nothing is shown twice");
    assert.equal(await page.locator(".row").count(), 4);
    assert.equal(await page.locator(".text").count(), 1);
    assert.equal(await page.evaluate(() => window.isTheSamePage), true);
    assert.equal(s.paid(), 1);
    await say(page, "hello");
    await page.locator(".text", { hasText: "Hello!" }).waitFor();
    await closePage(page);
    await later.stop();
  });

  pageTest("a token is asked for, kept as long as was said, and another user's conversation is not there", async () => {
    const s = await shop();
    const token = async (user) => {
      const end = await run(["serve", "token", "add", user, "--config", s.file], { env: { XDG_STATE_HOME: s.state } });
      return /lathe_\w+/.exec(end.stdout + end.stderr)[0];
    };
    const [ann, bob] = [await token("ann"), await token("bob")];
    const page = await openPage(s);
    const dialog = page.getByRole("dialog", { name: "Sign in" });
    await dialog.waitFor();
    await checkAccess(page, "signing in");
    await page.getByLabel("Token").fill("lathe_wrong");
    await page.keyboard.press("Enter");
    await page.getByText("does not know this token").waitFor();
    await page.getByLabel("Token").fill(ann);
    await page.keyboard.press("Enter");
    await say(page, "hello");
    await ended(page);
    const hash = new URL(page.url()).hash;
    // The tab knows it still; another tab was not told to.
    await page.reload();
    await page.locator(".text", { hasText: "Hello!" }).waitFor();
    const other = await page.context().newPage();
    await other.goto(`${s.url}/${hash}`);
    await other.getByLabel("Token").fill(bob);
    await other.getByLabel("Remember on this device").check();
    await other.keyboard.press("Enter");
    await other.getByText("This conversation is not here").waitFor();
    assert.equal(await other.locator(".conversations li").count(), 0);
    await other.reload();
    await other.getByText("This conversation is not here").waitFor();
    await other.getByRole("button", { name: "Sign out" }).click();
    await other.getByRole("dialog", { name: "Sign in" }).waitFor();
    assert.equal(await page.evaluate(() => localStorage.getItem("lathe.token")), null);
    await closePage(page);
    await s.stop();
  });
});
