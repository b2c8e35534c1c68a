// The real MCP servers that the flow tests and the benchmarks start: ten of them, from the npm packages of the root and of
// tests/. What they need to list their tools is given here; nothing of it leaves this machine.
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const tests = resolve(dirname(fileURLToPath(import.meta.url)), "..");
const folders = [join(tests, "..", "node_modules"), join(tests, "node_modules")];

/** Where an npm package is installed; undefined where it is not. */
export const installed = (name) => folders.map((folder) => join(folder, name)).find((path) => existsSync(path));

/** Several of them ask for Node.js 20.19: where this one is older (Debian 12 has 18), scripts/setup.sh installs another. */
function nodeForServers() {
  const [major, minor] = process.versions.node.split(".").map(Number);
  const own = join(tests, "node/node_modules");
  const names = existsSync(own) ? readdirSync(own).filter((name) => name.startsWith("node-")) : [];
  return major > 20 || (major === 20 && minor >= 19) || names.length === 0 ? process.execPath : join(own, names[0], "bin/node");
}

/** An entry of mcpServers that runs the only program of an installed npm package. */
export function entry(name, args = [], env = {}) {
  const path = installed(name);
  const { bin } = JSON.parse(readFileSync(join(path, "package.json"), "utf8"));
  const file = typeof bin === "string" ? bin : Object.values(bin)[0];
  return { command: nodeForServers(), args: [join(path, file), ...args], env };
}

const committer = { GIT_AUTHOR_NAME: "Ada", GIT_AUTHOR_EMAIL: "ada@example.com", GIT_COMMITTER_NAME: "Ada", GIT_COMMITTER_EMAIL: "ada@example.com" };
const mcp = (name) => `@modelcontextprotocol/server-${name}`;

/** name in the configuration -> [npm package, arguments, environment]; `folder` is the servers' to play with. */
const all = (folder) => ({
  everything: [mcp("everything"), ["stdio"]],
  filesystem: [mcp("filesystem"), [folder]],
  memory: [mcp("memory"), [], { MEMORY_FILE_PATH: join(folder, "memory.jsonl") }],
  thinking: [mcp("sequential-thinking")],
  git: ["@cyanheads/git-mcp-server", [], { MCP_TRANSPORT_TYPE: "stdio", MCP_LOG_LEVEL: "error", GIT_SIGN_COMMITS: "false", ...committer }],
  playwright: ["@playwright/mcp", ["--headless"]],
  notion: ["@notionhq/notion-mcp-server", [], { NOTION_TOKEN: "ntn_x" }],
  eslint: ["@eslint/mcp"],
  github: [mcp("github")],
  commands: ["mcp-server-commands"],
});
export const names = Object.keys(all(""));

/** Those of `wanted` that are not installed. */
export const missing = (wanted = names) => wanted.filter((name) => !installed(all("")[name][0]));

/** What a configuration says of the servers `wanted`: {name: entry}. */
export function entries(folder, wanted = names) {
  return Object.fromEntries(wanted.map((name) => [name, entry(...all(folder)[name])]));
}
