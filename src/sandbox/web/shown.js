// How console.log shows what is more than its own properties: as Node's util.inspect does.
import { shown } from './tag.js';

const URL_KEYS = ['href', 'origin', 'protocol', 'username', 'password', 'host', 'hostname', 'port', 'pathname', 'search',
                  'searchParams', 'hash'];
const EVENT_KEYS = ['type', 'defaultPrevented', 'cancelable', 'timeStamp'];
const COLUMNS = 80;
const pick = (value, keys) => Object.fromEntries(keys.map((key) => [key, value[key]]));
const deeper = (options) => ({ ...options, depth: options.depth === null ? null : options.depth - 1 });

// The package writes its classes as functions; a class that extends one of them is shown as any other.
const showClass = (type, name) => Object.defineProperty(type, Symbol.for('nodejs.util.inspect.custom'), {
  value() { return this === type ? `[class ${name}]` : this; }, configurable: true, writable: true,
});

export const showAll = ({ Event, EventTarget, FormData, URL, URLSearchParams }) => {
  showClass(URL, 'URL');
  showClass(URLSearchParams, 'URLSearchParams');
  shown(URL, function (depth, options, inspect) {
    return depth < 0 ? this : `${this.constructor.name} ${inspect(pick(this, URL_KEYS), options)}`;
  });
  shown(URLSearchParams, function (depth, options, inspect) {
    if (depth < 0) return '[Object]';
    const name = this.constructor.name;
    const pairs = [...this].map(([key, value]) => `${inspect(key)} => ${inspect(value)}`);
    if (pairs.length === 0) return `${name} {}`;
    return pairs.join(', ').length > COLUMNS ? `${name} {\n  ${pairs.join(',\n  ')} }` : `${name} { ${pairs.join(', ')} }`;
  });
  shown(Event, function (depth, options, inspect) {
    return depth < 0 ? this.constructor.name : `${this.constructor.name} ${inspect(pick(this, EVENT_KEYS), deeper(options))}`;
  });
  shown(EventTarget, function (depth) { return depth < 0 ? this.constructor.name : `${this.constructor.name} {}`; });
  shown(FormData, function (depth, options, inspect) {
    const all = Object.create(null);
    for (const [name, value] of this) all[name] = name in all ? [all[name], value].flat() : value;
    const text = inspect(all, options);
    return `FormData ${text.slice(text.indexOf(']') + 2)}`;
  });
};
