/**
 * Code mode for language-model agents: runs the programs that models write, in the sandbox of liblathe inside this process,
 * with your functions as their tools.
 *
 *     const sandbox = new Sandbox({ tools: { add: ({ a, b }) => a + b } });
 *     const { value } = await sandbox.run("add({a: 1, b: 2}) * 10"); // 30
 *     await sandbox.close();
 */

/** JSON Schema of an object. */
export type Schema = Record<string, unknown>;

export interface Call {
  /** Aborted when the answer is no longer wanted: after a timeout, or when the program has ended. */
  readonly signal: AbortSignal;
}

export interface Tool<Input = any> {
  /** For the model: what it does, when to use it. */
  description?: string;
  /** JSON Schema of the input; inputs that do not fit never reach `run`. Without it, anything does. */
  inputSchema?: Schema;
  /** JSON Schema of the result. */
  outputSchema?: Schema;
  /** `annotations: {readOnlyHint: true}` */
  readOnly?: boolean;
  /** Hints as in MCP. */
  annotations?: Record<string, unknown>;
  /** Each call is approved first (`onApproval`), for this reason. */
  approval?: string;
  /** Its result is JSON, or undefined. What it throws is an exception in the program, with that message. */
  run(input: Input, call: Call): unknown;
}

/** By name: "clock" or, with a namespace, "clock.now". A function alone is a tool without description or schema. */
export type Tools = Record<string, Tool | Tool["run"]>;

export interface Approval {
  /** The id of the tool, what it is to be called with, and why somebody must approve it. */
  readonly tool: string;
  readonly input: any;
  readonly reason: string;
  readonly signal: AbortSignal;
}

/** true or false; `input` replaces that of the call, `reason` is told to the program. */
export type Decision = boolean | { approve: true; input?: object } | { approve: false; reason?: string };
export type OnApproval = (approval: Approval) => Decision | Promise<Decision>;

export interface SandboxOptions {
  /** The configuration, as an object or as JSON or YAML text, with the keys of lathe.yaml. Nothing else is read. */
  config?: object | string;
  /** Its path instead. */
  configFile?: string | URL;
  /** Where relative paths of `config` begin. */
  folder?: string;
  tools?: Tools;
  /** Decides on calls that need an approval. Without it they are rejected. */
  onApproval?: OnApproval;
  /** Is told what a person should know, such as a server that cannot be reached. Without it: process.emitWarning. */
  onWarning?: (text: string) => void;
}

export interface RunOptions {
  language?: "js" | "ts" | "python";
  /** JSON; what the program finds in `input`. */
  input?: unknown;
  /** For this program only, beside those of the sandbox. */
  tools?: Tools;
  /** What is configured (30 s) where it is not given. Waiting for an approval does not count. */
  timeoutMs?: number;
  memoryBytes?: number;
  onApproval?: OnApproval;
  /** Are told each text when the program puts it out or logs it. What they throw ends the program. */
  onOutput?: (text: string) => void;
  onLog?: (text: string) => void;
  /** Cancels the program; run() rejects with its reason then. */
  signal?: AbortSignal;
}

export interface ToolCall {
  tool: string;
  input: unknown;
  result?: unknown;
  error?: string;
}

export interface RunResult<Value = any> {
  /** Of the last expression, or what the program returned at the top level. */
  value: Value;
  /** The texts that it put out with `output()`, and logged. */
  outputs: string[];
  logs: string[];
  calls: ToolCall[];
  durationMs: number;
}

export interface Finding {
  line: number;
  column: number;
  endLine?: number;
  endColumn?: number;
  severity: "error" | "warning";
  message: string;
}

export interface ToolDescription {
  id: string;
  jsName: string;
  tsName: string;
  description: string;
  inputSchema: Schema;
  outputSchema?: Schema;
}

/**
 * A sandbox is there at once and opens in the background, where it waits for the MCP servers of the configuration; what is
 * wrong with the configuration, the first method that is called rejects with. Runs are independent of each other. The
 * process stays alive while a program runs.
 */
export class Sandbox {
  constructor(options?: SandboxOptions);
  /** Runs a program to its end. Rejects with ProgramError where it fails, ConfigError for a wrong argument, LimitError. */
  run<Value = any>(code: string, options?: RunOptions): Promise<RunResult<Value>>;
  /** Adds a tool for programs that begin from now on, or replaces the one of that name. */
  addTool(name: string, tool: Tool | Tool["run"]): Promise<void>;
  removeTool(name: string): Promise<void>;
  /** What is wrong with a program, without running it. */
  check(code: string, language?: RunOptions["language"]): Promise<Finding[]>;
  /** The tools as a model is told of them: a short listing of about `maxTokens` (0: no limit), or declarations. */
  declare(form?: "prompt" | "ts" | "python", maxTokens?: number): Promise<string>;
  /** The tools for a query, best first; "": all of them. `limit` 0: as many as there are. */
  search(query?: string, limit?: number): Promise<ToolDescription[]>;
  /** Ends it, with the programs that run: their run() rejects with ClosedError. A second time it does nothing. */
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

/** The base of all of them: the library could not do what it was asked. */
export class SandboxError extends Error {
  /** lathe_status of lathe.h; 0 when the library was not asked. */
  readonly status: number;
}
/** The configuration, a tool or an argument is wrong; the message says what, and where. */
export class ConfigError extends SandboxError {}
/** A limit of the library was reached, or there is no memory. */
export class LimitError extends SandboxError {}
/** The sandbox is closed. */
export class ClosedError extends SandboxError {}
/** The program failed. */
export class ProgramError extends SandboxError {
  /** Where it failed, from 1. */
  readonly line?: number;
  readonly column?: number;
  /** The lines of code around it, and the calls that led there; "" where they are not known. */
  readonly context: string;
  readonly programStack: string;
  readonly outputs: string[];
  readonly logs: string[];
  readonly calls: ToolCall[];
}
export class ProgramTimeoutError extends ProgramError {}
export class ProgramMemoryError extends ProgramError {}
export class ProgramCancelledError extends ProgramError {}

/** The version of liblathe, such as "0.1.0". */
export function libraryVersion(): string;
