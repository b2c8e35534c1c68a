// The program editor's third-party part: what code_editor.js needs of CodeMirror 6, bundled by esbuild into editor.js
// (Makefile) and loaded when the editor is first opened.
export { acceptCompletion, autocompletion, closeBrackets, closeBracketsKeymap, completionKeymap, snippetCompletion, startCompletion } from "@codemirror/autocomplete";
export { defaultKeymap, history, historyKeymap, indentWithTab } from "@codemirror/commands";
export { javascriptLanguage, localCompletionSource as localJavascript, typescriptLanguage, snippets as javascriptSnippets } from "@codemirror/lang-javascript";
export { globalCompletion as globalPython, localCompletionSource as localPython, pythonLanguage } from "@codemirror/lang-python";
export {
  bracketMatching, foldGutter, foldKeymap, HighlightStyle, indentOnInput, indentUnit, LanguageSupport, syntaxHighlighting, syntaxTree,
} from "@codemirror/language";
export { forceLinting, linter, lintGutter, lintKeymap, nextDiagnostic, setDiagnostics } from "@codemirror/lint";
export { highlightSelectionMatches, searchKeymap } from "@codemirror/search";
export { Compartment, EditorState, Prec, StateEffect, StateField } from "@codemirror/state";
export {
  Decoration, drawSelection, EditorView, highlightActiveLine, highlightActiveLineGutter, highlightSpecialChars, hoverTooltip, keymap, lineNumbers,
  placeholder, rectangularSelection,
} from "@codemirror/view";
export { tags } from "@lezer/highlight";
