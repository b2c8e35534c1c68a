// How soon the page of `lathe serve` shows its first view, in Debian's Chromium: with an empty cache, and again. Times are
// the browser's own, from the begin of the navigation: to the mark that the page sets when its first view stands, to the end
// of the document's loading, and to the first paint with something on it. An empty document, loaded in between, tells what the browser and the machine
// themselves take: only the difference is the page's.
import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { printTable } from "./figures.mjs";

const CHROMIUM = "/usr/bin/chromium", TIMES = 20, MARK_MS = 5000;
const EMPTY = `<!doctype html><title>Empty</title><p>.<script>performance.mark("lathe-view")</script>`;
const root = fileURLToPath(new URL("..", import.meta.url));
const program = process.env.LATHE ?? join(root, "build/lathe");
const folder = mkdtempSync(join(tmpdir(), "lathe-bench-"));

/** Starts the server; its address. */
function serve() {
  writeFileSync(join(folder, "lathe.yaml"), "{}");
  const child = spawn(program, ["serve", "--listen", "127.0.0.1:0", "--config", join(folder, "lathe.yaml")], {
    env: { ...process.env, HOME: folder, XDG_STATE_HOME: folder, XDG_CONFIG_HOME: folder }, stdio: ["ignore", "ignore", "pipe"],
  });
  return new Promise((done, failed) => {
    let said = "";
    child.stderr.on("data", (bytes) => {
      said += bytes;
      const url = /http:\/\/[\d.]+:\d+/.exec(said);
      if (url) done({ child, url: url[0] });
    });
    child.on("error", failed);
    child.on("exit", () => failed(new Error(said)));
  });
}

/** A server of an empty document; its address. */
function serveEmpty() {
  const server = createServer((asked, answer) => answer.writeHead(200, { "content-type": "text/html" }).end(EMPTY));
  return new Promise((done) => server.listen(0, "127.0.0.1", () => done({ server, url: `http://127.0.0.1:${server.address().port}` })));
}

/** One navigation: milliseconds to the first view and to its paint, and what went over the wire for it. */
async function load(page, url) {
  await page.goto("about:blank");
  await page.goto(url);
  const found = await page.evaluate(async (most) => {
    const [mark, paint] = ["lathe-view", "first-contentful-paint"];
    const entry = (name) => performance.getEntriesByName(name)[0];
    while (!(entry(mark) && entry(paint)) && performance.now() < most) await new Promise((again) => setTimeout(again, 2));
    const files = [...performance.getEntriesByType("navigation"), ...performance.getEntriesByType("resource")].filter((one) => /\/(page\/.*)?$/.test(new URL(one.name).pathname));
    return { ms: entry(mark)?.startTime, loadMs: performance.getEntriesByType("navigation")[0].loadEventEnd, paintMs: entry(paint)?.startTime, bytes: files.reduce((sum, one) => sum + one.transferSize, 0), files: files.length };
  }, MARK_MS);
  if (found.ms === undefined) throw new Error(`no first view within ${MARK_MS} ms: ${program} has another page than this bench is for`);
  return found;
}

const ROWS = { ms: "first view", loadMs: "loaded", paintMs: "painted" };

function rows(name, loads) {
  const { bytes, files } = loads.at(-1), size = files > 1 ? ` (${(bytes / 1024).toFixed(0)} KiB in ${files} files)` : "";
  return Object.entries(ROWS).map(([member, what]) => {
    const ms = loads.map((one) => one[member] ?? NaN).sort((a, b) => a - b);
    return [`${name}${size}: ${what}`, ...[ms[0], ms[ms.length >> 1], ms.at(-1)].map((n) => `${n.toFixed(0)} ms`)];
  });
}

async function main() {
  const { chromium } = createRequire(join(root, "tests/package.json"))("playwright-core");
  const served = await serve();
  const empty = await serveEmpty();
  const loads = { empty: [], cold: [], warm: [] };
  let browser;
  try {
    browser = await chromium.launch({
      executablePath: CHROMIUM,
      args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"],
    });
    for (let i = 0; i < TIMES; i++) {
      const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
      const page = await context.newPage();
      loads.cold.push(await load(page, served.url));
      loads.warm.push(await load(page, served.url));
      await context.close();
      const other = await browser.newContext({ viewport: { width: 1280, height: 800 } });
      loads.empty.push(await load(await other.newPage(), empty.url));
      await other.close();
    }
    printTable("The page of lathe serve", ["", "min", "median", "max"], [...rows("nothing cached", loads.cold), ...rows("again", loads.warm), ...rows("an empty document", loads.empty)]);
  } finally {
    await browser?.close();
    empty.server.close();
    served.child.kill();
  }
}

if (existsSync(CHROMIUM)) {
  try {
    await main();
  } catch (e) {
    console.log(`bench: page-load: ${e.message.split("\n")[0]}`);
  }
} else {
  console.log("bench: page-load: no Chromium here (Debian's package chromium)");
}
rmSync(folder, { recursive: true, force: true });
