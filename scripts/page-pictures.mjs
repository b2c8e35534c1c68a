#!/usr/bin/env node
// Takes the pictures of the page for README.md and docs/guide/page.md: node scripts/page-pictures.mjs [FOLDER]
//
// A real `lathe serve` with a real MCP server, a model that plays back a recording (examples/recorded-model.mjs), and
// Debian's Chromium. Writes page-prompt.png and page-program.png to FOLDER, docs/pictures by default.
import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const root = resolve(dirname(fileURLToPath(import.meta.url)), "..");
const folder = resolve(process.argv[2] ?? join(root, "docs/pictures"));
const { chromium } = createRequire(join(root, "tests/package.json"))("playwright-core");
const MOST_BYTES = 150 * 1024;

const MESSAGE = "Sum up this week's meeting notes in summary.md.";
const PROGRAM = `const days = ["monday", "wednesday", "friday"];
// All notes at once.
const notes = await Promise.all(days.map((day) => filesReadTextFile({ path: day + ".md" })));
const decisions = notes.flatMap(({ content }, i) =>
  content.split("\\n").filter((line) => line.startsWith("- ")).map((line) => line + " (" + days[i] + ")"));
await filesWriteFile({ path: "summary.md", content: ["# Decisions", "", ...decisions, ""].join("\\n") });
output("**" + decisions.length + " decisions** are in summary.md now.");
done();`;
const NOTES = {
  "monday.md": "# Monday\n\n- Ship version 2 in June\n- Anna writes the release notes\n",
  "wednesday.md": "# Wednesday\n\n- Keep SQLite as the default store\n",
  "friday.md": "# Friday\n\n- Benchmarks run every night\n- Ben looks at the slow query\n",
  "summary.md": "# Decisions\n\n- Ship version 2 in May (monday)\n",
};
const OWN = `const { content } = filesListDirectory({ path: "." });
const names = content.match(/\\S+\\.md/g);
const notes = await Promise.all(
  names.map((path) => filesReadTextFile({ path })));

names.map((name, i) => {
  const lines = notes[i].content.trim().split("\\n");
  return { name, lines: lines.length };
});
`;

const children = [];
/** Starts a program; what `pattern` finds in what it says. */
function start(command, args, options, pattern) {
  const child = spawn(command, args, { stdio: ["pipe", "pipe", "pipe"], ...options });
  children.push(child);
  return new Promise((done, failed) => {
    let said = "";
    const take = (text) => {
      said += text;
      const found = pattern.exec(said);
      if (found) done(found);
    };
    child.stdout.on("data", take);
    child.stderr.on("data", take);
    child.on("exit", () => failed(new Error(`${command} ended:\n${said}`)));
  });
}

async function startServer(place) {
  const recording = { title: "This week's decisions", turns: [{ user: MESSAGE, replies: [PROGRAM] }] };
  writeFileSync(join(place, "recording.json"), JSON.stringify(recording));
  const [, model] = await start(process.execPath, [join(root, "examples/recorded-model.mjs"), join(place, "recording.json")], {}, /PORT (\d+)/);
  const notes = join(place, "notes");
  mkdirSync(notes);
  for (const [name, text] of Object.entries(NOTES)) writeFileSync(join(notes, name), text);
  const files = { command: process.execPath, args: [join(root, "node_modules/@modelcontextprotocol/server-filesystem/dist/index.js"), notes], cwd: notes };
  const config = {
    mcpServers: { files },
    tools: { policy: [{ match: "files.write_file", action: "ask", reason: "It changes a file." }] },
    models: [{ ref: "normal", model: "recorded", baseUrl: `http://127.0.0.1:${model}/v1` }],
  };
  writeFileSync(join(place, "lathe.yaml"), JSON.stringify(config));
  const env = { ...process.env, HOME: place, XDG_STATE_HOME: join(place, "state"), XDG_CONFIG_HOME: join(place, "config"), OPENAI_API_KEY: "" };
  const [url] = await start(join(root, "build/lathe"), ["serve", "--listen", "127.0.0.1:0", "--config", join(place, "lathe.yaml")], { env, cwd: notes }, /http:\/\/[\d.]+:\d+/);
  return url;
}

async function take(page, name) {
  const path = join(folder, name);
  await page.evaluate(() => document.activeElement?.blur());
  await page.screenshot({ path });
  const { size } = statSync(path);
  console.log(`${path}: ${size} bytes`);
  if (size > MOST_BYTES) throw new Error(`${name} has more than ${MOST_BYTES} bytes`);
}

async function takeAll(browser, url) {
  const page = await browser.newPage({ viewport: { width: 1200, height: 960 }, colorScheme: "light", reducedMotion: "reduce" });
  await page.goto(url);
  await page.getByLabel("Mode", { exact: true }).selectOption("code");
  await page.getByLabel("Message").fill(MESSAGE);
  await page.keyboard.press("Control+Enter");
  await page.getByRole("button", { name: "Approve", exact: true }).waitFor();
  await page.locator(".code-keyword").first().waitFor();
  await page.locator(".diff").waitFor();
  await page.waitForTimeout(500); // a wait that can be seen
  await take(page, "page-prompt.png");
  await page.setViewportSize({ width: 1200, height: 640 });
  await page.goto(`${url}/#/program`);
  const editor = page.locator(".cm-content");
  await editor.click();
  await page.keyboard.press("Control+a");
  await page.keyboard.insertText(OWN);
  await page.getByRole("button", { name: /^Run/ }).first().click();
  await page.getByText('"lines"').first().waitFor();
  await take(page, "page-program.png");
}

const place = mkdtempSync(join(tmpdir(), "lathe-pictures-"));
let browser;
try {
  mkdirSync(folder, { recursive: true });
  const url = await startServer(place);
  browser = await chromium.launch({ executablePath: "/usr/bin/chromium", args: ["--no-sandbox", "--disable-gpu", "--force-color-profile=srgb"] });
  await takeAll(browser, url);
} finally {
  await browser?.close();
  const ended = children.map((child) => new Promise((done) => child.once("exit", done)));
  for (const child of children) child.kill();
  await Promise.all(ended);
  rmSync(place, { recursive: true, force: true });
}
