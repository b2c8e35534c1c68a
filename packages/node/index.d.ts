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
  /** Aborted when the answer is no longer wanted: after a timeout, or when the program has ended. A copy of the call,
   * such as `{...call}`, does not have it. */
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

interface CommonOptions {
  /** For this program or prompt only, beside those of the sandbox. */
  tools?: Tools;
  onApproval?: OnApproval;
  /** Cancels it; the promise rejects with its reason then. */
  signal?: AbortSignal;
}

export interface RestoreOptions extends CommonOptions {
  /** Are told each text when the program puts it out or logs it. What they throw ends the program. */
  onOutput?: (text: string) => void;
  onLog?: (text: string) => void;
}

export interface RunOptions extends RestoreOptions {
  language?: "js" | "ts" | "python";
  /** JSON; what the program finds in `input`. */
  input?: unknown;
  /** What is configured (30 s) where it is not given. Waiting for an approval does not count. */
  timeoutMs?: number;
  memoryBytes?: number;
  /** A tool or onApproval may throw Suspended, to go on in another process. The program is recorded for that. */
  canSnapshot?: boolean;
}

/** `tools` and `onApproval` answer at once: nothing waits for a promise. Only they can abort the `signal`. */
export interface RunSyncOptions extends RunOptions {
  onApproval?: (approval: Approval) => Decision;
}

export interface ResumeOptions extends CommonOptions {
  /** Whose conversation it is, where several people must not see each other's. */
  user?: string;
  /**
   * Is told each step: its name and data, as in the events of `lathe serve`, such as "prompt.stream" with
   * `{delta: "There are"}`. What it throws cancels the prompt.
   */
  onEvent?: (name: string, data: any) => void;
}

/** A file in memory. */
export interface Attachment {
  data: ArrayBuffer | ArrayBufferView;
  /** What it is taken for, such as "image/png". The content decides; an image or PDF that is none is refused. */
  mimeType?: string;
  /** What the model is told. */
  name?: string;
}

export interface PromptOptions extends ResumeOptions {
  /** Images (PNG, JPEG, GIF, WebP), PDFs and texts in UTF-8 that go with it: paths, bytes, or bytes with a type and a name. */
  attachments?: (string | URL | ArrayBuffer | ArrayBufferView | Attachment)[];
  /** The `ref` of one of the configuration's `models`. */
  model?: string;
  /** "code", "typescript", "classic" ... */
  mode?: string;
  /** The id of the conversation that it goes on with; a new one where none is given. */
  conversation?: string;
}

/** A text, a call of a tool or a file, as `GET /prompts/ID` of `lathe serve` has them. */
export interface PromptOutput {
  type: string;
  id: string;
  [member: string]: any;
}

export interface Usage {
  inputTokens?: number;
  outputTokens?: number;
  totalTokens?: number;
  requests?: number;
  [member: string]: unknown;
}

export interface PromptResult {
  /** All texts that were put out, by the model and its programs, with line ends between them. */
  text: string;
  outputs: PromptOutput[];
  usage: Usage;
  state: "completed";
  /** Of the prompt; and of its conversation, which a further prompt goes on with. */
  id: string;
  conversation: string;
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
  /** Resolves when it is open. Rejects with what is wrong with the configuration. */
  ready(): Promise<void>;
  /** Runs a program to its end. Rejects with ProgramError where it fails, ConfigError for a wrong argument, LimitError. */
  run<Value = any>(code: string, options?: RunOptions): Promise<RunResult<Value>>;
  /**
   * The same on this thread, which does nothing else until the program ends: Node's loop stands still, and other programs that
   * wait for functions of this process with it. The sandbox is open (ready()). A function that returns a promise ends the
   * program with ConfigError. Throws what run() rejects with.
   */
  runSync<Value = any>(code: string, options?: RunSyncOptions): RunResult<Value>;
  /**
   * Goes on with a program that was suspended, from the snapshot of Suspended, made by the same version of the library. The
   * program runs again from its beginning with the answers that its calls had. What had no answer is asked again, and what it
   * had put out comes again.
   */
  restore<Value = any>(snapshot: string, options?: RestoreOptions): Promise<RunResult<Value>>;
  /**
   * Has a model carry out a prompt, which may use all tools. The configuration has `models`. There is no time limit. Rejects
   * with PromptError where it fails or is cancelled, ConfigError for a wrong argument.
   */
  prompt(input: string, options?: PromptOptions): Promise<PromptResult>;
  /**
   * Goes on with a prompt that its process left, where the configuration has a `store` that is a file. The first event of a
   * prompt, "prompt.created", has the id (`promptId`).
   */
  resumePrompt(id: string, options?: ResumeOptions): Promise<PromptResult>;
  /** Adds a tool for programs that begin from now on, or replaces the one of that name. */
  addTool(name: string, tool: Tool | Tool["run"]): Promise<void>;
  removeTool(name: string): Promise<void>;
  /** What is wrong with a program, without running it. */
  check(code: string, language?: RunOptions["language"]): Promise<Finding[]>;
  /** The tools as a model is told of them: a short listing of about `maxTokens` (0: no limit), or declarations. */
  declare(form?: "prompt" | "ts" | "python", maxTokens?: number): Promise<string>;
  /** The tools for a query, best first; "": all of them. `limit` 0: as many as there are. */
  search(query?: string, limit?: number): Promise<ToolDescription[]>;
  /**
   * Ends it, with the programs and prompts that run, which reject with ClosedError. A prompt is left as it is in a `store` that
   * is a file. A second time it does nothing.
   */
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
/** The agent could not carry out the prompt, or it was cancelled. */
export class PromptError extends SandboxError {
  readonly state: "failed" | "cancelled";
  /** Of the prompt and its conversation; "" where it did not get as far. */
  readonly id: string;
  readonly conversation: string;
  /** What it had put out by then, and used. */
  readonly outputs: PromptOutput[];
  readonly usage: Usage;
}
/**
 * Thrown by a tool or by onApproval, to write the program down and end it: run() rejects with it then. Not a failure.
 */
export class Suspended extends Error {
  constructor(message?: string);
  /** The program with what its calls were answered, as JSON, for restore(). Who can change it can approve: keep it accordingly. */
  readonly snapshot: string;
}

/** The version of liblathe, such as "0.1.0". */
export function libraryVersion(): string;
