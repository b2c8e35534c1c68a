// The program editor of the page, as a person uses it: typing with proposals, problems while typing, a run with its calls,
// a question, an error at its line.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { checkAccess, closePage, openPage, pageTest } from "./browser.mjs";
import { root, scripted, test, until } from "./harness.mjs";
import { serve } from "./server.mjs";

const forecast = {
  tool: {
    name: "get-forecast", description: "Gets the forecast of a city.", annotations: { readOnlyHint: true },
    inputSchema: { type: "object", required: ["city"], properties: { city: { type: "string", description: "Its name" }, units: { enum: ["celsius", "fahrenheit"] } } },
  },
  result: { structuredContent: { high: 7 }, content: [] }, delayMs: 100,
};
const pay = { tool: { name: "pay", description: "Pays.", inputSchema: { type: "object", properties: { n: { type: "number" } }, required: ["n"] } } };
const rules = { tools: { policy: [{ match: "cash.pay", action: "ask" }] } };

const EDITOR_BYTES = 200_000; // what the editor may cost on the wire, when it is first opened

/** The page with an empty editor. */
async function openEditor(options) {
  const server = await serve({ mcpServers: { weather: scripted([forecast]), cash: scripted([pay]) }, ...rules });
  const page = await openPage(server, { hash: "#/program", ...options });
  await clear(page);
  return { server, page };
}

async function clear(page) {
  await page.locator(".cm-content").waitFor();
  await page.locator(".cm-content").focus();
  await page.keyboard.press("Control+a");
  await page.keyboard.press("Delete");
}
const proposals = (page) => page.locator(".cm-tooltip-autocomplete li");
const proposed = (page, name) => proposals(page).filter({ hasText: name });
const textIn = (page) => page.locator(".cm-content").evaluate((element) => [...element.querySelectorAll(".cm-line")].map((line) => line.textContent).join("\n"));

async function write(page, text) {
  await clear(page);
  // As pasted: no brackets and no proposals come between.
  await page.locator(".cm-content").evaluate((element, given) => {
    const data = new DataTransfer();
    data.setData("text/plain", given);
    element.dispatchEvent(new ClipboardEvent("paste", { clipboardData: data, bubbles: true, cancelable: true }));
  }, text);
}

pageTest("tools, their inputs and the program's own functions are proposed, with what the server says of them", async () => {
  const { server, page } = await openEditor();
  await page.keyboard.type("weatherGetF", { delay: 20 });
  await proposed(page, "weatherGetForecast").waitFor();
  await page.locator(".cm-completionInfo", { hasText: 'weatherGetForecast({ city: string, units?: "celsius" | "fahrenheit" })' }).waitFor();
  await page.locator(".cm-completionInfo", { hasText: "Gets the forecast of a city." }).waitFor();
  await page.waitForTimeout(100); // the editor takes no answer in the first moment after a list has appeared
  await page.keyboard.press("Enter");
  assert.equal(await textIn(page), "weatherGetForecast({})");
  await page.keyboard.press("Control+Space");
  await proposed(page, "city").waitFor();
  assert.deepEqual((await proposals(page).allTextContents()).slice(0, 2), ["citystring", 'units"celsius" | "fahrenheit", optional']);
  await page.waitForTimeout(100);
  await page.keyboard.press("Enter");
  assert.equal(await textIn(page), "weatherGetForecast({city: })");
  await clear(page);
  await page.keyboard.type("weatherGetForecast({ units: '", { delay: 20 });
  await page.keyboard.press("Control+Space");
  await proposed(page, "fahrenheit").waitFor();
  await clear(page);
  await page.keyboard.type("rec", { delay: 20 });
  await proposed(page, "recall(key: string): any").waitFor();
  await clear(page);
  await page.keyboard.type("tools['", { delay: 20 });
  await proposed(page, "weather.get-forecast").waitFor();

  await page.getByRole("combobox", { name: "Language" }).selectOption("python");
  await clear(page);
  await page.keyboard.type("weather_get_forecast(", { delay: 20 });
  await page.keyboard.press("Control+Space");
  await proposed(page, "city").waitFor();
  await clear(page);
  await page.keyboard.type("set_re", { delay: 20 });
  await proposed(page, "set_result(data: Any) -> None").waitFor();
  await page.getByRole("combobox", { name: "Language" }).selectOption("typescript");
  await clear(page);
  await page.keyboard.type("get_fore", { delay: 20 });
  await proposed(page, "get_forecast").waitFor();
  await closePage(page);
  await server.stop();
});

pageTest("what is wrong is said while somebody types, and goes away when it is mended", async () => {
  const { server, page } = await openEditor();
  await write(page, "const a = 1;\nconst b = = 2;\n");
  const problem = page.getByRole("button", { name: /^Line 2: / });
  await problem.waitFor();
  await page.locator(".cm-lintRange-error").first().waitFor();
  await problem.click();
  assert.equal(await page.locator(".cm-activeLine").innerText(), "const b = = 2;");
  await write(page, "const a = 1;\nconst b = 2;\n");
  await page.getByText("No problems found").waitFor();
  assert.equal(await page.locator(".cm-lintRange-error").count(), 0);
  await closePage(page);
  await server.stop();
});

