#!/usr/bin/env node
// Rewrites the engine's translation, so that gcc makes better code of it: docs/internals/engine.md has the reasons. What
// is not found stays as wasm2c wrote it.
//
//   scripts/engine-rewrite.mjs QJS_C WASM      rewrites QJS_C, the translation of WASM
import { readFileSync, writeFileSync } from "node:fs";

const OPCODES = 256;

const [file, wasm] = process.argv.slice(2);
let text = readFileSync(file, "utf8");

/** Of lines, as wasm2c writes them. */
const lines = (...patterns) => patterns.map((pattern) => `[ ]*${pattern}\\n`).join("");

/** Replaces all that is found; says so when there is nothing. */
function rewrite(what, pattern, by) {
  let count = 0;
  text = text.replace(new RegExp(pattern, "g"), (...match) => {
    count++;
    return by(match.at(-1), match[0]);
  });
  if (count === 0) console.error(`engine-rewrite: ${file} has no ${what} of the known form: it stays as wasm2c wrote it`);
  return count;
}

// --- Memory -----------------------------------------------------------------------------------------------------------

// The instance lies directly before the memory, so its address is that of the memory, too: no access loads a pointer, and
// no register has one. A load whose value nobody wants is no load: what it would trap is not needed.
function reachMemoryByInstance() {
  const end = " *\\\\\\n *";
  const head = (type) => `static inline ${type} name\\((?<mem>wasm_rt_memory_t\\*) mem, u64 addr(?<value>(?:, t2 value)?)\\) \\{${end}MEMCHECK\\(mem, addr, t1\\);${end}`;
  const place = "(u8 *)instance + sizeof *instance + addr";
  const defined =
    rewrite("load", `${head("t3")}t1 result;${end}wasm_rt_memcpy\\(&result, &mem->data\\[addr\\], sizeof\\(t1\\)\\);${end}wasm_asm\\("" ::"r"\\(result\\)\\);`,
      () => `static inline t3 name(Z_qjs_instance_t* instance, u64 addr) { \\\n    t1 result; \\\n    wasm_rt_memcpy(&result, ${place}, sizeof(t1));`) +
    rewrite("store", `${head("void")}t1 wrapped = \\(t1\\)value;${end}wasm_rt_memcpy\\(&mem->data\\[addr\\], &wrapped, sizeof\\(t1\\)\\);`,
      () => `static inline void name(Z_qjs_instance_t* instance, u64 addr, t2 value) { \\\n    t1 wrapped = (t1)value; \\\n    wasm_rt_memcpy(${place}, &wrapped, sizeof(t1));`);
  if (defined === 0) return;
  rewrite("access", "(?<access>[if]\\d\\d_(?:load|store)\\w*\\()&instance->w2c_memory, ", ({ access }) => `${access}instance, `);
  if (defined !== 2 || /[if]\d\d_(load|store)\w*\(&/.test(text)) throw new Error(`${file}: accesses of two kinds`);
}

// gcc would reckon with the stack pointer as it was at the function's entry as well as with the frame's address, and keep both.
function keepFramesApart() {
  rewrite("frame", lines("w2c_i0 = instance->w2c___stack_pointer;", "w2c_i1 = \\d+u;", "w2c_i0 -= w2c_i1;"),
    (_, found) => `${found}  wasm_asm("" : "+r"(w2c_i0));\n`);
}

// All functions in the table are the module's own, so an indirect call stays in the calling instance: one table serves all boxes.
function callInOneInstance() {
  rewrite("indirect call", "instance->w2c___indirect_function_table\\.data\\[[^\\]]+\\]\\.module_instance", () => "instance");
}

// An instance that has a memory already, an image's, is not filled with the module's data.
function keepFilledMemory() {
  rewrite("start of the memory", "(?<start> +)init_memories\\(instance\\);", ({ start }) => `${start}if (instance->w2c_memory.data == NULL) init_memories(instance);`);
}

// --- Calls of the host ------------------------------------------------------------------------------------------------

/** Rewrites the function in which `what` is. The lines after it keep their numbers, by which gcc knows functions' profiles. */
function rewriteFunction(what, by) {
  const at = text.indexOf(what), from = text.lastIndexOf("\nstatic ", at) + 1, to = text.indexOf("\n}\n", at);
  const found = text.slice(from, to), made = at < 0 ? found : by(found), more = found.split("\n").length - made.split("\n").length;
  if (made === found || more < 0) throw new Error(`${file}: ${what} is not in a function of the known form`);
  text = text.slice(0, from) + made + "\n".repeat(more) + text.slice(to);
}

// quickjs-wasi copies the function's name, \`this\` and each argument into memory of their own for the host, which puts the
// result into such memory, too. Here the host gets the name's letter, reads the arguments where they are, and returns the value.
function callHostInPlace() {
  rewriteFunction("w2c_qjs_new_host_function(Z_qjs_instance_t* instance", (made) =>
    made.replace("w2c_i4 = 0u;", "w2c_i4 = i32_load8_u(instance, (u64)(w2c_p0));"));
  rewriteFunction("(*Z_envZ_host_call)(", (made) => made.replace(
    /^(static u64 w2c_f\d+\(Z_qjs_instance_t\* instance, u32 w2c_p0, u64 w2c_p1(?:, u32 w2c_p[2-5]){4}\) \{\n)[^]*/, `$1  FUNC_PROLOGUE;
  u64 Z_envZ_host_function(struct Z_env_instance_t*, u32, u32, u32), value;
  value = Z_envZ_host_function(instance->Z_env_instance, w2c_p4, w2c_p2, w2c_p3);
  FUNC_EPILOGUE;
  return value;`));
}

// --- Blocks -----------------------------------------------------------------------------------------------------------

// Whoever builds an image chooses where each small block lies (src/sandbox/block_order.c). For that its allocator must be as
// that file knows it.
function askBeforeBlocks() {
  const known = ["= 512u;", "= 4072u;", "= 24u;", "+ 292u)", "= 288u;", "= 40u;", " + 18, ", " + 20, ", " + 22, "];
  rewriteFunction("w2c_i1 = 4072u;", (made) => known.every((part) => made.includes(part)) ? made.replace(/ *FUNC_PROLOGUE;/,
    `$& if (__builtin_expect(Z_qjs_before_block != NULL, 0)) Z_qjs_before_block(instance, w2c_p0, w2c_p1);`) : made);
  text = text.replace(/(?<=\n)(?=static \w+ w2c_)/, "void (*Z_qjs_before_block)(Z_qjs_instance_t*, u32, u32); ");
}

// --- Values -----------------------------------------------------------------------------------------------------------

// A value's upper half is its tag. LLVM compares it in place, for which x86 needs two constants of 64 bits.
function compareTagsAlone() {
  rewrite("comparison of tags", lines(
    "(?<mask>w2c_j\\d) = 18446744069414584320ull;",
    "(?<value>w2c_j\\d) &= \\k<mask>;",
    "\\k<mask> = (?<tag>\\d+)ull;",
    "(?<result>w2c_i\\d) = \\k<value> (?<operator>==|!=) \\k<mask>;",
  ), ({ value, tag, result, operator }, found) => {
    const half = BigInt(tag) >> 32n;
    return half << 32n === BigInt(tag) ? `  ${result} = (u32)(${value} >> 32) ${operator} ${half}u;\n` : found;
  });
}

// Most references that are given up are not the last ones of their values. Those are counted where that happens; LLVM had made
// one function of counting and freeing, which makes a frame first. It stays as it is, and counts the last ones.
function countReferencesInPlace() {
  const counts = lines("w2c_j0 = w2c_p1;", "w2c_j1 = (?<counted>\\d+)ull;", "w2c_i0 = w2c_j0 < w2c_j1;", "if .*") +
    lines("w2c_j0 = w2c_p1;", ".* = \\(u32\\)\\(w2c_j0\\);", "w2c_l.*", "w2c_i1 = 4u;", "w2c_i0 -= w2c_i1;", "w2c_l.*", "w2c_i1 = w2c_l.*",
      "w2c_i1 = i32_load\\(instance, \\(u64\\)\\(w2c_i1\\)\\);");
  rewrite("function that gives up a reference",
    `static void w2c_JS_FreeValueRT(?<rest>\\(Z_qjs_instance_t\\* instance, u32 w2c_p0, u64 w2c_p1\\) \\{\\n[^}]*?${counts}[^]*?\\n\\}\\n)`,
    ({ counted, rest }) => `static void w2c_free_value${rest}
static inline __attribute__((always_inline)) void w2c_JS_FreeValueRT(Z_qjs_instance_t* instance, u32 runtime, u64 value) {
  if (value < ${counted}ull) return;
  u32 place = (u32)value - 4u, count = i32_load(instance, (u64)(place));
  if ((s32)count > 1) i32_store(instance, (u64)(place), count - 1u);
  else w2c_free_value(instance, runtime, value);
}
`);
}

// --- The interpreter --------------------------------------------------------------------------------------------------

// Between two opcodes QuickJS asks whether it shall print the next one. Only JS_SetDumpFlags says so, which nobody calls.
function passOverDumps() {
  const flags = /w2c_JS_SetDumpFlags\(Z_qjs_instance_t\* instance[^]*?store16\([^;]*\+ (?<place>\d+)/.exec(text);
  rewrite("question whether to print an opcode", lines(
    "(?<flag>w2c_i\\d) = i32_load\\([^;]*;",
    `\\k<flag> = i32_load8_u\\([^;]*\\+ ${flags?.groups.place}u\\);`,
    "(?<bit>w2c_i\\d) = \\d+u;",
    "\\k<flag> &= \\k<bit>;",
    "if \\(\\k<flag>\\) \\{",
  ) + `(?:${lines("w2c_[ij]\\d = [^(\\n]*;")}|${lines("w2c_i\\d = i32_load\\([^\\n]*;")})*` + lines("w2c_f\\d+\\(instance[^\\n]*\\);", "\\}"), () => "");
}

// QuickJS jumps from each opcode to the next by the address of a label. WebAssembly has no such jumps: the opcode is
// loaded, times 4; a number is loaded from a table in the guest's memory, minus the first one; a switch.
const dispatch = lines("(?<index>w2c_i\\d) = i32_load8_u\\(instance, \\(u64\\)\\(\\k<index>\\)\\);") + lines(
  "(?<opcode>w2c_l\\d+) = \\k<index>;",
  "(?<other>w2c_i\\d) = 2u;",
  "\\k<index> <<= \\(\\k<other> & 31\\);",
  "\\k<index> = i32_load\\(instance, \\(u64\\)\\(\\k<index>\\) \\+ (?<table>\\d+)u\\);",
  "\\k<other> = (?<first>\\d+)u;",
  "\\k<index> -= \\k<other>;",
  "switch \\(\\k<index>\\) \\{",
) + `(?<cases>(?:${lines("case \\d+: goto w2c_B\\d+;")}){100,})` + lines("default: goto (?<otherwise>w2c_B\\d+);", "\\}");

// The guest's memory as it is before anything has run.
function memoryOf() {
  const module = new WebAssembly.Module(readFileSync(wasm));
  const imports = {};
  for (const { module: from, name } of WebAssembly.Module.imports(module)) (imports[from] ??= {})[name] = () => 0;
  return new DataView(new WebAssembly.Instance(module, imports).exports.memory.buffer);
}

/** The label of each opcode. */
function labelsOf({ table, first, cases, otherwise }) {
  const memory = memoryOf(), labels = new Map();
  for (const [, number, label] of cases.matchAll(/case (\d+): goto (w2c_B\d+);/g)) labels.set(Number(number), label);
  return Array.from({ length: OPCODES }, (_, opcode) => labels.get(memory.getUint32(Number(table) + 4 * opcode, true) - Number(first)) ?? otherwise);
}

// The two tables become one, outside of the guest's memory, with an entry for each value of a byte, so nothing is to be
// checked. gcc then ends each opcode with a jump of its own. Such a jump leads to nothing but a place of its own from which
// it goes on to the opcode's code: there gcc can put what only this way needs, such as the opcode's number as a constant.
function jumpByOpcode() {
  rewrite("interpreter", dispatch, (groups) => {
    const { index, opcode } = groups, labels = labelsOf(groups);
    const places = labels.map((_, number) => `opcode_${number}`);
    const steps = labels.map((label, number) => `        ${places[number]}:; ${opcode} = ${number}u; goto ${label};\n`);
    return `        ${index} = i32_load8_u(instance, (u64)(${index}));\n` +
      `        static const void *const opcodes[${OPCODES}] = {${places.map((place) => `&&${place}`).join(", ")}};\n` +
      `        goto *opcodes[${index}];\n${steps.join("")}`;
  });
}

// LLVM has moved what does not change out of the interpreter's loop: a dozen sums. Each call of a function would compute and
// keep them; where they are wanted they are an instruction.
function computeWhereWanted() {
  const jump = text.indexOf("goto *opcodes["), from = text.lastIndexOf("\n}\n", jump), to = text.indexOf("\n}\n", jump);
  if (jump < 0) return;
  const loop = text.lastIndexOf("w2c_L", jump), entry = Math.max(...["{\n", "}\n", ":;\n"].map((end) => text.lastIndexOf(end, loop)));
  const assigned = (local, where) => where.split(`${local} = `).length - 1;
  let body = text.slice(from, to);
  const sum = lines("(?<value>w2c_[ij](?<slot>\\d)) = (?<of>w2c_[lp]\\d+);", "(?<other>w2c_[ij]\\d) = (?<constant>\\d+u(?:ll)?);",
    "\\k<value> (?<operator>\\+|-|&|<<)= \\(?\\k<other>(?: & (?:31|63)\\))?;") + lines("(?<local>w2c_l\\d+) = \\k<value>;") + "(?=[ ]*w2c_[ij]\\k<slot> = (?!.*\\k<value>))"; // by what follows
  for (const { 0: found, groups } of text.slice(entry, loop).matchAll(new RegExp(sum, "g"))) {
    const { of, constant, operator, local } = groups;
    const isSettled = assigned(of, text.slice(entry, to)) === 0 && assigned(local, body) === 2 && // when it is declared, and here
      !text.slice(from, entry).includes(` = ${local};`);
    if (isSettled) body = body.replace(found, "").replaceAll(` = ${local};`, ` = (${of} ${operator} ${constant});`);
    if (isSettled && new RegExp(`${local}\\b(?! = 0[,;])`).test(body)) throw new Error(`${file}: ${local} is used in another way`);
  }
  text = text.slice(0, from) + body + text.slice(to);
}

reachMemoryByInstance();
keepFramesApart();
callInOneInstance();
keepFilledMemory();
callHostInPlace();
askBeforeBlocks();
compareTagsAlone();
countReferencesInPlace();
passOverDumps();
jumpByOpcode();
computeWhereWanted();
writeFileSync(file, text);
