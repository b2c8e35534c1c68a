// Intl.Collator (ECMA-402, section 10): the order of CLDR's root collation for the scripts that the ten languages use. Han
// characters are in the order of their code points (docs/internals/intl.md).
import { choice, finish, optionsObject, resolveLocale } from './locale.js';

const OWNER = 'Intl.Collator';
const PUNCTUATION = `_‿-‐‑‒–—―,;:!¡?¿.…·'‘’‚‹›"“”„«»()[]{}§¶@*/\\&#%‰†‡•`, SYMBOLS = '`´˜^¯¨°©®+±÷×<=>|¦~¬', MONEY = '¤¢$£¥€';
const ACCENTS = '\u0301\u0300\u0306\u0302\u030c\u030a\u0308\u030b\u0303\u0307\u0338\u0327\u0328\u0304\u3099\u309a';
// Letters that are others with a mark, or two letters; what is behind the slash is the mark.
const EXPANSIONS = { ß: 'ss', ẞ: 'SS', æ: 'ae', Æ: 'AE', œ: 'oe', Œ: 'OE', ø: 'o\u0338', Ø: 'O\u0338', ł: 'l\u0338', Ł: 'L\u0338', ĳ: 'ij', Ĳ: 'IJ', ﬁ: 'fi', ﬂ: 'fl',
  '½': '1/2', 'ª': 'a', 'º': 'o', '²': '2', '³': '3', '¹': '1', '…': '...' };
const EXPANDED = '\u0000'; // behind letters that stand for another
const SPACE = 1, MARK = 2, SYMBOL = 3, CURRENCY = 4, DIGIT = 5, LATIN = 10, OTHER = 12, KANA = 17, HANGUL = 16, HAN = 19;
const ORDER = { ja: { [KANA]: 10.3, [HAN]: 10.6 }, ko: { [HANGUL]: 9.3, [HAN]: 9.6 }, zh: { [HAN]: 9.5 } };
const SCALE = 0x200000;

function kind(char, code) {
  if (/\s/.test(char)) return [SPACE, code];
  let at = PUNCTUATION.indexOf(char);
  if (at >= 0) return [MARK, at];
  at = SYMBOLS.indexOf(char);
  if (at >= 0) return [SYMBOL, at];
  at = MONEY.indexOf(char);
  if (at >= 0) return [CURRENCY, at];
  if (/\p{Nd}/u.test(char)) return [DIGIT, digitOf(char, code)];
  if (/\p{Script=Latin}/u.test(char)) return [LATIN, char.toLowerCase().codePointAt(0)];
  if (/[\u3041-\u30fe]/.test(char)) return [KANA, kana(code)];
  if (/\p{Script=Hangul}/u.test(char)) return [HANGUL, code];
  if (/\p{Script=Han}/u.test(char)) return [HAN, code];
  if (/\p{Sc}/u.test(char)) return [CURRENCY, 100 + (code % 0x1000)];
  if (/\p{P}/u.test(char)) return [MARK, 1000 + code];
  if (/\p{S}/u.test(char)) return [SYMBOL, 1000 + code];
  return [OTHER, char.toLowerCase().codePointAt(0)];
}
function digitOf(char, code) {
  let zero = code;
  while (zero > code - 10 && /\p{Nd}/u.test(String.fromCodePoint(zero - 1))) zero--;
  return char <= '9' ? code - 0x30 : (code - zero) % 10;
}
const SMALL = 'ぁぃぅぇぉっゃゅょゎ', LARGE = 'あいうえおつやゆよわ';
function kana(code) {
  const char = String.fromCodePoint(code >= 0x30a1 && code <= 0x30f6 ? code - 0x60 : code);
  const small = SMALL.indexOf(char);
  return (small >= 0 ? LARGE[small] : char).codePointAt(0);
}
// Lower case, small kana, hiragana first.
const UPPER = 9;
const thirdOf = (char, code) => (char !== char.toLowerCase() ? UPPER : code >= 0x30a1 && code <= 0x30f6 ? 2 : SMALL.includes(char) ? 0 : code >= 0x3041 && code <= 0x3096 ? 1 : 0);

function numberAt(text, start) {
  let end = start;
  while (end < text.length && text[end] >= '0' && text[end] <= '9') end++;
  return text.slice(start, end);
}

