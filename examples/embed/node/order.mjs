// Runs a program that a model could have written, with two tools of this process: one answers, one needs an approval.
//
//   make node && LATHE_LIBRARY=build/release/liblathe.so.0 node examples/embed/node/order.mjs
import { setTimeout } from "node:timers/promises";
import { ProgramError, Sandbox } from "../../../packages/node/index.js"; // installed: the name of the package

const program = `
const stock = shopStock({item: 'tea'});
output(\`there are \${stock.count}\`);
if (stock.count < 10) { shopOrder({item: 'tea', count: 10 - stock.count}); }
return {ordered: 10 - stock.count};
`;

const tools = {
  "shop.stock": {
    description: "How many of an item there are.",
    inputSchema: { type: "object", properties: { item: { type: "string" } }, required: ["item"] },
    readOnly: true,
    run: async () => {
      await setTimeout(10); // a database would be asked here
      return { count: 3 };
    },
  },
  "shop.order": {
    description: "Orders more of an item.",
    approval: "it spends money",
    run: (input) => {
      console.log(`ordering: ${JSON.stringify(input)}`);
      return { ok: true };
    },
  },
};

async function onApproval({ reason, input }) {
  console.log(`approved, although ${reason}: ${JSON.stringify(input)}`); // a person would be asked here
  return true;
}

const sandbox = new Sandbox({ tools, onApproval });
try {
  const { value, calls } = await sandbox.run(program, { onOutput: (text) => console.log(`output: ${text}`), timeoutMs: 10_000 });
  console.log(JSON.stringify({ result: value, calls: calls.map((call) => call.tool) }));
} catch (error) {
  if (!(error instanceof ProgramError)) throw error;
  console.error(`line ${error.line}, column ${error.column}: ${error.message}`);
  process.exitCode = 1;
} finally {
  await sandbox.close();
}
