// Intl.Segmenter (ECMA-402, section 18): UAX 29 for graphemes, its plain cases for words and sentences; no dictionary for Chinese
// and Japanese words.
import { choice, finish, optionsOnly, resolveLocale } from './locale.js';

const OWNER = 'Intl.Segmenter';
const EXTEND = '[\\p{M}\\u200c\\u200d\\u{1f3fb}-\\u{1f3ff}\\u{e0020}-\\u{e007f}]';
const EMOJI = `\\p{Extended_Pictographic}(?:[\\p{M}\\u{1f3fb}-\\u{1f3ff}\\u{e0020}-\\u{e007f}]*\\u200d\\p{Extended_Pictographic})*`;
const HANGUL = '[\\u1100-\\u115f\\ua960-\\ua97c]*(?:[\\uac00-\\ud7a3][\\u1160-\\u11a7\\ud7b0-\\ud7c6]*|[\\u1160-\\u11a7\\ud7b0-\\ud7c6]+)?[\\u11a8-\\u11ff\\ud7cb-\\ud7fb]*';
const VIRAMA = '\\u094d\\u09cd\\u0acd\\u0b4d\\u0c4d\\u0d4d'; // a letter behind one of these belongs to the letter before it
const GRAPHEME = `\\r\\n|[\\p{Cc}\\u2028\\u2029]|(?:\\p{RI}\\p{RI}|${EMOJI}|(?=[\\u1100-\\u11ff\\ua960-\\ua97c\\uac00-\\ud7fb])${HANGUL}|[^\\r\\n])(?:${EXTEND}|(?<=[${VIRAMA}]\\p{M}*)\\p{Lo})*`;
const makers = {
  grapheme: () => new RegExp(GRAPHEME, 'gsu'),
  word: () => {
    const letter = '(?:(?![\\p{Ideographic}\\p{sc=Hiragana}\\p{sc=Katakana}])[\\p{Alphabetic}\\u200d])[\\p{M}\\u200d]*', digit = '\\p{Nd}\\p{M}*';
    const part = `(?:${letter}|${digit}|_)`;
    return new RegExp(`(?:${part})(?:${part}|(?<=\\p{Alphabetic}\\p{M}*)['’.:·](?=\\p{Alphabetic})|(?<=\\p{Nd})['’.,;](?=\\p{Nd}))*|\\p{sc=Katakana}[\\p{sc=Katakana}ー]*|\\p{RI}\\p{RI}|`
      + `${EMOJI}${EXTEND}*|\\r\\n|[ \\u2000-\\u200a\\u3000]+|[^]${EXTEND}*`, 'gsu');
  },
  sentence: () => new RegExp('[^]*?(?:[.!?。！？…]+["\'”’»)\\]]*(?:\\s+|$|(?<=[。！？]["\'”’»)\\]]*))|[\\r\\n\\u2028\\u2029]+|$)', 'gsu'),
};

function* segments(text, granularity) {
  for (const { 0: segment, index } of text.matchAll(makers[granularity]())) {
    if (segment === '') continue;
    const it = { segment, index, input: text };
    if (granularity === 'word') it.isWordLike = /[\p{Alphabetic}\p{Nd}]/u.test(segment);
    yield it;
  }
}

class Segments {
  #text;
  #granularity;
  constructor(text, granularity) {
    this.#text = text;
    this.#granularity = granularity;
  }
  containing(index = 0) {
    const at = Math.trunc(Number(index)) || 0;
    if (at < 0 || at >= this.#text.length) return undefined;
    for (const it of segments(this.#text, this.#granularity)) if (at < it.index + it.segment.length) return it;
    return undefined;
  }
  [Symbol.iterator]() {
    return segments(this.#text, this.#granularity);
  }
}

export class Segmenter {
  #o;
  constructor(locales, given) {
    const { locale } = resolveLocale(locales);
    const options = optionsOnly(given);
    this.#o = { locale, granularity: choice(options, 'granularity', ['grapheme', 'word', 'sentence'], 'grapheme', OWNER) };
  }
  segment(text) {
    return new Segments(String(text), this.#o.granularity);
  }
  resolvedOptions() {
    return { ...this.#o };
  }
}
finish(Segmenter, 'Segmenter');