export class Keys {
  constructor(language, { numeric, ignorePunctuation }) {
    this.language = language;
    this.numeric = numeric;
    this.ignorePunctuation = ignorePunctuation;
    this.keys = new Map();
    this.weights = new Map();
  }
  weight(char) {
    let it = this.weights.get(char);
    if (it === undefined) {
      const code = char.codePointAt(0), [type, order] = kind(char, code);
      const rank = ORDER[this.language]?.[type] ?? type;
      it = { type, primary: Math.round(rank * 100) * SCALE + order * 2, third: thirdOf(char, code) };
      this.weights.set(char, it);
    }
    return it;
  }
  /** {first, second, third}: what two texts are compared by, level by level. */
  of(text) {
    let key = this.keys.get(text);
    if (key === undefined) {
      if (this.keys.size > 2000) this.keys.clear();
      key = this.make(text);
      this.keys.set(text, key);
    }
    return key;
  }
  make(text) {
    const first = [], second = [], third = [];
    const plain = /^[\x00-\x7f]*$/.test(text) ? text : text.replace(/[ßẞæÆœŒøØłŁĳĲﬁﬂ½ªº²³¹…]/g, (it) => EXPANSIONS[it] + EXPANDED).normalize('NFD');
    for (let i = 0; i < plain.length;) {
      const char = String.fromCodePoint(plain.codePointAt(i));
      i += char.length;
      const code = char.codePointAt(0);
      if (char === EXPANDED && third.length) third[third.length - 1] += 4;
      if (code < 32 && !/\s/.test(char)) continue;
      if (code > 0x2ff && /\p{M}/u.test(char)) {
        if (this.language === 'es' && char === '\u0303' && (plain[i - 2] === 'n' || plain[i - 2] === 'N')) first[first.length - 1] += 1;
        else if (second.length) second[second.length - 1] += String.fromCharCode(1 + (ACCENTS.indexOf(char) >= 0 ? ACCENTS.indexOf(char) : 100 + code));
        continue;
      }
      const { type, primary, third: level } = this.weight(char);
      if (this.ignorePunctuation && (type === SPACE || type === MARK)) continue;
      if (this.numeric && char >= '0' && char <= '9') {
        const digits = numberAt(plain, i - 1), bare = digits.replace(/^0+(?=.)/, '');
        i += digits.length - 1;
        first.push(this.weight('0').primary, bare.length, ...[...bare].map(Number));
      } else first.push(primary);
      second.push('');
      third.push(level);
    }
    return { first, second: second.join('\u0000'), third };
  }
}

const compareLists = (a, b) => {
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i++) if (a[i] !== b[i]) return a[i] < b[i] ? -1 : 1;
  return Math.sign(a.length - b.length);
};

function compare({ keys, o }, left, right) {
  if (left === right) return 0;
  const a = keys.of(left), b = keys.of(right);
  const first = compareLists(a.first, b.first);
  if (first !== 0 || o.sensitivity === 'base') return first;
  if (o.sensitivity !== 'case' && a.second !== b.second) return a.second < b.second ? -1 : 1;
  if (o.sensitivity === 'accent') return 0;
  const third = o.caseFirst === 'upper' ? ({ third }) => third.map((it) => (it >= UPPER ? it - 2 * UPPER : it)) : ({ third }) => third;
  return compareLists(third(a), third(b));
}

const inner = new WeakMap();
export function Collator(locales, given) {
  const it = Object.create(new.target === undefined ? Collator.prototype : new.target.prototype);
  const { locale, keys } = resolveLocale(locales);
  const options = optionsObject(given, OWNER);
  const usage = choice(options, 'usage', ['sort', 'search'], 'sort', OWNER);
  const numeric = options.numeric === undefined ? keys.kn !== undefined && keys.kn !== 'false' : Boolean(options.numeric);
  const caseFirst = choice(options, 'caseFirst', ['upper', 'lower', 'false'], ['upper', 'lower'].includes(keys.kf) ? keys.kf : 'false', OWNER);
  const sensitivity = choice(options, 'sensitivity', ['base', 'accent', 'case', 'variant'], 'variant', OWNER);
  const ignorePunctuation = Boolean(options.ignorePunctuation);
  const used = [keys.kf !== undefined && keys.kf === caseFirst ? `-kf-${caseFirst}` : '', keys.kn !== undefined && options.numeric === undefined ? '-kn' : ''].join('');
  const o = { locale: used ? `${locale}-u${used}` : locale, usage, sensitivity, ignorePunctuation, collation: 'default', numeric, caseFirst };
  inner.set(it, { o, keys: new Keys(locale.split('-')[0], o) });
  return it;
}
const of = (it, method) => {
  const found = inner.get(it);
  if (found === undefined) throw new TypeError(`Method Intl.Collator.prototype.${method} called on incompatible receiver ${typeof it === 'object' && it !== null ? '#<Object>' : String(it)}`);
  return found;
};
const methods = {
  get compare() {
    const it = of(this, 'compare');
    return it.bound ??= (a, b) => compare(it, String(a), String(b));
  },
  resolvedOptions() {
    return { ...of(this, 'resolvedOptions').o };
  },
};
for (const name of Object.keys(methods)) {
  Object.defineProperty(Collator.prototype, name, { ...Object.getOwnPropertyDescriptor(methods, name), enumerable: false });
}
Object.defineProperty(Collator, 'length', { value: 0, configurable: true });
finish(Collator, 'Collator');
