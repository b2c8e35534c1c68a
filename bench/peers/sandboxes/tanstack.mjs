// TanStack's execute_typescript, on its driver of isolated-vm: types are taken off, an isolate is made for each program.
import { toolDefinition } from "@tanstack/ai";
import { createCodeModeTool } from "@tanstack/ai-code-mode";
import { createNodeIsolateDriver } from "@tanstack/ai-isolate-node";
import { z } from "zod";
import { returning, versionOf } from "../programs.mjs";

export async function open({ tools, memoryMb, limitMs }) {
  const known = Object.entries(tools).map(([name, tool]) => toolDefinition({ name, description: name, inputSchema: z.object({}).passthrough() }).server(tool));
  const execute = createCodeModeTool({ driver: createNodeIsolateDriver(), tools: known, memoryLimit: memoryMb, timeout: limitMs });
  async function run(code) {
    const { success, result, error } = await execute.execute({ typescriptCode: code });
    if (!success) throw new Error(error.message);
    return result;
  }
  const dialect = returning((name, input) => `(await external_${name}(${input}))`);
  return { name: `@tanstack/ai-code-mode ${versionOf("@tanstack/ai-code-mode")}`, dialect, run, waiting: { dialect, run } };
}
