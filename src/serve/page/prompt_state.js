// What is known of one prompt, without any element: the server's outputs in their order, and the pieces of text that have
// come before their output. Events may come twice, or be older than what was read: the last word about each output stays.

const ENDED = new Set(["completed", "failed", "cancelled"]);
const PROGRAMS = { "code.execute": "javascript", execute_typescript: "typescript", exec: "javascript", execute_code: "python", "program.run": "javascript" };

export class PromptState {
  #steps; // as they were asked for last, until something changes

  constructor(prompt) {
    this.streamedText = "";
    this.drafts = new Map(); // programs that are being written, {text, function}, by their index in the reply
    this.take(prompt);
  }

  /** A prompt as GET /prompts/{id} has it. */
  take(prompt) {
    this.#steps = undefined;
    this.prompt = prompt;
    this.outputs = new Map((prompt.output ?? []).map((one) => [one.id, one]));
    if (this.hasEnded) this.#forgetPieces();
  }

  get id() {
    return this.prompt.id;
  }

  get state() {
    return this.prompt.state;
  }

  get hasEnded() {
    return ENDED.has(this.state);
  }

  /** Heeds an event about this prompt. Returns whether the prompt has to be read again to know all of it. */
  apply({ event, data }) {
    this.#steps = undefined;
    switch (event) {
      case "prompt.stream":
        if (this.hasEnded) return false;
        if (data.program) this.#takeDraft(data);
        else this.streamedText += data.delta;
        return false;
      case "prompt.output":
        this.outputs.set(data.output.id, data.output);
        if (data.output.type === "text") this.streamedText = "";
        if (isProgram(data.output)) this.drafts.delete(Math.min(...this.drafts.keys()));
        if (!this.hasEnded) this.prompt.state = this.questions.length > 0 ? "waiting_for_approval" : "running";
        return false;
      case "prompt.approval-requested": {
        const call = this.outputs.get(data.request.toolCallId);
        if (call) this.outputs.set(call.id, { ...call, refusal: data.request.refusal });
        return !call;
      }
      case "prompt.completed":
        this.take({ ...this.prompt, state: "completed", output: data.output, usage: data.usage, incomplete: data.incomplete });
        return true; // for its times
      case "prompt.cancelled":
      case "prompt.error":
        return true;
      case "prompt.resumed":
        this.#forgetPieces();
        return true;
      default:
        return false;
    }
  }

  #forgetPieces() {
    this.streamedText = "";
    this.drafts.clear();
  }

  /** `restart`: what was told of programs before does not count. */
  #takeDraft({ delta, function: name, index = 0, restart }) {
    if (restart) this.drafts.clear();
    if (delta !== "") this.drafts.set(index, { text: (this.drafts.get(index)?.text ?? "") + delta, function: name });
  }

  /** Calls that wait for a person. */
  get questions() {
    return [...this.outputs.values()].filter(isQuestion);
  }

  /**
   * What is shown, in its order: {kind: "program", output, calls}, {kind: "calls", id, calls}, {kind: "text", ...},
   * {kind: "file", ...}; at the end what is being written. The same array until something changes.
   */
  get steps() {
    this.#steps ??= this.#findSteps();
    return this.#steps;
  }

  #findSteps() {
    const steps = [];
    const programs = new Map();
    for (const output of this.outputs.values()) {
      const parent = output.parent && programs.get(output.parent);
      if (output.type === "text") steps.push({ kind: "text", id: output.id, text: output.content, incomplete: output.incomplete });
      else if (output.type === "file") steps.push({ kind: "file", id: output.id, output });
      else if (isProgram(output)) {
        const step = { kind: "program", id: output.id, output, code: withoutFence(output.input.code), language: languageOf(output), calls: [] };
        programs.set(output.id, step);
        steps.push(step);
      } else if (parent) {
        parent.calls.push(output);
        programs.set(output.id, parent); // a call that a call made stands in the same chart
      } else if (steps.at(-1)?.kind === "calls") steps.at(-1).calls.push(output);
      else steps.push({ kind: "calls", id: `calls-${output.id}`, calls: [output] });
    }
    for (const step of steps) step.calls?.sort(byBegin);
    if (this.streamedText !== "") steps.push({ kind: "text", id: "streamed-text", text: this.streamedText, isStreamed: true });
    for (const [index, { text, function: name }] of this.drafts) {
      const language = PROGRAMS[name] ?? "javascript";
      steps.push({ kind: "program", id: `draft-${index}`, code: withoutFence(text), language, calls: [], isStreamed: true });
    }
    return steps;
  }
}

/** A model may put its program into a Markdown fence, whose end may not have been written yet. */
const withoutFence = (text) => text.replace(/^\s*```[\w-]*\n?/, "").replace(/\n?`{1,3}\s*$/, "");

/** Calls that began in the same moment stand in the order of their ids, "call-0.10" behind "call-0.9". */
const byBegin = (a, b) => (a.start === b.start ? orderOf(a.id, b.id) : Date.parse(a.start) - Date.parse(b.start));
let collator; // takes a while to make, and is seldom needed
const orderOf = (a, b) => (collator ??= new Intl.Collator("en", { numeric: true })).compare(a, b);

export const isQuestion = (output) => output.type === "tool" && output.result?.type === "pending" && output.result.question !== undefined;

/** A program that somebody is asked about is a call like others: its question has a place there. */
function isProgram(output) {
  return output.type === "tool" && typeof output.input?.code === "string" && !output.parent && Object.hasOwn(PROGRAMS, output.function) && !isQuestion(output);
}

const languageOf = (output) => output.input.language ?? PROGRAMS[output.function];
