// Values as console.log shows them: the look of Node's util.inspect (depth 2, 80 columns, 100 items, no colours), with the
// formats and the table of console. The prelude and Deno's boot.js share it, so that a program prints the same on both.
// A function of (H, roots), as prelude.js is; `roots` may have:
//   peek(promise)       [0] pending, [1, value] or [2, reason]; undefined: no promise
//   standsFor(object)   {value} for a stand-in (a forgiving promise)
//   frames(error)       its stack as lines "    at ...", of the program only
// Everything is captured here, so that a program that changes the built-ins only confuses itself.
((H, roots) => {
  'use strict';
  const { Array, ArrayBuffer, BigInt, Boolean, Date, Error, JSON, Map, Math, Number, Object, Reflect, RegExp, Set, String, Symbol,
          Uint8Array, WeakMap, WeakSet } = globalThis;
  const { getOwnPropertyDescriptor, getPrototypeOf, keys, getOwnPropertySymbols, getOwnPropertyNames } = Object;
  const { stringify } = JSON;
  const bind = (f) => f.call.bind(f);
  const getter = (type, name) => bind(getOwnPropertyDescriptor(type.prototype, name).get);
  const hasOwn = bind(Object.prototype.hasOwnProperty), isEnumerable = bind(Object.prototype.propertyIsEnumerable);
  const tagOf = bind(Object.prototype.toString), sourceOf = bind(Function.prototype.toString);
  const regexpText = bind(RegExp.prototype.toString), errorText = bind(Error.prototype.toString);
  const isoText = bind(Date.prototype.toISOString), timeOf = bind(Date.prototype.getTime);
  const mapSize = getter(Map, 'size'), setSize = getter(Set, 'size'), bufferSize = getter(ArrayBuffer, 'byteLength');
  const mapEntries = bind(Map.prototype.entries), setValues = bind(Set.prototype.values);
  const weakMapHas = bind(WeakMap.prototype.has), weakSetHas = bind(WeakSet.prototype.has);
  const typedName = getter(getPrototypeOf(Uint8Array), Symbol.toStringTag);
  const typedLength = getter(getPrototypeOf(Uint8Array), 'length');
  const symbolText = bind(Symbol.prototype.toString), includes = bind(Array.prototype.includes);
  const custom = Symbol.for('nodejs.util.inspect.custom');
  const boxes = [['Number', Number, (v) => bind(Number.prototype.valueOf)(v)],
                 ['String', String, (v) => bind(String.prototype.valueOf)(v)],
                 ['Boolean', Boolean, (v) => bind(Boolean.prototype.valueOf)(v)],
                 ['Symbol', Symbol, (v) => bind(Symbol.prototype.valueOf)(v)],
                 ['BigInt', BigInt, (v) => bind(BigInt.prototype.valueOf)(v)]];
  const ITEMS = 100, COLUMNS = 80, TEXT = 10000, LEAST = 40; // LEAST: of a string when no more room is left

  // --- Texts and names ------------------------------------------------------------------------------------------------
  const escapes = { '\b': '\\b', '\t': '\\t', '\n': '\\n', '\f': '\\f', '\r': '\\r', '\\': '\\\\' };
  const quote = (text) => {
    let mark = "'";
    if (text.includes("'")) {
      if (!text.includes('"')) mark = '"';
      else if (!text.includes('`') && !text.includes('${')) mark = '`';
    }
    let out = '';
    for (const c of text) {
      const code = c.codePointAt(0);
      if (c === mark) out += '\\' + c;
      else if (escapes[c] !== undefined) out += escapes[c];
      else if (code < 32 || (code >= 127 && code < 160)) out += '\\x' + code.toString(16).toUpperCase().padStart(2, '0');
      else if (code >= 0xd800 && code < 0xe000) out += '\\u' + code.toString(16).toUpperCase();
      else out += c;
    }
    return mark + out + mark;
  };
  const numberText = (n) => (n === 0 && 1 / n < 0 ? '-0' : `${n}`);
  const plural = (n, what = 'item') => `${n} more ${what}${n > 1 ? 's' : ''}`;
  const spaces = (n) => ' '.repeat(n);
  // East Asian Wide characters and emoji take two columns, marks none.
  const width = (text) => {
    let n = 0;
    for (const c of text) {
      const code = c.codePointAt(0);
      if (code < 0x300) n += 1;
      else if (/[\p{Mn}\p{Me}\p{Cf}]/u.test(c)) continue;
      else n += (code >= 0x1100 && code <= 0x115f) || (code >= 0x2e80 && code <= 0xa4cf && code !== 0x303f) ||
                (code >= 0xac00 && code <= 0xd7a3) || (code >= 0xf900 && code <= 0xfaff) ||
                (code >= 0xfe30 && code <= 0xfe6f) || (code >= 0xff00 && code <= 0xff60) ||
                (code >= 0xffe0 && code <= 0xffe6) || (code >= 0x1f300 && code <= 0x1faff) ||
                (code >= 0x20000 && code <= 0x3fffd) ? 2 : 1;
    }
    return n;
  };

  const primitive = (ctx, value) => {
    ctx.left -= 4;
    if (typeof value === 'string') {
      let rest = '';
      const most = ctx.left < TEXT ? Math.max(ctx.left, LEAST) : TEXT;
      if (value.length > most) {
        rest = `... ${plural(value.length - most, 'character')}`;
        value = value.slice(0, most);
      }
      ctx.left -= value.length;
      if (value.length > 16 && value.length > COLUMNS - ctx.indent - 4) {
        return value.split(/(?<=\n)/).map(quote).join(` +\n${spaces(ctx.indent + 2)}`) + rest;
      }
      return quote(value) + rest;
    }
    if (typeof value === 'number') return numberText(value);
    if (typeof value === 'bigint') return `${value}n`;
    return typeof value === 'symbol' ? symbolText(value) : `${value}`;
  };

  const isInstance = (value, type) => {
    try {
      return value instanceof type;
    } catch {
      return false;
    }
  };
  // The name of the nearest constructor; null: there is none.
  const constructorOf = (value, ctx, depth) => {
    const first = getPrototypeOf(value);
    for (let it = value; it !== null; it = getPrototypeOf(it)) {
      const own = getOwnPropertyDescriptor(it, 'constructor');
      if (own && typeof own.value === 'function' && own.value.name !== '' && isInstance(value, own.value)) {
        return String(own.value.name);
      }
    }
    if (first === null) return null;
    return depth > ctx.depth ? 'Object <Complex prototype>'
                             : `${classOf(value)} <${inspect(first, { depth: -1, customInspect: false })}>`;
  };
  const classOf = (value) => tagOf(value).slice(8, -1);
  const prefix = (constructor, tag, fallback, size = '') => {
    if (constructor === null) {
      return tag !== '' && fallback !== tag ? `[${fallback}${size}: null prototype] [${tag}] `
                                            : `[${fallback}${size}: null prototype] `;
    }
    return tag !== '' && constructor !== tag ? `${constructor}${size} [${tag}] ` : `${constructor}${size} `;
  };
  const shownKeys = (value, ctx) => {
    const names = ctx.hidden ? getOwnPropertyNames(value) : keys(value);
    const symbols = getOwnPropertySymbols(value);
    return symbols.length === 0 ? names : [...names, ...symbols.filter((it) => ctx.hidden || isEnumerable(value, it))];
  };
  const isIndex = (key) => typeof key === 'string' && /^(0|[1-9][0-9]*)$/.test(key) && Number(key) < 4294967295;

  // --- What kind of object it is -----------------------------------------------------------------------------------------
  const brand = (test, value) => {
    try {
      test(value);
      return true;
    } catch {
      return false;
    }
  };
  const isMap = (v) => brand(mapSize, v), isSet = (v) => brand(setSize, v), isDate = (v) => brand(timeOf, v);
  const isBuffer = (v) => brand(bufferSize, v);
  const isWeak = (v) => brand((it) => { if (!weakMapHas(it, it)) return; }, v) || brand((it) => weakSetHas(it, it), v);
  const isError = (v) => isInstance(v, Error) || tagOf(v) === '[object Error]';
  const isClass = (source) => source.startsWith('class') && source.endsWith('}');

  const functionBase = (value, constructor, tag) => {
    const source = sourceOf(value);
    const name = typeof value.name === 'string' ? value.name : '';
    if (isClass(source)) {
      let text = `[class ${hasOwn(value, 'name') && name !== '' ? name : '(anonymous)'}`;
      if (constructor !== 'Function' && constructor !== null) text += ` [${constructor}]`;
      if (tag !== '' && constructor !== tag) text += ` [${tag}]`;
      const parent = constructor === null ? null : getPrototypeOf(value)?.name;
      return text + (constructor === null ? ' extends [null prototype]' : parent ? ` extends ${parent}` : '') + ']';
    }
    const kind = /^\s*async\s*(function\s*)?\*/.test(source) ? 'AsyncGenerator'
      : classOf(value) === 'AsyncFunction' ? 'Async' : classOf(value) === 'GeneratorFunction' ? 'Generator'
      : classOf(value) === 'AsyncGeneratorFunction' ? 'AsyncGenerator' : '';
    let text = `[${kind}Function`;
    if (constructor === null) text += ' (null prototype)';
    text += name === '' ? ' (anonymous)]' : `: ${name}]`;
    if (constructor !== `${kind}Function` && constructor !== null && constructor !== 'Function') text += ` ${constructor}`;
    return tag !== '' && constructor !== tag && tag !== `${kind}Function` ? `${text} [${tag}]` : text;
  };

  const errorBase = (ctx, error, ownKeys, constructor) => {
    let head;
    try {
      const own = typeof error.name === 'string' && error.name !== '' ? error.name : constructor ?? 'Error';
      const name = own === 'Error' && constructor !== null && !constructor.includes('<') ? constructor : own;
      const message = String(error.message ?? '');
      head = message === '' ? name : `${name}: ${message}`;
    } catch {
      head = errorText(error);
    }
    for (const name of ['name', 'message', 'stack']) {
      const at = ownKeys.indexOf(name);
      if (at >= 0 && (name === 'stack' || head.includes(String(error[name])))) ownKeys.splice(at, 1);
    }
    for (const name of ['cause', 'errors']) {
      if (hasOwn(error, name) && !ownKeys.includes(name)) ownKeys.push(name);
    }
    const frames = roots.frames ? roots.frames(error) : '';
    const text = frames === '' ? `[${head}]` : `${head}\n${frames}`;
    return ctx.indent === 0 ? text : text.split('\n').join(`\n${spaces(ctx.indent)}`);
  };

  // --- Objects -------------------------------------------------------------------------------------------------------------
  const property = (ctx, value, depth, key, isItem) => {
    const own = getOwnPropertyDescriptor(value, key) ?? { value: value[key], enumerable: true };
    let text;
    if (own.get !== undefined) text = own.set !== undefined ? '[Getter/Setter]' : '[Getter]';
    else if (own.set !== undefined) text = '[Setter]';
    else {
      ctx.indent += 2;
      text = format(ctx, own.value, depth);
      ctx.indent -= 2;
    }
    if (isItem) return text;
    let name;
    if (typeof key === 'symbol') name = `[${symbolText(key)}]`;
    else if (key === '__proto__') name = "['__proto__']";
    else if (own.enumerable === false) name = `[${key}]`;
    else name = /^[a-zA-Z_][a-zA-Z_0-9]*$/.test(key) ? key : quote(key);
    return `${name}: ${text}`;
  };
  const item = (ctx, value, depth) => {
    ctx.indent += 2;
    const text = format(ctx, value, depth);
    ctx.indent -= 2;
    return text;
  };

  const arrayItems = (ctx, value, depth) => {
    const out = [];
    let i = 0;
    for (; i < value.length && out.length < ITEMS; i++) {
      if (hasOwn(value, i)) {
        out.push(property(ctx, value, depth, i, true));
        continue;
      }
      const from = i;
      while (i + 1 < value.length && !hasOwn(value, i + 1)) i++;
      const n = i - from + 1;
      out.push(`<${n} empty item${n > 1 ? 's' : ''}>`);
    }
    if (i < value.length) out.push(`... ${plural(value.length - i)}`);
    return out;
  };
  const typedItems = (ctx, value) => {
    const n = typedLength(value), out = [];
    for (let i = 0; i < n && i < ITEMS; i++) out.push(primitive(ctx, value[i]));
    if (n > ITEMS) out.push(`... ${plural(n - ITEMS)}`);
    return out;
  };
  const listItems = (ctx, all, size, show) => {
    const out = [];
    for (const it of all) {
      if (out.length >= ITEMS) break;
      out.push(show(it));
    }
    if (size > ITEMS) out.push(`... ${plural(size - ITEMS)}`);
    return out;
  };
  const setItems = (ctx, value, depth) => listItems(ctx, setValues(value), setSize(value), (it) => item(ctx, it, depth));
  const mapItems = (ctx, value, depth) => listItems(ctx, mapEntries(value), mapSize(value),
                                                    ([k, v]) => `${item(ctx, k, depth)} => ${item(ctx, v, depth)}`);
  const bufferItems = (ctx, value) => {
    const bytes = new Uint8Array(value), shown = [];
    for (let i = 0; i < bytes.length && i < ITEMS; i++) shown.push(bytes[i].toString(16).padStart(2, '0'));
    const rest = bytes.length > ITEMS ? ` ... ${plural(bytes.length - ITEMS, 'byte')}` : '';
    return [`[Uint8Contents]: <${shown.join(' ')}${rest}>`, `byteLength: ${bytes.length}`];
  };
  const viewItems = (ctx, value, depth) => ['byteLength', 'byteOffset', 'buffer'].map((key) => {
    ctx.indent += 2;
    const text = format(ctx, value[key], depth);
    ctx.indent -= 2;
    return `${key}: ${text}`;
  });
  const promiseItems = (ctx, state, depth) => {
    if (state[0] === 0) return ['<pending>'];
    if (state[0] === 3) return [state[1]];
    const text = item(ctx, state[1], depth);
    return [state[0] === 2 ? `<rejected> ${text}` : text];
  };

  // What `value` looks like: {text} as a whole, or {base, open, close, items, keys, isList}. `items` takes the depth inside.
  const shape = (ctx, value, depth, constructor, tag) => {
    const all = shownKeys(value, ctx);
    const object = (open, items, close = '}') => ({ base: '', open, close, items, keys: all });
    if (Array.isArray(value)) {
      const own = all.filter((key) => !isIndex(key));
      const open = (constructor !== 'Array' || tag !== '' ? prefix(constructor, tag, 'Array', `(${value.length})`) : '') + '[';
      if (value.length === 0 && own.length === 0) return { text: `${open}]` };
      return { base: '', open, close: ']', items: (inside) => arrayItems(ctx, value, inside), keys: own, isList: true };
    }
    if (typeof value === 'function') {
      const base = functionBase(value, constructor, tag);
      const own = ctx.hidden ? all.filter((key) => !['length', 'name', 'prototype'].includes(key)) : all;
      return own.length === 0 ? { text: base } : { ...object('{'), base, keys: own };
    }
    const kind = classOf(value);
    if (kind === 'Object' && tag === '' && (constructor === 'Object' || constructor === null)) {
      const open = constructor === null ? `${prefix(null, tag, 'Object')}{` : '{';
      return all.length === 0 ? { text: `${open}}` } : object(open);
    }
    if (kind === 'Arguments') return all.length === 0 ? { text: '[Arguments] {}' } : object('[Arguments] {');
    if (isError(value)) {
      const base = errorBase(ctx, value, all, constructor);
      return all.length === 0 ? { text: base } : { ...object('{'), base, isError: true };
    }
    const typed = brand(typedLength, value) && typedName(value);
    if (typed) {
      const own = all.filter((key) => !isIndex(key)), n = typedLength(value);
      const open = prefix(constructor, tag, typed, `(${n})`) + '[';
      if (n === 0 && own.length === 0) return { text: `${open}]` };
      return { base: '', open, close: ']', items: () => typedItems(ctx, value), keys: own, isList: true };
    }
    if (isSet(value)) {
      const open = `${prefix(constructor, tag, 'Set', `(${setSize(value)})`)}{`;
      return setSize(value) === 0 && all.length === 0 ? { text: `${open}}` } : object(open, (inside) => setItems(ctx, value, inside));
    }
    if (isMap(value)) {
      const open = `${prefix(constructor, tag, 'Map', `(${mapSize(value)})`)}{`;
      return mapSize(value) === 0 && all.length === 0 ? { text: `${open}}` } : object(open, (inside) => mapItems(ctx, value, inside));
    }
    if (kind === 'RegExp' || isInstance(value, RegExp)) {
      const before = prefix(constructor, tag, 'RegExp');
      const base = (before === 'RegExp ' ? '' : before) + regexpText(value);
      return all.length === 0 || depth > ctx.depth ? { text: base } : { ...object('{'), base };
    }
    if (isDate(value)) {
      const before = prefix(constructor, tag, 'Date');
      const base = (before === 'Date ' ? '' : before) + (timeOf(value) === timeOf(value) ? isoText(value) : 'Invalid Date');
      return all.length === 0 ? { text: base } : { ...object('{'), base };
    }
    if (isBuffer(value)) return object(`${prefix(constructor, tag, 'ArrayBuffer')}{`, () => bufferItems(ctx, value));
    if (ArrayBuffer.isView(value)) {
      return object(`${prefix(constructor, tag, 'DataView')}{`, (inside) => viewItems(ctx, value, inside));
    }
    const state = roots.peek?.(value);
    if (state) return object(`${prefix(constructor, tag, 'Promise')}{`, (inside) => promiseItems(ctx, state, inside));
    if (isWeak(value)) return object(`${prefix(constructor, tag, kind)}{`, () => ['<items unknown>']);
    for (const [name, , valueOf] of boxes) {
      if (!brand(valueOf, value)) continue;
      const own = name === 'String' ? all.filter((key) => !isIndex(key)) : all;
      let base = `[${name}`;
      if (constructor !== name) base += constructor === null ? ' (null prototype)' : ` (${constructor})`;
      base += `: ${primitive({ indent: 0 }, valueOf(value))}]`;
      if (tag !== '' && tag !== constructor) base += ` [${tag}]`;
      return own.length === 0 ? { text: base } : { ...object('{'), base, keys: own };
    }
    if (kind === 'Module') return object(`[Module: null prototype] {`);
    const open = constructor === 'Object' && tag === '' ? '{' : `${prefix(constructor, tag, 'Object')}{`;
    return all.length === 0 ? { text: `${open}}` } : object(open);
  };

  // Many short items stand in columns.
  const group = (ctx, items, value) => {
    const more = value.length > ITEMS && items.length > ITEMS ? 1 : 0;
    const count = items.length - more;
    const widths = items.slice(0, count).map(width);
    const widest = Math.max(...widths) + 2;
    const total = widths.reduce((n, each) => n + each + 2, 0);
    if (widest * 3 + ctx.indent >= COLUMNS || !(total / widest > 5 || widest - 2 <= 6)) return items;
    const biased = Math.max(widest - 3 - Math.sqrt(widest - total / items.length), 1);
    const columns = Math.min(Math.round(Math.sqrt(2.5 * biased * count) / biased),
                             Math.floor((COLUMNS - ctx.indent) / widest), 12, 15);
    if (columns <= 1) return items;
    const room = [];
    for (let i = 0; i < columns; i++) {
      let longest = 0;
      for (let j = i; j < count; j += columns) longest = Math.max(longest, widths[j]);
      room.push(longest + 2);
    }
    let isNumeric = true;
    for (let i = 0; i < items.length; i++) {
      if (typeof value[i] !== 'number' && typeof value[i] !== 'bigint') isNumeric = false;
    }
    const lines = [];
    for (let i = 0; i < count; i += columns) {
      const last = Math.min(i + columns, count) - 1;
      let text = '';
      for (let j = i; j < last; j++) {
        const gap = spaces(room[j - i] - 2 - widths[j]);
        text += isNumeric ? `${gap}${items[j]}, ` : `${items[j]}, ${gap}`;
      }
      lines.push(text + (isNumeric ? spaces(room[last - i] - 2 - widths[last]) : '') + items[last]);
    }
    if (more > 0) lines.push(items[count]);
    return lines;
  };

  const join = (ctx, it, output, depth, value) => {
    const count = output.length;
    if (it.isList && count > 6) output = group(ctx, output, value);
    const before = it.base === '' ? '' : `${it.base} `;
    if (ctx.now - depth < 3 && count === output.length) {
      const start = output.length + ctx.indent + it.open.length + it.base.length + 10;
      const total = output.reduce((n, each) => n + each.length, output.length + start);
      const line = output.join(', ');
      if (total <= COLUMNS && total >= 0 && !it.base.includes('\n') && !line.includes('\n')) {
        return `${before}${it.open} ${line} ${it.close}`;
      }
    }
    const gap = `\n${spaces(ctx.indent)}`;
    return `${before}${it.open}${gap}  ${output.join(`,${gap}  `)}${gap}${it.close}`;
  };

  const formatRaw = (ctx, value, depth) => {
    const constructor = constructorOf(value, ctx, depth);
    let tag = value[Symbol.toStringTag];
    if (typeof tag !== 'string' || (tag !== '' && (ctx.hidden ? hasOwn : isEnumerable)(value, Symbol.toStringTag))) tag = '';
    const it = shape(ctx, value, depth, constructor, tag);
    if (it.text !== undefined) return it.text;
    if (depth > ctx.depth || ctx.left < 0) {
      const name = prefix(constructor, tag, Array.isArray(value) ? 'Array' : 'Object').slice(0, -1);
      return `[${name}]`;
    }
    depth++;
    ctx.seen.push(value);
    ctx.now = depth;
    const output = it.items ? it.items(depth) : [];
    let shown = 0;
    for (const key of it.keys) {
      if (ctx.left < 0) {
        output.push(`... ${it.keys.length - shown} more ${it.keys.length - shown > 1 ? 'properties' : 'property'}`);
        break;
      }
      ctx.left -= key.length ?? 4;
      shown++;
      output.push(property(ctx, value, depth, key, false));
    }
    const index = ctx.circular?.get(value);
    if (index !== undefined) {
      it.base = it.base === '' ? `<ref *${index}>` : `<ref *${index}> ${it.base}`;
    }
    ctx.seen.pop();
    return join(ctx, it, output, depth, value);
  };

  const format = (ctx, value, depth) => {
    if ((typeof value !== 'object' && typeof value !== 'function') || value === null) return primitive(ctx, value);
    const stands = roots.standsFor?.(value);
    if (stands) return format(ctx, stands.value, depth);
    if (ctx.customInspect) {
      const show = value[custom];
      if (typeof show === 'function' && show !== inspect) {
        const left = ctx.depth === Infinity ? Infinity : ctx.depth - depth;
        const text = show.call(value, left, { depth: ctx.depth, customInspect: true, showHidden: ctx.hidden, stylize: String }, inspect);
        if (text !== value) {
          return typeof text === 'object' && text !== null ? format(ctx, text, depth)
                                                           : `${text}`.split('\n').join(`\n${spaces(ctx.indent)}`);
        }
      }
    }
    if (includes(ctx.seen, value)) {
      ctx.circular ??= new Map();
      const index = ctx.circular.get(value) ?? ctx.circular.size + 1;
      ctx.circular.set(value, index);
      return `[Circular *${index}]`;
    }
    return formatRaw(ctx, value, depth);
  };

  const inspect = (value, options = {}) => {
    const depth = options?.depth === null ? Infinity : options?.depth ?? 2;
    // `room`: about how many characters there are for it; what comes behind them is shown in short.
    const ctx = { indent: 0, now: 0, seen: [], depth, hidden: Boolean(options?.showHidden),
                  customInspect: options?.customInspect ?? true, left: options?.room ?? Infinity };
    return format(ctx, value, 0);
  };

  // --- console's line ------------------------------------------------------------------------------------------------------
  // Whether String(value) is of a class of the program's own.
  const hasOwnText = (value) => {
    const text = value.toString;
    if (typeof text !== 'function' || value[Symbol.toPrimitive] !== undefined) return typeof text === 'function';
    if (isError(value) && text === Error.prototype.toString) return true;
    if (isDate(value) || hasOwn(value, 'toString')) return true;
    let it = value;
    do it = getPrototypeOf(it); while (it !== null && !hasOwn(it, 'toString'));
    const own = it === null ? undefined : getOwnPropertyDescriptor(it, 'constructor')?.value;
    return typeof own === 'function' && !/\[native code\]/.test(sourceOf(own));
  };
  const asNumber = (value, convert) => {
    if (typeof value === 'bigint') return `${value}n`;
    return typeof value === 'symbol' ? 'NaN' : numberText(convert(value));
  };
  const json = (value) => {
    try {
      return stringify(value) ?? 'undefined';
    } catch (e) {
      if (/circular/i.test(e?.message)) return '[Circular]';
      throw e;
    }
  };
  const text = (value) => {
    if (typeof value === 'object' && value !== null) {
      if (roots.standsFor?.(value)) return text(roots.standsFor(value).value);
      return hasOwnText(value) ? String(value) : inspect(value, { depth: 0 });
    }
    if (typeof value === 'function') return hasOwnText(value) ? String(value) : inspect(value, { depth: 0 });
    return typeof value === 'string' ? value : primitive({ indent: 0 }, value);
  };
  const formats = {
    s: text,
    d: (value) => asNumber(value, (it) => (typeof it === 'object' && it !== null ? Number(it) : Number(it))),
    i: (value) => asNumber(value, (it) => parseInt(it, 10)),
    f: (value) => (typeof value === 'symbol' ? 'NaN' : numberText(parseFloat(value))),
    j: json,
    o: (value) => inspect(value, { showHidden: true, depth: 4 }),
    O: (value) => inspect(value),
    c: () => '',
  };
  const line = (values) => {
    let at = 0, out = '';
    if (typeof values[0] === 'string') {
      at = 1;
      out = values.length === 1 ? values[0] : values[0].replace(/%[sdifjoOc%]/g, (mark) => {
        if (mark === '%%') return '%';
        return at < values.length ? formats[mark[1]](values[at++]) : mark;
      });
    }
    for (; at < values.length; at++) {
      out += (at > 0 ? ' ' : '') + (typeof values[at] === 'string' ? values[at] : inspect(values[at]));
    }
    return out;
  };

  // --- console.table -------------------------------------------------------------------------------------------------------
  const tableText = (head, rows) => {
    const room = head.map((it, i) => Math.max(width(it), ...rows.map((row) => width(row[i] ?? ''))) + 2);
    const cells = (row) => row.map((it = '', i) => ` ${it}${spaces(room[i] - 1 - width(it))}`).join('│');
    const rule = (a, b, c) => a + room.map((n) => '─'.repeat(n)).join(b) + c;
    return [rule('┌', '┬', '┐'), `│${cells(head)}│`, rule('├', '┼', '┤'),
            ...rows.map((row) => `│${cells(head.map((_, i) => row[i]))}│`), rule('└', '┴', '┘')].join('\n');
  };
  const cell = (value) => inspect(value, { depth: typeof value === 'object' && value !== null && !Array.isArray(value) &&
                                                  keys(value).length > 2 ? -1 : 0 });
  const table = (data, only) => {
    if (typeof data !== 'object' || data === null) return undefined;
    const isList = isSet(data), isPairs = isMap(data);
    const rows = isPairs ? [...mapEntries(data)].map(([k, v], i) => [String(i), v, cell(k)])
      : isList ? [...setValues(data)].map((v, i) => [String(i), v])
      : keys(data).map((key) => [key, data[key]]);
    const columns = [], lines = [];
    let hasValues = false;
    for (const [index, value, key] of rows) {
      const row = { index, key, cells: new Map() };
      const isRow = !isPairs && ((typeof value === 'object' && value !== null) || (typeof value === 'function' && false));
      if (!isRow) {
        row.value = cell(value);
        hasValues = true;
      }
      for (const name of isRow ? only ?? keys(value) : []) {
        if (!columns.includes(name)) columns.push(name);
        if (hasOwn(value, name)) row.cells.set(name, cell(value[name]));
      }
      lines.push(row);
    }
    if (only) columns.splice(0, columns.length, ...only);
    const first = isList || isPairs ? '(iteration index)' : '(index)';
    const head = [first, ...(isPairs ? ['Key'] : []), ...columns, ...(hasValues ? ['Values'] : [])];
    return tableText(head, lines.map((row) => [row.index, ...(isPairs ? [row.key] : []),
                                               ...columns.map((name) => row.cells.get(name)),
                                               ...(hasValues ? [row.value] : [])]));
  };

  // --- console -------------------------------------------------------------------------------------------------------------
  // `say(level, text)`: 0 log, 1 warning, 2 error, -1 debug. `now()`: milliseconds. `trace()`: lines of the stack.
  const makeConsole = (say, now, trace) => {
    let indent = '';
    const counts = new Map(), times = new Map();
    const put = (level, text) => say(level, indent === '' ? text : indent + text.split('\n').join(`\n${indent}`));
    const write = (level) => (...values) => put(level, line(values));
    const took = (ms) => (ms >= 1000 ? `${(ms / 1000).toFixed(3)}s` : `${Number(ms.toFixed(3))}ms`);
    const measured = (name, label, values, ends) => {
      label = `${label}`;
      const from = times.get(label);
      if (from === undefined) {
        put(1, `Warning: No such label '${label}' for console.${name}()`);
        return;
      }
      put(0, line([`${label.replaceAll('%', '%%')}: ${took(now() - from)}`, ...values]));
      if (ends) times.delete(label);
    };
    const group = (...values) => {
      if (values.length > 0) put(0, line(values));
      indent += '  ';
    };
    return {
      log: write(0), info: write(0), debug: write(-1), warn: write(1), error: write(2),
      dir(value, options) { put(0, inspect(value, { customInspect: false, ...options })); },
      dirxml: write(0),
      trace(...values) {
        const text = line(values);
        put(2, (text === '' ? 'Trace' : `Trace: ${text}`) + (trace() === '' ? '' : `\n${trace()}`));
      },
      assert(ok, ...values) {
        if (ok) return;
        if (typeof values[0] === 'string') values[0] = `Assertion failed: ${values[0]}`;
        else values.unshift('Assertion failed');
        put(2, line(values));
      },
      table(data, only) { put(0, table(data, only) ?? line([data])); },
      group, groupCollapsed: group,
      groupEnd() { indent = indent.slice(2); },
      count(label = 'default') {
        label = `${label}`;
        counts.set(label, (counts.get(label) ?? 0) + 1);
        put(0, `${label}: ${counts.get(label)}`);
      },
      countReset(label = 'default') {
        if (!counts.delete(`${label}`)) put(1, `Warning: Count for '${label}' does not exist`);
      },
      time(label = 'default') {
        if (times.has(`${label}`)) put(1, `Warning: Label '${label}' already exists for console.time()`);
        else times.set(`${label}`, now());
      },
      timeEnd(label = 'default') { measured('timeEnd', label, [], true); },
      timeLog(label = 'default', ...values) { measured('timeLog', label, values, false); },
      clear() {}, profile() {}, profileEnd() {}, timeStamp() {},
    };
  };

  roots.inspect = inspect;
  roots.makeConsole = makeConsole;
})
