#!/usr/bin/env node
// A fake MCP server over stdio for the programs of tests/field: Node 18 or later, no dependencies.
//
//   node field_server.mjs DOMAIN      one of field_domains.mjs: weather, files, mail, ...
//
// It knows what that page knows when it starts, and forgets at its end what was changed.
import { createInterface } from "node:readline";
import { domains } from "./field_domains.mjs";

const tools = domains[process.argv[2]]();
const send = (message) => process.stdout.write(JSON.stringify({ jsonrpc: "2.0", ...message }) + "\n");
const text = (words) => [{ type: "text", text: words }];

function call({ name, arguments: input = {} }) {
  const tool = tools.find((one) => one.name === name);
  if (!tool) return { content: text(`Unknown tool: ${name}`), isError: true };
  try {
    const value = tool.run(input);
    return typeof value === "string" ? { content: text(value) } : { content: text(JSON.stringify(value)), structuredContent: value };
  } catch (e) {
    return { content: text(e.message), isError: true };
  }
}

const methods = {
  initialize: ({ protocolVersion }) => ({ protocolVersion, capabilities: { tools: {} }, serverInfo: { name: process.argv[2], version: "1.0.0" } }),
  "tools/list": () => ({ tools: tools.map(({ run, ...tool }) => tool) }),
  "tools/call": call,
  ping: () => ({}),
};

for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) continue;
  const answer = methods[method];
  send(answer ? { id, result: answer(params ?? {}) } : { id, error: { code: -32601, message: `no method ${method}` } });
}
