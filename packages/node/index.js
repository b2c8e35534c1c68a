// Runs the programs that models write, with functions of this process as their tools. index.d.ts describes it.
import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import { attachmentsJson } from "./attachments.js";
import { ClosedError, ConfigError, SandboxError, Suspended, errorOfCall, errorOfProgram, errorOfPrompt } from "./errors.js";

export * from "./errors.js";

const CALL = 1, APPROVAL = 2, CANCELLED = 3, OUTPUT = 4, LOG = 5, END = 6, WARNING = 7, PROMPT = 8;
const LOOP_MS = 5; // then what else waits for Node's loop has its turn

// --- The library ------------------------------------------------------------------------------------------------------

const beside = (path) => fileURLToPath(new URL(path, import.meta.url));

let loaded, version;
/** The addon with the library in it, loaded when it is first needed. */
function addon() {
  if (loaded) return loaded;
  // A package brings both; in a clone `make node` builds the addon, and LATHE_LIBRARY or the system has the library.
  const path = ["lathe.node", "../../build/node/lathe.node"].map(beside).find((file) => existsSync(file));
  if (!path) throw new SandboxError("the addon is not built: run `make node` in the clone of Lathe");
  const found = createRequire(import.meta.url)(path), own = beside("liblathe.so.0");
  try {
    version = found.load(existsSync(own) ? own : process.env.LATHE_LIBRARY || "liblathe.so.0", errorOfCall);
  } catch (error) {
    throw new SandboxError(`liblathe cannot be loaded: ${error.message}. Install it, or set LATHE_LIBRARY to the path of liblathe.so.0`);
  }
  return (loaded = found);
}

// --- Tools ------------------------------------------------------------------------------------------------------------

function json(value, what) {
  if (value === undefined) return undefined;
  let text;
  try {
    text = JSON.stringify(value);
  } catch (error) {
    throw new ConfigError(`the ${what} is not JSON: ${error.message}`);
  }
  if (text === undefined) throw new ConfigError(`the ${what} is not JSON: it is a ${typeof value}`);
  return text;
}

/** A tool as the addon takes it, with its function; `key` says whether two are the same to the library. */
function readTool(name, given) {
  const it = typeof given === "function" ? { run: given } : given;
  if (typeof it?.run !== "function") throw new ConfigError(`the tool ${name} is a function, or an object with a function "run"`);
  const annotations = it.readOnly ? { readOnlyHint: true, ...it.annotations } : it.annotations;
  const texts = [
    name, it.description, json(it.inputSchema, `inputSchema of the tool ${name}`), json(it.outputSchema, `outputSchema of the tool ${name}`),
    json(annotations, `annotations of the tool ${name}`), it.approval,
  ];
  return { name, texts, key: JSON.stringify(texts), run: it.run.bind(it) };
}

const NO_TOOLS = Object.freeze([]);
const readTools = (tools) => (tools ? Object.entries(tools).map(([name, given]) => readTool(name, given)) : NO_TOOLS);

// --- Runs -------------------------------------------------------------------------------------------------------------

function readProgramEnd(status, message, report) {
  if (status !== 0) throw errorOfProgram(status, report.error ?? message, report); // the report has all of the message
  const { result: value, outputs, logs, calls, durationMs } = report;
  return { value, outputs, logs, calls, durationMs };
}

function readPromptEnd(status, message, report, conversation) {
  if (status !== 0) throw errorOfPrompt(status, message, report, conversation);
  const { output: outputs, usage, state, id } = report;
  const text = outputs.filter(({ type }) => type === "text").map(({ content }) => content).join("\n");
  return { text, outputs, usage, state, id, conversation };
}

/** A call that waits for its answer, as its function sees it. Few ask for the signal. An accessor made for each call would
    take as long as the call: so it is the class's, and a copy of the object has no signal. */
class OpenCall {
  #abort;
  #isAborted = false;

