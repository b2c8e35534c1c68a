// The globals of a program in Deno. Deno runs this file first. `const lathe = {...};` stands before it: the bridge's
// address, written by deno_source.c. The file waits for the program, which may come later (deno_spare.c), and imports it
// at its end. So the program is a module of its own, with its own lines, columns and names.
//
// Messages without an answer go to standard output, a record on each line (byte 0x1e, then JSON; deno_output.c). Everything
// else that is written there is output. Tool calls, and all that needs an answer, are HTTP requests to the bridge.
const { Array, Error, JSON, Map, Object, Promise, Proxy, Set, String, Symbol, TypeError } = globalThis;
const { parse, stringify } = JSON;
const encoder = new TextEncoder(), decoder = new TextDecoder();
const { stdin, stdout, connect, exit, inspect, readTextFileSync } = Deno;

const write = (text) => {
  let bytes = encoder.encode(text);
  try {
    while (bytes.length > 0) bytes = bytes.subarray(stdout.writeSync(bytes));
  } catch { /* the program has closed it */ }
};
const record = (fields) => write('\x1e' + stringify(fields) + '\n');

// --- Values as text ---------------------------------------------------------------------------------------------------
const describe = (f) => `[${/^class\b/.test(String(f)) ? 'Class' : 'Function'}: ${f.name || 'anonymous'}]`;
const readable = (key, value) => {
  if (typeof value === 'bigint' || typeof value === 'symbol') return String(value);
  if (typeof value === 'function') return describe(value);
  if (value === null || typeof value !== 'object') return value;
  if (value instanceof Map) {
    const entries = [...value];
    return entries.every(([k]) => typeof k === 'string') ? Object.fromEntries(entries) : entries;
  }
  if (value instanceof Set) return [...value];
  if (value instanceof Error) return { name: value.name, message: value.message };
  if (value instanceof RegExp) return String(value);
  if (value instanceof Promise) return '[Promise: not settled; await it]';
  if (value instanceof ArrayBuffer) return `[ArrayBuffer: ${value.byteLength} bytes]`;
  if (ArrayBuffer.isView(value) && !(value instanceof DataView)) {
    return Array.from(value, (n) => (typeof n === 'bigint' ? String(n) : n));
  }
  return value;
};
// For cycles, and for values whose toJSON or getters throw.
const copy = (value, parents) => {
  value = readable('', value);
  if (value === null || typeof value !== 'object') return value;
  if (parents.includes(value)) return '[Circular]';
  if (parents.length > 100) return '[too deep]';
  const inside = [...parents, value];
  if (Array.isArray(value)) return value.map((item) => copy(item, inside));
  const out = {};
  for (const key of Object.keys(value)) {
    try {
      out[key] = copy(value[key], inside);
    } catch (e) {
      out[key] = `[Error: ${message(e)}]`;
    }
  }
  return out;
};
// JSON text of any value; undefined for undefined.
const render = (value) => {
  if (value === undefined) return undefined;
  if (typeof value === 'number' && !Number.isFinite(value)) return stringify(String(value));
  try {
    return stringify(value, readable);
  } catch {
    return stringify(copy(value, []));
  }
};
const plain = (value) => {
  if (typeof value === 'string') return value;
  const text = render(value);
  if (text === undefined) return String(value);
  return text[0] === '"' ? parse(text) : text;
};
const line = (values) => values.map(plain).join(' ');
const message = (e) => (typeof e === 'object' && e !== null && typeof e.message === 'string' ? e.message : plain(e));

// --- The end ----------------------------------------------------------------------------------------------------------
const fail = (e) => {
  const isError = typeof e === 'object' && e !== null && (e instanceof Error || typeof e.message === 'string');
  let stack = '';
  try {
    stack = isError && typeof e.stack === 'string' ? e.stack : '';
  } catch { /* its own getter */ }
  record({ t: 'failed', name: isError ? String(e.name ?? 'Error') : '', message: e === undefined ? 'undefined' : message(e),
           stack });
  exit(1);
};
addEventListener('unhandledrejection', (event) => { event.preventDefault(); fail(event.reason); });
addEventListener('error', (event) => { event.preventDefault(); fail(event.error); });

// --- The bridge -------------------------------------------------------------------------------------------------------
// HTTP/1.1 by hand: fetch() would need a permission for a host, and takes 10 ms to load.
const idle = [], waiting = [];
let connections = 0;
const take = async () => {
  if (idle.length > 0) return idle.pop();
  if (connections >= lathe.connections) return await new Promise((resolve) => waiting.push(resolve));
  connections++;
  try {
    return await connect(lathe.bridge);
  } catch (e) {
    connections--;
    throw e;
  }
};
const give = (connection) => {
  const next = waiting.shift();
  if (next) next(connection);
  else idle.push(connection);
};
const lose = (connection) => {
  try {
    connection.close();
  } catch { /* it is closed */ }
  connections--;
  const next = waiting.shift();
  if (next) next(take());
};

