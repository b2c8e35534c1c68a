// Intl.DateTimeFormat (ECMA-402, section 11), in the Gregorian calendar.
import { section } from './data.js';
import { bestPattern, intervalFallback, intervalPattern, join, skeletonOf, tokens } from './date_patterns.js';
import { choice, finish, nativeDigits, numberChoice, numberingSystem, optionsObject, resolveLocale } from './locale.js';
import { findZone, namesOfZone, offsetAt } from './zones.js';

const OWNER = 'Intl.DateTimeFormat';
const STYLES = ['full', 'long', 'medium', 'short'];
const TEXT = ['narrow', 'short', 'long'], DIGITS = ['2-digit', 'numeric'];
const COMPONENTS = [['weekday', TEXT], ['era', TEXT], ['year', DIGITS], ['month', [...TEXT, ...DIGITS]], ['day', DIGITS], ['dayPeriod', TEXT],
  ['hour', DIGITS], ['minute', DIGITS], ['second', DIGITS], ['fractionalSecondDigits'],
  ['timeZoneName', ['short', 'long', 'shortOffset', 'longOffset', 'shortGeneric', 'longGeneric']]];
const LETTERS = { weekday: 'E', era: 'G', year: 'y', month: 'M', day: 'd', dayPeriod: 'B', minute: 'm', second: 's' };
const ZONE_LETTERS = { short: 'z', long: 'zzzz', shortOffset: 'O', longOffset: 'OOOO', shortGeneric: 'v', longGeneric: 'vvvv' };
const LENGTHS = { narrow: 5, short: 3, long: 4, numeric: 1, '2-digit': 2 };
const CYCLES = { h11: 'K', h12: 'h', h23: 'H', h24: 'H' }; // V8 shows 0 at midnight for h24, too
const host = { zone: 'UTC' };

/** The zone of formatters that name none, and where it is read from. */
export const setDefaultZone = (name) => { host.zone = name; };

// --- Options ----------------------------------------------------------------------------------------------------------
const DATE_PARTS = ['weekday', 'year', 'month', 'day'], TIME_PARTS = ['dayPeriod', 'hour', 'minute', 'second', 'fractionalSecondDigits'];

function checkStyles(options, required) {
  const { dateStyle, timeStyle } = options;
  if (required === 'date' && timeStyle !== undefined) throw new TypeError('Invalid option : timeStyle');
  if (required === 'time' && dateStyle !== undefined) throw new TypeError('Invalid option : dateStyle');
  return dateStyle !== undefined || timeStyle !== undefined;
}

/** What a formatter shows when the program asks for nothing: ECMA-402, ToDateTimeOptions. */
function defaults(options, required, defaulted) {
  const names = required === 'date' ? DATE_PARTS : required === 'time' ? TIME_PARTS : [...DATE_PARTS, ...TIME_PARTS];
  if (checkStyles(options, required) || names.some((name) => options[name] !== undefined)) return {};
  const date = { year: 'numeric', month: 'numeric', day: 'numeric' }, time = { hour: 'numeric', minute: 'numeric', second: 'numeric' };
  return defaulted === 'date' ? date : defaulted === 'time' ? time : { ...date, ...time };
}

function readZone(value) {
  const name = value === undefined ? host.zone : String(value);
  const zone = findZone(name);
  if (zone === undefined) throw new RangeError(`Invalid time zone specified: ${name}`);
  return zone;
}

function readComponents(options, more) {
  const out = {};
  for (const [name, values] of COMPONENTS) {
    const value = name === 'fractionalSecondDigits' ? numberChoice(options, name, 1, 3, undefined) : choice(options, name, values, undefined, OWNER);
    if (value !== undefined || more[name] !== undefined) out[name] = value ?? more[name];
  }
  return out;
}

function hourCycle(options, keys, { hourCycle, hourCycle12, hourCycle24 }) {
  const { hour12 } = options;
  const asked = choice(options, 'hourCycle', ['h11', 'h12', 'h23', 'h24'], undefined, OWNER);
  if (hour12 !== undefined) return hour12 ? hourCycle12 ?? 'h12' : hourCycle24 ?? 'h23';
  return asked ?? (CYCLES[keys.hc] && keys.hc) ?? hourCycle;
}

