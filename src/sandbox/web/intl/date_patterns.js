// From the fields that a program asks for to a locale's pattern: ICU's DateTimePatternGenerator (UTS 35, part 4, "Matching Skeletons").
import { section } from './data.js';

const FIELDS = ['G', 'y', 'Q', 'M', 'E', 'd', 'a', 'H', 'm', 's', 'S', 'v'];
const FIELD_OF = { L: 'M', c: 'E', e: 'E', b: 'a', B: 'a', h: 'H', K: 'H', k: 'H', z: 'v', O: 'v', V: 'v', U: 'y', r: 'y' };
const fieldOf = (char) => FIELDS.indexOf(FIELD_OF[char] ?? char);
const DATE_FIELDS = 6; // the fields before this one are of a date
const EXTRA = 0x10000, MISSING = 0x1000;
const NARROW = -0x101, SHORTER = -0x102, SHORT = -0x103, LONG = -0x104, NUMERIC = 0x100, DELTA = 0x10;

const width = (length, shorter) => (length === 4 ? LONG : length === 5 ? NARROW : length === 6 ? SHORTER : shorter);
// How unlike two fields are is the difference of these numbers.
function typeOf(char, length) {
  switch (char) {
    case 'M': return length < 3 ? NUMERIC + length : width(length, SHORT);
    case 'L': return length < 3 ? NUMERIC + DELTA + length : width(length, SHORT) - DELTA;
    case 'c': return length < 3 ? NUMERIC + 2 * DELTA + length : width(length, SHORT) - 2 * DELTA;
    case 'G': case 'E': case 'a': case 'z': return width(length, SHORT);
    case 'b': case 'O': return width(length, SHORT) - DELTA;
    case 'v': return width(length, SHORT) - 2 * DELTA;
    case 'B': return width(length, SHORT) - 3 * DELTA;
    case 'H': return NUMERIC + 10 * DELTA + length;
    case 'k': return NUMERIC + 11 * DELTA + length;
    case 'K': return NUMERIC + DELTA + length;
    default: return NUMERIC + length;
  }
}

/** A pattern's tokens: {char, length} for fields, text for the rest. */
export function tokens(pattern) {
  const out = [];
  const text = (it) => (typeof out.at(-1) === 'string' ? out.push(out.pop() + it) : out.push(it));
  for (const [it, letters, quoted] of pattern.matchAll(/([A-Za-z])\1*|'((?:[^']|'')*)'|[^A-Za-z']+/gs)) {
    if (letters !== undefined) out.push({ char: letters, length: it.length });
    else if (quoted !== undefined) text(quoted === '' ? "'" : quoted.replaceAll("''", "'"));
    else text(it);
  }
  return out;
}

/** A skeleton: for each field {char, length, type} or undefined. */
function readSkeleton(items) {
  const out = new Array(FIELDS.length).fill(undefined);
  for (const { char, length } of items) {
    const field = fieldOf(char);
    if (field >= 0) out[field] = { char, length, type: typeOf(char, length) };
  }
  const hour = out[7]?.char;
  if (hour === 'h' || hour === 'K') out[6] ??= { char: 'a', length: 1, type: SHORT };
  else if (hour !== undefined) out[6] = undefined;
  return out;
}
const fieldsIn = (text) => tokens(text).filter((it) => typeof it !== 'string');
const letterOf = (skeleton) => {
  const i = skeleton.findIndex((it) => it !== undefined);
  return i === 7 ? skeleton[7].char : i === 6 && skeleton[7] ? skeleton[6].char : i === 11 ? skeleton[11].char : FIELDS[i];
};

const tables = new Map();
/** All patterns of a locale, in the order in which ICU looks at them. */
function table(data) {
  if (tables.has(data)) return tables.get(data);
  const { formats, dateFormat, timeFormat } = section(data, 'd');
  const byKey = new Map();
  const add = (skeleton, pattern, isOwn) => {
    const key = skeleton.map((it) => (it ? it.char.repeat(it.length) : '')).join('');
    if (byKey.has(key) && !isOwn) return;
    byKey.set(key, { skeleton, pattern, specified: isOwn, letter: letterOf(skeleton) });
  };
  for (const char of ['G', 'y', 'M', 'E', 'd', 'a', 'H', 'm', 's', 'S', 'v']) add(readSkeleton([{ char, length: 1 }]), char === 'v' ? 'v' : char, false);
  for (const style of ['full', 'long', 'medium', 'short']) {
    for (const pattern of [dateFormat[style], timeFormat[style]]) add(readSkeleton(fieldsIn(pattern)), pattern, false);
  }
  for (const key of Object.keys(formats)) add(readSkeleton(fieldsIn(key)), formats[key], true);
  const out = [...byKey.values()].map((it, i) => ({ ...it, i })).sort((a, b) => (a.letter < b.letter ? -1 : a.letter > b.letter ? 1 : a.i - b.i));
  tables.set(data, out);
  return out;
}

/** The nearest pattern for the wanted fields among `mask`: {entry, missing: fields that it has not}. */
function nearest(data, wanted, mask) {
  // Of patterns that are equally near, the one that lacks the smaller fields.
  const lack = (missing) => missing.reduce((sum, i) => sum + (1 << i), 0);
  let best, bestDistance = Infinity;
  for (const entry of table(data)) {
    let distance = 0;
    const missing = [];
    for (let i = 0; i < FIELDS.length; i++) {
      const mine = mask.includes(i) ? wanted[i] : undefined, other = entry.skeleton[i];
      if (mine === undefined && other === undefined) continue;
      if (mine === undefined) distance += EXTRA;
      else if (other === undefined) {
        distance += MISSING;
        missing.push(i);
      } else distance += Math.abs(mine.type - other.type);
      if (distance > bestDistance) break;
    }
    if (distance < bestDistance || (distance === bestDistance && lack(missing) > lack(best.missing))) {
      best = { entry, missing, hasExtra: distance >= EXTRA };
      bestDistance = distance;
      if (distance === 0) break;
    }
  }
  return best;
}

