// How soon the page of `lathe serve` shows its first view, in Debian's Chromium: with an empty cache, and again. The time
// is the browser's own, from the begin of the navigation to the mark that the page sets when its first view stands.
import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const CHROMIUM = "/usr/bin/chromium", TIMES = 20;
const root = fileURLToPath(new URL("..", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "lathe-bench-"));

/** Starts the server; its address. */
function serve() {
  writeFileSync(join(folder, "lathe.yaml"), "{}");
  const child = spawn(process.env.LATHE, ["serve", "--listen", "127.0.0.1:0", "--config", join(folder, "lathe.yaml")], {
    env: { ...process.env, HOME: folder, XDG_STATE_HOME: folder, XDG_CONFIG_HOME: folder }, stdio: ["ignore", "ignore", "pipe"],
  });
  return new Promise((done, failed) => {
    let said = "";
    child.stderr.on("data", (bytes) => {
      said += bytes;
      const url = /http:\/\/[\d.]+:\d+/.exec(said);
      if (url) done({ child, url: url[0] });
    });
    child.on("exit", () => failed(new Error(said)));
  });
}

/** One navigation: milliseconds to the first view, and what went over the wire for it. */
async function load(page, url) {
  await page.goto("about:blank");
  await page.goto(url);
  return page.evaluate(async () => {
    for (;;) {
      const [mark] = performance.getEntriesByName("lathe-view");
      const files = [...performance.getEntriesByType("navigation"), ...performance.getEntriesByType("resource")].filter((one) => /\/(page\/.*)?$/.test(new URL(one.name).pathname));
      if (mark) return { ms: mark.startTime, bytes: files.reduce((sum, one) => sum + one.transferSize, 0), files: files.length };
      await new Promise((again) => setTimeout(again, 2));
    }
  });
}

function print(name, loads) {
  const ms = loads.map((one) => one.ms).sort((a, b) => a - b);
  const { bytes, files } = loads.at(-1);
  const size = `${(bytes / 1024).toFixed(0)} KiB in ${files} files`;
  console.log(`${name} (${size}): min ${ms[0].toFixed(0)} ms, median ${ms[ms.length >> 1].toFixed(0)} ms, max ${ms.at(-1).toFixed(0)} ms`);
}

async function main() {
  const { chromium } = createRequire(join(root, "tests/package.json"))("playwright-core");
  const server = await serve();
  const browser = await chromium.launch({
    executablePath: CHROMIUM,
    args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"],
  });
  const cold = [], warm = [];
  for (let i = 0; i < TIMES; i++) {
    const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
    const page = await context.newPage();
    cold.push(await load(page, server.url));
    warm.push(await load(page, server.url));
    await context.close();
  }
  print("the page of lathe serve, first view, nothing cached", cold);
  print("... again", warm);
  await browser.close();
  server.child.kill();
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