  get signal() {
    if (!this.#abort) {
      this.#abort = new AbortController();
      if (this.#isAborted) this.#abort.abort();
    }
    return this.#abort.signal;
  }

  /** Static: the function that has the object is not offered this. */
  static abort(open) {
    open.#isAborted = true;
    open.#abort?.abort();
  }
}

const isPromise = (value) => typeof value?.then === "function";

/** One run of a program or a prompt: its events, and the functions that answer them. */
class Run {
  #native;
  #env;
  #readEnd;
  #conversation;
  #tools;
  #listeners;
  #isSync;
  #open; // call → OpenCall, while a promise of its function is waited for; undefined: none was
  goOn; // what to do when a promise was settled; undefined: the run goes on without this thread
  #failure; // [what a function has thrown that is no failure of a tool]

  /** `resolve` and `reject` are told of the end. `isSync`: nothing can be waited for. */
  constructor(native, env, readEnd, tools, listeners, { resolve, reject, isSync = false }) {
    this.#native = native;
    this.#env = env;
    this.#readEnd = readEnd;
    this.#tools = tools;
    this.#listeners = listeners;
    this.#isSync = isSync;
    this.resolve = resolve;
    this.reject = reject;
  }

  /** Ends the run; run() throws the failure then. */
  cancel(failure) {
    this.#failure ??= [failure instanceof Suspended ? this.#writeDown(failure) : failure];
    if (this.#env) this.#native.cancel(this.#env, this.number);
  }

  #writeDown(suspended) {
    try {
      if (this.#env) suspended.snapshot = this.#native.snapshot(this.#env, this.number);
      return suspended;
    } catch (error) {
      return error;
    }
  }

  /** Ends it without the library, which is being closed. */
  abandon(error) {
    this.#env = undefined;
    this.#abort();
    this.reject(error);
  }

  #abort() {
    this.goOn = undefined;
    this.#open?.forEach(OpenCall.abort);
    this.#open = undefined;
  }

  take(type, status, call, tool, text, report) {
    const { onOutput, onLog, onEvent } = this.#listeners;
    if (type === END) this.#finish(status, text, report);
    else if (type === CALL) this.#call(call, tool, JSON.parse(report));
    else if (type === APPROVAL) this.#approve(call, { tool, input: JSON.parse(report), reason: text });
    else if (type === CANCELLED) this.#cancelCall(call);
    else if (type === OUTPUT) this.#hear(onOutput, text);
    else if (type === LOG) this.#hear(onLog, text);
    else if (type === PROMPT) this.#step(onEvent, text, JSON.parse(report));
  }

  #cancelCall(call) {
    const open = this.#open?.get(call);
    if (open) OpenCall.abort(open);
  }

  #step(onEvent, name, data) {
    if (name === "prompt.created" || name === "prompt.resumed") this.#conversation = data.conversationId;
    this.#hear(onEvent, name, data);
  }

  #finish(status, message, text) {
    this.#abort();
    this.#env = undefined;
    if (this.#failure) return this.reject(this.#failure[0]);
    try {
      this.resolve(this.#readEnd(status, message, JSON.parse(text || "{}"), this.#conversation));
    } catch (error) {
      this.reject(error);
    }
  }

  #hear(listener, ...what) {
    try {
      listener?.(...what);
    } catch (error) {
      this.cancel(error);
    }
  }

  #call(call, name, input) {
    const tool = this.#tools.get(name);
    if (!tool) return this.#native.fail(this.#env, call, `the tool ${name} is that of another program`);
    const give = (value) => this.#answer(call, name, value === undefined ? undefined : json(value, `result of the tool ${name}`));
    const fail = (error) => {
      if (error instanceof Suspended) throw error;
      if (this.#env) this.#native.fail(this.#env, call, String(error?.message || error).replaceAll("\0", " "));
    };
    this.#ask(call, `the tool ${name}`, undefined, (open) => tool.run(input, open), give, fail);
  }

  #answer(call, name, text) {
    if (!this.#env) return;
    try {
      this.#native.answer(this.#env, call, text);
    } catch (error) { // what JSON.stringify writes can still be too large or too deep
      this.#native.fail(this.#env, call, `the result of the tool ${name}: ${error.message}`);
    }
  }

  #approve(call, approval) {
    const ask = this.#listeners.onApproval ?? (() => ({ approve: false, reason: "nobody is there to approve it" }));
    const fail = (error) => { throw error; };
    this.#ask(call, "onApproval", approval, ask, (answer) => this.#decide(call, answer), fail);
  }

  #decide(call, answer) {
    const { approve, input, reason } = typeof answer === "object" && answer ? answer : { approve: answer };
    if (typeof approve !== "boolean") throw new TypeError("onApproval returns a boolean, or {approve, input?, reason?}");
    if (!this.#env) return;
    if (approve) this.#native.approve(this.#env, call, json(input, "approved input"));
    else this.#native.reject(this.#env, call, reason);
  }

  /** Asks a function, which answers at once or by a promise. What `fail` throws ends the run. */
  #ask(call, name, what, ask, give, fail) {
    const open = new OpenCall();
    let value;
    try {
      value = ask(what ? { ...what, get signal() { return open.signal; } } : open);
      if (!isPromise(value)) return give(value);
    } catch (error) {
      return this.#guard(fail, error);
    }
    if (this.#isSync) this.#refuse(value, name);
    else this.#wait(call, open, value, give, fail);
  }

  async #wait(call, open, promise, give, fail) {
    (this.#open ??= new Map()).set(call, open);
    try {
      give(await promise);
    } catch (error) {
      this.#guard(fail, error);
    } finally {
      this.#open?.delete(call);
    }
    this.goOn?.();
  }

  get hasEnded() {
    return !this.#env;
  }

  get isAwaiting() {
    return this.#open?.size > 0;
  }

  #refuse(promise, name) {
    promise.then(undefined, () => {}); // nobody hears of its failure
    this.cancel(new ConfigError(`runSync cannot wait for a promise, and ${name} has returned one: use run`));
  }

  #guard(fail, error) {
    try {
      fail(error);
    } catch (failure) {
      this.cancel(failure);
    }
  }
}

