// A form for the values that a JSON Schema allows, and what is wrong with those that were entered.
//
// Each kind of value is a field: {element, read(problems), write(value)}. `read` gives the value, or undefined where
// nothing was entered, and adds {path, message} for what is wrong. What has no field of its own (tuples, maps, schemas
// that are too clever) is entered as JSON.
import { add, h, iconButton, replace, setText } from "./dom.js";
import { alternatives, factsOf, propertiesOf, resolve, typeOf, typeText } from "./schema_text.js";

const CHOICES_MAX = 12; // alternatives that are offered; more are entered as JSON
const ENUM_MAX = 500; // likewise values
const FIELDS_MAX = 300; // of a form, which a schema that contains itself would never end
const SHORT_TYPES = 20; // schemas in a short type's text
const DEPTH_MAX = 12; // likewise values in values

let made = 0;
const newId = () => `field-${++made}`;
const isObject = (value) => value !== null && typeof value === "object" && !Array.isArray(value);

/**
 * A form for an object of this schema. `read()` gives {value, problems}: the problems stand at their fields, too, and
 * the first field with one has the focus. `show(message)` puts a server's complaint ("input.city: is required") at its
 * field; false: it names none. `write(value)` fills the form.
 */
export function schemaForm(schema) {
  const root = isObject(schema) ? schema : {};
  const fields = new Map(); // path -> field, as they are when the form is read
  const scope = { root, fields };
  const top = makeField(resolve(root, root), { ...scope, path: "input", isRequired: true, isTop: true });
  const element = h("div", { class: "schema-form" }, top.element);
  const clear = () => fields.forEach((one) => one.fail(""));
  const mark = (problems) => {
    problems.forEach(({ path, message }) => fields.get(path)?.fail(message));
    element.querySelector("[aria-invalid=true], [data-invalid]")?.focus();
  };
  return {
    element,
    read() {
      const problems = [];
      clear();
      const value = top.read(problems) ?? {};
      mark(problems);
      return { value, problems };
    },
    write: (value) => top.write(value),
    show(message) {
      const [, path, said] = /^(input[^:]*): (.*)$/s.exec(message) ?? [];
      clear();
      if (!fields.has(path)) return false;
      mark([{ path, message: said }]);
      return true;
    },
  };
}

/** The field of a schema. `at`: {root, fields, path, isRequired, label?}. */
function makeField(schema, at) {
  const make = chooseField(schema, at);
  const field = make(schema, at);
  at.fields.set(at.path, field);
  return field;
}