const append = (a, b) => {
  const both = new Uint8Array(a.length + b.length);
  both.set(a);
  both.set(b, a.length);
  return both;
};
const more = async (connection, buffer) => {
  const n = await connection.read(buffer);
  if (n === null) throw new Error('the bridge has closed the connection');
  return n;
};
const headEnd = (bytes) => {
  for (let i = 3; i < bytes.length; i++) {
    if (bytes[i] === 10 && bytes[i - 1] === 13 && bytes[i - 2] === 10) return i + 1;
  }
  return -1;
};
const answer = async (connection) => {
  let bytes = new Uint8Array(0), end = -1;
  const piece = new Uint8Array(16384);
  while (end < 0) {
    bytes = append(bytes, piece.subarray(0, await more(connection, piece)));
    end = headEnd(bytes);
  }
  const head = decoder.decode(bytes.subarray(0, end));
  const length = Number(/^content-length: *(\d+)/im.exec(head)?.[1] ?? 0);
  const body = new Uint8Array(length);
  body.set(bytes.subarray(end));
  for (let n = bytes.length - end; n < length;) n += await more(connection, body.subarray(n));
  return { status: Number(head.slice(9, 12)), text: decoder.decode(body), last: /^connection: *close/im.test(head) };
};
const send = async (connection, path, body) => {
  const text = encoder.encode(body);
  const head = encoder.encode(`POST ${path} HTTP/1.1\r\nHost: lathe\r\n${lathe.header}Content-Type: application/json\r\n` +
                              `Content-Length: ${text.length}\r\n\r\n`);
  for (let bytes = append(head, text); bytes.length > 0;) bytes = bytes.subarray(await connection.write(bytes));
};
const post = async (path, fields) => {
  const body = stringify(fields);
  const connection = await take();
  let got;
  try {
    await send(connection, path, body);
    got = await answer(connection);
  } catch (e) {
    lose(connection);
    throw e;
  }
  if (got.last) lose(connection);
  else give(connection);
  if (got.status !== 200) throw new Error(`the bridge says ${got.status}: ${got.text.trim()}`);
  return parse(got.text);
};
// The answer is {content, is_error}. Returns the content, or throws an error with its text.
const ask = async (path, fields, error) => {
  const { content, is_error } = await post(path, fields);
  if (!is_error) return content;
  error.message = plain(content);
  throw error;
};

// --- Tools ------------------------------------------------------------------------------------------------------------
const hidden = (object, name, value) =>
  Object.defineProperty(object, name, { value, writable: true, configurable: true, enumerable: false });
const global = (name, value) => hidden(globalThis, name, value);

// JavaScript: a promise of the value. It rejects when the tool fails.
const call = (id, input) => ask('/', { tool_name: id, arguments: input ?? {} }, new Error());
// A failed Result has accessors until the program reads one of them; then it is a plain object. Those that nobody has
// read are told at the end.
const unread = new Map(); // the Result -> what to tell
const failedResult = (name, error) => {
  const result = {};
  const members = { success: false, error, value: undefined, data: undefined };
  const read = () => {
    unread.delete(result);
    for (const key of Object.keys(members)) delete result[key];
    result.success = false;
    result.error = error;
  };
  for (const key of Object.keys(members)) {
    Object.defineProperty(result, key, {
      get() { read(); return members[key]; },
      set(to) { read(); result[key] = to; },
      enumerable: members[key] !== undefined,
      configurable: true,
    });
  }
  unread.set(result, { read, text: `${name} failed and the program did not look: ${plain(error).slice(0, 500)}` });
  return result;
};
// Printing looks at all that it is given, but reads no accessors.
const lookAt = (value, depth = 6) => {
  if (unread.size === 0 || depth === 0 || typeof value !== 'object' || value === null) return;
  if (unread.has(value)) unread.get(value).read();
  else if (value instanceof Map || value instanceof Set) for (const item of value) lookAt(item, depth - 1);
  else {
    for (const key of Object.keys(value).slice(0, 1000)) {
      const own = Object.getOwnPropertyDescriptor(value, key);
      if (own && 'value' in own) lookAt(own.value, depth - 1);
    }
  }
};
addEventListener('unload', () => {
  const told = [...unread.values()].map((one) => one.text);
  if (told.length === 0) return;
  record({ t: 'unread', text: told.length <= 5 ? told.join('\n') : `${told.slice(0, 5).join('\n')}\nand ${told.length - 5} more` });
});