pageTest("a run: calls beside each other, a question in place, texts, the result, and the line of an error", async () => {
  const { server, page } = await openEditor();
  const code = "const all = await Promise.all(['Ulm', 'Bonn'].map((city) => weatherGetForecast({ city })));\nlog('seen', all.length);\noutput('Both are here.');\nconst paid = cashPay({ n: 3 });\n({ paid: paid.n, high: all[1].high })";
  await write(page, code);
  await page.keyboard.press("Control+Enter");
  const rows = page.locator(".run .row");
  await page.getByRole("region", { name: "Question about cash.pay" }).waitFor();
  assert.equal(await rows.count(), 3);
  const [first, second] = await Promise.all([0, 1].map((i) => rows.nth(i).locator(".bar").boundingBox()));
  assert.ok(first.x < second.x + second.width && second.x < first.x + first.width, "the bars of calls at the same time overlap");
  assert.equal(await page.getByRole("button", { name: "Run" }).isDisabled(), true);
  await page.getByRole("button", { name: "Approve" }).click();
  await page.getByText("Completed", { exact: true }).waitFor();
  await page.locator(".said-line.log", { hasText: "seen 2" }).waitFor();
  await page.locator(".said-line.output", { hasText: "Both are here." }).waitFor();
  assert.deepEqual(JSON.parse(await page.locator(".result .value").innerText()), { paid: 3, high: 7 });
  assert.equal(await rows.count(), 3);

  await write(page, "const a = 1;\nlog('here');\nnull.x;\n");
  await page.getByRole("button", { name: "Run" }).click();
  await page.getByText("The program failed.").first().waitFor();
  assert.equal(await page.locator(".cm-failedLine").innerText(), "null.x;");
  await page.getByRole("button", { name: "Go to line 3" }).click();
  assert.equal(await page.locator(".cm-content").evaluate((element) => element.getRootNode().activeElement === element), true);
  await page.keyboard.type("// ");
  assert.equal(await page.locator(".cm-failedLine").count(), 0);

  await write(page, "while (true) {}");
  await page.getByRole("button", { name: "Run" }).click();
  await page.getByRole("button", { name: "Stop" }).click();
  await page.getByText("Stopped", { exact: true }).waitFor();

  let answer;
  await page.route("**/run", async (route) => {
    await new Promise((later) => (answer = later));
    await route.continue();
  });
  await page.getByRole("button", { name: "Run" }).click();
  await page.getByRole("button", { name: "Stop" }).click(); // before the server has said which prompt it is
  await until(() => answer, "the request is on its way");
  answer();
  await page.getByText("Stopped", { exact: true }).waitFor();
  await closePage(page);
  await server.stop();
});

pageTest("the program of each language is still there after the page was closed, and a conversation's can be opened", async () => {
  const { server, page } = await openEditor();
  await write(page, "output('mine')");
  await page.getByRole("combobox", { name: "Language" }).selectOption("python");
  await write(page, "set_result(1)");
  await page.goto(`${server.url}/#/tools`);
  await page.getByRole("heading", { name: "Tools", level: 1 }).waitFor();
  await page.goto(`${server.url}/#/program`);
  await page.reload();
  await page.locator(".cm-line", { hasText: "set_result(1)" }).waitFor();
  await page.getByRole("combobox", { name: "Language" }).selectOption("javascript");
  await page.locator(".cm-line", { hasText: "output('mine')" }).waitFor();
  await closePage(page);
  await server.stop();
});

for (const colorScheme of ["light", "dark"]) {
  pageTest(`the editor is accessible, and fits a phone (${colorScheme})`, async () => {
    const { server, page } = await openEditor({ colorScheme });
    await write(page, "// A comment\nconst n = weatherGetForecast({ city: 'Ulm' });\nif (n.high > 5) { output(`warm ${n.high}`) }\nclass A {}\nnull.x;\n");
    await page.getByText("No problems found").waitFor();
    await checkAccess(page, "a program");
    await page.keyboard.press("Control+Enter");
    await page.getByText("The program failed.").first().waitFor();
    await page.locator(".run .row").first().click();
    await checkAccess(page, "a program that failed");
    await page.setViewportSize({ width: 320, height: 640 });
    assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= 320 && document.querySelector("main").scrollWidth <= 320), "nothing is wider than a phone");
    await page.locator(".cm-content").focus();
    await page.keyboard.press("Escape");
    await page.keyboard.press("Tab");
    assert.equal(await page.locator(".cm-content").evaluate((element) => element.getRootNode().activeElement === element), false, "Escape, then Tab leaves the editor");
    await closePage(page);
    await server.stop();
  });
}

test("the editor costs what it may", (t) => {
  const sizes = ["editor.js", "lezer.js"].map((name) => gzipSync(readFileSync(join(root, "build/page", name)), { level: 9 }).length);
  const bytes = sizes[0] + sizes[1];
  t.diagnostic(`editor.js and lezer.js: ${bytes} bytes on the wire`);
  assert.ok(bytes < EDITOR_BYTES, `${bytes} bytes`);
});
