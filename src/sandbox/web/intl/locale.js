// Language tags (BCP 47) and which locale a formatter uses (ECMA-402, ResolveLocale), with V8's messages.
import { hasLocale } from './data.js';

const TAG = /^(?:[a-z]{2,3}|[a-z]{5,8})(?:-[a-z]{4})?(?:-(?:[a-z]{2}|\d{3}))?(?:-(?:[a-z\d]{5,8}|\d[a-z\d]{3}))*(?:-[a-wyz\d](?:-[a-z\d]{2,8})+)*(?:-x(?:-[a-z\d]{1,8})+)?$/i;
const LANGUAGES = { iw: 'he', in: 'id', ji: 'yi', jw: 'jv', mo: 'ro', tl: 'fil', no: 'no', cmn: 'zh', eng: 'en', deu: 'de', fra: 'fr', spa: 'es',
  por: 'pt', ita: 'it', nld: 'nl', jpn: 'ja', zho: 'zh', kor: 'ko', sh: 'sr-Latn' };
const REGIONS = { UK: 'GB', BU: 'MM', DD: 'DE', FX: 'FR', TP: 'TL', YD: 'YE', ZR: 'CD' };
// Where a tag that names no script or region means this data.
const REGION_OF = { 'zh-TW': 'zh-Hant', 'zh-HK': 'zh-Hant', 'zh-MO': 'zh-Hant', 'zh-Hant-TW': 'zh-Hant', 'zh-Hant-HK': 'zh-Hant' };
const LATIN_AMERICA = ' AR BO CL CO CR CU DO EC GT HN NI PA PE PR PY SV UY VE BR BZ ';
const COMMONWEALTH = ' AE AG AI AT BB BE BM BS BW BZ CC CH CK CM CX CY DE DG DK DM ER FI FJ FK FM GD GG GH GI GM GY HK IL IM IO JE JM KE KI KN KY LC LR LS MG MO MS MT MU MV MW MY NA NF NG NL NR NU PG PK PN PW RW SB SC SD SE SG SH SI SL SS SX SZ TC TK TO TT TV TZ UG VC VG VU WS ZM ZW ';
const DEFAULT = 'en-US';
const notes = { log: undefined, told: false };
const title = (text) => text[0].toUpperCase() + text.slice(1).toLowerCase();

function keywords(parts) {
  const out = [];
  for (let i = 0; i < parts.length;) {
    let end = i + 1;
    while (end < parts.length && parts[end].length > 2) end++;
    const values = parts.slice(i + 1, end);
    out.push([parts[i], values.length === 1 && (values[0] === 'true' || values[0] === 'yes') ? [] : values]);
    i = end;
  }
  return out;
}

function extension(parts) {
  if (parts[0] !== 'u') return parts.join('-');
  let start = 1;
  while (start < parts.length && parts[start].length > 2) start++;
  const seen = new Map();
  for (const [key, values] of keywords(parts.slice(start))) if (!seen.has(key)) seen.set(key, values);
  const sorted = [...seen].sort(([a], [b]) => (a < b ? -1 : 1));
  return ['u', ...parts.slice(1, start).sort(), ...sorted.flatMap(([key, values]) => [key, ...values])].join('-');
}

/** The canonical form of a tag. Errors: RangeError. */
export function canonicalTag(text) {
  if (!TAG.test(text)) throw new RangeError('Incorrect locale information provided');
  const parts = text.toLowerCase().split('-');
  const out = [LANGUAGES[parts[0]] ?? parts[0]];
  let i = 1;
  const variants = [], extensions = [];
  while (i < parts.length && parts[i].length > 1) {
    const part = parts[i++];
    if (part.length === 4 && /^[a-z]/.test(part)) out.push(title(part));
    else if (part.length < 4) out.push(REGIONS[part.toUpperCase()] ?? part.toUpperCase());
    else variants.push(part);
  }
  if (new Set(variants).size < variants.length) throw new RangeError('Incorrect locale information provided');
  while (i < parts.length) {
    let end = i + 1;
    if (parts[i] === 'x') end = parts.length;
    else while (end < parts.length && parts[end].length > 1) end++;
    extensions.push(parts.slice(i, end));
    i = end;
  }
  const own = extensions.filter(([letter]) => letter === 'x');
  const others = extensions.filter(([letter]) => letter !== 'x').sort(([a], [b]) => (a < b ? -1 : 1));
  if (new Set(others.map(([letter]) => letter)).size < others.length) throw new RangeError('Incorrect locale information provided');
  return [...out, ...variants.sort(), ...others.map(extension), ...own.map((it) => it.join('-'))].join('-');
}

/** ECMA-402, CanonicalizeLocaleList. */
export function canonicalList(locales) {
  if (locales === undefined) return [];
  if (typeof locales === 'string') return [canonicalTag(locales)];
  if (locales === null) throw new TypeError('Cannot convert undefined or null to object');
  if (isLocale(locales)) return [locales.toString()];
  const seen = new Set(), list = Object(locales), length = Math.min(Math.trunc(Number(list.length)) || 0, 2 ** 31);
  for (let i = 0; i < length; i++) {
    if (!(i in list)) continue;
    const tag = list[i];
    if (typeof tag !== 'string' && (typeof tag !== 'object' || tag === null)) throw new TypeError('Language ID should be string or object.');
    seen.add(canonicalTag(String(tag)));
  }
  return [...seen];
}

