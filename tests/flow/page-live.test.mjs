// What comes to the page of lathe serve while a person watches, in a real browser: a program that is being written, pictures and files,
// what a prompt costs, a change of a file before it is allowed, and the wait for that in the chart.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { before } from "node:test";
import { closePage, openPage, pageTest } from "./browser.mjs";
import { describe, folder, scripted, until } from "./harness.mjs";
import { recorded } from "./model.mjs";
import { serve } from "./server.mjs";

const LONG = `${Array.from({ length: 12 }, (_, i) => `const step${i} = ${i};`).join("\n")}\noutput("Written."); done()`;
const turns = [
  { user: "long", replies: [{ text: `\`\`\`js\n${LONG}\n\`\`\`` }] },
  { user: "picture", replies: ["camShot({}); camNotes({}); output('Taken.'); done()"] },
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
});
