#!/usr/bin/env node
// Gives the engine's interpreter back its jump table. QuickJS jumps from each opcode to the next by the address of a
// label. WebAssembly has no such jumps, so the translated code reads a number from a table in the guest's memory and
// jumps by that number to a label, at one place for all opcodes. Here the two tables become one, by opcode, outside of
// the guest's memory; it has an entry for each byte, so nothing is to be checked. gcc then ends each opcode with a jump
// of its own (docs/internals/engine.md).
//
//   scripts/engine-dispatch.mjs QJS_C WASM      rewrites QJS_C, the translation of WASM
import { readFileSync, writeFileSync } from "node:fs";

const OPCODES = 256;

// The lines that wasm2c writes for it: the opcode is loaded, times 4; the number is loaded, minus the first one; a switch.
const line = (text) => `\\s*${text}\\n`;
const dispatch = new RegExp(
  `(?<load>${line("(?<index>w2c_i\\d) = i32_load8_u\\(&instance->w2c_memory, \\(u64\\)\\(\\k<index>\\)\\);")}` +
    `${line("w2c_l\\d+ = \\k<index>;")})` +
    line("(?<other>w2c_i\\d) = 2u;") +
    line("\\k<index> <<= \\(\\k<other> & 31\\);") +
    line("\\k<index> = i32_load\\(&instance->w2c_memory, \\(u64\\)\\(\\k<index>\\) \\+ (?<table>\\d+)u\\);") +
    line("\\k<other> = (?<first>\\d+)u;") +
    line("\\k<index> -= \\k<other>;") +
    line("switch \\(\\k<index>\\) \\{") +
    `(?<cases>(?:${line("case \\d+: goto w2c_B\\d+;")}){100,})` +
    line("default: goto (?<otherwise>w2c_B\\d+);") +
    line("\\}"),
  "g",
);

// The guest's memory as it is before anything has run.
function memoryOf(wasm) {
  const module = new WebAssembly.Module(readFileSync(wasm));
  const imports = {};
  for (const { module: from, name } of WebAssembly.Module.imports(module)) (imports[from] ??= {})[name] = () => 0;
  return new DataView(new WebAssembly.Instance(module, imports).exports.memory.buffer);
}

function jumpTable({ index, table, first, cases, otherwise }, memory) {
  const labels = new Map([...cases.matchAll(/case (\d+): goto (w2c_B\d+);/g)].map(([, n, label]) => [Number(n), label]));
  const rows = [];
  for (let opcode = 0; opcode < OPCODES; opcode++) {
    const number = memory.getUint32(Number(table) + 4 * opcode, true) - Number(first);
    rows.push(`&&${labels.get(number) ?? otherwise}`);
  }
  return `        static const void *const opcodes[${OPCODES}] = {${rows.join(", ")}};\n        goto *opcodes[${index}];\n`;
}

const [file, wasm] = process.argv.slice(2);
const text = readFileSync(file, "utf8");
const found = [...text.matchAll(dispatch)];
if (found.length !== 1) {
  console.error(`engine-dispatch: ${file} has ${found.length} interpreters of the known form: it stays as wasm2c wrote it`);
  process.exit(0);
}
const { load } = found[0].groups;
writeFileSync(file, text.replace(found[0][0], () => load + jumpTable(found[0].groups, memoryOf(wasm))));