const quote = (text) => (/[A-Za-z']/.test(text) ? `'${text.replaceAll("'", "''")}'` : text);

/** The pattern with its fields as wide as wanted (DateTimePatternGenerator::adjustFieldTypes). */
function adjust({ pattern, skeleton, specified }, wanted, fraction) {
  let out = '';
  for (const token of tokens(pattern)) {
    if (typeof token === 'string') {
      out += quote(token);
      continue;
    }
    const field = fieldOf(token.char), asked = wanted[field];
    let { char, length } = token;
    if (asked !== undefined && field !== 8 && field !== 9 && field !== 6) {
      const askedLength = asked.char === 'E' && asked.length < 3 ? 3 : asked.length;
      const own = skeleton[field];
      let adjusted = askedLength;
      if (specified && own !== undefined) {
        const isNumeric = typeOf(char, length) > 0, isSkeletonNumeric = own.type > 0;
        if (own.length === askedLength || isNumeric !== isSkeletonNumeric) adjusted = length;
      }
      if (field !== 3 && field !== 4 && field !== 7) char = asked.char;
      length = adjusted;
    } else if (asked !== undefined && field === 6) {
      if (asked.char === 'B' || char === 'B') [char, length] = [asked.char, asked.length];
    }
    out += char.repeat(length);
    if (field === 9 && fraction) out += `${fraction.point}${'S'.repeat(fraction.length)}`;
  }
  return out;
}

function appended(data, wanted, mask, point) {
  if (!mask.some((i) => wanted[i] !== undefined)) return '';
  let { entry, missing } = nearest(data, wanted, mask);
  const fraction = missing.includes(10) && wanted[9] ? { point, length: wanted[10].length } : undefined;
  if (fraction) missing = missing.filter((i) => i !== 10);
  let out = adjust(entry, wanted, fraction);
  while (missing.length > 0) {
    const more = nearest(data, wanted, missing);
    if (more.missing.length === missing.length) break;
    out = `${out} ${adjust(more.entry, wanted, undefined)}`;
    missing = more.missing;
  }
  return out;
}

/** How a locale joins a date and a time. `style`: full, long, medium or short. */
export function join(data, style, date, time) {
  const { joined, dateTimeFormat } = section(data, 'd');
  const language = data.split('-')[0];
  const glue = style === 'full' && language === 'es' ? dateTimeFormat.full : style === 'full' || style === 'long' ? joined : dateTimeFormat[style];
  return glue.replace(/\{([01])\}/g, (_, which) => (which === '0' ? time : date));
}

/** The pattern for a skeleton such as "yMMMdjm" without j: DateTimePatternGenerator::getBestPattern. */
export function bestPattern(data, skeleton, point) {
  const wanted = readSkeleton(fieldsIn(skeleton));
  const all = FIELDS.map((_, i) => i);
  const whole = nearest(data, wanted, all);
  if (whole.missing.length === 0 && !whole.hasExtra) return adjust(whole.entry, wanted, undefined);
  const date = appended(data, wanted, all.slice(0, DATE_FIELDS), point), time = appended(data, wanted, all.slice(DATE_FIELDS), point);
  if (date === '' || time === '') return date || time;
  const month = wanted[3]?.length ?? 0;
  return join(data, month === 4 ? (wanted[4] ? 'full' : 'long') : month === 3 ? 'medium' : 'short', date, time);
}

/** The skeleton of a pattern, with another letter for its hour. */
export function skeletonOf(pattern, hour) {
  return fieldsIn(pattern).filter(({ char }) => !'ab'.includes(char))
    .map(({ char, length }) => ('hHkK'.includes(char) ? hour ?? char : char).repeat(length)).join('');
}

/** The interval pattern for a skeleton where `field` is the greatest that differs, or undefined. */
export function intervalPattern(data, skeleton, field) {
  const patterns = section(data, 'i');
  const wanted = readSkeleton(fieldsIn(skeleton));
  let best, bestDistance = Infinity;
  for (const key of Object.keys(patterns)) {
    if (key === 'fallback') continue;
    const own = readSkeleton(fieldsIn(key));
    let distance = 0;
    for (let i = 0; i < FIELDS.length; i++) {
      if ((own[i] === undefined) !== (wanted[i] === undefined)) distance = Infinity;
      else if (own[i]) distance += Math.abs(own[i].type - wanted[i].type);
    }
    if (distance < bestDistance) [best, bestDistance] = [{ key, own }, distance];
  }
  const pattern = best && patterns[best.key][field];
  if (pattern === undefined) return undefined;
  return tokens(pattern).map((token) => {
    if (typeof token === 'string') return quote(token);
    const i = fieldOf(token.char), asked = wanted[i], own = best.own[i];
    const isWider = asked && own && i !== 6 && asked.length !== own.length && (asked.type > 0) === (own.type > 0) && token.length === own.length;
    return token.char.repeat(isWider || (i === 3 && asked?.length > 3 && token.length === 3) || (i === 4 && asked?.length > 3) ? asked.length : token.length);
  }).join('');
}
export const intervalFallback = (data) => section(data, 'i').fallback;
