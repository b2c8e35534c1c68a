// Puts Intl and the toLocale… methods into the world of a program: evaluated after the prelude, when the image is built.

import { Collator } from './collator.js';
import { dateTimeFormat, DateTimeFormat, setDefaultZone } from './date_time_format.js';
import { section } from './data.js';
import { ListFormat } from './list_format.js';
import { canonicalList, numberingSystems, tellBy } from './locale.js';
import { Locale } from './locale_object.js';
import { NumberFormat, units } from './number_format.js';
import { PluralRules } from './plural_rules.js';
import { RelativeTimeFormat } from './relative_time_format.js';
import { Segmenter } from './segmenter.js';
import { allZones } from './zones.js';

const { stringify } = JSON;
const CACHE_MAX = 64;

/** A formatter for these arguments, made once: programs format row after row. */
function cached(make) {
  const made = new Map();
  return (locales, options) => {
    const isPlain = (locales === undefined || typeof locales === 'string') && (options === undefined || Object.getPrototypeOf(Object(options)) === Object.prototype);
    if (!isPlain) return make(locales, options);
    let key;
    try {
      key = `${locales} ${options === undefined ? '' : stringify(options)}`;
    } catch {
      return make(locales, options);
    }
    let it = made.get(key);
    if (it === undefined) {
      it = make(locales, options);
      if (made.size >= CACHE_MAX) made.clear();
      made.set(key, it);
    }
    return it;
  };
}

const needsNew = (constructor) => new Proxy(constructor, {
  apply() { throw new TypeError(`Constructor Intl.${constructor.name} requires 'new'`); },
});
const hidden = (object, members) => {
  for (const [name, value] of Object.entries(members)) Object.defineProperty(object, name, { value, writable: true, configurable: true });
  return object;
};

function supportedValuesOf(key) {
  switch (String(key)) {
    case 'calendar': return ['gregory'];
    case 'collation': return [];
    case 'currency': return Object.keys(section('en', 'c')).sort();
    case 'numberingSystem': return numberingSystems.slice();
    case 'timeZone': return allZones();
    case 'unit': return units.slice();
    default: throw new RangeError(`Invalid key : ${key}`);
  }
}

class DisplayNames {
  constructor() {
    throw new TypeError('Intl.DisplayNames is not in this sandbox: write the names of languages, regions and currencies that you need into the program');
  }
}

const Intl = hidden({}, {
  getCanonicalLocales: (list) => canonicalList(list),
  supportedValuesOf,
  DateTimeFormat, NumberFormat, Collator, DisplayNames, Locale,
  PluralRules: needsNew(PluralRules), RelativeTimeFormat: needsNew(RelativeTimeFormat), ListFormat: needsNew(ListFormat), Segmenter: needsNew(Segmenter),
});
Object.defineProperty(Intl, Symbol.toStringTag, { value: 'Intl', configurable: true });

const numberFormat = cached((list, options) => new NumberFormat(list, options));
const collator = cached((list, options) => new Collator(list, options));
const dateFormats = (required, defaulted) => cached((list, options) => dateTimeFormat(list, options, required, defaulted));
const anyFormat = dateFormats('any', 'all'), dateFormat = dateFormats('date', 'date'), timeFormat = dateFormats('time', 'time');

const dateMethod = (format, valueOf = Date.prototype.valueOf) => function (list, options) {
  const ms = Reflect.apply(valueOf, this, []);
  if (Number.isNaN(ms)) return 'Invalid Date';
  return format(list, options).format(ms);
};
const named = (name, method, length = 0) => Object.defineProperties(method, { name: { value: name }, length: { value: length } });
const numberMethod = (valueOf) => function (list, options) {
  return numberFormat(list, options).format(Reflect.apply(valueOf, this, []));
};
const open = new Set(); // arrays that are being shown: one that contains itself is empty there
const listMethod = function (list, options) {
  if (open.has(this)) return '';
  const items = [];
  open.add(this);
  try {
    for (let i = 0; i < this.length; i++) items.push(this[i] === undefined || this[i] === null ? '' : String(this[i].toLocaleString(list, options)));
  } finally {
    open.delete(this);
  }
  return items.join(',');
};
const caseMethod = (plain, turkish) => function (list) {
  const [tag = 'en'] = canonicalList(list);
  const text = String(this);
  return Reflect.apply(plain, /^(?:tr|az)\b/.test(tag) ? turkish(text) : text, []);
};

/** Defines everything on `target`, which is globalThis but in tests. `log` tells a person something about the run. */
export function install(target, log) {
  tellBy(log);
  hidden(target, { Intl });
  const { Array, BigInt, Date, Number, String, Uint8Array } = target;
  hidden(Number.prototype, { toLocaleString: named('toLocaleString', numberMethod(Number.prototype.valueOf)) });
  hidden(BigInt.prototype, { toLocaleString: named('toLocaleString', numberMethod(BigInt.prototype.valueOf)) });
  hidden(Date.prototype, {
    toLocaleString: named('toLocaleString', dateMethod(anyFormat)),
    toLocaleDateString: named('toLocaleDateString', dateMethod(dateFormat)),
    toLocaleTimeString: named('toLocaleTimeString', dateMethod(timeFormat)),
  });
  hidden(Array.prototype, { toLocaleString: named('toLocaleString', listMethod) });
  hidden(Object.getPrototypeOf(Uint8Array.prototype), { toLocaleString: named('toLocaleString', listMethod) });
  const { toUpperCase, toLowerCase } = String.prototype;
  hidden(String.prototype, {
    localeCompare: named('localeCompare', function (that, list, options) {
      return collator(list, options).compare(`${this}`, `${that}`);
    }, 1),
    toLocaleUpperCase: named('toLocaleUpperCase', caseMethod(toUpperCase, (text) => text.replaceAll('i', 'İ'))),
    toLocaleLowerCase: named('toLocaleLowerCase', caseMethod(toLowerCase, (text) => text.replaceAll('İ', 'i').replaceAll('I', 'ı'))),
  });
}
export { setDefaultZone };
