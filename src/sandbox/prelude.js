// What a program finds in its world. Runs once, when the image is built; `H` are the host's functions (engine.c, HOST
// FUNCTIONS), `roots` is what the engine calls by hand, `words` are the globals that only greater images have
// (image_choice.c). Everything that is used later is captured here, so that a program
// which changes the built-ins only confuses itself.
((H, roots, words) => {
  'use strict';
  const { Array, Error, Map, Math, Object, Promise, Proxy, ReferenceError, String, Symbol, TypeError } = globalThis;
  const { parse, stringify } = JSON;
  const { defineProperty, setPrototypeOf, getOwnPropertyDescriptor, keys } = Object;
  const { apply, ownKeys, has } = Reflect;
  const { isArray } = Array;
  const { captureStackTrace } = Error;
  const { isFinite } = Number;
  const { is } = Object;
  const mapGet = Map.prototype.get, mapSet = Map.prototype.set, mapDelete = Map.prototype.delete,
    mapClear = Map.prototype.clear;
  const then = Promise.prototype.then, functionText = Function.prototype.toString;
  const PLAIN = 0, PROMISE = 1, RESULT = 2;
  let style = PLAIN;

  const asHidden = { __proto__: null, value: undefined, writable: true, configurable: true, enumerable: false };
  const hidden = (object, name, value) => {
    asHidden.value = value;
    return defineProperty(object, name, asHidden);
  };
  const global = (name, value) => hidden(globalThis, name, value);
  const named = (name, f) => global(name, defineProperty(f, 'name', { value: name }));

  // A program that names one of these runs on the image that has it; this is for names that are put together.
  const unnamed = (name) => new ReferenceError(
    `${name} is there only for programs that name it: write ${name} itself in the program's text, outside of comments and longer strings`);
  for (const name of keys(words)) {
    defineProperty(globalThis, name, {
      get() { throw unnamed(name); },
      set(value) { hidden(globalThis, name, value); },
      configurable: true,
    });
  }
  // The engine's own methods ignore locales, which would be silently wrong. Some are right without arguments.
  const localeMethod = (proto, name, plain) => hidden(proto, name, { [name](...args) {
    if (plain && args.length === 0) return apply(plain, this, args);
    throw unnamed(name);
  } }[name]);
  if ('Intl' in words) {
    localeMethod(Number.prototype, 'toLocaleString');
    localeMethod(BigInt.prototype, 'toLocaleString');
    for (const name of ['toLocaleString', 'toLocaleDateString', 'toLocaleTimeString']) localeMethod(Date.prototype, name);
    localeMethod(String.prototype, 'localeCompare');
    for (const name of ['toLocaleUpperCase', 'toLocaleLowerCase']) localeMethod(String.prototype, name, String.prototype[name]);
  }
  roots.hidden = hidden;

  // --- Values as text -----------------------------------------------------------------------------------------------
  // JSON.stringify at native speed: what JSON has no word for has a toJSON, which is undefined unless we are the ones
  // who ask. To put them there each time and take them away again would cost 14 us.
  const isClass = (f) => /^class\b/.test(String(f));
  const describeFunction = (f) => `[${isClass(f) ? 'Class' : 'Function'}: ${f.name || 'anonymous'}]`;
  const errorText = (e) => ({ name: e.name, message: e.message });
  // A Map in itself is no cycle to JSON.stringify, which sees a new object each time: it would go on to the stack's end,
  // in ten seconds. Shown so often, it throws, and the slow way, which knows cycles, is taken.
  let shown;
  const once = (show) => (it) => {
    const times = apply(mapGet, shown ??= new Map(), [it]) ?? 0;
    if (times > 100) throw new TypeError('circular reference');
    apply(mapSet, shown, [it, times + 1]);
    return show(it);
  };
  const mapText = (map) => {
    const entries = [...map];
    return entries.every(([k]) => typeof k === 'string') ? Object.fromEntries(entries) : entries;
  };
  const promiseText = (promise) => {
    const state = H.peek(promise);
    if (!state || state[0] === 0) return '[Promise: not settled; await it]';
    return state[0] === 1 ? state[1] : `[Promise rejected: ${message(state[1])}]`;
  };
  let readable = false;
  for (const [proto, show] of [
    [Map.prototype, once(mapText)],
    [Set.prototype, once((set) => [...set])],
    [WeakMap.prototype, () => '[WeakMap]'],
    [WeakSet.prototype, () => '[WeakSet]'],
    [WeakRef.prototype, () => '[WeakRef]'],
    [BigInt.prototype, (n) => String(n)],
    [RegExp.prototype, (r) => String(r)],
    [Error.prototype, errorText],
    [Function.prototype, describeFunction],
    [Promise.prototype, promiseText],
    [Iterator.prototype, (it) => `[${it[Symbol.toStringTag] ?? 'Iterator'}: not read; use [...it]]`],
    [ArrayBuffer.prototype, (b) => `[ArrayBuffer: ${b.byteLength} bytes]`],
    [DataView.prototype, (view) => `[DataView: ${view.byteLength} bytes]`],
    [Object.getPrototypeOf(Uint8Array.prototype), (a) => Array.from(a, (n) => (typeof n === 'bigint' ? String(n) : n))],
  ]) {
    const { toJSON } = { toJSON() { return show(this); } };
    defineProperty(proto, 'toJSON', {
      get: () => (readable ? toJSON : undefined),
      // A program's own toJSON takes its place.
      set(value) { defineProperty(this, 'toJSON', { value, writable: true, configurable: true, enumerable: true }); },
      configurable: true,
    });
  }

  const withReadable = (work) => {
    const before = readable;
    readable = true;
    shown = undefined;
    try {
      return work();
    } finally {
      readable = before;
    }
  };

  // The slow way, only for cycles and for values whose own toJSON or getters throw.
  const copy = (value, parents) => {
    if (typeof value === 'function') return describeFunction(value);
    if (typeof value !== 'object' || value === null) return value;
    if (parents.includes(value)) return '[Circular]';
    if (parents.length > 100) return '[too deep]';
    const inside = [...parents, value];
    shown = undefined; // cycles are found here
    try {
      if (typeof value.toJSON === 'function') value = value.toJSON();
      if (typeof value !== 'object' || value === null) return value;
      if (isArray(value)) return value.map((item) => copy(item, inside));
      const out = {};
      for (const key of keys(value)) {
        try {
          out[key] = copy(value[key], inside);
        } catch (e) {
          out[key] = `[Error: ${message(e)}]`;
        }
      }
      return out;
    } catch (e) {
      return `[Error: ${message(e)}]`;
    }
  };

  // JSON text of any value; undefined for undefined.
  const render = (value) => {
    if (value === undefined) return undefined;
    if (typeof value === 'number' && isFinite(value)) return String(value);
    if (typeof value === 'symbol' || typeof value === 'number') return stringify(String(value));
    return withReadable(() => {
      try {
        return stringify(value);
      } catch (e) {
        return stringify(copy(value, []));
      }
    });
  };

  const plainText = (value) => {
    if (typeof value === 'string') return value;
    const text = render(value);
    if (text === undefined) return String(value);
    return text[0] === '"' ? parse(text) : text; // a function, a date, 12n: their text, not a string's JSON
  };
  const line = (values) => {
    let text = values.length > 0 ? plainText(values[0]) : '';
    for (let i = 1; i < values.length; i++) text += ' ' + plainText(values[i]);
    return text;
  };

  const message = (e) => {
    if (typeof e === 'object' && e !== null && typeof e.message === 'string') return e.message;
    return plainText(e);
  };

  // --- Tools ----------------------------------------------------------------------------------------------------------
  // Calls and timers in flight: number -> what to do with the outcome. Not a Map: the engine's finds numbers slowly, each
  // one among a thousand takes it 15 times as long.
  let open = { __proto__: null };

  // `Tool "x" failed: ...`, whose stack begins where the program called.
  const failure = (text) => (typeof text === 'string' ? new Error(text) : text);
  // The same of a call whose outcome comes later: the place is kept from when it was called, without the frames of `inner`
  // and of what that has called. An error made ahead would cost twice as much.
  const placeOf = (inner) => {
    const at = {};
    captureStackTrace(at, inner);
    return at.stack;
  };
  const failureAt = (text, place) => (typeof text === 'string' ? hidden(new Error(text), 'stack', place) : text);

  const callPlain = (id, input) => {
    try {
      return H.call(id, input);
    } catch (text) {
      throw failure(text);
    }
  };

  const add = (number, settle) => {
    open[number] = settle;
    return number;
  };
  const begin = (id, input, settle) => add(H.start(id, input), settle);
  const settle = (number, ok, value) => {
    const act = open[number];
    delete open[number];
    if (act) act(ok, value);
  };
  // Waits for this one call, whatever else is in flight.
  const wait = (number) => {
    let value, ok = true;
    try {
      value = H.wait(number);
    } catch (text) {
      ok = false;
      value = text;
    }
    settle(number, ok, value);
  };

  // A promise that also stands for its value: whoever reads from it waits. A program may have thousands of them, so they
  // share their handler; what is each one's own is private, out of a program's reach.
  const standIns = new WeakMap(), weakGet = WeakMap.prototype.get, weakSet = WeakMap.prototype.set;
  const nothing = () => {};
  class Target {
    #promise;
    #force;
    constructor(promise, force) {
      this.#promise = promise;
      this.#force = force;
    }
    static promise(target) { return target.#promise; }
    static value(target) {
      apply(then, target.#promise, [undefined, nothing]);
      return target.#force();
    }
  }
  const { promise: promiseOf, value: valueOf } = Target;
  const objectOf = (target) => Object(valueOf(target));
  const handler = {
    __proto__: null,
    get(target, key) {
      if (key === 'then' || key === 'catch' || key === 'finally') {
        const promise = promiseOf(target);
        return promise[key].bind(promise);
      }
      if (key === Symbol.toPrimitive) return () => primitive(valueOf(target));
      if (key === 'toJSON') return () => valueOf(target);
      const it = valueOf(target);
      const member = it?.[key];
      return typeof member === 'function' ? member.bind(it) : member;
    },
    set(target, key, to) { valueOf(target)[key] = to; return true; },
    has: (target, key) => has(objectOf(target), key),
    deleteProperty: (target, key) => delete valueOf(target)[key],
    ownKeys: (target) => ownKeys(objectOf(target)).filter((key) => !(isArray(valueOf(target)) && key === 'length')),
    getOwnPropertyDescriptor(target, key) {
      const own = getOwnPropertyDescriptor(objectOf(target), key);
      return own && { ...own, configurable: true };
    },
    getPrototypeOf: () => Promise.prototype,
  };
  const forgiving = (promise, force) => {
    const target = new Target(promise, force);
    const standIn = new Proxy(target, handler);
    apply(weakSet, standIns, [standIn, target]);
    return standIn;
  };
  const primitive = (value) => (typeof value === 'object' && value !== null ? plainText(value) : value);

  // `start` begins a call and gives its number; it is handed what to do with the outcome. `inner`: see placeOf.
  const startForgiving = (start, inner) => {
    let resolve, reject, settled = 0, value, number = 0;
    const place = placeOf(inner);
    const promise = new Promise((yes, no) => { resolve = yes; reject = no; });
    const act = (ok, v) => {
      settled = ok ? 1 : 2;
      value = ok ? v : failureAt(v, place);
      (ok ? resolve : reject)(value);
    };
    try {
      number = start(act);
    } catch (text) {
      act(false, text);
    }
    return forgiving(promise, () => {
      if (settled === 0) wait(number);
      if (settled === 2) throw value;
      return value;
    });
  };

  const callForgiving = (id, input) => startForgiving((act) => begin(id, input, act), callForgiving);

  // A failed Result has accessors until the program reads one of them (returning, printing and JSON read, too); then it
  // is a plain object. Those that nobody has read are told at the end.
  const unread = new Map(); // the Result -> what to tell
  const failedResult = (name, error) => {
    const result = {};
    const members = { success: false, error, value: undefined, data: undefined };
    const read = () => {
      apply(mapDelete, unread, [result]);
      for (const key of keys(members)) delete result[key];
      result.success = false;
      result.error = error;
    };
    for (const key of keys(members)) {
      defineProperty(result, key, {
        get() { read(); return members[key]; },
        set(to) { read(); result[key] = to; },
        enumerable: members[key] !== undefined,
        configurable: true,
      });
    }
    apply(mapSet, unread, [result, { read, text: `${name} failed and the program did not look: ${plainText(error).slice(0, 500)}` }]);
    return result;
  };

  // Printing looks at all that it is given, but reads no accessors.
  const lookAt = (value, depth = 6) => {
    if (unread.size === 0 || depth === 0 || typeof value !== 'object' || value === null) return;
    const one = apply(mapGet, unread, [value]);
    if (one) one.read();
    else if (value instanceof Map || value instanceof Set) for (const item of value) lookAt(item, depth - 1);
    else {
      for (const key of keys(value).slice(0, 1000)) {
        const own = getOwnPropertyDescriptor(value, key);
        if (own && 'value' in own) lookAt(own.value, depth - 1);
      }
    }
  };

  const callResult = (id, input, name) => new Promise((resolve) => {
    try {
      begin(id, input, (ok, value) => resolve(ok ? { success: true, value } : failedResult(name, value)));
    } catch (text) {
      resolve(failedResult(name, message(text)));
    }
  });

  const callers = [callPlain, callForgiving, callResult];
  const asName = { __proto__: null, value: '' };
  const { call } = H;
  const toolFunction = (id, name) => {
    asName.value = name;
    return defineProperty((input) => {
      if (style !== PLAIN) return callers[style](id, input, name);
      try { // callPlain, without the call of it
        return call(id, input);
      } catch (text) {
        throw failure(text);
      }
    }, 'name', asName);
  };

  // Functions of the host: by number, with a list of arguments.
  const argsText = (args) => {
    while (args.length > 0 && args[args.length - 1] === undefined) args.length--;
    return render(args);
  };
  const invoke = (number, args, settle) => add(H.invoke(number, argsText(args)), settle);
  const invokePlain = (number, args) => {
    try {
      return H.wait(H.invoke(number, argsText(args)));
    } catch (text) {
      throw failure(text);
    }
  };
  const invokeForgiving = (number, args) => startForgiving((act) => invoke(number, args, act), invokeForgiving);
  const invokePromise = (number, args) => {
    const place = placeOf(invokePromise);
    return new Promise((resolve, reject) => {
      const act = (ok, v) => (ok ? resolve(v) : reject(failureAt(v, place)));
      try {
        invoke(number, args, act);
      } catch (text) {
        act(false, text);
      }
    });
  };
  const invokers = [invokePlain, invokeForgiving, invokePromise];
  const hostFunction = (number, name) => {
    const f = (...args) => invokers[style](number, args);
    return defineProperty(f, 'name', { value: name });
  };

  const resolveTool = (name) => {
    try {
      return H.resolve(String(name));
    } catch (text) {
      throw new ReferenceError(text);
    }
  };

  global('tools', new Proxy({}, {
    get: (_, name) => (typeof name === 'symbol' || name === 'then' || name === 'toJSON'
      ? undefined : toolFunction(resolveTool(name), name)),
    has(_, name) {
      try {
        return typeof name === 'string' && H.resolve(name) !== undefined;
      } catch {
        return false;
      }
    },
    ownKeys: () => H.discover('').map((tool) => tool.id),
    getOwnPropertyDescriptor: (_, name) => (typeof name === 'string'
      ? { value: undefined, enumerable: true, configurable: true, writable: false } : undefined),
    set() { throw new TypeError('tools cannot be changed'); },
  }));

  const startAll = (calls) => {
    if (!isArray(calls)) throw new TypeError('parallel() expects an array of {tool, input} objects');
    const results = new Array(calls.length);
    const numbers = [];
    for (let i = 0; i < calls.length; i++) {
      const entry = calls[i];
      const name = entry?.tool ?? entry?.name;
      if (typeof entry !== 'object' || name === undefined) {
        results[i] = { error: `parallel()[${i}] is not a {tool, input} object` };
        continue;
      }
      try {
        const id = H.resolve(String(name));
        numbers.push(begin(id, entry.input ?? entry.args ?? entry.arguments, (ok, value) => { results[i] = ok ? value : { error: value }; }));
      } catch (text) {
        results[i] = { error: message(text) };
      }
    }
    return { results, numbers };
  };
  const collect = ({ results, numbers }) => {
    for (const number of numbers) if (open[number]) wait(number);
    return results;
  };
  global('parallel', (calls) => {
    const started = startAll(calls);
    if (style === PLAIN) return collect(started);
    const all = Promise.all(started.numbers.map((number) => new Promise((resolve) => {
      const act = open[number];
      open[number] = (ok, value) => { act(ok, value); resolve(); };
    }))).then(() => started.results);
    return style === RESULT ? all : forgiving(all, () => collect(started));
  });

  // --- The rest of the world -------------------------------------------------------------------------------------------
  const output = (text) => H.output(plainText(text));
  global('output', output);
  // The host's own functions: nothing is between them and the program.
  named('done', H.done);
  named('recall', H.recall);
  global('log', (...values) => H.log(0, line(values)));
  const store = (key, value) => {
    const text = render(value);
    try {
      H.store(String(key), text === undefined ? '' : text);
    } catch (text) {
      throw failure(text);
    }
  };
  global('store', store);
  const ask = (f, text) => {
    try {
      return f(text);
    } catch (text) {
      throw failure(text);
    }
  };
  global('complete', (what) => {
    if (typeof what !== 'object' || what === null || typeof what.response !== 'string') {
      throw new TypeError('complete() expects {response: "text for the user", data?, followUp?}');
    }
    if (what.response !== '') output(what.response);
    if (what.followUp) output('\n\n' + what.followUp);
    if (what.data !== undefined) store('_lastData', what.data);
    H.done();
    return { stored: what.data !== undefined, followUp: Boolean(what.followUp) };
  });
  global('discoverTools', (query) => ask(H.discover, query === undefined ? '' : String(query)));
  global('toolSchema', (name) => ask(H.schema, String(name)));

  let mute = false; // no output
  const say = (level, text) => {
    if (style === RESULT && level < 1 && !mute) H.output(text + '\n');
    else H.log(level < 0 ? 0 : level, text);
  };
  // Lines of a stack that are the program's: "    at name (program.js:1:2)". Programs of a session have a hash in the name.
  const frames = (stack) => (typeof stack !== 'string' ? '' : stack.split('\n').filter((it) => /\(program(-[0-9a-f]+)?\.[jt]s:\d/.test(it))
    .map((it) => it.replace(/at <(?:anonymous|eval)> \((.*)\)$/, 'at $1').replace(/program-[0-9a-f]+/, 'program')).join('\n'));
  roots.frames = (error) => frames(error.stack);
  roots.peek = (promise) => H.peek(promise);
  roots.standsFor = (object) => {
    const target = apply(weakGet, standIns, [object]);
    return target && { value: valueOf(target) };
  };
  const { now } = Date, clock = performance; // the engine's own timeOrigin is the image's
  const printing = roots.makeConsole(say, () => clock.now(), () => frames(new Error().stack));
  for (const name of keys(printing)) {
    const print = printing[name];
    if (typeof print !== 'function') continue;
    printing[name] = defineProperty((...values) => {
      lookAt(values);
      return print(...values);
    }, 'name', { value: name });
  }
  global('console', printing);

  // Programs print as Python's do, or as old shells of JavaScript.
  global('print', (...values) => globalThis.console.log(...values));

  // Timers: bounded by the program's deadline, waited for at its end.
  const timers = new Map();
  const long = new Map(); // those of setTimeout that take longer than LONG_MS
  const LONG_MS = 1000;
  let lastTimer = 0;
  const startTimer = (ms) => {
    try {
      return H.timer(ms > 0 ? Math.min(ms, 0x7fffffff) : 0);
    } catch (text) {
      throw failure(text);
    }
  };
  global('sleep', (ms) => {
    if (style !== PLAIN) return new Promise((resolve) => { open[startTimer(ms)] = () => resolve(); });
    wait(startTimer(ms));
  });
  const callTimer = (f, values) => {
    if (typeof f !== 'function') throw new TypeError('a timer expects a function');
    return () => apply(f, undefined, values);
  };
  // `again`: an interval starts its next timer before it calls the program, which may clear it.
  const setTimer = (run, ms, again) => {
    const handle = ++lastTimer;
    const begin = () => {
      const number = startTimer(ms);
      apply(mapSet, timers, [handle, number]);
      open[number] = () => {
        if (again) begin();
        else apply(mapDelete, timers, [handle]);
        run();
      };
    };
    begin();
    if (!again && ms > LONG_MS) {
      H.weak();
      apply(mapSet, long, [handle, true]);
    }
    return handle;
  };
  const clearTimer = (handle) => {
    const number = apply(mapGet, timers, [handle]);
    if (number === undefined) return;
    apply(mapDelete, timers, [handle]);
    delete open[number];
    H.drop(number);
  };
  named('setTimeout', (f, ms, ...values) => setTimer(callTimer(f, values), ms, false));
  named('setInterval', (f, ms, ...values) => setTimer(callTimer(f, values), ms > 1 ? ms : 1, true));
  named('setImmediate', (f, ...values) => setTimer(callTimer(f, values), 0, false));
  for (const name of ['clearTimeout', 'clearInterval', 'clearImmediate']) named(name, (handle) => clearTimer(handle));
  // A timer that the program does not wait for at its end: AbortSignal.timeout's.
  const weak = new Map();
  roots.startWeakTimer = (ms, run) => {
    H.weak();
    const handle = setTimer(() => { apply(mapDelete, weak, [handle]); run(); }, ms, false);
    apply(mapSet, weak, [handle, true]);
  };
  // `waited`: the value is what the program awaited or returned. Then a long timer is most often the loser of a race
  // with a call, and nobody needs it. A program whose value is undefined, or the timer itself, is about its timers.
  roots.last = (value, waited) => {
    for (const handle of [...weak.keys()]) clearTimer(handle);
    if (waited && value !== undefined && apply(mapGet, timers, [value]) === undefined) for (const handle of [...long.keys()]) clearTimer(handle);
  };
  // --- The names of cells -----------------------------------------------------------------------------------------------
  // What models know from another program's code mode (docs/internals/codex.md). Bound where a program names them.
  const IMAGE = 3, NOTICE = 4, YIELD = 5; // levels of H.log
  const text = (value) => (mute ? H.log(0, plainText(value)) : output(value));
  const imageUrl = (value) => {
    if (typeof value === 'string') return value;
    if (typeof value?.data === 'string' && typeof value.mimeType === 'string') return `data:${value.mimeType};base64,${value.data}`;
    return value?.image_url?.url ?? value?.image_url;
  };
  const image = (value) => {
    const url = imageUrl(value);
    if (typeof url !== 'string' || !/^(?:data:image\/|https?:)/i.test(url)) {
      throw new TypeError('image() expects a data: or https: URL of an image, {image_url}, or an image block of a tool\'s result.content');
    }
    H.log(IMAGE, url);
  };
  const forwardOutput = (result) => {
    if (!isArray(result?.content)) return text(result);
    for (const block of result.content) {
      if (block?.type === 'text') text(block.text);
      else if (block?.type === 'image') image(block);
      else text(block);
    }
  };
  const cellNames = {
    __proto__: null, text, image, forward_output: forwardOutput,
    load: (key) => H.recall(key),
    notify: (value) => H.log(NOTICE, plainText(value)),
    yield_control: () => H.log(YIELD, ''),
    exit: () => H.exit(),
    // Without the tool, nothing binds the name (program_text.c).
    save: (name, code, about) => callers[style]('programs.save',
      { ...about, name, code: typeof code === 'function' ? apply(functionText, code, []) : code }, 'save'),
  };
  const allTools = () => H.discover('').map(({ name, description }) => ({ name, description }));

  named('queueMicrotask', ((resolved) => (f) => { apply(then, resolved, [() => f()]); })(Promise.resolve()));
  global('input', undefined);
  global('performance', { now: () => clock.now(), get timeOrigin() { return now() - clock.now(); } });

  // --- Roots: engine.c calls these by number ------------------------------------------------------------------------------
  // An earlier program of the session has a variable of this name: it declared it (then it is not configurable), or gave
  // it another value than the function that was there.
  const bindingsMade = { __proto__: null };
  const isVariable = (name) => {
    const own = getOwnPropertyDescriptor(globalThis, name), made = bindingsMade[name];
    return made === undefined ? own?.configurable === false : own?.value !== made;
  };
  const notInCells = ['console', 'print', 'log', 'output', 'done', 'complete', 'recall', 'input'];
  const bindingOf = (name, bound) => {
    if (bound === true) return name === 'ALL_TOOLS' ? allTools() : cellNames[name];
    // JSON.parse makes floats, the host reads integers.
    return typeof bound === 'string' ? toolFunction(bound, name) : hostFunction(bound | 0, name);
  };
  roots.start = (newStyle, bindings, input, withoutOutput, timeZone, isCell) => {
    style = newStyle;
    open = { __proto__: null }; // what an earlier program of the session has left, likewise
    if (unread.size > 0) apply(mapClear, unread, []);
    if (timeZone !== undefined) roots.setTimeZone?.(timeZone); // Intl's default; Date asks the host
    if (withoutOutput) {
      mute = true;
      for (const name of ['output', 'done', 'complete']) delete globalThis[name];
    }
    if (isCell) for (const name of notInCells) delete globalThis[name];
    if (bindings) {
      const names = keys(bindings);
      for (let i = 0; i < names.length; i++) {
        const name = names[i];
        if (name in globalThis && isVariable(name)) continue;
        const made = bindingOf(name, bindings[name]);
        bindingsMade[name] = made;
        global(name, made);
      }
    }
    if (input !== undefined) global('input', input);
  };
  roots.settle = settle;
  // What to wait for at the end: the value itself, or the promise it is or that it gives when it is called.
  roots.finish = (value, call) => {
    if (call && typeof value === 'function' && !isClass(value)) value = value(globalThis.input);
    const isThenable = typeof value === 'object' && value !== null && typeof value.then === 'function';
    return isThenable ? Promise.resolve(value) : value;
  };
  roots.render = render;
  // The value as a person is shown it, which a session keeps as `_`, unless a program has given `_` another value.
  const SHOWN = 10000, SHOWN_MOST = 4 * SHOWN;
  let last;
  roots.show = (value) => {
    const own = getOwnPropertyDescriptor(globalThis, '_');
    if (own === undefined || (own.configurable && is(own.value, last))) global('_', last = value);
    lookAt(value);
    for (const customInspect of [true, false]) {
      try {
        const text = roots.inspect(value, { room: SHOWN, customInspect });
        return text.length > SHOWN_MOST ? `${text.slice(0, SHOWN_MOST)}... ${text.length - SHOWN_MOST} more characters` : text;
      } catch { /* what is looked at throws: the second time less of it is called */ }
    }
    return '[what throws when it is looked at]';
  };
  // The sentences about failed Results that nobody has read; undefined: there are none.
  roots.unread = () => {
    const told = [...unread.values()].map((one) => one.text);
    return told.length === 0 ? undefined
      : told.length <= 5 ? told.join('\n') : `${told.slice(0, 5).join('\n')}\nand ${told.length - 5} more`;
  };
  roots.describe = (e) => {
    const isError = typeof e === 'object' && e !== null && (e instanceof Error || typeof e.message === 'string');
    return isError
      ? [String(e.name ?? 'Error'), String(e.message), typeof e.stack === 'string' ? e.stack : '']
      : ['', e === undefined ? 'undefined' : plainText(e), ''];
  };
  setPrototypeOf(roots, null);
})