function chooseField(schema, at) {
  if (at.fields.size > FIELDS_MAX || at.path.split(/[.[]/).length > DEPTH_MAX) return jsonField;
  if (Array.isArray(schema.enum) && schema.enum.length > ENUM_MAX) return jsonField;
  if (at.isTop && propertiesOf(schema).length > FIELDS_MAX) return wholeField;
  if ("const" in schema || Array.isArray(schema.enum)) return enumField;
  const ways = alternatives(schema);
  if (ways.length > 0) return ways.length <= CHOICES_MAX ? choiceField : jsonField;
  const type = typeOf(schema);
  if (type === "string") return textField;
  if (type === "number" || type === "integer") return numberField;
  if (type === "boolean") return booleanField;
  if (type === "null") return nullField;
  if (type === "array") return isObject(schema.items) && schema.prefixItems === undefined ? listField : jsonField;
  if (at.isTop || (type === "object" && propertiesOf(schema).length > 0)) return objectField;
  return jsonField;
}

// --- The frame of a field ---------------------------------------------------------------------------------------------

/** Name, type, description and the place of a complaint around a control. */
function frame(schema, at, control, { isGroup = false } = {}) {
  const id = control.id;
  const facts = [typeof schema.description === "string" ? schema.description : "", factsOf(schema).join(", ")].filter(Boolean);
  const hint = facts.length > 0 ? h("p", { class: "hint", id: `${id}-hint` }, facts.map((one, i) => [i > 0 && h("br"), one])) : null;
  const problem = h("p", { class: "problem", id: `${id}-problem`, role: "alert" });
  control.setAttribute("aria-describedby", `${hint ? `${id}-hint ` : ""}${id}-problem`);
  if (at.isRequired && !isGroup) control.setAttribute("aria-required", "true");
  const name = at.label === undefined ? null : [
    h("span", { class: "mono" }, at.label),
    at.isRequired && h("span", { class: "required" }, " required"),
    h("span", { class: "schema-of mono" }, ` ${shortType(schema, at.root)}`),
  ];
  const element = isGroup
    ? h("fieldset", { class: "field group" }, name && h("legend", {}, name), hint, control, problem)
    : h("div", { class: "field" }, name ? h("label", { for: id }, name) : null, control, hint, problem);
  if (at.label === undefined && !isGroup) control.setAttribute("aria-label", at.name ?? "value");
  return {
    element,
    fail(message) {
      setText(problem, message);
      const name = isGroup ? "data-invalid" : "aria-invalid";
      if (message) control.setAttribute(name, "true");
      else control.removeAttribute(name);
    },
  };
}

function shortType(schema, root) {
  const text = typeText(schema, root, 0, { types: SHORT_TYPES });
  return text.length > 48 ? `${text.slice(0, 47)}…` : text;
}

const complain = (problems, at, message) => {
  problems.push({ path: at.path, message });
  return undefined;
};
const missing = (problems, at) => (at.isRequired ? complain(problems, at, "is required") : undefined);

// --- Single values ----------------------------------------------------------------------------------------------------

const INPUT_TYPES = new Map([["date", "date"], ["email", "email"], ["uri", "url"], ["url", "url"], ["password", "password"]]);

/** A pattern is left to the server, which checks it in linear time: a browser may take for ever. */
function textField(schema, at) {
  const type = INPUT_TYPES.get(schema.format);
  const control = type
    ? h("input", { id: newId(), type, autocomplete: "off" })
    : h("textarea", { id: newId(), rows: 1, autocomplete: "off", spellcheck: "false", placeholder: placeholderOf(schema) });
  return {
    ...frame(schema, at, control),
    read(problems) {
      const { value } = control;
      if (value === "") return missing(problems, at);
      const length = [...value].length;
      if (length < (schema.minLength ?? 0)) return complain(problems, at, `has at least ${schema.minLength} characters`);
      if (length > (schema.maxLength ?? Infinity)) return complain(problems, at, `has at most ${schema.maxLength} characters`);
      return value;
    },
    write: (value) => (control.value = typeof value === "string" ? value : value === undefined ? "" : JSON.stringify(value)),
  };
}

function placeholderOf(schema) {
  const example = schema.default ?? (Array.isArray(schema.examples) ? schema.examples[0] : undefined);
  return example === undefined ? undefined : typeof example === "string" ? example : JSON.stringify(example);
}

function numberField(schema, at) {
  const isWhole = schema.type === "integer";
  const control = h("input", { id: newId(), type: "text", inputmode: isWhole ? "numeric" : "decimal", autocomplete: "off", placeholder: placeholderOf(schema) });
  return {
    ...frame(schema, at, control),
    read(problems) {
      const text = control.value.trim();
      if (text === "") return missing(problems, at);
      const value = Number(text);
      if (!Number.isFinite(value)) return complain(problems, at, "expected a number, such as 2.5");
      if (isWhole && !Number.isInteger(value)) return complain(problems, at, "expected a whole number");
      const bad = [
        [value < (schema.minimum ?? -Infinity), `is at least ${schema.minimum}`],
        [value <= (schema.exclusiveMinimum ?? -Infinity), `is more than ${schema.exclusiveMinimum}`],
        [value > (schema.maximum ?? Infinity), `is at most ${schema.maximum}`],
        [value >= (schema.exclusiveMaximum ?? Infinity), `is less than ${schema.exclusiveMaximum}`],
      ].find(([is]) => is);
      return bad ? complain(problems, at, bad[1]) : value;
    },
    write: (value) => (control.value = value === undefined ? "" : String(value)),
  };
}

/** A choice between values that are known. Its options' values are their places in the list; "" is none. */
function selectField(schema, at, values, labels) {
  const control = h("select", { id: newId() },
    h("option", { value: "" }, at.isRequired ? "Choose…" : "Not set"),
    values.map((_, i) => h("option", { value: String(i) }, labels[i])));
  if (at.isRequired && values.length === 1) control.value = "0";
  return {
    ...frame(schema, at, control),
    read: (problems) => (control.value === "" ? missing(problems, at) : values[Number(control.value)]),
    write(value) {
      const i = values.findIndex((one) => JSON.stringify(one) === JSON.stringify(value));
      control.value = i < 0 ? "" : String(i);
    },
  };
}

function enumField(schema, at) {
  const values = "const" in schema ? [schema.const] : schema.enum;
  return selectField(schema, at, values, values.map((one) => (typeof one === "string" ? one : JSON.stringify(one))));
}

const booleanField = (schema, at) => selectField(schema, at, [true, false], ["true", "false"]);
const nullField = (schema, at) => selectField(schema, at, [null], ["null"]);

/** An object with more members than anybody fills in one by one. */
const wholeField = (schema, at) => jsonField({ type: "object", description: "The input, as a JSON object." }, { ...at, label: "input" });

/** Anything, as JSON. */
function jsonField(schema, at) {
  const control = h("textarea", { id: newId(), class: "mono", rows: 2, spellcheck: "false", autocomplete: "off", placeholder: "JSON" });
  return {
    ...frame(schema, at, control),
    read(problems) {
      if (control.value.trim() === "") return missing(problems, at);
      try {
        return JSON.parse(control.value);
      } catch (problem) {
        return complain(problems, at, `is no JSON: ${problem.message}`);
      }
    },
    write: (value) => (control.value = value === undefined ? "" : JSON.stringify(value, null, 2)),
  };
}

// --- Values of values -------------------------------------------------------------------------------------------------

/** A part that is made when somebody wants it: a schema may contain itself. */
function wanted(schema, at, make) {
  const slot = h("div", { id: newId(), tabindex: "-1", class: "wanted" });
  let field;
  const drop = () => {
    field = undefined;
    for (const path of [...at.fields.keys()]) if (path !== at.path && (path.startsWith(`${at.path}.`) || path.startsWith(`${at.path}[`))) at.fields.delete(path);
    replace(slot, adder);
  };
  const want = () => {
    field = make(at);
    replace(slot, field.element, at.isRequired ? null : remover);
  };
  const name = at.label ?? "value";
  const adder = h("button", { type: "button", class: "small", onclick: () => { want(); slot.querySelector("input, textarea, select, button")?.focus(); } }, `Set ${name}`);
  const remover = h("button", { type: "button", class: "small quiet", onclick: () => { drop(); adder.focus(); } }, `Leave ${name} out`);
  if (at.isRequired) want();
  else drop();
  return {
    ...frame(schema, at, slot, { isGroup: true }),
    read: (problems) => field?.read(problems),
    write(value) {
      if (value === undefined) return at.isRequired ? field.write(undefined) : drop();
      if (!field) want();
      field.write(value);
    },
  };
}

function objectField(schema, at) {
  if (!at.isTop) return wanted(schema, at, (inner) => membersField(schema, inner));
  const inner = membersField(schema, at);
  return { ...inner, element: inner.element, fail() {} };
}

function membersField(schema, at) {
  const all = propertiesOf(schema).map(({ name, schema: one, isRequired }) => ({
    name, field: makeField(resolve(one, at.root), { root: at.root, fields: at.fields, path: `${at.path}.${name}`, label: name, isRequired }),
  }));
  const known = new Set(all.map((one) => one.name));
  const isOpen = schema.additionalProperties !== false && (schema.additionalProperties !== undefined || all.length === 0);
  const rest = isOpen
    ? jsonField({ type: "object", description: all.length > 0 ? "Further properties, as a JSON object." : "The input, as a JSON object." },
      { root: at.root, fields: at.fields, path: `${at.path}.*`, label: all.length > 0 ? "…" : "input", isRequired: false })
    : undefined;
  return {
    element: h("div", { class: "members" }, all.map((one) => one.field.element), rest?.element),
    read(problems) {
      const value = all.map(({ name, field }) => [name, field.read(problems)]).filter(([, one]) => one !== undefined);
      return { ...rest?.read(problems), ...Object.fromEntries(value) }; // "__proto__" is a name like others
    },
    write(value) {
      const given = isObject(value) ? value : {};
      all.forEach(({ name, field }) => field.write(Object.hasOwn(given, name) ? given[name] : undefined));
      const others = Object.fromEntries(Object.entries(given).filter(([name]) => !known.has(name)));
      rest?.write(Object.keys(others).length > 0 ? others : undefined);
    },
  };
}

function listField(schema, at) {
  return wanted(schema, at, (inner) => itemsField(schema, inner));
}

function itemsField(schema, at) {
  const items = resolve(schema.items, at.root);
  const list = h("ol", { class: "items" });
  let all = [];
  const number = () => all.forEach((one, i) => one.remove.setAttribute("aria-label", `Remove item ${i + 1}`));
  const append = (value) => {
    const path = `${at.path}[${all.length}]`;
    const field = makeField(items, { root: at.root, fields: at.fields, path, name: `${at.label ?? "list"}, item ${all.length + 1}`, isRequired: true });
    const one = { field, remove: iconButton("cross", "Remove", { onclick: () => drop(one) }) };
    one.row = h("li", {}, field.element, one.remove);
    all.push(one);
    list.append(one.row);
    if (value !== undefined) field.write(value);
    number();
    return one;
  };
  const drop = (one) => {
    all = all.filter((other) => other !== one);
    one.row.remove();
    number();
    adder.focus();
  };
  const adder = h("button", { type: "button", class: "small", onclick: () => append().row.querySelector("input, textarea, select, button")?.focus() }, "Add an item");
  for (let i = 0; i < Math.min(schema.minItems ?? 0, 20); i++) append();
  return {
    element: h("div", { class: "list" }, list, adder),
    read(problems) {
      const value = all.map((one) => one.field.read(problems));
      if (value.length < (schema.minItems ?? 0)) return complain(problems, at, `has at least ${schema.minItems} items`);
      if (value.length > (schema.maxItems ?? Infinity)) return complain(problems, at, `has at most ${schema.maxItems} items`);
      return value;
    },
    write(value) {
      all = [];
      replace(list);
      if (Array.isArray(value)) value.forEach((one) => append(one));
    },
  };
}

/** One of several ways, by choice. */
function choiceField(schema, at) {
  const ways = alternatives(schema).map((one) => resolve(one, at.root));
  const names = ways.map((one, i) => one.title ?? (one.description && one.description.length < 40 ? one.description : shortType(one, at.root)) ?? `way ${i + 1}`);
  const select = h("select", { id: newId(), "aria-label": `${at.label ?? "value"}: which kind`, onchange: () => choose() },
    h("option", { value: "" }, at.isRequired ? "Choose…" : "Not set"), names.map((name, i) => h("option", { value: String(i) }, name)));
  const slot = h("div", { class: "way" });
  let field;
  const choose = () => {
    const way = ways[Number(select.value)];
    field = select.value === "" ? undefined : makeField(way, { root: at.root, fields: at.fields, path: at.path, name: at.label, isRequired: true, isTop: typeOf(way) === "object" && propertiesOf(way).length > 0 });
    at.fields.set(at.path, framed);
    replace(slot, field?.element);
  };
  const control = h("div", { id: newId(), tabindex: "-1" }, select, slot);
  const framed = {
    ...frame(schema, at, control, { isGroup: true }),
    read: (problems) => (field ? field.read(problems) : missing(problems, at)),
    write(value) {
      const i = value === undefined ? -1 : ways.findIndex((one) => fits(value, one));
      select.value = i < 0 ? "" : String(i);
      choose();
      if (i >= 0) field.write(value);
    },
  };
  return framed;
}

/** Whether a value may be meant by a schema: by its type, and by the members that it must have. */
function fits(value, schema) {
  if ("const" in schema) return JSON.stringify(schema.const) === JSON.stringify(value);
  if (Array.isArray(schema.enum)) return schema.enum.some((one) => JSON.stringify(one) === JSON.stringify(value));
  const type = value === null ? "null" : Array.isArray(value) ? "array" : typeof value;
  const wantedType = typeOf(schema);
  if (wantedType === "integer" ? !Number.isInteger(value) : wantedType !== undefined && wantedType !== type) return false;
  return !isObject(value) || propertiesOf(schema).every((one) => (!one.isRequired || Object.hasOwn(value, one.name)) && (!("const" in one.schema) || one.schema.const === value[one.name]));
}

/** A form that can be filled in field by field or as JSON, whichever somebody likes. */
export function inputForm(schema) {
  const form = schemaForm(schema);
  const text = h("textarea", { class: "mono", rows: 8, spellcheck: "false", "aria-label": "Input as JSON", "aria-describedby": "raw-input-problem" });
  const problem = h("p", { class: "problem", id: "raw-input-problem", role: "alert" });
  const raw = h("div", { class: "raw-input", hidden: true }, text, problem);
  let isRaw = false;
  const readRaw = () => {
    try {
      const value = JSON.parse(text.value || "{}");
      const message = isObject(value) ? "" : "expected an object: {…}";
      setText(problem, message);
      return { value, problems: message ? [{ path: "input", message }] : [] };
    } catch (cause) {
      setText(problem, `is no JSON: ${cause.message}`);
      return { value: undefined, problems: [{ path: "input", message: cause.message }] };
    }
  };
  const toggle = h("button", { type: "button", class: "small quiet", onclick: () => setRaw(!isRaw) }, "Edit as JSON");
  const setRaw = (is) => {
    if (is) {
      text.value = JSON.stringify(form.read().value, null, 2);
    } else {
      const { value, problems } = readRaw();
      if (problems.length > 0) return text.focus();
      form.write(value);
    }
    isRaw = is;
    raw.hidden = !is;
    form.element.hidden = is;
    setText(toggle, is ? "Edit as form" : "Edit as JSON");
  };
  return {
    element: add(h("div", { class: "input-form" }), form.element, raw, toggle),
    read: () => (isRaw ? readRaw() : form.read()),
    show: (message) => {
      if (!isRaw) return form.show(message);
      setText(problem, message);
      return true;
    },
    write(value) {
      form.write(value);
      text.value = JSON.stringify(value, null, 2);
    },
  };
}
