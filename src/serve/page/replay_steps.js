// The steps of a recorded prompt, in order, from GET /prompts/{id}/record. What the record does not say is said by the
// step: `unsure` has it in a sentence.
import { callOf, endOf, programOf, runOf } from "./recorded_program.js";

const FAILURE = /^E_[A-Z]+ /;

/**
 * [{kind, title, ms?, program?, lines, unsure?, parts}]: `ms` since the prompt began, where it is known; `program` the
 * output whose code is being carried out; `lines` of that code that the step is about; `parts` what there is to see,
 * [{name, value}].
 */
export function stepsOf(record) {
  const { prompt } = record;
  const began = Date.parse(prompt.createdAt);
  const steps = [];
  const put = (at, step) => steps.push({ lines: [], parts: [], ...step, at, order: steps.length });
  const own = record.runs.find((one) => one.run === prompt.id)?.notes ?? [];

  put(began, { kind: "prompt", title: "The prompt", parts: prompt.mode === "program" ? [] : [{ name: "What was asked", value: prompt.input }] });
  putCompletions(prompt, own, put);
  for (const output of prompt.output) {
    if (output.type === "tool") putToolOutput(record, own, output, put);
    else if (output.type === "text" && prompt.mode !== "program") put(Date.parse(output.start), { kind: "text", title: "Text to the user", parts: [{ name: "Text", value: output.content }] });
    else if (output.type === "file") put(Date.parse(output.start ?? prompt.completedAt), { kind: "file", title: "A file", parts: [{ name: "File", value: output }] });
  }
  if (own.some((note) => note.kind === "cancel")) put(Date.parse(prompt.completedAt), { kind: "cancel", title: "The prompt was cancelled" });
  putEnd(prompt, put);
  return inOrder(steps, began);
}

const numberIn = (step) => (step.kind === "call" ? step.number : 0);

/**
 * Outputs have whole milliseconds, notes have microseconds: a call belongs to the end of its millisecond, but before its
 * own answer; a text is not before the program that began in its millisecond, if the record has it behind that.
 */
function inOrder(steps, began) {
  const begins = steps.filter((one) => one.kind === "begin");
  const answers = new Map(steps.filter((one) => one.kind === "answer" || one.kind === "failure").map((one) => [one.call, one.at]));
  for (const step of steps) {
    if (step.kind === "call") step.at = Math.min(step.at + 0.9, (answers.get(step.call) ?? Infinity) - 0.01);
    if (step.kind === "text") step.at = Math.max(step.at, ...begins.filter((one) => one.order < step.order && Math.floor(one.at) === step.at).map((one) => one.at));
  }
  steps.sort((a, b) => (a.kind === "end-of-prompt") - (b.kind === "end-of-prompt") || a.at - b.at || numberIn(a) - numberIn(b) || a.order - b.order);
  let program;
  for (const step of steps) {
    if (step.kind === "begin") ({ program } = step);
    step.program ??= program;
    if (Number.isFinite(step.at) && !step.hasNoTime) step.ms = Math.max(0, step.at - began);
  }
  return steps;
}

function putEnd(prompt, put) {
  if (prompt.completedAt === undefined) return;
  const words = { completed: "The prompt is completed", failed: "The prompt failed", cancelled: "The prompt ended as cancelled" };
  const parts = [];
  if (prompt.error !== undefined) parts.push({ name: "Error", value: typeof prompt.error === "string" ? prompt.error : prompt.error.message, isError: true });
  if (prompt.usage?.requests > 0) parts.push({ name: "Tokens", value: `${prompt.usage.inputTokens} in, ${prompt.usage.outputTokens} out, ${prompt.usage.requests} requests` });
  put(Date.parse(prompt.completedAt), { kind: "end-of-prompt", title: words[prompt.state] ?? prompt.state, parts });
}

// --- Replies of the model ---------------------------------------------------------------------------------------------