const is12 = (cycle) => cycle === 'h11' || cycle === 'h12';

function skeletonFor(parts, cycle) {
  let out = '';
  for (const name of ['era', 'year', 'month', 'weekday', 'day', 'dayPeriod', 'hour', 'minute', 'second', 'fractionalSecondDigits', 'timeZoneName']) {
    const value = parts[name];
    if (value === undefined) continue;
    if (name === 'hour') out += (is12(cycle) ? 'h' : 'H').repeat(LENGTHS[value]);
    else if (name === 'fractionalSecondDigits') out += 'S'.repeat(value);
    else if (name === 'timeZoneName') out += ZONE_LETTERS[value];
    else if (name === 'dayPeriod') {
      if (parts.hour === undefined || is12(cycle)) out += 'B'.repeat(value === 'short' ? 1 : LENGTHS[value]);
    } else out += LETTERS[name].repeat(LENGTHS[value]);
  }
  return out;
}

const withCycle = (pattern, cycle) => tokens(pattern).map((token) => (typeof token === 'string' || !'hHkK'.includes(token.char)
  ? token : { ...token, char: CYCLES[cycle] }));

function stylePattern(data, { dateStyle, timeStyle }, cycle, point) {
  const { dateFormat, timeFormat } = section(data, 'd');
  const time = timeStyle && timeFormat[timeStyle];
  const pattern = dateStyle === undefined ? time : time === undefined ? dateFormat[dateStyle] : join(data, dateStyle, dateFormat[dateStyle], time);
  if (time === undefined || /[hK]/.test(time.replace(/'[^']*'/g, '')) === is12(cycle)) return pattern;
  return bestPattern(data, skeletonOf(pattern, is12(cycle) ? 'h' : 'H'), point);
}

function readOptions(locales, given, required, defaulted) {
  const { locale, data, keys } = resolveLocale(locales);
  const options = optionsObject(given, OWNER);
  const more = defaults(options, required, defaulted);
  const dates = section(data, 'd'), point = section(data, 'n').s.decimal;
  const system = numberingSystem(options, keys, OWNER);
  const cycle = hourCycle(options, keys, dates);
  const zone = readZone(options.timeZone);
  const parts = readComponents(options, more);
  choice(options, 'formatMatcher', ['best fit', 'basic'], 'best fit', OWNER);
  const dateStyle = choice(options, 'dateStyle', STYLES, undefined, OWNER), timeStyle = choice(options, 'timeStyle', STYLES, undefined, OWNER);
  const hasStyle = dateStyle !== undefined || timeStyle !== undefined;
  if (hasStyle && Object.keys(parts).length > 0) throw new TypeError('Invalid option : option');
  const skeleton = hasStyle ? undefined : skeletonFor(parts, cycle);
  const pattern = hasStyle ? stylePattern(data, { dateStyle, timeStyle }, cycle, point) : bestPattern(data, skeleton, point);
  return { locale, data, dates, system, zone, cycle, parts, dateStyle, timeStyle, point, skeleton: skeleton ?? skeletonOf(pattern),
    pattern: withCycle(pattern, cycle) };
}

// --- Fields -----------------------------------------------------------------------------------------------------------
const TYPES = { G: 'era', y: 'year', M: 'month', L: 'month', E: 'weekday', c: 'weekday', d: 'day', a: 'dayPeriod', b: 'dayPeriod', B: 'dayPeriod', h: 'hour', H: 'hour',
  K: 'hour', k: 'hour', m: 'minute', s: 'second', S: 'fractionalSecond', z: 'timeZoneName', O: 'timeZoneName', v: 'timeZoneName' };
const GENERIC = { de: [/normalzeit/i, 'Zeit'], fr: [/ normale/, ''], es: [/ estándar/, ''], pt: [/ Padrão/, ''], it: [/ standard/i, ''], nl: [/ ?standaardtijd/, ' tijd'],
  ja: [/標準時/, '時間'], zh: [/标准时间|標準時間/, (it) => it.slice(2)], ko: [/표준시/, '시간'], en: [/ Standard/, ''] };

const wide = (length) => (length === 4 ? 'long' : length === 5 ? 'narrow' : 'short');
const padded = (value, length) => String(value).padStart(length, '0');

/** The fields of a moment in a zone. */
function fieldsAt(ms, zone) {
  const { offset, daylight } = offsetAt(zone, ms);
  const local = new Date(ms + offset * 1000);
  const year = local.getUTCFullYear();
  return { offset, daylight, era: year > 0 ? 'AD' : 'BC', y: year > 0 ? year : 1 - year, M: local.getUTCMonth(), d: local.getUTCDate(), E: local.getUTCDay(),
    H: local.getUTCHours(), m: local.getUTCMinutes(), s: local.getUTCSeconds(), ms: local.getUTCMilliseconds() };
}

function offsetText({ gmtFormat, hourFormat }, offset, isLong) {
  const seconds = Math.abs(offset), [positive, negative] = hourFormat.split(';');
  const hours = Math.floor(seconds / 3600), minutes = Math.floor(seconds / 60) % 60, rest = seconds % 60;
  const small = isLong || minutes > 0 ? padded(minutes, 2) : '';
  const text = (offset < 0 ? negative : positive).replace(/H+/, isLong ? padded(hours, 2) : hours).replace(small ? 'mm' : /.?mm/, small);
  return gmtFormat.replace('{0}', rest > 0 ? `${text}:${padded(rest, 2)}` : text);
}

function zoneText(f, { char, length }, at) {
  const isLong = length === 4;
  if (char === 'O') return offsetText(f.dates, at.offset, isLong);
  const [standard, daylight, short, shortDaylight] = namesOfZone(f.data, f.zone);
  if (f.zone.name === 'UTC' && f.zone.offset === 0) return isLong ? standard || 'UTC' : 'UTC';
  let text = isLong ? (at.daylight ? daylight : standard) : at.daylight ? shortDaylight : short;
  if (char === 'v') {
    const [from, to] = GENERIC[f.data.split('-')[0]];
    text = isLong ? standard.replace(from, to).replace('  ', ' ') : /^[A-Z]{1,2}ST$/.test(short) ? short.replace('S', '') : '';
  }
  return text || offsetText(f.dates, at.offset, isLong);
}

function dayPeriod({ dates, pattern }, { length }, at) {
  const ms = ((at.H * 60 + at.m) * 60 + at.s) * 1000, rules = dates.dayPeriodRules;
  const showsMinutes = pattern.some((token) => token.char === 'm') && (at.m > 0 || at.s > 0);
  const exact = rules.find((rule) => rule.at !== undefined && (showsMinutes ? rule.at === ms : rule.at === at.H * 3600000));
  const name = (exact ?? rules.find(({ from, before }) => from !== undefined && (from < before ? ms >= from && ms < before : ms >= from || ms < before)))?.name;
  return dates.dayPeriods[wide(length)][name] ?? (at.H < 12 ? dates.am : dates.pm);
}

function fieldText(f, token, at) {
  const { char, length } = token, { dates } = f;
  switch (char) {
    case 'G': return dates.era[wide(length)][at.era];
    case 'y': return length === 2 ? padded(at.y % 100, 2) : padded(at.y, length);
    case 'M': return length < 3 ? padded(at.M + 1, length) : dates.month[wide(length)][at.M];
    case 'L': return length < 3 ? padded(at.M + 1, length) : (length === 3 && dates.alone?.M || dates.month[wide(length)])[at.M];
    case 'E': return dates.weekday[wide(length)][at.E];
    case 'c': return (length === 3 && dates.alone?.E || dates.weekday[wide(length)])[at.E];
    case 'd': return padded(at.d, length);
    case 'H': return padded(at.H, length);
    case 'k': return padded(at.H || 24, length);
    case 'h': return padded(at.H % 12 || 12, length);
    case 'K': return padded(at.H % 12, length);
    case 'm': return padded(at.m, length);
    case 's': return padded(at.s, length);
    case 'S': return padded(at.ms, 3).slice(0, length);
    case 'a': case 'b': return at.H < 12 ? dates.am : dates.pm;
    case 'B': return dayPeriod(f, token, at);
    default: return zoneText(f, token, at);
  }
}

function partsOf(f, pattern, at) {
  const native = f.native;
  return pattern.map((token) => {
    if (typeof token === 'string') return { type: 'literal', value: token };
    const value = fieldText(f, token, at);
    return { type: TYPES[token.char], value: native ? value.replace(/\d/g, (digit) => native[digit]) : value };
  });
}

const textOf = (parts) => {
  let text = '';
  for (const part of parts) text += part.value;
  return text;
};

function timeValue(value) {
  const ms = value === undefined ? Date.now() : Number(value);
  if (!(Math.abs(ms) <= 8.64e15)) throw new RangeError('Invalid time value');
  return Math.trunc(ms) + 0;
}

// --- Ranges -----------------------------------------------------------------------------------------------------------
const DIFFERENCES = [['G', (at) => at.era], ['y', (at) => at.y], ['M', (at) => at.M], ['d', (at) => at.d], ['a', (at) => at.H < 12], ['H', (at) => at.H], ['m', (at) => at.m]];
const marked = (source) => (part) => ({ ...part, source });

// Where a field occurs the second time, the second moment begins.
function splitParts(f, pattern, a, b) {
  const seen = new Set();
  let cut = pattern.length;
  for (let i = 0; i < pattern.length; i++) {
    const type = TYPES[pattern[i].char];
    if (type === undefined) continue;
    if (seen.has(type)) {
      cut = i;
      break;
    }
    seen.add(type);
  }
  let first = partsOf(f, pattern.slice(0, cut), a);
  const second = partsOf(f, pattern.slice(cut), b);
  let between = [];
  if (first.at(-1)?.type === 'literal' && second.length) between = [first.pop()];
  const types = (parts) => new Set(parts.filter((part) => part.type !== 'literal').map((part) => part.type));
  const inFirst = types(first), inSecond = types(second);
  const source = (others, name) => (part, i, all) => {
    const near = part.type === 'literal' ? all[i - 1] ?? all[i + 1] : part;
    return { ...part, source: near && others.has(near.type) ? name : 'shared' };
  };
  return [...first.map(source(inSecond, 'startRange')), ...between.map(marked('shared')), ...second.map(source(inFirst, 'endRange'))];
}

const isDate = (skeleton) => /[GyMEd]/.test(skeleton), isTime = (skeleton) => /[hHkKmsB]/.test(skeleton);

function rangeParts(f, start, end) {
  const a = fieldsAt(start, f.zone), b = fieldsAt(end, f.zone);
  const first = partsOf(f, f.pattern, a);
  const different = DIFFERENCES.find(([, of]) => of(a) !== of(b))?.[0];
  const last = partsOf(f, f.pattern, b);
  if (different === undefined || textOf(first) === textOf(last)) return first.map(marked('shared'));
  const twelve = is12(f.cycle), field = different === 'H' && twelve ? 'h' : different === 'a' && !twelve ? 'H' : different;
  const isInDate = 'GyMd'.includes(different), { skeleton, data } = f;
  const hasDate = isDate(skeleton), hasTime = isTime(skeleton);
  const find = (wanted) => {
    const pattern = intervalPattern(data, wanted.replace(/z+|v+|O+/, 'v'), field);
    return pattern && pattern.replace(/v+/, /z+|v+|O+/.exec(wanted)?.[0] ?? 'v');
  };
  let pattern;
  if (!hasTime || !hasDate) pattern = hasTime && isInDate ? undefined : find(skeleton);
  else if (!isInDate) {
    const times = find(skeleton.replace(/[GyMEd]/g, ''));
    const dateSkeleton = skeleton.replace(/[^GyMEd]/g, ''), date = f.dateStyle ? f.dates.dateFormat[f.dateStyle] : bestPattern(data, dateSkeleton, f.point);
    const style = f.dateStyle ?? (/M{4}/.test(skeleton) ? 'long' : /M{3}/.test(skeleton) ? 'medium' : 'short');
    pattern = times && f.dates.dateTimeFormat[style].replace(/\{([01])\}/g, (_, which) => (which === '0' ? times : date));
  }
  if (pattern !== undefined) return splitParts(f, withCycle(pattern, f.cycle), a, b);
  const [, before, between, after] = /^(.*)\{0\}(.*)\{1\}(.*)$/.exec(intervalFallback(data));
  const literal = (value) => (value ? [{ type: 'literal', value, source: 'shared' }] : []);
  return [...literal(before), ...first.map(marked('startRange')), ...literal(between), ...last.map(marked('endRange')), ...literal(after)];
}

// --- The constructor --------------------------------------------------------------------------------------------------
const inner = new WeakMap();
const of = (it, method) => {
  const f = inner.get(it);
  if (f === undefined) throw new TypeError(`Method Intl.DateTimeFormat.prototype.${method} called on incompatible receiver ${typeof it === 'object' && it !== null ? '#<Object>' : String(it)}`);
  return f;
};

/** As the constructor; `required` and `defaulted` are those of Date's toLocale… methods. */
export function dateTimeFormat(locales, options, required, defaulted, prototype = DateTimeFormat.prototype) {
  const f = readOptions(locales, options, required, defaulted);
  f.native = nativeDigits(f.system);
  const it = Object.create(prototype);
  inner.set(it, f);
  return it;
}

export function DateTimeFormat(locales, options) {
  return dateTimeFormat(locales, options, 'any', 'date', new.target?.prototype);
}

function resolvedComponents(f) {
  const out = {};
  const value = (length, char) => (length === 1 ? 'numeric' : length === 2 ? (char === 'E' ? 'short' : '2-digit') : wide(length));
  for (const { char, length } of f.pattern.filter((token) => typeof token !== 'string')) {
    const type = TYPES[char];
    if (type === 'fractionalSecond') out.fractionalSecondDigits = length;
    else if (type === 'timeZoneName') out[type] = f.parts[type];
    else if (type === 'dayPeriod') {
      if (f.parts.dayPeriod) out[type] = f.parts.dayPeriod;
    } else if (type === 'era' || type === 'weekday') out[type] = wide(length);
    else out[type] = value(length, char);
  }
  return out;
}

const methods = {
  get format() {
    const f = of(this, 'format');
    // CLDR has a narrow no-break space before AM. V8 replaces it, but not in parts and ranges.
    return f.bound ??= (date) => textOf(partsOf(f, f.pattern, fieldsAt(timeValue(date), f.zone))).replaceAll('\u202f', ' ');
  },
  formatToParts(date) {
    const f = of(this, 'formatToParts');
    return partsOf(f, f.pattern, fieldsAt(timeValue(date), f.zone));
  },
  formatRange(start, end) {
    return textOf(this.formatRangeToParts(start, end));
  },
  formatRangeToParts(start, end) {
    const f = of(this, 'formatRangeToParts');
    if (start === undefined || end === undefined) throw new TypeError('startDate or endDate cannot be undefined');
    return rangeParts(f, timeValue(start), timeValue(end));
  },
  resolvedOptions() {
    const f = of(this, 'resolvedOptions');
    const out = { locale: f.locale, calendar: 'gregory', numberingSystem: f.system, timeZone: f.zone.name };
    const hasHour = f.pattern.some((token) => TYPES[token.char] === 'hour');
    if (hasHour) Object.assign(out, { hourCycle: f.cycle, hour12: is12(f.cycle) });
    if (f.dateStyle === undefined && f.timeStyle === undefined) {
      const parts = resolvedComponents(f);
      for (const [name] of COMPONENTS) if (parts[name] !== undefined) out[name] = parts[name];
    }
    if (f.dateStyle !== undefined) out.dateStyle = f.dateStyle;
    if (f.timeStyle !== undefined) out.timeStyle = f.timeStyle;
    return out;
  },
};
for (const name of Object.keys(methods)) {
  Object.defineProperty(DateTimeFormat.prototype, name, { ...Object.getOwnPropertyDescriptor(methods, name), enumerable: false });
}
Object.defineProperty(DateTimeFormat, 'length', { value: 0, configurable: true });
finish(DateTimeFormat, 'DateTimeFormat');
