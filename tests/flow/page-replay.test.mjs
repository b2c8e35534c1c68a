// Replay on the page: a recorded prompt step by step, with what every call was answered.
import assert from "node:assert/strict";
import { checkAccess, closePage, openPage, pageTest } from "./browser.mjs";
import { scripted } from "./harness.mjs";
import { recorded } from "./model.mjs";
import { serve } from "./server.mjs";

const look = { delayMs: 50, tool: { name: "look", annotations: { readOnlyHint: true }, inputSchema: { type: "object", properties: { at: { type: "string" } } } } };
const pay = { tool: { name: "pay", inputSchema: { type: "object", properties: { n: { type: "number" } }, required: ["n"] } } };
const config = { mcpServers: { cash: scripted([look, pay]) }, tools: { policy: [{ match: "cash.pay", action: "ask" }] } };

const CODE = "const seen = await Promise.all(['a', 'b'].map((at) => cashLook({ at })));\nstore('seen', seen.length);\nconst paid = cashPay({ n: 1 });\nlog('paid', paid.n);\ncashPay({ n: 'many' });";

/** A prompt in mode "program" that has ended: its input of cash.pay was changed to 2, and its last call fails. */
async function ranProgram(options) {
  const server = await serve(config);
  const { promptId } = (await server.post("/run", { code: CODE, waitMs: 0 })).json;
  const call = await server.waiting(promptId);
  await server.post(`/prompts/${promptId}/approve`, { toolCallId: call.id, input: { n: 2 } });
  await server.prompt(promptId);
  const page = await openPage(server, { hash: `#/replay/${promptId}`, ...options });
  await page.getByRole("list", { name: "All steps" }).waitFor();
  return { server, page };
}
const titles = (page) => page.locator(".step-title").allTextContents();
const shown = (page) => page.locator(".step-detail h2").innerText();
const part = async (page, name) => page.locator(".part", { has: page.getByRole("heading", { name, exact: true }) }).locator(".value").innerText().then((text) => text.trimEnd());
const here = async (page) => (await page.locator(".code-lines .here code").allTextContents()).map((line) => CODE.split("\n").indexOf(line) + 1);

pageTest("a program's run is stepped through in the order in which it happened, by keys, buttons and the slider", async () => {
  const { server, page } = await ranProgram();
  const all = await titles(page);
  assert.deepEqual(all.filter((one) => !/cash\.look/.test(one)), [
    "The prompt", "The program begins", "cash.pay is called (call 3)", "A person approved cash.pay", "cash.pay answers (call 3)", "cash.pay is called (call 4)",
    "cash.pay fails (call 4)", "The program fails", "The prompt failed",
  ]);
  assert.deepEqual(all.slice(2, 6).map((one) => one.replace(/\d/, "N")), ["cash.look is called (call N)", "cash.look is called (call N)", "cash.look answers (call N)", "cash.look answers (call N)"]);

  await page.keyboard.press("ArrowRight");
  assert.equal(await shown(page), "The program begins");
  await page.keyboard.press("ArrowRight");
  assert.match(JSON.parse(await part(page, "Input")).at, /^[ab]$/, "either of the two that began at the same time");
  assert.deepEqual(await here(page), [1], "the one line that names the tool");
  await page.getByRole("button", { name: "cash.pay is called (call 3)" }).click();
  assert.deepEqual(JSON.parse(await part(page, "Input")), { n: 1 });
  assert.deepEqual(JSON.parse(await part(page, "Input, as a person changed it")), { n: 2 });
  assert.deepEqual(await here(page), [3, 5]);
  await page.getByText("this one is on one of the lines 3, 5").waitFor();
  await page.getByRole("button", { name: "Step forward" }).click();
  assert.equal(await shown(page), "A person approved cash.pay");
  await page.getByRole("button", { name: "Step forward" }).click();
  assert.deepEqual(JSON.parse(await part(page, "Answer")), { n: 2 });
  await page.getByRole("slider", { name: "Step" }).fill(String(all.indexOf("The program fails") + 1));
  assert.match(await part(page, "Error"), /expected number/);
  assert.deepEqual([await here(page), await part(page, 'store("seen")'), await part(page, "What it said")], [[5], "2", "[log] paid 2"]);
  await page.keyboard.press("Home");
  assert.equal(await shown(page), "The prompt");
  assert.equal(await page.getByRole("button", { name: "Step back" }).isDisabled(), true);
  await page.getByRole("button", { name: "Last step" }).click();
  assert.equal(await shown(page), "The prompt failed");
  assert.equal(await page.locator(".step-count").innerText(), `Step ${all.length} of ${all.length}`);

  await page.getByRole("button", { name: "Edit the program" }).click();
  await page.locator(".cm-line", { hasText: "const paid = cashPay({ n: 1 });" }).waitFor();
  await closePage(page);
  await server.stop();
});

pageTest("a prompt of a model: replies stand before what they led to, and texts have their place", async () => {
  const env = await recorded([{ user: "look", replies: ["const a = cashLook({ at: 'x' });\nstore('a', a.at); a", "output('It is ' + recall('a')); done()"] }]);
  const server = await serve(config, { env });
  const { promptId } = (await server.post("/prompt", { input: "look", mode: "code" })).json;
  await server.prompt(promptId);
  const page = await openPage(server, { hash: `#/replay/${promptId}` });
  await page.getByRole("list", { name: "All steps" }).waitFor();
  assert.deepEqual(await titles(page), [
    "The prompt", "The model replied (1)", "The program begins", "cash.look is called (call 1)", "cash.look answers (call 1)", "The program ends",
    "The model replied (2)", "The program begins", "Text to the user", "The program ends", "The prompt is completed",
  ]);
  await page.getByRole("button", { name: "The model replied (2)" }).click();
  await page.getByText("not their times").waitFor();
  assert.match(await part(page, "Text"), /recall\('a'\)/);
  await page.keyboard.press("ArrowRight");
  assert.match(await page.locator(".code-lines").innerText(), /recall\('a'\)/);
  await page.goto(`${server.url}/#/replay/nope`);
  await page.getByText("There is no record to step through").waitFor();
  await closePage(page);
  await server.stop();
});

for (const colorScheme of ["light", "dark"]) {
  pageTest(`replay is accessible, and fits a phone (${colorScheme})`, async () => {
    const { server, page } = await ranProgram({ colorScheme });
    await checkAccess(page, "the first step");
    await page.getByRole("button", { name: "The program fails" }).click();
    await checkAccess(page, "an error");
    await page.setViewportSize({ width: 320, height: 640 });
    assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= 320 && document.querySelector("main").scrollWidth <= 320), "nothing is wider than a phone");
    await checkAccess(page, "on a phone");
    await closePage(page);
    await server.stop();
  });
}
