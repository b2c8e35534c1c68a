// Colours of code that is only shown: the parsers of CodeMirror's languages without the editor, bundled by esbuild into
// highlight.js (Makefile) and loaded when the first program is shown.
import { highlightCode, tagHighlighter, tags } from "@lezer/highlight";
import { parser as javascript } from "@lezer/javascript";
import { parser as python } from "@lezer/python";

const parsers = {
  javascript: javascript.configure({ dialect: "ts" }),
  typescript: javascript.configure({ dialect: "ts" }),
  python,
};

const classes = tagHighlighter([
  { tag: [tags.keyword, tags.operatorKeyword, tags.modifier, tags.controlKeyword, tags.definitionKeyword, tags.moduleKeyword, tags.bool, tags.null, tags.self], class: "code-keyword" },
  { tag: [tags.string, tags.special(tags.string), tags.regexp, tags.escape], class: "code-string" },
  { tag: [tags.number], class: "code-number" },
  { tag: [tags.comment, tags.lineComment, tags.blockComment], class: "code-comment" },
  { tag: [tags.function(tags.variableName), tags.function(tags.propertyName), tags.function(tags.definition(tags.variableName))], class: "code-function" },
  { tag: [tags.typeName, tags.className, tags.namespace], class: "code-type" },
]);

/** The lines of a program, each as pieces [text, class or ""]. An unknown language has no colours. */
export function highlight(code, language) {
  const parser = parsers[language];
  if (!parser) return code.split("\n").map((line) => [[line, ""]]);
  const lines = [[]];
  highlightCode(code, parser.parse(code), classes, (text, style) => lines.at(-1).push([text, style]), () => lines.push([]));
  return lines;
}
