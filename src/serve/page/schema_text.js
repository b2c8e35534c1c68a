// JSON Schemas as people read them: types in a line, properties as a list. A schema is what a server sent, so nothing
// about its shape is taken for granted.
import { h, plainly } from "./dom.js";

const DEPTH_MAX = 6; // of schemas in schemas
const LINE_MAX = 160; // characters of a type in a line
const TYPES_MAX = 2000; // schemas of one type's text, and rows of one list: a schema may contain itself many times

const isObject = (value) => value !== null && typeof value === "object" && !Array.isArray(value);
const listOf = (value) => (Array.isArray(value) ? value : []);

/** What a local reference names; other schemas as they are. `root` is the schema that has the definitions. */
export function resolve(schema, root) {
  let found = schema;
  for (let i = 0; i < 8 && isObject(found) && typeof found.$ref === "string"; i++) {
    const { $ref, ...beside } = found;
    if (!$ref.startsWith("#")) return {};
    const target = $ref.slice(1).split("/").filter(Boolean).reduce((at, part) => memberOf(at, part), root);
    found = isObject(target) ? { ...target, ...beside } : {};
  }
  return isObject(found) ? found : {};
}

/** What a part of a JSON pointer names; undefined: nothing. */
function memberOf(value, part) {
  try {
    const name = decodeURIComponent(part).replaceAll("~1", "/").replaceAll("~0", "~");
    return value !== null && typeof value === "object" && Object.hasOwn(value, name) ? value[name] : undefined;
  } catch {
    return undefined;
  }
}

/** The ways in which a value may be: the members of oneOf or anyOf, or one for each of several types. Else nothing. */
export function alternatives(schema) {
  const named = listOf(schema.oneOf).length > 0 ? schema.oneOf : listOf(schema.anyOf);
  if (named.length > 0) return named;
  if (!Array.isArray(schema.type)) return [];
  return schema.type.length > 1 ? schema.type.map((type) => ({ ...schema, type })) : [];
}

/** The type alone: "object" where properties say so. */
export function typeOf(schema) {
  const type = Array.isArray(schema.type) ? schema.type[0] : schema.type;
  return type ?? (isObject(schema.properties) ? "object" : schema.items !== undefined ? "array" : undefined);
}

/** A type in a line, as TypeScript would have it: `string`, `"c" | "f"`, `{ city: string, days?: number }[]`. */
export function typeText(given, root = given, depth = 0, left = { types: TYPES_MAX }) {
  if (typeof given === "boolean") return given ? "any" : "never";
  const schema = resolve(given, root);
  if (depth > DEPTH_MAX || left.types-- <= 0) return "…";
  if ("const" in schema) return JSON.stringify(schema.const);
  if (Array.isArray(schema.enum)) return schema.enum.map((one) => JSON.stringify(one)).join(" | ");
  const ways = alternatives(schema);
  if (ways.length > 0) return [...new Set(ways.map((one) => typeText(one, root, depth + 1, left)))].join(" | ");
  const type = typeOf(schema);
  if (type === "array") return arrayText(schema, root, depth, left);
  if (type === "object") return objectText(schema, root, depth, left);
  return { integer: "number", string: "string", number: "number", boolean: "boolean", null: "null" }[type] ?? "any";
}

function arrayText(schema, root, depth, left) {
  if (Array.isArray(schema.prefixItems)) return `[${schema.prefixItems.map((one) => typeText(one, root, depth + 1, left)).join(", ")}]`;
  const item = schema.items === undefined ? "any" : typeText(schema.items, root, depth + 1, left);
  return /[|&]/.test(item) ? `(${item})[]` : `${item}[]`;
}

function objectText(schema, root, depth, left) {
  const members = propertiesOf(schema).map(({ name, isRequired, schema: one }) => `${nameText(name)}${isRequired ? "" : "?"}: ${typeText(one, root, depth + 1, left)}`);
  if (members.length > 0) return `{ ${members.join(", ")} }`;
  const rest = schema.additionalProperties;
  return isObject(rest) ? `{ [key]: ${typeText(rest, root, depth + 1, left)} }` : "object";
}

