// The tool browser of the page, as a person uses it: search, what a tool takes and gives, the form, the answer.
import assert from "node:assert/strict";
import { checkAccess, closePage, openPage, pageTest, sources } from "./browser.mjs";
import { patience, recording, scripted } from "./harness.mjs";
import { serve } from "./server.mjs";

const forecast = {
  tool: {
    name: "get-forecast", description: "Gets the forecast of a city. Days are counted from today.", annotations: { readOnlyHint: true },
    inputSchema: {
      type: "object", required: ["city"],
      properties: {
        city: { type: "string", description: "The city's name", minLength: 2 }, days: { type: "integer", minimum: 1, maximum: 14, default: 3 },
        units: { enum: ["celsius", "fahrenheit"] }, near: { type: "array", items: { type: "object", required: ["name"], properties: { name: { type: "string" } } } },
      },
    },
    outputSchema: { type: "object", properties: { high: { type: "number", description: "Degrees" } } },
  },
};
const pay = { tool: { name: "pay", description: "Pays.", annotations: { destructiveHint: true }, inputSchema: { type: "object", properties: { n: { type: "number" } }, required: ["n"] } } };
const rules = { tools: { policy: [{ match: "cash.pay", action: "deny", reason: "not today" }] } };

async function shop() {
  const wire = recording();
  const server = await serve({ mcpServers: { weather: scripted([forecast], wire.option), cash: scripted([pay]) }, ...rules });
  return { server, calls: () => wire.of("tools/call").map((one) => one.params.arguments) };
}

