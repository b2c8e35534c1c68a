// Programs among a prompt's outputs, and what the record of a prompt (GET /prompts/{id}/record) says of them.

const LANGUAGES = { "code.execute": "javascript", "interpreter.run-code": "javascript", execute_typescript: "typescript", execute_code: "python" };
const SAID = ["output", "log", "warning", "error"]; // lt_said, as the record has it

const readJson = (text) => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

/** The program that an output is: {code, language}; undefined when it is none. */
export function programOf(output) {
  if (output.type !== "tool") return undefined;
  if (output.function === "program.run") {
    const asked = readJson(output.input?.message) ?? output.input;
    return typeof asked?.code === "string" ? { code: asked.code, language: asked.language ?? "javascript" } : undefined;
  }
  const name = Object.keys(LANGUAGES).find((one) => output.function === one || output.function?.endsWith(`.${one}`));
  return name && typeof output.input?.code === "string" ? { code: output.input.code, language: output.input.language ?? LANGUAGES[name] } : undefined;
}

/** The outputs that are programs: [{output, code, language}]. */
export const programsOf = (prompt) => prompt.output.flatMap((output) => {
  const program = programOf(output);
  return program ? [{ output, ...program }] : [];
});

/**
 * The run of an output's program: "call-0" is <prompt>/call-0. A tool that runs a program makes it as the first of its own
 * calls: "c1" is <prompt>/c1/1/1.
 */
export function runOf(record, output) {
  const base = `${record.prompt.id}/${output.id.replaceAll(".", "/")}`;
  const found = [base, `${base}/1`, `${base}/1/1`].map((name) => record.runs.find((one) => one.run === name)).filter(Boolean);
  return found.find((one) => one.notes.some((note) => note.kind === "begin")) ?? found[0];
}

/** The output that is a call of a run, by the call's number. */
export const callOf = (record, run, number) => record.prompt.output.find((one) => one.id === `${run.run.slice(record.prompt.id.length + 1).replaceAll("/", ".")}.${number}`);

/** How a program ended, undefined while that is not on record: {texts, value, error, line, ...}. */
export function endOf(run) {
  const end = run?.notes.findLast((note) => note.kind === "end");
  if (typeof end?.data !== "object") return undefined;
  const { data } = end;
  const texts = [];
  for (let i = 0; i + 1 < (data.texts ?? []).length; i += 2) texts.push({ said: SAID[data.texts[i]] ?? "log", text: data.texts[i + 1] });
  return {
    texts,
    isTypeError: data.typeErrors === 1,
    ...(data.kind === 1 && { value: data.value ?? "" }),
    ...(data.kind === 2 && { value: readJson(data.value) ?? data.value }),
    ...(data.error !== undefined && { error: data.error, line: data.line, column: data.column, context: data.context, stack: data.stack }),
    status: data.status,
    ms: (data.us ?? 0) / 1000,
    values: data.values ?? {},
  };
}

/** The place that an error's text names, where the record has none: "oops (line 6, column 68: ...)". */
export function placeIn(text) {
  const [, line, column] = /\(line (\d+)(?:, column (\d+))?/.exec(text ?? "") ?? [];
  return line === undefined ? {} : { line: Number(line), column: column === undefined ? 1 : Number(column) };
}
