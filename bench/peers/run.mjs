// A server that does what POST /run of `lathe serve` does, with somebody else's sandbox: {code} in, {text} out, a fresh
// context for each request.
//
//   run.mjs quickjs-emscripten | isolated-vm | isolated-vm-context
//
// isolated-vm makes an isolate for each request, as its documentation advises for code that is not trusted;
// isolated-vm-context only makes a context, in one isolate for all. It says at which address it listens.
import { createServer } from "node:http";
import { createRequire } from "node:module";

const require = createRequire(new URL("../../tests/package.json", import.meta.url));
const MEMORY_MB = 64, LIMIT_MS = 1000;

const sandboxes = {
  async "quickjs-emscripten"() {
    const { newQuickJSWASMModuleFromVariant, shouldInterruptAfterDeadline } = require("quickjs-emscripten-core");
    const { default: variant } = require("@jitl/quickjs-wasmfile-release-sync");
    const module = await newQuickJSWASMModuleFromVariant(variant);
    return (code) => {
      const runtime = module.newRuntime({ memoryLimitBytes: MEMORY_MB << 20, interruptHandler: shouldInterruptAfterDeadline(Date.now() + LIMIT_MS) });
      const context = runtime.newContext();
      const result = context.unwrapResult(context.evalCode(code)), value = context.dump(result);
      result.dispose();
      context.dispose();
      runtime.dispose();
      return value;
    };
  },
  async "isolated-vm"() {
    const ivm = require("isolated-vm");
    return async (code) => {
      const isolate = new ivm.Isolate({ memoryLimit: MEMORY_MB });
      const context = await isolate.createContext();
      const value = await context.eval(code, { timeout: LIMIT_MS, copy: true });
      isolate.dispose();
      return value;
    };
  },
  async "isolated-vm-context"() {
    const ivm = require("isolated-vm"), isolate = new ivm.Isolate({ memoryLimit: MEMORY_MB });
    return async (code) => {
      const context = await isolate.createContext();
      const value = await context.eval(code, { timeout: LIMIT_MS, copy: true });
      context.release();
      return value;
    };
  },
};

const run = await sandboxes[process.argv[2]]();
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
