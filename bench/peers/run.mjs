// A server that does what POST /run of `lathe serve` does, with somebody else's sandbox: {code} in, {text} out, a fresh
// context for each request.
//
//   run.mjs quickjs-emscripten | isolated-vm | isolated-vm-context
//
// isolated-vm makes an isolate for each request, as its documentation advises for code that is not trusted;
// isolated-vm-context only makes a context, in one isolate for all. It says at which address it listens.
import { createServer } from "node:http";
import ivm from "isolated-vm-7";

const MEMORY_MB = 64, LIMIT_MS = 1000;

function inOneIsolate() {
  const isolate = new ivm.Isolate({ memoryLimit: MEMORY_MB });
  return async (code) => {
    const context = await isolate.createContext();
    const value = await context.eval(code, { timeout: LIMIT_MS, copy: true });
    context.release();
    return value;
  };
}

async function alone(name) {
  const { open } = await import(`./sandboxes/${name}.mjs`);
  return (await open({ tools: {}, memoryMb: MEMORY_MB, limitMs: LIMIT_MS })).run;
}

const name = process.argv[2], run = name === "isolated-vm-context" ? inOneIsolate() : await alone(name);
const server = createServer((request, response) => {
  let body = "";
  request.setEncoding("utf8");
  request.on("data", (piece) => { body += piece; });
  request.on("end", async () => {
    let status = 200, answer;
    try {
      answer = { state: "completed", text: String(await run(JSON.parse(body).code)) };
    } catch (error) {
      [status, answer] = [500, { error: { message: String(error) } }];
    }
    const text = JSON.stringify(answer);
    response.writeHead(status, { "content-type": "application/json", "content-length": Buffer.byteLength(text) });
    response.end(text);
  });
});
server.listen(0, "127.0.0.1", 4096, () => console.log(`http://127.0.0.1:${server.address().port}`));
