// What is left of TypeScript by the eraser (src/js/tserase.h), by sucrase and, where this is a Node.js that can, by
// module.stripTypeScriptTypes. Differences of spaces, comments and empty statements do not count.
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import * as nodeModule from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { transformSync } from "esbuild";
import { transform } from "sucrase";

const attempt = (f) => {
  try {
    return f();
  } catch {
    return undefined;
  }
};

// As esbuild prints it; undefined: it is no JavaScript.
const printed = (code) => {
  if (code === undefined) return undefined;
  const options = { loader: "js", target: "esnext", minifyWhitespace: true, legalComments: "none", logLevel: "silent" };
  const text = attempt(() => transformSync(code, options).code);
  return text?.replace(/\/\/.*\n|\/\*[^]*?\*\//g, "").replace(/\n/g, "").replace(/;+/g, ";").replace(/([{}]);/g, "$1").replace(/^;/, "");
};

const erase = (sources) => {
  const program = join(dirname(process.env.LATHE), "erase_types");
  const folder = mkdtempSync(join(tmpdir(), "lathe-types-"));
  try {
    const paths = sources.map((source, i) => {
      const path = join(folder, `${i}.ts`);
      writeFileSync(path, source);
      return path;
    });
    for (let i = 0; i < paths.length; i += 500) execFileSync(program, paths.slice(i, i + 500));
    return paths.map((path) => (existsSync(`${path}.js`) ? readFileSync(`${path}.js`, "utf8") : undefined));
  } finally {
    rmSync(folder, { recursive: true });
  }
};

// What tsc makes of each source as a file of its own; undefined: it refuses it.
export const tsc = fileURLToPath(new URL("../fixtures/tsc/tsc", import.meta.url));
export const emitted = (sources) => {
  const cwd = mkdtempSync(join(tmpdir(), "lathe-tsc-"));
  try {
    sources.forEach((source, i) => writeFileSync(join(cwd, `${i}.ts`), source));
    const compilerOptions = { target: "esnext", module: "esnext", moduleDetection: "force", isolatedModules: true, noCheck: true, types: [], outDir: "out" };
    writeFileSync(join(cwd, "tsconfig.json"), JSON.stringify({ compilerOptions }));
    const { stdout } = spawnSync(tsc, ["-p", "."], { cwd, encoding: "utf8", maxBuffer: 1e8 });
    const refused = new Set([...stdout.matchAll(/^(\d+)\.ts\(\d+,\d+\): error/gm)].map((found) => Number(found[1])));
    return sources.map((_, i) => (refused.has(i) ? undefined : readFileSync(join(cwd, "out", `${i}.js`), "utf8")));
  } finally {
    rmSync(cwd, { recursive: true });
  }
};

// Sucrase and Node.js do not write parameter properties as tsc does. Where there is an enum, which everybody writes in
// another way, nothing is compared: those are run (types-erased.test.mjs).
const written = (sources, erased) => {
  const chosen = sources.map((_, i) => i).filter((i) => erased[i]?.length > sources[i].length && !/\benum\b/.test(sources[i]));
  const texts = chosen.length > 0 && existsSync(tsc) ? emitted(chosen.map((i) => sources[i])) : [];
  return new Map(chosen.map((i, at) => [i, texts[at]]));
};

// For each source: what is left by the eraser (undefined: it is unsure), and whether the others say the same; undefined
// for one that refuses it, or whose result is no JavaScript, as the eraser's is then not either.
export const compare = (sources) => {
  const all = erase(sources);
  const byTsc = written(sources, all);
  return all.map((erased, i) => {
    if (erased === undefined) return { erased };
    const mine = printed(erased);
    const same = (f) => {
      const theirs = printed(attempt(f))?.replace(/export\{\};?$/, "");
      return theirs === undefined ? undefined : theirs === mine;
    };
    const result = { erased, isJavaScript: mine !== undefined };
    if (erased.length > sources[i].length) return { ...result, tsc: same(() => byTsc.get(i)) };
    return {
      ...result,
      sucrase: same(() => transform(sources[i], { transforms: ["typescript"], disableESTransforms: true }).code),
      node: nodeModule.stripTypeScriptTypes && same(() => nodeModule.stripTypeScriptTypes(sources[i])),
    };
  });
};

// --- Programs that are broken, or no longer what they were --------------------------------------------------------------

const PIECES = [": T", " as T", "!", "?", "<T>", " satisfies U", "abstract ", "private ", "readonly ", "declare ", "\n", ";", "\ntype A = B\n",
  "\ninterface A {}\n", "(", ")", "=> ", "async ", "export ", "[0]", " is T", "{", "}", ",", "static ", "get ", "new ", "await ", "<", ">", "/", "`"];

// Numbers from 0 to n - 1, the same for the same seed.
export const dice = (seed) => (n) => {
  seed = (Math.imul(seed, 1103515245) + 12345) >>> 0;
  return Math.floor((seed / 2 ** 32) * n);
};

// One program of these, changed at a few tokens.
export const broken = (programs, seed) => {
  const roll = dice(seed);
  roll(2);
  const tokens = programs[roll(programs.length)].match(/\s+|[\w$]+|[^]/gu) ?? [];
  for (let changes = 1 + roll(3); changes > 0; changes--) {
    const at = roll(tokens.length), other = roll(tokens.length);
    switch (roll(5)) {
      case 0: tokens.splice(at, 1); break;
      case 1: tokens.splice(at, 0, tokens[other]); break;
      case 2: [tokens[at], tokens[other]] = [tokens[other], tokens[at]]; break;
      default: tokens.splice(at, 0, PIECES[roll(PIECES.length)]);
    }
  }
  return tokens.join("");
};
