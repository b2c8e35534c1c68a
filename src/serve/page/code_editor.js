// CodeMirror as this page uses it: colours from the page's variables, completion from what the server declares, errors
// from POST /check. It lives in a shadow root: there its styles are style sheets of their own, which the page's
// Content-Security-Policy allows, while <style> elements are refused.
import * as cm from "./editor.js";
import { completions } from "./code_completion.js";
import { h } from "./dom.js";

const CHECK_MS = 350; // of rest, before what was typed is checked

const theme = cm.EditorView.theme({
  "&": { height: "100%", color: "var(--text)", backgroundColor: "var(--ground)", fontSize: "13.5px" },
  "&.cm-focused": { outline: "none" },
  ".cm-scroller": { fontFamily: "var(--mono)", lineHeight: "1.55", overflow: "auto" },
  ".cm-content": { padding: "8px 0", caretColor: "var(--accent)" },
  ".cm-cursor": { borderLeftColor: "var(--accent)", borderLeftWidth: "2px" },
  ".cm-gutters": { color: "var(--faint)", backgroundColor: "var(--sunken)", border: "none", borderRight: "1px solid var(--line)" },
  ".cm-lineNumbers .cm-gutterElement": { padding: "0 4px 0 12px", minWidth: "32px" },
  ".cm-activeLine": { backgroundColor: "color-mix(in srgb, var(--hover) 45%, transparent)" },
  ".cm-activeLineGutter": { color: "var(--text)", backgroundColor: "var(--hover)" },
  "&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground": { backgroundColor: "color-mix(in srgb, var(--accent) 28%, transparent)" },
  ".cm-matchingBracket, &.cm-focused .cm-matchingBracket": { backgroundColor: "var(--accent-soft)", outline: "1px solid var(--edge)" },
  ".cm-selectionMatch": { backgroundColor: "var(--accent-soft)" },
  ".cm-tooltip": { color: "var(--text)", backgroundColor: "var(--raised)", border: "1px solid var(--line)", borderRadius: "6px", boxShadow: "var(--shadow)" },
  ".cm-tooltip.cm-tooltip-autocomplete > ul": { fontFamily: "var(--mono)", maxHeight: "16em", maxWidth: "min(560px, 90vw)" },
  ".cm-tooltip.cm-tooltip-autocomplete > ul > li": { padding: "2px 8px", lineHeight: "1.6" },
  ".cm-tooltip-autocomplete ul li[aria-selected]": { color: "var(--on-accent)", backgroundColor: "var(--accent)" },
  ".cm-completionDetail": { color: "var(--faint)", fontStyle: "normal", marginLeft: "12px" },
  "li[aria-selected] .cm-completionDetail": { color: "inherit" },
  ".cm-completionMatchedText": { textDecoration: "none", fontWeight: "700" },
  ".cm-completionInfo": { padding: "8px 12px", maxWidth: "420px", whiteSpace: "pre-wrap", fontFamily: "var(--font)" },
  ".cm-diagnostic": { padding: "4px 8px", borderLeft: "3px solid var(--bad)", whiteSpace: "pre-wrap" },
  ".cm-diagnostic-warning": { borderLeftColor: "var(--warn)" },
  ".cm-lintRange-error, .cm-lintRange-warning": { backgroundImage: "none", textDecoration: "underline wavy var(--bad)", textUnderlineOffset: "3px" },
  ".cm-lintRange-warning": { textDecorationColor: "var(--warn)" },
  ".cm-failedLine": { backgroundColor: "var(--bad-soft)", boxShadow: "inset 3px 0 var(--bad)" },
  ".cm-foldPlaceholder": { color: "var(--faint)", backgroundColor: "var(--sunken)", border: "1px solid var(--line)" },
  ".cm-panels": { color: "var(--text)", backgroundColor: "var(--sunken)" },
  ".cm-panels.cm-panels-bottom": { borderTop: "1px solid var(--line)" },
  ".cm-textfield, .cm-button": { color: "var(--text)", backgroundColor: "var(--raised)", backgroundImage: "none", border: "1px solid var(--edge)", borderRadius: "6px" },
  ".cm-searchMatch": { backgroundColor: "var(--warn-soft)", outline: "1px solid var(--warn-line)" },
});

const { tags } = cm;
const colours = cm.HighlightStyle.define([
  { tag: [tags.keyword, tags.controlKeyword, tags.operatorKeyword, tags.definitionKeyword, tags.moduleKeyword, tags.self], color: "var(--code-keyword)" },
  { tag: [tags.string, tags.special(tags.string), tags.regexp], color: "var(--code-string)" },
  { tag: [tags.number, tags.bool, tags.null, tags.atom], color: "var(--code-number)" },
  { tag: [tags.comment, tags.docString], color: "var(--code-comment)", fontStyle: "italic" },
  { tag: [tags.function(tags.variableName), tags.function(tags.propertyName), tags.function(tags.definition(tags.variableName))], color: "var(--code-function)" },
  { tag: [tags.typeName, tags.className, tags.namespace], color: "var(--code-type)" },
  { tag: [tags.variableName, tags.propertyName, tags.definition(tags.variableName)], color: "var(--code-name)" },
  { tag: tags.invalid, color: "var(--bad)" },
]);

// --- The line that failed ---------------------------------------------------------------------------------------------

const setFailed = cm.StateEffect.define();
const failedLine = cm.Decoration.line({ class: "cm-failedLine" });
const failedField = cm.StateField.define({
  create: () => cm.Decoration.none,
  update(shown, change) {
    let now = change.docChanged ? cm.Decoration.none : shown;
    for (const effect of change.effects) {
      if (effect.is(setFailed)) now = effect.value === undefined ? cm.Decoration.none : cm.Decoration.set([failedLine.range(change.state.doc.line(effect.value).from)]);
    }
    return now;
  },
  provide: (field) => cm.EditorView.decorations.from(field),
});