pageTest("a tool is found, read, and tried; what is wrong with the input stands at its field", async () => {
  const { server, calls } = await shop();
  const page = await openPage(server, { hash: "#/tools" });
  const search = page.getByRole("searchbox", { name: "Search tools" });
  await page.getByRole("link", { name: /^pay/ }).waitFor();
  assert.deepEqual(await page.locator(".tool-rows h2").allTextContents(), ["artifact3", "cash1", "interpreter1", "weather1"]);
  await search.fill("forecast city");
  await page.getByRole("link", { name: /^pay/ }).waitFor({ state: "detached" });
  await search.press("ArrowDown");
  await page.keyboard.press("Enter");

  await page.getByRole("heading", { name: "weather.get-forecast" }).waitFor();
  assert.equal(await page.getByRole("list", { name: "What the server says of it" }).innerText(), "Read-only");
  assert.match(await page.locator(".schema").first().innerText(), /city string\s*required[\s\S]*The city's name[\s\S]*days number/);
  assert.match(await page.locator("#signature").innerText(), /^weatherGetForecast\(\{ city: string, days\?: number, units\?: "celsius" \| "fahrenheit", near\?: \{ name: string \}\[\] \}\) → \{ high\?: number \}$/);
  await page.getByRole("tab", { name: "JavaScript" }).press("ArrowRight");
  assert.match(await page.locator("#signature").innerText(), /declare function get_forecast\(input: GetForecastInput\)/);
  await page.getByRole("tab", { name: "Python" }).click();
  assert.match(await page.locator("#signature").innerText(), /^def weather_get_forecast\(\*, city: str, days: int = \.\.\./);

  const call = page.getByRole("button", { name: "Call the tool" });
  await call.click();
  const city = page.getByRole("textbox", { name: /^city/ });
  assert.equal(await city.evaluate((element) => element === document.activeElement), true);
  assert.equal(await page.locator(".field", { has: city }).getByRole("alert").innerText(), "is required");
  await city.fill("Ulm");
  await page.getByRole("textbox", { name: /^days/ }).fill("15");
  await call.click();
  assert.equal(await page.locator(".field", { has: page.getByRole("textbox", { name: /^days/ }) }).getByRole("alert").innerText(), "is at most 14");
  assert.deepEqual(calls(), []);
  await page.getByRole("textbox", { name: /^days/ }).fill("2");
  await page.getByRole("combobox", { name: /^units/ }).selectOption("celsius");
  await page.getByRole("button", { name: "Set near" }).click();
  await page.getByRole("button", { name: "Add an item" }).click();
  await page.getByRole("textbox", { name: /^name/ }).fill("Bonn");
  await page.keyboard.press("Control+Enter");
  await page.getByText("Answered").waitFor();
  const input = { city: "Ulm", days: 2, units: "celsius", near: [{ name: "Bonn" }] };
  assert.deepEqual(calls(), [input]);
  assert.deepEqual(JSON.parse(await page.locator(".answer .value").innerText()), input);

  await page.getByRole("button", { name: "Edit as JSON" }).click();
  const raw = page.getByRole("textbox", { name: "Input as JSON" });
  assert.deepEqual(JSON.parse(await raw.inputValue()), input);
  await raw.fill('{"city": "Kiel", "days": 1}');
  await page.getByRole("button", { name: "Edit as form" }).click();
  assert.deepEqual([await city.inputValue(), await page.getByRole("button", { name: "Set near" }).isVisible()], ["Kiel", true]);
  await call.click();
  await page.locator(".answer .value", { hasText: "Kiel" }).waitFor();
  assert.deepEqual(calls()[1], { city: "Kiel", days: 1 });
  await closePage(page);
  await server.stop();
});

pageTest("a call that a rule refuses says so, and what to do", async () => {
  const { server } = await shop();
  const page = await openPage(server, { hash: "#/tools/cash.pay" });
  await page.getByRole("textbox", { name: /^n/ }).fill("3");
  await page.getByRole("button", { name: "Call the tool" }).click();
  await page.locator(".answer", { hasText: "not today" }).waitFor();
  await page.locator(".answer", { hasText: "tools.policy" }).waitFor();
  await page.goto(`${server.url}/#/tools/cash.nothing`);
  await page.getByText('Tool "cash.nothing" not found').waitFor();
  await closePage(page);
  await server.stop();
});

pageTest("a call that needs an approval asks first, in place, and has its result then", async () => {
  const wire = recording();
  const server = await serve({ mcpServers: { cash: scripted([pay], wire.option) }, tools: { policy: [{ match: "cash.pay", action: "ask" }] } });
  const page = await openPage(server, { hash: "#/tools/cash.pay" });
  const call = async (n) => {
    await page.getByRole("textbox", { name: /^n/ }).fill(String(n));
    await page.getByRole("button", { name: "Call the tool" }).click();
    await page.getByRole("region", { name: "Question about cash.pay" }).waitFor();
  };
  await call(3);
  assert.deepEqual(wire.of("tools/call"), []);
  await checkAccess(page, "a question");
  await page.getByRole("button", { name: "Approve" }).click();
  await page.locator(".answer .done .value", { hasText: "3" }).waitFor();
  assert.deepEqual(wire.of("tools/call").map((one) => one.params.arguments), [{ n: 3 }]);
  await call(4);
  await page.getByRole("button", { name: "Reject…" }).click();
  await page.getByRole("textbox", { name: "Reason (optional)" }).fill("too much");
  await page.getByRole("button", { name: "Reject" }).click();
  await page.locator(".answer", { hasText: "too much" }).waitFor();
  assert.equal(wire.of("tools/call").length, 1);
  await closePage(page);
  await server.stop();
});

pageTest("forms read and write what schemas allow", async () => {
  const server = await serve({}, sources);
  const page = await openPage(server, { hash: "#/tools" });
  const form = (schema, value) => page.evaluate(async ([one, given]) => {
    const { schemaForm } = await import("/page/schema_form.js");
    const made = schemaForm(one);
    document.querySelector("main").replaceChildren(made.element);
    if (given !== undefined) made.write(given);
    return made.read();
  }, [schema, value]);
  const object = (properties, rest = {}) => ({ type: "object", properties, ...rest });
  const same = async (schema, value) => assert.deepEqual(await form(schema, value), { value, problems: [] });

  assert.deepEqual(await form(object({ a: { type: "string" }, b: { type: "boolean" } })), { value: {}, problems: [] });
  await same(object({ a: { type: "string" }, b: { type: "boolean" }, c: { type: "number" } }), { a: "x", b: false, c: 0.5 });
  await same(object({ a: { const: 7 }, b: { enum: [1, "1", null] } }), { a: 7, b: "1" });
  await same(object({ a: { type: ["string", "null"] } }), { a: null });
  await same(object({ a: object({ b: object({ c: { type: "integer" } }) }) }), { a: { b: { c: 3 } } });
  await same(object({ a: { oneOf: [{ type: "integer" }, object({ kind: { const: "x" } }, { required: ["kind"] }), { type: "array", items: { type: "string" } }] } }), { a: { kind: "x" } });
  await same(object({ a: { oneOf: [{ type: "integer" }, { type: "array", items: { type: "string" } }] } }), { a: ["p", "q"] });
  await same({ type: "object", $defs: { node: object({ name: { type: "string" }, next: { $ref: "#/$defs/node" } }) }, properties: { root: { $ref: "#/$defs/node" } } }, { root: { name: "a", next: { name: "b" } } });
  await same(object({ a: { type: "array", prefixItems: [{}, {}] }, b: object({}, { additionalProperties: { type: "number" } }) }), { a: [1, 2], b: { x: 1 } });
  await same(object({ a: { type: "string" } }, { additionalProperties: true }), { more: { x: 1 }, a: "y" });
  await same({}, { any: [1] });
  await same({ type: "nonsense", properties: 7, required: "x" }, { free: true });
  const problems = async (schema, value) => (await form(schema, value)).problems.map((one) => `${one.path} ${one.message}`);
  assert.deepEqual(await problems(object({ a: { type: "string" }, b: { type: "array", minItems: 2, items: { type: "string" } } }, { required: ["a", "b"] }), { b: ["x"] }), ["input.a is required", "input.b has at least 2 items"]);
  assert.deepEqual(await problems(object({ a: { type: "integer" }, b: { type: "string", pattern: "^x" }, c: { type: "number", exclusiveMinimum: 0 } }), { a: 1.5, b: "y", c: 0 }), ["input.a expected a whole number", "input.c is more than 0"]);
  await closePage(page);
  await server.stop();
});

pageTest("five thousand tools: the list grows as somebody scrolls, and the search is the server's", async () => {
  const tools = Array.from({ length: 5000 }, (_, i) => ({ tool: { name: `thing-${i}`, description: `Does thing number ${i}.`, inputSchema: { type: "object", properties: { n: { type: "number" } } } } }));
  const server = await serve({ mcpServers: { big: scripted(tools) } });
  const page = await openPage(server);
  await page.evaluate(() => (globalThis.longest = 0, new PerformanceObserver((list) => list.getEntries().forEach((one) => (globalThis.longest = Math.max(globalThis.longest, one.duration)))).observe({ type: "longtask" })));
  await page.evaluate(() => (location.hash = "#/tools"));
  await page.getByRole("link", { name: /^thing-0 / }).waitFor();
  assert.match(await page.getByRole("status").filter({ hasText: "tools" }).innerText(), /^5,00\d tools$/);
  const rows = page.locator(".tool-rows a");
  const atFirst = await rows.count();
  assert.ok(atFirst <= 400, `${atFirst} rows`);
  await page.locator(".tool-rows").evaluate((element) => element.scrollTo(0, element.scrollHeight));
  await rows.nth(atFirst).waitFor();
  await page.getByRole("searchbox", { name: "Search tools" }).fill("thing-4321");
  await page.getByRole("link", { name: /^thing-4321/ }).first().waitFor();
  const longest = await page.evaluate(() => globalThis.longest);
  assert.ok(longest < 400 * patience, `the page did nothing else for ${longest} ms`);
  await closePage(page);
  await server.stop();
});

for (const colorScheme of ["light", "dark"]) {
  pageTest(`tools are accessible, and fit a phone (${colorScheme})`, async () => {
    const { server } = await shop();
    const page = await openPage(server, { hash: "#/tools", colorScheme });
    await page.getByRole("link", { name: /^pay/ }).waitFor();
    await checkAccess(page, "the list");
    await page.getByRole("link", { name: /^get-forecast/ }).click();
    await page.getByRole("heading", { name: "weather.get-forecast" }).waitFor();
    await page.getByRole("button", { name: "Set near" }).click();
    await page.getByRole("button", { name: "Add an item" }).click();
    await page.getByRole("button", { name: "Call the tool" }).click();
    await page.getByText("is required").first().waitFor();
    await checkAccess(page, "a tool with a form that is not right");
    await page.getByRole("textbox", { name: /^city/ }).fill("Ulm");
    await page.getByRole("button", { name: "Remove item 1" }).click();
    await page.getByRole("button", { name: "Call the tool" }).click();
    await page.getByText("Answered").waitFor();
    await checkAccess(page, "an answer");
    await page.setViewportSize({ width: 320, height: 640 });
    assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= 320 && document.querySelector("main").scrollWidth <= 320), "nothing is wider than a phone");
    await page.getByRole("link", { name: "All tools" }).click();
    await page.getByRole("link", { name: /^pay/ }).waitFor();
    await checkAccess(page, "on a phone");
    await closePage(page);
    await server.stop();
  });
}