const isLocale = (value) => typeof value === 'object' && value !== null && value[Symbol.toStringTag] === 'Intl.Locale';
const own = (tag) => (hasLocale(tag) ? tag : undefined);

/** The key of the data for a tag without extensions, or undefined. */
function dataOf(tag) {
  const [language, ...rest] = tag.split('-');
  const region = rest.find((part) => part.length === 2 || /^\d{3}$/.test(part));
  if (hasLocale(tag)) return tag;
  if (REGION_OF[tag] || (language === 'zh' && rest[0] === 'Hant')) return 'zh-Hant';
  if (language === 'es' && LATIN_AMERICA.includes(` ${region} `)) return 'es-419';
  if (language === 'en' && (COMMONWEALTH.includes(` ${region} `) || region === '001' || region === '150')) return 'en-GB';
  if (language === 'pt' && region && region !== 'BR') return 'pt-PT';
  return own(region ? `${language}-${region}` : language) ?? own(language);
}

/** The locale to use: {locale (as resolvedOptions says it), data (the key of its data), keys (u extension)}. */
export function resolveLocale(locales) {
  const list = canonicalList(locales);
  for (const full of list) {
    const [tag, unicode = ''] = full.split(/-[ut]-|-x-/);
    const data = dataOf(tag);
    if (data !== undefined) {
      const keys = Object.fromEntries(keywords(/-u-/.test(full) ? unicode.split(/-[a-z]-/)[0].split('-') : []).map(([key, values]) => [key, values.join('-')]));
      return { locale: tag, data, keys };
    }
  }
  if (list.length > 0 && !notes.told && notes.log !== undefined) {
    notes.told = true;
    notes.log(`Intl: there is no data for the locale "${list[0]}"; English is used. There are en, de, fr, es, pt, it, nl, ja, zh, ko.`);
  }
  return { locale: DEFAULT, data: 'en', keys: {} };
}

/** Where a run is told that a locale fell back. */
export const tellBy = (log) => { notes.log = log; };

export function supportedLocalesOf(locales, options) {
  const list = canonicalList(locales);
  if (options !== undefined) choice(Object(options), 'localeMatcher', ['lookup', 'best fit'], 'best fit', 'Intl');
  return list.filter((tag) => dataOf(tag.split(/-[ut]-|-x-/)[0]) !== undefined);
}

/** ECMA-402, GetOption for strings. */
export function choice(options, name, values, otherwise, owner) {
  const value = options[name];
  if (value === undefined) return otherwise;
  const text = String(value);
  if (values !== undefined && !values.includes(text)) throw new RangeError(`Value ${text} out of range for ${owner} options property ${name}`);
  return text;
}

/** ECMA-402, GetNumberOption. */
export function numberChoice(options, name, least, most, otherwise) {
  const value = options[name];
  if (value === undefined) return otherwise;
  const number = Number(value);
  if (!(number >= least && number <= most)) throw new RangeError(`${name} value is out of range.`);
  return Math.floor(number);
}

/** ECMA-402, CoerceOptionsToObject and GetOptionsObject. */
export function optionsObject(options, owner) {
  if (options === undefined) return Object.create(null);
  if (options === null) throw new TypeError(`${owner} called on null or undefined`);
  return Object(options);
}
export function optionsOnly(options) {
  if (options === undefined) return Object.create(null);
  if (typeof options !== 'object' && typeof options !== 'function' || options === null) throw new TypeError('Incorrect options argument');
  return options;
}

/** What all constructors have: name in toString, supportedLocalesOf, methods that are not enumerable. */
export function finish(constructor, name) {
  Object.defineProperty(constructor, 'name', { value: name, configurable: true }); // the bundle's names are short
  Object.defineProperty(constructor, 'supportedLocalesOf', { value: (locales, options) => supportedLocalesOf(locales, options), writable: true, configurable: true });
  Object.defineProperty(constructor.prototype, Symbol.toStringTag, { value: `Intl.${name}`, configurable: true });
  return constructor;
}

/** The digits of a numbering system, or undefined for latn and those unknown. */
const ZERO = { arab: 0x660, arabext: 0x6f0, beng: 0x9e6, deva: 0x966, fullwide: 0xff10, gujr: 0xae6, guru: 0xa66, khmr: 0x17e0, knda: 0xce6,
  laoo: 0xed0, mlym: 0xd66, mong: 0x1810, mymr: 0x1040, orya: 0xb66, tamldec: 0xbe6, telu: 0xc66, thai: 0xe50, tibt: 0xf20 };
export const numberingSystems = ['hanidec', 'latn', ...Object.keys(ZERO)].sort();
export function numberingSystem(options, keys, owner) {
  const asked = options.numberingSystem;
  if (asked !== undefined && !/^[a-z\d]{3,8}(-[a-z\d]{3,8})*$/i.test(String(asked))) throw new RangeError(`Invalid numberingSystem : ${asked}`);
  const found = [asked, keys.nu].find((it) => it !== undefined && numberingSystems.includes(String(it)));
  return found === undefined ? 'latn' : String(found);
}
export function nativeDigits(system) {
  if (system === 'latn') return undefined;
  if (system === 'hanidec') return [...'〇一二三四五六七八九'];
  return Array.from({ length: 10 }, (_, n) => String.fromCodePoint(ZERO[system] + n));
}