// --- Languages --------------------------------------------------------------------------------------------------------

function languageOf(name, context) {
  const python = name === "python";
  const language = python ? cm.pythonLanguage : name === "typescript" ? cm.typescriptLanguage : cm.javascriptLanguage;
  const sources = [...completions(name, context), ...(python ? [cm.localPython, cm.globalPython] : [cm.localJavascript])];
  return [
    new cm.LanguageSupport(language, sources.map((autocomplete) => language.data.of({ autocomplete }))),
    cm.indentUnit.of(python ? "    " : "  "),
  ];
}

// --- Checking ---------------------------------------------------------------------------------------------------------

function positionOf(doc, line, column) {
  const at = doc.line(Math.min(Math.max(line, 1), doc.lines));
  return Math.min(at.from + Math.max(column - 1, 0), at.to);
}

/** A problem of POST /check as CodeMirror has it. A place of no width becomes the word that is there. */
export function diagnosticOf(problem, doc) {
  const from = positionOf(doc, problem.line, problem.column);
  let to = problem.endLine ? positionOf(doc, problem.endLine, problem.endColumn ?? 1) : from;
  if (to <= from) to = Math.min(from + (/^[\w$]+|^./.exec(doc.sliceString(from, Math.min(from + 60, doc.length)))?.[0].length ?? 0), doc.length);
  return { from: to > from ? from : Math.max(0, from - 1), to: Math.max(to, from), severity: problem.severity, message: problem.message };
}

/** Asks the server what is wrong; a newer text stops the question. */
function checker(context, language, onChecked) {
  let asked = new AbortController();
  return async (view) => {
    asked.abort();
    asked = new AbortController();
    const { doc } = view.state;
    if (doc.length === 0) {
      onChecked([]);
      return [];
    }
    const { value, error } = await context.api.post("check", { code: doc.toString(), language }, { signal: asked.signal });
    if (error?.code === "aborted" || view.state.doc !== doc) return [];
    onChecked(value?.problems ?? [], error);
    return (value?.problems ?? []).map((one) => diagnosticOf(one, doc));
  };
}

// --- The editor -------------------------------------------------------------------------------------------------------

/**
 * An editor: {element, text, setText, setLanguage, markLine, focus, close}. `onRun` is called for Ctrl+Enter, `onChange`
 * with the text when it has changed, `onChecked` with the problems that the server found, and why it could not.
 */
export function codeEditor({ text, language, context, onRun, onChange, onChecked }) {
  const element = h("div", { class: "code-editor" });
  const root = element.attachShadow({ mode: "open" });
  const languages = new cm.Compartment();
  const checks = new cm.Compartment();
  const lint = (name) => cm.linter(checker(context, name, onChecked), { delay: CHECK_MS });
  const run = () => {
    onRun();
    return true;
  };
  const view = new cm.EditorView({
    root,
    parent: root,
    state: cm.EditorState.create({
      doc: text,
      extensions: [
        cm.lineNumbers(), cm.highlightActiveLineGutter(), cm.highlightSpecialChars(), cm.history(), cm.foldGutter(), cm.drawSelection(),
        cm.EditorState.allowMultipleSelections.of(true), cm.indentOnInput(), cm.bracketMatching(), cm.closeBrackets(),
        cm.autocompletion({ icons: false, activateOnTypingDelay: 60 }), cm.rectangularSelection(), cm.highlightActiveLine(), cm.highlightSelectionMatches(),
        cm.syntaxHighlighting(colours), theme, failedField, cm.lintGutter(),
        cm.EditorView.contentAttributes.of({ "aria-label": "Program", "aria-description": "Escape, then Tab leaves the editor. Control+Enter runs the program." }),
        cm.Prec.highest(cm.keymap.of([{ key: "Mod-Enter", run }])),
        cm.keymap.of([
          { key: "Tab", run: cm.acceptCompletion }, ...cm.closeBracketsKeymap, ...cm.defaultKeymap, ...cm.searchKeymap, ...cm.historyKeymap, ...cm.foldKeymap,
          ...cm.completionKeymap, ...cm.lintKeymap, cm.indentWithTab,
        ]),
        languages.of(languageOf(language, context)),
        checks.of(lint(language)),
        cm.EditorView.updateListener.of((update) => update.docChanged && onChange(update.state.doc.toString())),
      ],
    }),
  });
  return {
    element,
    get text() { return view.state.doc.toString(); },
    setText: (now) => view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: now } }),
    setLanguage(name) {
      view.dispatch({ effects: [languages.reconfigure(languageOf(name, context)), checks.reconfigure(lint(name))] });
      cm.forceLinting(view);
    },
    /** Marks a line as the one that failed and goes there; nothing: no line is marked. */
    markLine(line) {
      const known = line === undefined ? undefined : Math.min(Math.max(line, 1), view.state.doc.lines);
      const scroll = known === undefined ? [] : [cm.EditorView.scrollIntoView(view.state.doc.line(known).from, { y: "center" })];
      view.dispatch({ effects: [setFailed.of(known), ...scroll] });
    },
    goTo(line, column = 1) {
      const at = positionOf(view.state.doc, line, column);
      view.dispatch({ selection: { anchor: at }, effects: cm.EditorView.scrollIntoView(at, { y: "center" }) });
      view.focus();
    },
    focus: () => view.focus(),
    close: () => view.destroy(),
  };
}
