// A real browser for the tests of the page: Debian's Chromium, driven by playwright-core. Where one of them is missing, the
// tests are skipped and say so.
import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { after } from "node:test";
import { folder, patience, root, test } from "./harness.mjs";

const CHROMIUM = "/usr/bin/chromium";
const require = createRequire(join(root, "tests/package.json"));

function whyNot() {
  if (!existsSync(CHROMIUM)) return "no Chromium here (Debian's package chromium)";
  try {
    require.resolve("playwright-core");
    return "";
  } catch {
    return "no playwright-core here (npm ci in tests/)";
  }
}
const missing = whyNot();

/** Options of `serve` with which the page's files are those of the repository, one by one: a test can load a module. */
export const sources = { more: ["--page", join(root, "src/serve/page")] };

/** A test that needs the browser. */
export const pageTest = (name, fn) => (missing ? test(name, { skip: missing }, () => {}) : test(name, fn));

let browser;
/** The browser of this file: one process, ended with the file. */
async function launch() {
  browser ??= require("playwright-core").chromium.launch({
    executablePath: CHROMIUM,
    args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"],
  });
  return browser;
}
if (!missing) after(async () => (await browser)?.close());

/**
 * Opens the page of a server, as a person with an empty profile. Options: viewport, colorScheme, reducedMotion, hash, hasTouch.
 * Returns playwright's page, with `said`: what it wrote to its console, broken rules of the content policy among it.
 */
export async function openPage(server, { hash = "", ...options } = {}) {
  const context = await (await launch()).newContext({ viewport: { width: 1280, height: 800 }, locale: "en-GB", timezoneId: "UTC", ...options });
  context.setDefaultTimeout(10_000 * patience);
  // As somebody who has chosen code mode before.
  await context.addInitScript(() => location.protocol === "http:" && localStorage.setItem("lathe.choices", localStorage.getItem("lathe.choices") ?? '{"mode":"code"}'));
  const page = await context.newPage();
  const said = [];
  page.on("console", (message) => said.push(`${message.type()}: ${message.text()}`));
  page.on("pageerror", (error) => said.push(`uncaught: ${error.message}`));
  page.said = said;
  // What a person would call broken. That a request was refused is the test's business.
  page.faults = () => said.filter((line) => /^uncaught|Content Security Policy|^error: (?!Failed to load resource)/.test(line));
  if (server) await page.goto(`${server.url ?? server}/${hash}`);
  return page;
}

/** Closes the page with its profile, after a look at what it said. */
export async function closePage(page) {
  assert.deepEqual(page.faults(), []);
  await page.context().close();
}

/** Checks a view against WCAG 2.1 A and AA, with axe. */
export async function checkAccess(page, what) {
  // The page's policy forbids scripts that are not its own: axe comes in through the debugger.
  if (await page.evaluate(() => window.axe === undefined)) await page.evaluate(readFileSync(require.resolve("axe-core/axe.min.js"), "utf8"));
  const found = await page.evaluate(() => window.axe.run(document, { runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"], resultTypes: ["violations"] }));
  const told = found.violations.map((one) => `${one.id}: ${one.help}\n  ${one.nodes.map((node) => `${node.html.slice(0, 160)} ${node.failureSummary}`).join("\n  ")}`);
  assert.deepEqual(told, [], what);
}
