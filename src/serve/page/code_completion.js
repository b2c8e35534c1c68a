// What the program editor proposes: the tools' functions, the members of their inputs, and what every program has, all
// as the server declares them.
import { syntaxTree } from "./editor.js";
import { path } from "./page_api.js";
import { javascriptSignature, propertiesOf, resolve, typeText } from "./schema_text.js";

const INFO_MAX = 600; // characters of a description beside a proposal

/** The names of a tool's function by language. */
const nameIn = {
  javascript: (tool) => tool.name,
  typescript: (tool) => tool.typescriptName,
  python: (tool) => tool.id.replace(/\W/g, "_").replace(/^\d/, "_$&"),
};

/** Answers that are asked for once: they hold as long as the editor is open. */
class Declared {
  #once = new Map();

  constructor(context, language) {
    this.api = context.api;
    this.language = language;
  }

  async #ask(url) {
    if (!this.#once.has(url)) {
      this.#once.set(url, this.api.get(url).then(({ value, error }) => {
        if (error) this.#once.delete(url); // the next proposal asks again
        return value;
      }));
    }
    return this.#once.get(url);
  }

  async tools() {
    const given = await this.#ask("tools?brief=true");
    return given?.tools ?? [];
  }

  tool(id) {
    return this.#ask(path`tools/${id}`);
  }

  async toolNamed(name) {
    const found = (await this.tools()).find((one) => nameIn[this.language](one) === name || one.id === name);
    return found && this.tool(found.id);
  }

  async globals() {
    const language = this.language === "python" ? "python" : "typescript";
    const text = await this.#ask(`declarations?part=globals&language=${language}`);
    return (language === "python" ? pythonGlobals : typescriptGlobals)(text ?? "");
  }
}

/** `declare function NAME(...): TYPE;` with the comment before it. */
function typescriptGlobals(text) {
  const found = new Map();
  for (const [, comment, kind, name, rest] of text.matchAll(/(?:\/\*\* (.*?) \*\/\n)?^declare (function|const|var|class) (\w+)([^\n]*)/gm)) {
    if (found.has(name) || rest.includes("require: any")) continue;
    const [, signature, says] = /^(\w+\(.*?)(?:: (.*))?$/.exec(comment ?? "") ?? [];
    const isFunction = kind === "function";
    found.set(name, {
      label: name,
      type: isFunction ? "function" : kind === "class" ? "class" : "variable",
      detail: isFunction ? (signature?.startsWith(name) ? signature.slice(name.length) : rest.replace(/;$/, "")) : "",
      info: signature?.startsWith(name) ? says : comment,
      boost: comment ? 1 : -5,
      ...(isFunction && { apply: call(name) }),
    });
  }
  return [...found.values()];
}

/** `def NAME(...) -> TYPE:` with its first line of text. */
function pythonGlobals(text) {
  return [...text.matchAll(/^def (\w+)(\(.*\) -> .*):\n\s*"""(.*?)(?:"""|\n)/gm)].map(([, name, detail, info]) => ({ label: name, type: "function", detail, info, boost: 1, apply: call(name) }));
}

/** Puts NAME() there, with the cursor inside, unless the parentheses stand there already. */
function call(name, inside = "", back = 1) {
  return (view, _completion, from, to) => {
    const hasCall = view.state.sliceDoc(to, to + 1) === "(";
    const insert = hasCall ? name : `${name}(${inside})`;
    view.dispatch({ changes: { from, to, insert }, selection: { anchor: from + insert.length - (hasCall ? 0 : back) }, userEvent: "input.complete" });
  };
}

/** The sources of proposals for a language. */
export function completions(language, context) {
  const declared = new Declared(context, language);
  const members = language === "python" ? pythonArguments : javascriptMembers;
  return [(at) => toolIds(at, declared), (at) => members(at, declared), (at) => names(at, declared)];
}

// --- Names ------------------------------------------------------------------------------------------------------------

async function names(at, declared) {
  const word = at.matchBefore(/[\w$]+/);
  if ((!word && !at.explicit) || isInside(at, /String|Comment|PropertyName|PropertyDefinition/)) return null;
  if (at.matchBefore(/\.[\w$]*/)) return null;
  const [tools, globals] = await Promise.all([declared.tools(), declared.globals()]);
  const options = tools.filter((one) => nameIn[declared.language](one)).map((one) => toolOption(one, declared));
  return { from: word?.from ?? at.pos, options: [...options, ...globals], validFor: /^[\w$]*$/ };
}

function toolOption(tool, declared) {
  const name = nameIn[declared.language](tool);
  const isIdentifier = /^[A-Za-z_$][\w$]*$/.test(name);
  const isPython = declared.language === "python";
  return {
    label: isIdentifier ? name : `tools["${tool.id}"]`,
    type: "function",
    detail: tool.id,
    boost: 2,
    info: () => toolInfo(tool, declared),
    apply: isPython ? call(name) : call(isIdentifier ? name : `tools["${tool.id}"]`, "{}", 2),
  };
}

async function toolInfo(tool, declared) {
  const whole = await declared.tool(tool.id);
  const signature = !whole ? "" : declared.language === "javascript" ? javascriptSignature(whole)
    : declared.language === "python" ? whole.declarations.python.split("\n")[0] : /declare function .*$/m.exec(whole.declarations.typescript)?.[0] ?? "";
  const element = document.createElement("div");
  const code = document.createElement("code");
  code.textContent = signature;
  element.append(code, `\n${tool.description.slice(0, INFO_MAX)}`);
  return { dom: element };
}

