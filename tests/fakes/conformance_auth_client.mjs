#!/usr/bin/env node
// The client that the conformance suite of MCP starts for scenarios with authorization: a person who runs a program, logs in as Lathe says,
// and runs it again. The person's browser is a fetch that follows the address which `lathe login` prints.
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const url = process.argv.at(-1);
const scenario = process.env.MCP_CONFORMANCE_SCENARIO;
const context = JSON.parse(process.env.MCP_CONFORMANCE_CONTEXT ?? "{}");
const oauth = {};
if (scenario === "auth/basic-cimd") oauth.clientMetadataUrl = "https://conformance-test.local/client-metadata.json";
if (context.client_id) oauth.clientId = context.client_id;
if (context.client_secret) oauth.clientSecretEnv = "CONFORMANCE_CLIENT_SECRET";
if (scenario.startsWith("auth/client-credentials")) oauth.grant = "client_credentials";

const folder = mkdtempSync(join(tmpdir(), "lathe-conformance-"));
const config = join(folder, "lathe.yaml");
const env = { ...process.env, HOME: folder, XDG_CACHE_HOME: folder, XDG_STATE_HOME: folder, CONFORMANCE_CLIENT_SECRET: context.client_secret ?? "" };

/** Runs lathe; `onOutput` gets what it prints. */
async function lathe(args, onOutput = () => {}) {
  const child = spawn(process.env.LATHE, [...args, "--config", config], { env, stdio: ["ignore", "pipe", "pipe"] });
  let said = "";
  child.stdout.on("data", (piece) => onOutput(String(piece)));
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (piece) => { said += piece; process.stdout.write(piece); });
  const code = await new Promise((done) => child.on("close", done));
  return { code, said };
}

/** Logs in: the address is opened as soon as it is there. */
function login() {
  let printed = "", opened = false;
  return lathe(["login", "s", "--no-browser"], (piece) => {
    printed += piece;
    const address = printed.match(/^http\S+(?=\n)/m)?.[0];
    if (address && !opened) {
      opened = true;
      fetch(address).then((answer) => answer.text()).catch((e) => console.log(`browser: ${e.message}`));
    }
  });
}

try {
  writeFileSync(config, JSON.stringify({ mcpServers: { s: { url, oauth, startTimeoutMs: 20_000 } } }));
  // A server that wants a login is a warning, and its tools fail; only so does the program know.
  const program = () => lathe(["run", "-e", `tools["s.test-tool"]({})`]);
  let end = await program();
  for (let tries = 0; tries < 3 && end.code !== 0 && /lathe login s/.test(end.said); tries++) {
    const done = await login();
    end = done.code === 0 ? await program() : done;
  }
  process.exitCode = end.code ?? 1;
} finally {
  rmSync(folder, { recursive: true, force: true });
}
