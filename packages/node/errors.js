// What can go wrong, as exceptions. `status` is lathe_status of lathe.h.

export class SandboxError extends Error {
  constructor(message, status = 0) {
    super(message);
    this.name = new.target.name;
    this.status = status;
  }
}

export class ConfigError extends SandboxError {}
export class LimitError extends SandboxError {}
export class ClosedError extends SandboxError {}

export class ProgramError extends SandboxError {
  constructor(message, status, report = {}) {
    super(message, status);
    const { line, column, context = "", stack = "", outputs = [], logs = [], calls = [] } = report;
    Object.assign(this, { line, column, context, programStack: stack, outputs, logs, calls });
  }
}

export class ProgramTimeoutError extends ProgramError {}
export class ProgramMemoryError extends ProgramError {}
export class ProgramCancelledError extends ProgramError {}

export class PromptError extends SandboxError {
  constructor(message, status, report = {}, conversation = "") {
    super(message, status);
    const { state = "cancelled", id = "", output: outputs = [], usage = {} } = report;
    Object.assign(this, { state, id, conversation, outputs, usage });
  }
}

/** No failure: what a tool throws so that its program is written down and ends. run() throws it then, with the snapshot. */
export class Suspended extends Error {
  snapshot = "";

  constructor(message = "the program is to go on elsewhere") {
    super(message);
    this.name = new.target.name;
  }
}

const NOMEM = 1, LIMIT = 2, INVALID = 3, SYNTAX = 4, CONFIG = 6, CLOSED = 8, TIMEOUT = 10, CANCELLED = 11, UNSUPPORTED = 18, FORKED = 100;
const ofCalls = {
  [NOMEM]: LimitError, [LIMIT]: LimitError, [INVALID]: ConfigError, [SYNTAX]: ConfigError, [CONFIG]: ConfigError,
  [UNSUPPORTED]: ConfigError, [CLOSED]: ClosedError, [FORKED]: ClosedError,
};
const ofPrograms = { [NOMEM]: ProgramMemoryError, [TIMEOUT]: ProgramTimeoutError, [CANCELLED]: ProgramCancelledError };

/** What a function of the library said. */
export const errorOfCall = (status, message) => new (ofCalls[status] ?? SandboxError)(message, status);

/** How a run ended. One that never began has no report: then an argument was wrong, or the library failed. */
export const errorOfProgram = (status, message, report) =>
  report.durationMs === undefined && !ofPrograms[status] ? errorOfCall(status, message) : new (ofPrograms[status] ?? ProgramError)(message, status, report);

/** How a prompt ended; likewise. */
export const errorOfPrompt = (status, message, report, conversation) =>
  report.state === undefined && status !== CANCELLED ? errorOfCall(status, message) : new PromptError(message, status, report, conversation);
