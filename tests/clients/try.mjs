// Real clients with `lathe mcp`, as `lathe mcp install` sets it up, and a scripted model on loopback: scripts/try-clients.sh.
//
//   node try.mjs LATHE PACKAGES [CLIENT...]
import { spawn } from "node:child_process";
import { appendFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { models } from "./models.mjs";

const [lathe, packages] = [resolve(process.argv[2]), resolve(process.argv[3])];
const wanted = process.argv.slice(4);
const root = resolve(dirname(fileURLToPath(import.meta.url)), "../..");
const bin = (name) => join(packages, "node_modules/.bin", name);
const keeps = Boolean(process.env.TRY_KEEP);
const over = process.env.TRY_OVER; // "stdio" or "HTTP": that alone

/** What makes each client ask our model once, without a person: files in its home, variables, the command. */
const clients = {
  "claude-code": {
    version: ["claude", "--version"],
    env: (url) => ({ ANTHROPIC_BASE_URL: url, ANTHROPIC_API_KEY: "sk-ant-none", CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1", DISABLE_AUTOUPDATER: "1", DISABLE_TELEMETRY: "1", IS_SANDBOX: "1" }),
    files: () => ({}),
    command: ["claude", "-p", "Go on.", "--allowedTools", "mcp__lathe__execute_code,mcp__lathe__continue_run,mcp__lathe__search_tools,mcp__lathe__read_output"],
  },
  codex: {
    version: ["codex", "--version"],
    env: () => ({ FAKE_KEY: "none" }),
    files: (url) => ({ ".codex/config.toml": `model = "gpt-5.1-codex"\nmodel_provider = "fake"\n\n[model_providers.fake] # on loopback\nname = "fake"\nbase_url = "${url}/v1"\nwire_api = "responses"\nenv_key = "FAKE_KEY"\n` }),
    command: ["codex", "exec", "--skip-git-repo-check", "-c", 'mcp_servers.lathe.default_tools_approval_mode="approve"', "Go on."],
  },
  opencode: {
    version: ["opencode", "--version"],
    env: () => ({ OPENCODE_DISABLE_AUTOUPDATE: "1", OPENCODE_DISABLE_MODELS_FETCH: "1" }),
    files: (url) => ({ ".config/opencode/opencode.json": `{\n  // on loopback\n  "model": "fake/m",\n  "small_model": "fake/m",\n  "provider": {\n    "fake": { "npm": "@ai-sdk/openai-compatible", "name": "fake", "options": { "baseURL": "${url}/v1", "apiKey": "none" }, "models": { "m": { "name": "m", "tool_call": true } } },\n  },\n}\n` }),
    command: ["opencode", "run", "Go on."],
  },
  "gemini-cli": {
    version: ["gemini", "--version"],
    env: (url) => ({ GEMINI_API_KEY: "none", GOOGLE_GEMINI_BASE_URL: url, GEMINI_CLI_TRUST_WORKSPACE: "true" }),
    files: () => ({ ".gemini/settings.json": '{\n  // ours\n  "security": { "auth": { "selectedType": "gemini-api-key" } },\n  "privacy": { "usageStatisticsEnabled": false },\n  "general": { "disableAutoUpdate": true }\n}\n' }),
    command: ["gemini", "--yolo", "--skip-trust", "-m", "gemini-2.5-flash", "-p", "Go on."],
  },
};

const environment = (home, more) => ({ HOME: home, PATH: `${join(packages, "node_modules/.bin")}:${process.env.PATH}`, LANG: "C.UTF-8", TERM: "dumb", TRY_TOKEN: "handed-over", ...more });

function ran(command, args, options) {
  return new Promise((done) => {
    const child = spawn(command, args, { ...options, stdio: ["ignore", "pipe", "pipe"], detached: true });
    let text = "";
    child.stdout.on("data", (bytes) => { text += bytes; });
    child.stderr.on("data", (bytes) => { text += bytes; });
    const kill = () => { try { process.kill(-child.pid, "SIGKILL"); } catch { /* gone */ } };
    const timer = setTimeout(kill, options.limitMs ?? 120_000);
    child.on("error", (e) => done({ code: -1, text: String(e) }));
    child.on("close", (code) => { clearTimeout(timer); kill(); done({ code, text }); });
  });
}

/** A person at a terminal, who says yes. */
const PERSON = `import os, pty, sys
def say(fd):
    data = os.read(fd, 1024)
    say.seen += data
    if b"Allow?" in say.seen and not say.done:
        say.done = True
        os.write(say.fd, b"y\\n")
    return data
say.seen, say.done = b"", False
pid, say.fd = pty.fork()
if pid == 0: os.execvp(sys.argv[1], sys.argv[1:])
try:
    while say(say.fd): pass
except OSError: pass
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) & 255)`;

/** A tool by its name without the client's prefix; Claude Code defers tools: its own search has to find them. */
function toolOf(seen, name) {
  const found = seen.tools.find((tool) => tool.name === name || tool.name.endsWith(`_${name}`));
  const search = seen.tools.find((tool) => tool.name === "ToolSearch");
  return found ? { tool: found } : search && seen.results.length < 4 ? { search } : {};
}
const call = (seen, name, input) => {
  const { tool, search } = toolOf(seen, name);
  if (search) return { tool: search, input: { query: `select:mcp__lathe__${name}`, max_results: 5 } };
  return tool ? { tool, input } : { text: `no ${name}` };
};
const runOf = (text) => /[Rr]un ([0-9a-f]{16,})/.exec(text)?.[1];

/** What the model does, from what it has seen; `said` collects what it was told. */
function script(code, options, hooks = {}) {
  let started = false;
  return async (seen) => {
    const last = seen.results.at(-1) ?? "";
    const run = started && runOf(last);
    if (run && /not done/.test(last)) {
      await hooks.onWait?.(run, last);
      return call(seen, "continue_run", { run });
    }
    if (started) return { text: "finished" };
    const next = call(seen, "execute_code", { code, ...options });
    started = next.tool?.name !== "ToolSearch";
    return next;
  };
}

async function tryClient(name, model, home, report) {
  const client = clients[name];
  const write = (file, text) => { mkdirSync(dirname(join(home, file)), { recursive: true }); writeFileSync(join(home, file), text); };
  const tools = [["sum", "forty-two", 0], ["nap", "rested", 75_000], ["pay", "paid", 0]].map(([tool, text, delayMs]) => ({ tool: { name: tool, description: `${tool}.`, inputSchema: { type: "object" } }, result: { content: [{ type: "text", text }] }, delayMs }));
  write("tools.json", JSON.stringify(tools));
  const config = (waitMs) => write(".config/lathe/lathe.yaml", `mcp: {waitMs: ${waitMs}}\ntools: {policy: [{match: "good.pay", action: ask}]}\nmcpServers:\n  good: {command: ${JSON.stringify(process.execPath)}, args: [${JSON.stringify(join(root, "tests/fakes/mcp_server.mjs"))}, ${JSON.stringify(`--script=${join(home, "tools.json")}`)}], env: {T: "\${TRY_TOKEN}"}}\n`);
  Object.entries(client.files(model.url)).forEach(([file, text]) => write(file, text));
  config(45_000);
  const env = environment(home, client.env(model.url));
  const work = join(home, "project");
  mkdirSync(work, { recursive: true });
  const version = await ran(bin(client.version[0]), client.version.slice(1), { cwd: work, env });
  report("version", (/\d+\.\d+\.\d+/.exec(version.text) ?? ["?"])[0]);
  const installed = await ran(lathe, ["mcp", "install", name, "--yes"], { cwd: work, env });
  report("install", installed.code === 0 ? "ok" : installed.text);
  const turn = async (play, limitMs) => {
    model.plays(play);
    const began = Date.now();
    const done = await ran(bin(client.command[0]), client.command.slice(1), { cwd: work, env, limitMs });
    appendFileSync(join(home, "log"), `\n=== ${name}\n${done.text}\n${JSON.stringify(model.asked.map((a) => ({ tools: a.tools.map((t) => `${t.namespace ?? ""}/${t.name}`), results: a.results })), null, 1)}\n${model.others.join("\n")}\n`);
    return { ...done, seconds: Math.round((Date.now() - began) / 1000), names: model.asked.flatMap((a) => a.tools.map((t) => t.name)), results: model.asked.at(-1)?.results ?? [], said: JSON.stringify(model.asked[0]?.body ?? "") };
  };
  const verdict = (turned, word, more = "") => (turned.results.some((text) => text.includes(word)) ? `ok${more}` : `no: ${(turned.results.at(-1) ?? turned.text).slice(-300)}`);

  /** The same questions over each transport. `restart` makes a gateway over HTTP read its configuration. */
  const questions = async (transport, restart) => {
    await restart(45_000);
    const first = await turn(script("goodSum({})", {}), 120_000);
    const isListed = ["search_tools", "execute_code", "continue_run", "read_output"].every((tool) => first.names.some((n) => n.endsWith(tool)) || first.said.includes(`mcp__lathe__${tool}`));
    report(`${transport}: listed`, isListed ? "ok" : `no: ${[...new Set(first.names)].join(" ").slice(0, 300)}`);
    report(`${transport}: called`, verdict(first, "forty-two"));

    const decided = [];
    await restart(2000);
    const second = await turn(script("goodPay({})", {}, {
      async onWait(run, text) {
        const id = /lathe approve [0-9a-f]+ (\S+?)[`\s"\\]/.exec(text)?.[1];
        if (id && decided.length === 0) decided.push(await ran("python3", ["-c", PERSON, lathe, "approve", run, id], { cwd: work, env: environment(home, {}) }));
      },
    }), 180_000);
    report(`${transport}: approval`, decided.length === 1 ? verdict(second, "paid") : `no: asked ${decided.length} times`);

    await restart(45_000);
    const third = await turn(script("goodNap({})", { timeout: 120_000 }), 240_000);
    const isContinued = third.results.some((text) => /not done/.test(text));
    report(`${transport}: 75 s call`, verdict(third, "rested", `, ${third.seconds} s${isContinued ? "" : ", without continue_run"}`));
  };

  if (over !== "HTTP") await questions("stdio", async (waitMs) => config(waitMs));
  const help = await ran(lathe, ["mcp", "--help"], { env });
  if (over !== "stdio" && help.text.includes("--http")) {
    let gateway;
    const serve = async (waitMs) => {
      gateway?.kill("SIGTERM");
      config(waitMs);
      gateway = spawn(lathe, ["mcp", "--http", "127.0.0.1:0"], { cwd: work, env: environment(home, {}), stdio: ["ignore", "ignore", "pipe"] });
      const url = await new Promise((listens, no) => {
        let said = "";
        gateway.on("exit", () => no(new Error(`the gateway ended: ${said}`)));
        gateway.stderr.on("data", (bytes) => { said += bytes; const found = /listening at (\S+)/.exec(said); if (found) listens(found[1]); });
      });
      const again = await ran(lathe, ["mcp", "install", name, "--http", url, "--yes"], { cwd: work, env });
      if (again.code !== 0) throw new Error(again.text);
    };
    try { await questions("HTTP", serve); } finally { gateway?.kill("SIGTERM"); }
  }
  const removed = await ran(lathe, ["mcp", "install", name, "--remove", "--yes"], { cwd: work, env });
  report("removed", removed.code === 0 ? "ok" : removed.text);
}

const table = {};
for (const name of Object.keys(clients).filter((one) => wanted.length === 0 || wanted.includes(one))) {
  const home = mkdtempSync(join(tmpdir(), "lathe-client-"));
  const model = await models();
  table[name] = {};
  try {
    await tryClient(name, model, home, (what, result) => { table[name][what] = result; console.error(`${name}: ${what}: ${result}`); });
  } catch (e) {
    table[name].failed = String(e);
    console.error(`${name}: ${e}`);
  }
  model.close();
  if (keeps) console.error(`kept: ${home}`);
  else rmSync(home, { recursive: true, force: true });
}
const asked = ["stdio", "HTTP"].flatMap((transport) => ["listed", "called", "approval", "75 s call"].map((what) => `${transport}: ${what}`));
const columns = ["version", "install", ...asked, "removed", "failed"].filter((c) => Object.values(table).some((row) => row[c] !== undefined));
console.log(`| client | ${columns.join(" | ")} |\n|---|${columns.map(() => "---").join("|")}|`);
for (const [name, row] of Object.entries(table)) console.log(`| ${name} | ${columns.map((c) => String(row[c] ?? "-").split("\n")[0]).join(" | ")} |`);
process.exit(Object.values(table).every((row) => row.failed === undefined && columns.slice(1).every((c) => /^ok/.test(row[c] ?? ""))) ? 0 : 1);