// TypeScript: a promise of a Result. It never rejects.
const callResult = async (id, input, name) => {
  try {
    return { success: true, value: await call(id, input) };
  } catch (e) {
    return failedResult(name, message(e));
  }
};
let world; // world.json, written by deno_source.c: set when the program comes
const toolFunction = (id, name) => hidden((input) => (world.typed ? callResult(id, input, name) : call(id, input)), 'name', name);
const hostFunction = (name) => hidden((...args) => {
  while (args.length > 0 && args[args.length - 1] === undefined) args.length--;
  return ask('/function', { name, args: parse(render(args)) }, new Error());
}, 'name', name);
global('tools', new Proxy({}, {
  get: (_, name) => (typeof name === 'symbol' || name === 'then' || name === 'toJSON' ? undefined : toolFunction(name, name)),
  has: (_, name) => typeof name === 'string',
  set() { throw new TypeError('tools cannot be changed'); },
}));
global('parallel', async (calls) => {
  if (!Array.isArray(calls)) throw new TypeError('parallel() expects an array of {tool, input} objects');
  return await Promise.all(calls.map(async (entry, i) => {
    const name = entry?.tool ?? entry?.name;
    if (typeof entry !== 'object' || name === undefined) return { error: `parallel()[${i}] is not a {tool, input} object` };
    const result = await callResult(String(name), entry.input ?? entry.args ?? entry.arguments);
    return result.success ? result.value : { error: result.error };
  }));
});
global('discoverTools', (query) => ask('/discover', { query: query === undefined ? '' : String(query) }, new Error()));
global('toolSchema', (name) => ask('/schema', { name: String(name) }, new Error()));

// --- Other globals ----------------------------------------------------------------------------------------------------
const say = (level, text) => record({ t: level, text });
const output = (value) => say('output', plain(value));
// done("the answer") means it: a text that is nobody's would be lost.
const done = (answer) => {
  if (typeof answer === 'string' && answer !== '') output(answer);
  record({ t: 'done' });
};
const stored = new Map();
const store = (key, value) => {
  const text = render(value);
  if (text === undefined) stored.delete(String(key));
  else stored.set(String(key), text);
  record({ t: 'store', key: String(key), json: text ?? '' });
};
global('log', (...values) => say('log', line(values)));
global('store', store);
global('recall', (key) => {
  const text = stored.get(String(key));
  return text === undefined ? undefined : parse(text);
});
global('sleep', (ms) => new Promise((resolve) => setTimeout(resolve, ms)));
const complete = (what) => {
  if (typeof what !== 'object' || what === null || typeof what.response !== 'string') {
    throw new TypeError('complete() expects {response: "text for the user", data?, followUp?}');
  }
  if (what.response !== '') output(what.response);
  if (what.followUp) output('\n\n' + what.followUp);
  if (what.data !== undefined) store('_lastData', what.data);
  done();
  return { stored: what.data !== undefined, followUp: Boolean(what.followUp) };
};
// console is inspect.js's, as in the embedded engine. Levels: -1 debug, 0 log, 1 warning, 2 error.
const printed = (level, text) => {
  if (world.typed && !world.muted && level < 1) say('output', text + '\n');
  else say(level === 2 ? 'error' : level === 1 ? 'warning' : 'log', text);
};
// Lines of a stack that are the program's: "    at name (program.ts:1:2)".
const frames = (stack) => {
  if (typeof stack !== 'string') return '';
  const file = world.program.replace(/^.*\//, '');
  const place = new RegExp(`^ +at (?:async )?(?:(.*) \\()?[^ ()]*/(${file.replaceAll('.', '\\.')}:\\d+:\\d+)\\)?$`);
  return stack.split('\n').map((it) => place.exec(it)).filter((it) => it)
    .map(([, name, at]) => (name ? `    at ${name} (${at})` : `    at ${at}`)).join('\n');
};
roots.frames = (error) => frames(error.stack);
// Deno tells a promise's state only as text.
roots.peek = (promise) => {
  if (!(promise instanceof Promise)) return undefined;
  const text = inspect(promise, { depth: 3 }).replace(/^.*?\{ |\s*\}$/gs, '');
  if (text[0] === '"') return [1, parse(text)];
  return text === '<pending>' ? [0] : [3, text];
};
const { performance } = globalThis;
const made = roots.makeConsole(printed, () => performance.now(), () => frames(new Error().stack));
for (const name of Object.keys(made)) hidden(console, name, (...values) => { lookAt(values); return made[name](...values); });

global('print', (...values) => console.log(...values));

// --- The program ------------------------------------------------------------------------------------------------------
const isClass = (f) => /^class\b/.test(String(f));
const bind = () => {
  for (const [name, id] of world.tools) global(name, toolFunction(id, name));
  for (const name of world.functions) global(name, hostFunction(name));
  for (const key of Object.keys(world.values)) stored.set(key, stringify(world.values[key]));
  global('input', world.input);
  if (world.muted) return;
  global('output', output);
  global('done', done);
  global('complete', complete);
};
if (lathe.ahead) globalThis.setTimeout; // its first use takes 11 ms
// Blocks until a byte comes: the program is there, its types are checked, and the bridge is open. The end of the input
// means that Lathe has ended.
if (stdin.readSync(new Uint8Array(1)) === null) exit(0);
world = parse(readTextFileSync('world.json'));
bind();
record({ t: 'hello' });
try {
  let { default: value } = await import(world.program);
  if (typeof value === 'function' && !isClass(value)) value = value(world.input);
  value = await value;
  const text = render(value);
  if (typeof value === 'string') record({ t: 'string', text: value });
  else if (text !== undefined) record({ t: 'json', text });
} catch (e) {
  fail(e);
}