/** The record has the order of replies, not their times: a reply stands before what it led to. */
function putCompletions(prompt, notes, put) {
  const left = prompt.output.filter((one) => one.parent === undefined);
  let last = Date.parse(prompt.createdAt);
  for (const { index, data } of notes.filter((note) => note.kind === "completion")) {
    const ids = new Set((data?.calls ?? []).map(([id]) => id));
    const isOf = (one) => ids.has(one.id) || (ids.size === 0 && (programOf(one)?.code ?? one.content ?? "").trim() === (data?.text ?? "").trim());
    const led = left.find((one) => isOf(one)) ?? left.find((one) => Date.parse(one.start) >= last);
    if (led) left.splice(0, left.indexOf(led) + 1);
    last = led ? Date.parse(led.start) : last;
    const parts = [];
    if (data?.text) parts.push({ name: "Text", value: data.text });
    for (const [, name, input] of data?.calls ?? []) parts.push({ name: `Call of ${name}`, value: parsed(input) });
    if (data?.error) parts.push({ name: "Error", value: data.error, isError: true });
    put(last - 0.5, {
      kind: "completion", title: data?.error ? `The model failed (reply ${index + 1})` : `The model replied (${index + 1})`, parts, hasNoTime: true,
      unsure: "The record has the order of the model's replies, not their times.",
    });
  }
}

const parsed = (text) => {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
};

// --- Programs ---------------------------------------------------------------------------------------------------------

function putToolOutput(record, own, output, put) {
  const program = programOf(output);
  const run = runOf(record, output);
  if (program) putProgram(record, output, program, run, put);
  else putCall(record, own, output, put);
}

function putProgram(record, output, program, run, put) {
  const end = endOf(run);
  const began = beganAt(run, output);
  put(began, { kind: "begin", title: "The program begins", program: output, parts: [{ name: "Language", value: program.language }] });
  for (const note of run?.notes ?? []) putProgramNote(record, output, run, note, began, put);
  if (output.end === undefined && end === undefined) return;
  const endedAt = run?.runner === "quickjs" && end ? began + end.ms : Date.parse(output.end);
  put(Math.max(endedAt, Date.parse(output.end ?? 0) - 1), {
    kind: "end", title: end?.error !== undefined || output.result?.type === "error" ? "The program fails" : "The program ends", program: output,
    lines: end?.line === undefined ? [] : [end.line], isCertain: true, parts: endParts(end, output, record.prompt),
    ...(end === undefined && { unsure: "How the program ended is not on record (it was stopped, or its result has a secret): what its output says is shown." }),
  });
}

function beganAt(run, output) {
  const begin = run?.notes.find((note) => note.kind === "begin");
  return begin?.timeUs > 0 ? begin.timeUs / 1000 : Date.parse(output.start);
}

function endParts(end, output, prompt) {
  const parts = [];
  const texts = (end?.texts ?? []).filter((one) => prompt.mode === "program" || one.said !== "output");
  if (texts.length > 0) parts.push({ name: "What it said", value: texts.map((one) => (one.said === "output" ? one.text : `[${one.said}] ${one.text}`)).join("\n"), note: "The record has the order of these texts, not the moment of each." });
  if (end && "value" in end) parts.push({ name: "Its result", value: end.value });
  const error = end?.error ?? output.result?.error;
  if (error !== undefined) parts.push({ name: "Error", value: error, isError: true });
  for (const [key, value] of Object.entries(end?.values ?? {})) parts.push({ name: `store("${key}")`, value });
  return parts;
}

/** What was ready for a program, in the order in which it got it. */
function putProgramNote(record, output, run, note, began, put) {
  const at = began + (note.timeUs ?? 0) / 1000;
  if (note.kind === "module") {
    const [name, ...source] = (note.text ?? "").split("\n");
    put(began, { kind: "module", title: `The module ${name} is loaded`, program: output, hasNoTime: true, parts: [{ name: "Source", value: source.join("\n") }] });
  } else if (note.kind === "ready" && note.timer !== undefined) {
    put(at, { kind: "timer", title: "A timer fires", program: output });
  } else if (note.kind === "ready" && run.runner === "quickjs") {
    putReady(record, output, run, note, at, put);
  }
}

function putReady(record, output, run, note, at, put) {
  const call = callOf(record, run, note.call);
  const recorded = run.calls.find((one) => one.seq === note.call);
  const name = call?.function ?? recorded?.tool ?? "a function of the program";
  const failure = FAILURE.test(note.text ?? "") ? note.text.replace(FAILURE, "") : call?.result?.error ?? recorded?.error;
  const isFailure = failure !== undefined;
  put(at, {
    kind: isFailure ? "failure" : "answer", title: `${name} ${isFailure ? "fails" : "answers"} (call ${note.call})`, call: call?.id,
    program: output, ...linesOf(output, name),
    parts: isFailure ? [{ name: "Error", value: failure, isError: true }] : answerParts(call?.result?.output ?? recorded?.output, call ?? recorded),
  });
}

