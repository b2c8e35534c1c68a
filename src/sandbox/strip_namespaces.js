// TypeScript's namespaces as functions, before the types are taken off: sucrase takes a namespace for a type and drops it.
//
//   export namespace A { export const b = 1 }   becomes
//   export var A;(A=>{Object.defineProperties(A,{b:{get:()=>b,...}}); const b = 1 })(A??={});
//
// Lines stay where they are. `declare namespace` stays a type. What one block exports is in another block of the same
// namespace only `A.b`, not `b`.
import { parse } from "sucrase/dist/esm/parser/index.js";
import { TokenType as tt } from "sucrase/dist/esm/parser/tokenizer/types.js";

const HEADER = /\b(?:namespace|module)\s+[\w$]+[\s\w$.]*\{/;
const VALUES = ["class", "function", "enum"]; // they make the object themselves; the namespace adds to it

export function namespacesAsFunctions(source) {
  if (!HEADER.test(source)) return source;
  const { tokens } = parse(source, false, true, false);
  const text = (i) => (tokens[i] ? source.slice(tokens[i].start, tokens[i].end) : "");
  const isName = (i) => /^[\w$]+$/.test(text(i));
  const edits = []; // [start, end, text], in any order
  const declared = new Set(tokens.flatMap((_, i) => (VALUES.includes(text(i)) && isName(i + 1) ? [text(i + 1)] : [])));

  const opens = (i) => tokens[i].type === tt.braceL || tokens[i].type === tt.dollarBraceL;
  const closing = (open) => {
    for (let i = open, depth = 0; i < tokens.length; i++) {
      depth += opens(i) ? 1 : tokens[i].type === tt.braceR ? -1 : 0;
      if (depth === 0) return i;
    }
    return tokens.length - 1;
  };
  // The names and the brace of `namespace A.B {` at token i.
  const headerAt = (i) => {
    if (!["namespace", "module"].includes(text(i)) || text(i - 1) === "." || !isName(i + 1)) return undefined;
    const names = [text(i + 1)];
    let at = i + 2;
    for (; text(at) === "." && isName(at + 1); at += 2) names.push(text(at + 1));
    return text(at) === "{" ? { names, open: at } : undefined;
  };
  const replace = (start, end, by) => edits.push([start, end, by + source.slice(start, end).replace(/[^\n]/g, "")]);

  // The names that the statement behind the `export` at token i declares.
  const exported = (i, end) => {
    while (["async", "abstract"].includes(text(i + 1))) i++;
    const kind = text(i + 1) === "const" && text(i + 2) === "enum" ? "enum" : text(i + 1);
    if (["function", "class", "enum"].includes(kind)) {
      const at = i + (text(i + 1) === "const" ? 3 : text(i + 2) === "*" ? 3 : 2);
      return isName(at) ? [text(at)] : [];
    }
    if (headerAt(i + 1)) return [text(i + 2)];
    if (!["const", "let", "var"].includes(kind)) return [];
    if (!isName(i + 2)) return patternNames(i + 2);
    const names = [text(i + 2)];
    for (let at = i + 3, depth = 0; at < end && !(depth === 0 && text(at) === ";") && text(at) !== "export"; at++) {
      depth += /^[({[]$|^\$\{$/.test(text(at)) ? 1 : /^[)}\]]$/.test(text(at)) ? -1 : 0;
      if (depth === 0 && text(at) === "," && isName(at + 1) && ["=", ":"].includes(text(at + 2))) names.push(text(at + 1));
    }
    return names;
  };
  const patternNames = (open) => {
    const names = [];
    for (let at = open, depth = 0; at < tokens.length; at++) {
      depth += /^[{[]$/.test(text(at)) ? 1 : /^[}\]]$/.test(text(at)) ? -1 : 0;
      if (depth === 0) return names;
      if (isName(at) && [",", "}", "]", "="].includes(text(at + 1))) names.push(text(at));
    }
    return names;
  };

  const rewrite = (i, { names, open }, isTop) => {
    const close = closing(open);
    const isExported = text(i - 1) === "export";
    const start = tokens[isExported ? i - 1 : i].start;
    const members = [];
    walk(open + 1, close, (at) => {
      members.push(...exported(at, close));
      if (!headerAt(at + 1)) replace(tokens[at].start, tokens[at].end, "");
    });
    const last = names.at(-1);
    const bound = members.map((name) => `${name}:{get:()=>${name},set:(v)=>{${name}=v},enumerable:true,configurable:true}`);
    const [first, ...inner] = names;
    const own = declared.has(first) ? ";" : `${isExported && isTop ? "export " : ""}var ${first};`;
    const head = `${own}(${first}=>{` + inner.map((name) => `var ${name};(${name}=>{`).join("") +
      (bound.length > 0 ? `Object.defineProperties(${last},{${bound.join()}});` : "");
    const tail = names.map((name, at) => `})(${at > 0 ? `${names[at - 1]}.` : ""}${name}??={});`).reverse().join("");
    replace(start, tokens[open].end, head);
    replace(tokens[close].start, tokens[close].end, tail);
    return close;
  };
  // Rewrites the namespaces between two tokens; calls `onExport` for each `export` that is not inside one.
  const walk = (from, to, onExport) => {
    for (let i = from, depth = 0; i < to; i++) {
      const header = headerAt(i);
      const isType = header && (text(i - 1) === "declare" || (text(i - 1) === "export" && text(i - 2) === "declare"));
      if (header) i = isType ? closing(header.open) : rewrite(i, header, onExport === undefined);
      else if (depth === 0 && onExport && text(i) === "export" && tokens[i].type === tt._export) onExport(i);
      depth += opens(i) && !header ? 1 : tokens[i].type === tt.braceR && !header ? -1 : 0;
    }
  };
  walk(0, tokens.length, undefined);

  let out = "", at = 0;
  for (const [start, end, by] of edits.sort((a, b) => a[0] - b[0])) {
    out += source.slice(at, start) + by;
    at = end;
  }
  return out + source.slice(at);
}
