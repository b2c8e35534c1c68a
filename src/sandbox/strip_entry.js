// What the stripper's image runs once before it is frozen: esbuild bundles this file with sucrase, as a function of
// (H, roots) like prelude.js (see Makefile).
import { transform } from "sucrase";
import { parse } from "sucrase/dist/esm/parser/index.js";
import { TokenType as tt } from "sucrase/dist/esm/parser/tokenizer/types.js";
import { namespacesAsFunctions } from "./strip_namespaces.js";

const stripped = (source) =>
  transform(namespacesAsFunctions(source), { transforms: ["typescript"], disableESTransforms: true }).code;

// A program that is one function without a name is an expression, but no statement.
const NAMELESS = /\bfunction\s*\*?\s*[(<]/;
const strippedAsExpression = (source) => (NAMELESS.test(source) ? stripped(`0,${source}`).slice(2) : undefined);

// The first tag's place, if the program is one with JSX: it cannot be read without, and can be with it.
const findTag = (source) => {
  const before = NAMELESS.test(source) ? "0," : "";
  const tag = parse(before + source, true, true, false).tokens.find((token) => token.type === tt.jsxTagStart);
  return tag && tag.start - before.length;
};

const attempt = (f, source) => {
  try {
    return f(source);
  } catch {
    return undefined;
  }
};

roots.strip = (source) => {
  try {
    return stripped(source);
  } catch (error) {
    const code = attempt(strippedAsExpression, source);
    if (code !== undefined) return code;
    const at = attempt(findTag, source);
    if (at === undefined) throw error;
    const lines = source.slice(0, at).split("\n");
    throw new SyntaxError(`unexpected token in expression: '<' (${lines.length}:${lines.at(-1).length + 1})`);
  }
};