const answerParts = (value, from) => (from === undefined ? [{ name: "Answer", value: "(not on record)" }] : [{ name: "Answer", value: value ?? "(nothing)" }]);

// --- Calls ------------------------------------------------------------------------------------------------------------

const numberOf = (output) => /\.(\d+)$/.exec(output.id)?.[1];

function putCall(record, own, output, put) {
  const parent = record.prompt.output.find((one) => one.id === output.parent);
  const isOfProgram = parent !== undefined && programOf(parent) !== undefined;
  const run = parent && runOf(record, parent);
  const number = numberOf(output);
  const recorded = run?.calls.find((one) => String(one.seq) === number);
  const place = isOfProgram ? linesOf(parent, output.function) : {};
  const inputs = [{ name: "Input", value: output.input }];
  if (recorded?.editedInput !== undefined) inputs.push({ name: "Input, as a person changed it", value: parsed(recorded.editedInput) });
  put(Date.parse(output.start), { kind: "call", title: `${output.function} is called${number ? ` (call ${number})` : ""}`, call: output.id, number: Number(number ?? 0), ...(isOfProgram && { program: parent }), ...place, parts: inputs });
  putDecision(own, output, place, parent, isOfProgram, put);
  if (isOfProgram && run?.runner === "quickjs") return; // its answer is a note: when the program got it
  if (output.end === undefined) return;
  const isFailure = output.result?.type === "error";
  put(Date.parse(output.end), {
    kind: isFailure ? "failure" : "answer", title: `${output.function} ${isFailure ? "fails" : "answers"}${number ? ` (call ${number})` : ""}`, call: output.id,
    ...(isOfProgram && { program: parent }), ...place,
    parts: isFailure ? [{ name: "Error", value: output.result.error, isError: true }] : answerParts(output.result?.output, output),
  });
}

function putDecision(own, output, place, parent, isOfProgram, put) {
  const note = own.find((one) => one.kind === "decision" && one.data?.id === output.id);
  if (!note) return;
  const parts = [];
  if (note.data.reason) parts.push({ name: "Reason", value: note.data.reason });
  if (note.data.input) parts.push({ name: "Changed input", value: parsed(note.data.input) });
  const isKnown = output.decided !== undefined;
  put(Date.parse(output.decided ?? output.end ?? output.start) - (isKnown ? 0 : 0.25), {
    kind: note.approved ? "approved" : "rejected", title: `A person ${note.approved ? "approved" : "rejected"} ${output.function}`, call: output.id,
    ...(isOfProgram && { program: parent }), ...place, parts, hasNoTime: !isKnown,
    ...(!isKnown && { unsure: "When this was decided is not on record: it was before the call was made." }),
  });
}

// --- Lines ------------------------------------------------------------------------------------------------------------

const escape = (text) => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");

/** The names that a program may use for a tool: its id in quotes, and its functions in each language. */
function namesOf(id) {
  const own = id.slice(id.indexOf(".") + 1);
  const camel = (text) => text.replace(/[^A-Za-z0-9]+(.)/g, (_, letter) => letter.toUpperCase());
  const snake = (text) => text.replace(/\W/g, "_");
  const split = (text) => snake(text).replace(/([a-z0-9])([A-Z])/g, "$1_$2").toLowerCase();
  return [...new Set([camel(id), snake(id), snake(own), split(id), split(own)])].filter((one) => one.length > 1);
}

/** The lines on which a tool's name stands. A record has no lines of calls, so several names are several possibilities. */
function linesOf(output, id) {
  const { code } = programOf(output);
  const pattern = new RegExp(`(?<![\\w$.])(?:${namesOf(id).map(escape).join("|")})\\s*\\(|["'\`]${escape(id)}["'\`]`);
  const lines = code.split("\n").flatMap((line, i) => (pattern.test(line) ? [i + 1] : []));
  return {
    lines, isCertain: lines.length === 1,
    ...(lines.length !== 1 && { unsure: lines.length === 0 ? "The record has no lines of calls, and the program does not name this tool in one place." : `The record has no lines of calls: this one is on one of the lines ${lines.join(", ")}.` }),
  };
}