/** How long programs hold up Node's loop between two of its turns. */
class LoopTime {
  #spentMs = 0;

  /** Whole milliseconds. */
  left() {
    return Math.max(0, Math.floor(LOOP_MS - this.#spentMs));
  }

  spend(ms) {
    if (this.#spentMs === 0) setImmediate(() => { this.#spentMs = 0; });
    this.#spentMs += ms;
  }
}

/** The stack of the function that was called, instead of that of an event. */
function withCallersStack(error) {
  if (error instanceof SandboxError) Error.captureStackTrace(error, withCallersStack);
  return error;
}

function checkText(value, what) {
  if (typeof value !== "string") throw new TypeError(`the ${what} is a string, not ${typeof value}`);
}

function checkNumber(value, what) {
  if (!Number.isFinite(value) || value < 0) throw new ConfigError(`${what} is a number of 0 or more, not ${value}`);
}

function programOptions(code, { language, input, timeoutMs = 0, memoryBytes = 0, canSnapshot = false }) {
  checkText(code, "code");
  checkNumber(timeoutMs, "timeoutMs");
  checkNumber(memoryBytes, "memoryBytes");
  return [code, language, json(input, "input"), Math.ceil(timeoutMs), Math.ceil(memoryBytes), Boolean(canSnapshot)];
}

function snapshotOptions(snapshot) {
  checkText(snapshot, "snapshot");
  return [snapshot];
}

async function promptOptions(input, { model, mode, conversation, user, attachments }) {
  checkText(input, "input");
  return [input, model, mode, conversation, user, undefined, await attachmentsJson(attachments)];
}

function resumeOptions(id, { user }) {
  checkText(id, "id");
  return [undefined, undefined, undefined, undefined, user, id];
}

/** What can be carried out: the addon's function that begins it, how its options and the report of its end are read. */
const PROGRAM_RUN = { begin: "start", readOptions: programOptions, readEnd: readProgramEnd };
const SNAPSHOT_RUN = { begin: "restore", readOptions: snapshotOptions, readEnd: readProgramEnd };
const PROMPT_RUN = { begin: "prompt", readOptions: promptOptions, readEnd: readPromptEnd };
const STORED_PROMPT_RUN = { ...PROMPT_RUN, readOptions: resumeOptions };

// --- The sandbox ------------------------------------------------------------------------------------------------------

export class Sandbox {
  #native = addon();
  #opening;
  #cannotOpen; // why it could not be opened
  #env;
  #closing;
  #checks = new Set();
  #loopTime = new LoopTime();
  #beginning = 0; // runs that have not begun
  #runs = new Map();
  #tools = new Map(); // of the sandbox: name → tool. Replaced, not changed: a run keeps the map that it began with
  #added = new Map(); // what the library has: name → tool
  #borrowed = new Map(); // how many runs have brought a tool: name → number
  #onApproval;
  #onWarning;

  /** Is told each event of the library, but those of runSync(). */
  #onEvent = (type, status, number, call, tool, text, report) => {
    if (type === WARNING) return this.#onWarning(text);
    const run = this.#runs.get(number);
    run?.take(type, status, call, tool, text, report);
    if (type === END) {
      this.#runs.delete(number);
      if (this.#runs.size === 0) this.#native.hold(this.#env, false);
    }
  };

  constructor({ config, configFile, folder, tools, onApproval, onWarning } = {}) {
    this.#onApproval = onApproval;
    this.#onWarning = onWarning ?? ((text) => process.emitWarning(text, "LatheWarning"));
    for (const tool of readTools(tools)) this.#tools.set(tool.name, tool);
    const text = typeof config === "object" && config ? json(config, "config") : config;
    this.#opening = this.#open(text, configFile && String(configFile), folder && String(folder));
    this.#opening.catch((error) => { this.#cannotOpen = error; }); // whoever uses the sandbox is told
  }

  async #open(...texts) {
    this.#env = await this.#native.open(...texts, this.#onEvent);
    this.#native.takeEvents(this.#env); // its warnings: a program may end before Node's loop looks for them
    for (const tool of this.#tools.values()) this.#add(tool);
  }

  /** The environment of the library. */
  async #ready() {
    if (!this.#closing && !this.#env) await this.#opening;
    if (this.#closing) throw new ClosedError("the sandbox is closed");
    return this.#env;
  }

  /** The same, without waiting. */
  #opened() {
    if (this.#closing) throw new ClosedError("the sandbox is closed");
    if (this.#cannotOpen) throw this.#cannotOpen;
    if (!this.#env) throw new SandboxError("the sandbox is not open yet: await ready() first");
    return this.#env;
  }

  async ready() {
    await this.#ready();
  }

  run(code, options) {
    return this.#carryOut(PROGRAM_RUN, code, options);
  }

  restore(snapshot, options) {
    return this.#carryOut(SNAPSHOT_RUN, snapshot, options);
  }

  prompt(input, options) {
    return this.#carryOut(PROMPT_RUN, input, options);
  }

  resumePrompt(id, options) {
    return this.#carryOut(STORED_PROMPT_RUN, id, options);
  }

  runSync(code, options = {}) {
    const what = programOptions(code, options), own = readTools(options.tools), { signal } = options;
    signal?.throwIfAborted();
    const env = this.#opened();
    let finish;
    const settle = { resolve: (value) => { finish = () => value; }, reject: (error) => { finish = () => { throw error; }; }, isSync: true };
    const run = new Run(this.#native, env, readProgramEnd, this.#borrow(own), this.#listeners(options), settle);
    const onAbort = () => run.cancel(signal.reason); // by a tool, as nothing else happens on this thread
    signal?.addEventListener("abort", onAbort, { once: true });
    try {
      run.number = this.#native.start(env, ...what, true);
      this.#native.turn(env, run.number, (type, status, number, ...event) => run.take(type, status, ...event));
      return finish();
    } catch (error) {
      throw withCallersStack(error);
    } finally {
      signal?.removeEventListener("abort", onAbort);
      this.#giveBack(own);
    }
  }

  #listeners({ onApproval = this.#onApproval, onOutput, onLog, onEvent }) {
    return { onApproval, onOutput, onLog, onEvent };
  }

  async #carryOut(kind, given, options = {}) {
    const own = readTools(options.tools), { signal } = options;
    let what, run;
    signal?.throwIfAborted();
    this.#beginning++;
    try { // no tool is called before run() has returned; and others may begin at the same time
      what = await kind.readOptions(given, options);
      if (!this.#env || this.#closing) await this.#ready();
    } finally {
      this.#beginning--;
    }
    signal?.throwIfAborted();
    const env = this.#env, tools = this.#borrow(own), onAbort = () => run.cancel(signal.reason);
    try {
      return await new Promise((resolve, reject) => {
        run = new Run(this.#native, env, kind.readEnd, tools, this.#listeners(options), { resolve, reject });
        signal?.addEventListener("abort", onAbort, { once: true });
        this.#begin(run, env, kind, what);
      });
    } catch (error) {
      throw withCallersStack(error);
    } finally {
      signal?.removeEventListener("abort", onAbort);
      this.#giveBack(own);
    }
  }

  #begin(run, env, kind, what) {
    const limit = kind === PROGRAM_RUN && this.#isAlone(what[1]) ? this.#loopTime.left() : 0;
    if (limit > 0) what.push(true); // byTurns
    run.number = this.#native[kind.begin](env, ...what);
    this.#runs.set(run.number, run);
    if (limit > 0) this.#turn(run, env, limit);
    if (this.#runs.size > 0) this.#native.hold(env, true);
  }

  /** Goes on with a run that begins on this thread. It stays there while promises that it waits for are settled at once. */
  #turn(run, env, limit) {
    run.goOn = undefined;
    if (limit > 0) this.#loopTime.spend(this.#native.turn(env, run.number, this.#onEvent, limit));
    if (run.hasEnded) return;
    if (limit > 0 && run.isAwaiting) {
      run.goOn = () => this.#turn(run, env, this.#loopTime.left());
      setImmediate(() => run.goOn && !this.#closing && this.#leave(run, env));
    } else {
      this.#leave(run, env);
    }
  }

  /** The library's threads go on with it. */
  #leave(run, env) {
    run.goOn = undefined;
    this.#native.detach(env, run.number);
  }

  /** A program that runs alone begins on this thread, which hands nothing over then. Several have the library's threads. */
  #isAlone(language) {
    return this.#beginning === 0 && this.#runs.size === 0 && language !== "python";
  }

  #add(tool) {
    this.#native.addTool(this.#env, ...tool.texts);
    this.#added.set(tool.name, tool);
  }

  #remove(name) {
    this.#native.removeTool(this.#env, name);
    this.#added.delete(name);
  }

  // Tools of one run are the environment's while it lasts: other runs can see them, but a call of theirs fails.
  #borrow(own) {
    if (own.length === 0) return this.#tools;
    const borrowed = [];
    try {
      for (const tool of own) {
        if (this.#added.get(tool.name)?.key !== tool.key) this.#add(tool);
        this.#borrowed.set(tool.name, (this.#borrowed.get(tool.name) ?? 0) + 1);
        borrowed.push(tool);
      }
    } catch (error) {
      this.#giveBack(borrowed);
      throw error;
    }
    return new Map([...this.#tools, ...own.map((tool) => [tool.name, tool])]);
  }

  #giveBack(own) {
    if (own.length === 0) return;
    for (const { name } of own) {
      const others = this.#borrowed.get(name) - 1, before = this.#tools.get(name);
      this.#borrowed.set(name, others);
      if (others > 0 || this.#closing) continue;
      this.#borrowed.delete(name);
      if (!before) this.#remove(name);
      else if (before.key !== this.#added.get(name)?.key) this.#add(before);
    }
  }

  async addTool(name, given) {
    const tool = readTool(name, given);
    await this.#ready();
    this.#add(tool);
    this.#tools = new Map(this.#tools).set(name, tool);
  }

  async removeTool(name) {
    await this.#ready();
    this.#remove(name);
    this.#tools = new Map(this.#tools);
    this.#tools.delete(name);
  }

  async check(code, language) {
    const env = await this.#ready(), check = this.#native.check(env, code, language);
    this.#checks.add(check);
    try {
      return JSON.parse(await check);
    } finally {
      this.#checks.delete(check);
    }
  }

  async declare(form = "prompt", maxTokens = 0) {
    return this.#native.declare(await this.#ready(), form, maxTokens);
  }

  async search(query = "", limit = 0) {
    return JSON.parse(this.#native.tools(await this.#ready(), query, limit));
  }

  close() {
    return (this.#closing ??= this.#close());
  }

  async #close() {
    await this.#opening.catch(() => {});
    await Promise.allSettled(this.#checks);
    for (const run of this.#runs.values()) run.abandon(new ClosedError("the sandbox was closed"));
    this.#runs.clear();
    if (this.#env) await this.#native.close(this.#env);
  }

  async [Symbol.asyncDispose]() {
    await this.close();
  }
}

/** The version of liblathe, such as "0.1.0". */
export const libraryVersion = () => addon() && version;