function isInside(at, kinds) {
  return kinds.test(syntaxTree(at.state).resolveInner(at.pos, -1).name);
}

// --- Members of a tool's input ----------------------------------------------------------------------------------------

/** The node's nearest ancestor (or itself) of that kind. */
function climb(node, name) {
  for (let one = node; one; one = one.parent) if (one.name === name) return one;
  return undefined;
}

const textOf = (at, node) => at.state.sliceDoc(node.from, node.to);

/** The name that a call calls: f in f(x), await f(x), and the id in tools["a.b"](x). */
function calleeOf(at, callNode) {
  const callee = callNode.firstChild;
  const text = callee ? textOf(at, callee) : "";
  return /^tools\[["'](.+)["']\]$/.exec(text)?.[1] ?? text;
}

/** From the object at the cursor up to the call: the call's name, and the members that lead to the object. */
function objectAt(at) {
  const steps = [];
  let object = climb(syntaxTree(at.state).resolveInner(at.pos, -1), "ObjectExpression");
  const inner = object;
  while (object?.parent?.name === "Property") {
    steps.unshift(textOf(at, object.parent.firstChild).replace(/^["']|["']$/g, ""));
    object = climb(object.parent, "ObjectExpression");
  }
  const callNode = object?.parent?.name === "ArgList" ? object.parent.parent : undefined;
  return callNode ? { inner, steps, callee: calleeOf(at, callNode) } : undefined;
}

function schemaAt(tool, steps) {
  let schema = resolve(tool.inputSchema ?? {}, tool.inputSchema);
  for (const step of steps) schema = resolve(schema.properties?.[step] ?? {}, tool.inputSchema);
  return schema;
}

function memberOptions(schema, root, taken, apply) {
  return propertiesOf(schema).filter((one) => !taken.has(one.name)).map(({ name, isRequired, schema: one }) => {
    const plain = resolve(one, root);
    return {
      label: name, type: "property", detail: `${typeText(plain, root).slice(0, 60)}${isRequired ? "" : ", optional"}`,
      info: typeof plain.description === "string" ? plain.description.slice(0, INFO_MAX) : undefined, boost: isRequired ? 5 : 3, apply: apply(name),
    };
  });
}

async function javascriptMembers(at, declared) {
  const value = await javascriptValues(at, declared);
  if (value) return value;
  const word = at.matchBefore(/[\w$]*/);
  const before = at.state.sliceDoc(Math.max(0, word.from - 200), word.from).trimEnd().at(-1);
  if (!"{,".includes(before ?? "") || isInside(at, /String|Comment/)) return null;
  const place = objectAt(at);
  if (!place) return null;
  const tool = await declared.toolNamed(place.callee);
  if (!tool) return null;
  const taken = new Set(place.inner.getChildren("Property").filter((one) => one.to < word.from || one.from > at.pos).map((one) => textOf(at, one.firstChild)));
  const options = memberOptions(schemaAt(tool, place.steps), tool.inputSchema, taken, (name) => (/^[A-Za-z_$][\w$]*$/.test(name) ? `${name}: ` : `${JSON.stringify(name)}: `));
  return options.length > 0 ? { from: word.from, options, validFor: /^[\w$]*$/ } : null;
}

/** The values that a member may have, inside its quotes. */
async function javascriptValues(at, declared) {
  const node = syntaxTree(at.state).resolveInner(at.pos, -1);
  const place = node.name === "String" && node.parent?.name === "Property" ? objectAt(at) : undefined;
  const tool = place && await declared.toolNamed(place.callee);
  if (!tool) return null;
  const name = textOf(at, node.parent.firstChild).replace(/^["']|["']$/g, "");
  const values = schemaAt(tool, [...place.steps, name]).enum;
  return Array.isArray(values) ? { from: node.from + 1, options: values.map((one) => ({ label: String(one), type: "enum" })), validFor: /^[^"']*$/ } : null;
}

async function pythonArguments(at, declared) {
  const word = at.matchBefore(/\w*/);
  const before = at.state.sliceDoc(Math.max(0, word.from - 200), word.from).trimEnd().at(-1);
  if (!"(,".includes(before ?? "") || isInside(at, /String|Comment/)) return null;
  const callNode = climb(climb(syntaxTree(at.state).resolveInner(at.pos, -1), "ArgList"), "CallExpression");
  const tool = callNode && await declared.toolNamed(textOf(at, callNode.firstChild));
  if (!tool) return null;
  const taken = new Set([...textOf(at, callNode).matchAll(/(\w+)\s*=/g)].map(([, name]) => name));
  const options = memberOptions(schemaAt(tool, []), tool.inputSchema, taken, (name) => `${name}=`);
  return options.length > 0 ? { from: word.from, options, validFor: /^\w*$/ } : null;
}

// --- Ids in quotes ----------------------------------------------------------------------------------------------------

/** tools["..."], parallel([{ tool: "..." }]), toolSchema("..."), call_tool("..."). */
async function toolIds(at, declared) {
  const quoted = at.matchBefore(/(?:tools\[|\btool:\s*|toolSchema\(|call_tool\()["'][\w.-]*/);
  if (!quoted) return null;
  const from = quoted.from + quoted.text.search(/["'][\w.-]*$/) + 1;
  return { from, options: (await declared.tools()).map((one) => ({ label: one.id, type: "constant", info: one.description.slice(0, INFO_MAX), boost: 2 })), validFor: /^[\w.-]*$/ };
}
