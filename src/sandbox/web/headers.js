// Headers: Fetch, section 5.1. There is no fetch; models use it as a map of names without case.
import { iterable } from './pairs.js';
import { shown, tag } from './tag.js';

const nameOf = (name) => {
  name = String(name);
  if (!/^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/.test(name)) throw new TypeError(`Headers: ${name} is an invalid header name.`);
  return name.toLowerCase();
};
const valueOf = (value) => {
  value = String(value).replace(/^[\t\n\r ]+|[\t\n\r ]+$/g, '');
  if (/[\0\n\r]/.test(value)) throw new TypeError(`Headers: ${value} is an invalid header value.`);
  return value;
};

export class Headers {
  _all = new Map(); // name -> values
  constructor(init) {
    Object.defineProperty(this, '_all', { enumerable: false });
    if (init === undefined || init === null) return;
    for (const [name, value] of typeof init[Symbol.iterator] === 'function' ? init : Object.entries(init)) {
      this.append(name, value);
    }
  }
  append(name, value) {
    const values = this._all.get(nameOf(name)) ?? [];
    this._all.set(nameOf(name), [...values, valueOf(value)]);
  }
  delete(name) { this._all.delete(nameOf(name)); }
  get(name) { return this._all.get(nameOf(name))?.join(', ') ?? null; }
  has(name) { return this._all.has(nameOf(name)); }
  set(name, value) { this._all.set(nameOf(name), [valueOf(value)]); }
  getSetCookie() { return [...(this._all.get('set-cookie') ?? [])]; }
}
iterable(Headers, (headers) => [...headers._all.keys()].sort().flatMap((name) => {
  const values = headers._all.get(name);
  return name === 'set-cookie' ? values.map((value) => [name, value]) : [[name, values.join(', ')]];
}));
tag(Headers, 'Headers');
shown(Headers, function (depth, options, inspect) { return `Headers ${inspect(Object.fromEntries(this), options)}`; });
