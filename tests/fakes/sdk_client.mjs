// A client built with the protocol's own SDK (@modelcontextprotocol/client): connects to a server, lists its tools, runs
// programs by execute_code and accepts whatever it is asked. The argument and what it prints are JSON.
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";

const { mode, url, command, args, env, programs } = JSON.parse(process.argv[2]);
const asked = [], answers = [];
const client = new Client({ name: "test", version: "1" }, { capabilities: { elicitation: { form: {} } }, versionNegotiation: { mode } });
client.setRequestHandler("elicitation/create", ({ params }) => {
  asked.push(params.message);
  return { action: "accept", content: {} };
});
await client.connect(url ? new StreamableHTTPClientTransport(new URL(url)) : new StdioClientTransport({ command, args, env }));
const { tools } = await client.listTools();
for (const code of programs) answers.push(await client.callTool({ name: "execute_code", arguments: { code } }));
console.log(JSON.stringify({ era: client.getProtocolEra(), version: client.getNegotiatedProtocolVersion(), tools: tools.map((tool) => tool.name), answers, asked }));
await client.close();