const nameText = (name) => (/^[A-Za-z_$][\w$]*$/.test(name) ? name : JSON.stringify(name));

/** The properties of an object's schema, the required ones first. */
export function propertiesOf(schema) {
  const required = new Set(listOf(schema.required));
  const all = Object.entries(isObject(schema.properties) ? schema.properties : {})
    .map(([name, one]) => ({ name, schema: isObject(one) ? one : {}, isRequired: required.has(name) }));
  return [...all.filter((one) => one.isRequired), ...all.filter((one) => !one.isRequired)];
}

/** A tool as a function of JavaScript: `weatherGet({ city, days? }) → { t: number }`. */
export function javascriptSignature(tool) {
  const schema = resolve(tool.inputSchema ?? {}, tool.inputSchema);
  const name = /^[A-Za-z_$][\w$]*$/.test(tool.name) ? tool.name : `tools[${JSON.stringify(tool.id)}]`;
  const input = propertiesOf(schema).length > 0 ? typeText(schema, tool.inputSchema) : "";
  return `${name}(${input})${tool.outputSchema ? ` → ${typeText(tool.outputSchema)}` : ""}`;
}

/** What a value must comply with beside its type, in words. */
export function factsOf(schema) {
  const facts = [];
  const say = (key, words) => { if (schema[key] !== undefined) facts.push(words(schema[key])); };
  const asJson = (value) => JSON.stringify(value);
  if (schema.type === "integer") facts.push("a whole number");
  say("format", (one) => `format ${one}`);
  say("pattern", (one) => `matches ${one}`);
  say("minimum", (one) => `at least ${one}`);
  say("exclusiveMinimum", (one) => `more than ${one}`);
  say("maximum", (one) => `at most ${one}`);
  say("exclusiveMaximum", (one) => `less than ${one}`);
  say("multipleOf", (one) => `a multiple of ${one}`);
  say("minLength", (one) => `at least ${one} characters`);
  say("maxLength", (one) => `at most ${one} characters`);
  say("minItems", (one) => `at least ${one} items`);
  say("maxItems", (one) => `at most ${one} items`);
  if (schema.uniqueItems === true) facts.push("no item twice");
  say("default", (one) => `${asJson(one)} unless said`);
  return facts;
}

/** The properties of a schema as a list, nested ones inside; a type alone where it has none. */
export function schemaList(given, root = given, depth = 0, left = { rows: TYPES_MAX }) {
  const schema = resolve(given ?? {}, root);
  const inner = typeOf(schema) === "array" && isObject(schema.items) ? resolve(schema.items, root) : schema;
  const properties = propertiesOf(inner);
  if (properties.length === 0 || depth > DEPTH_MAX) {
    return depth === 0 ? h("p", { class: "schema-type" }, h("code", {}, shorten(typeText(schema, root)))) : null;
  }
  const rows = properties.map((one) => (left.rows-- > 0 ? schemaRow(one, root, depth, left) : null));
  return [depth === 0 && typeOf(schema) === "array" && h("p", { class: "hint" }, "A list; each item has:"), h("dl", { class: "schema" }, rows)];
}

function schemaRow({ name, isRequired, schema }, root, depth, left) {
  const one = resolve(schema, root);
  const isNested = propertiesOf(one).length > 0 || (typeOf(one) === "array" && isObject(one.items) && propertiesOf(resolve(one.items, root)).length > 0);
  const type = isNested ? (typeOf(one) === "array" ? "list of objects" : "object") : shorten(typeText(one, root, 0, { types: LINE_MAX }));
  return [
    h("dt", {}, h("code", { class: "schema-name" }, plainly(name)), " ", h("code", { class: "schema-of" }, type), isRequired ? h("span", { class: "required" }, "required") : null),
    h("dd", {},
      typeof one.description === "string" && h("p", {}, plainly(one.description)),
      factsOf(one).length > 0 && h("p", { class: "hint" }, factsOf(one).join(", ")),
      isNested && schemaList(one, root, depth + 1, left)),
  ];
}

const shorten = (text) => (text.length > LINE_MAX ? `${text.slice(0, LINE_MAX)}…` : text);
