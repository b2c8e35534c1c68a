// Answers every line of JSON with one of JSON, as an MCP server would if it had nothing else to do.
import { writeSync } from "node:fs";
import { createInterface } from "node:readline";

createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, params } = JSON.parse(line);
  const result = { content: [{ type: "text", text: params.arguments.text }], structuredContent: params.arguments };
  writeSync(1, JSON.stringify({ jsonrpc: "2.0", id, result }) + "\n");
});
