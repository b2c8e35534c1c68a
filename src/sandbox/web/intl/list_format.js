// Intl.ListFormat (ECMA-402, section 13).
import { section } from './data.js';
import { choice, finish, optionsOnly, resolveLocale } from './locale.js';

const OWNER = 'Intl.ListFormat';

// Spanish: "y" is "e" before a sound of i, "o" is "u" before a sound of o (as ICU has it).
function spanish(pattern, next) {
  if (pattern.includes(' y ') && /^(?:i|hi(?!e|a)|y$)/i.test(next)) return pattern.replace(' y ', ' e ');
  if (pattern.includes(' o ') && /^(?:o|ho|8|11(?!\d))/i.test(next)) return pattern.replace(' o ', ' u ');
  return pattern;
}

export class ListFormat {
  #o;
  #data;
  constructor(locales, given) {
    const { locale, data } = resolveLocale(locales);
    const options = optionsOnly(given);
    const type = choice(options, 'type', ['conjunction', 'disjunction', 'unit'], 'conjunction', OWNER);
    const style = choice(options, 'style', ['long', 'short', 'narrow'], 'long', OWNER);
    this.#o = { locale, type, style };
    this.#data = data;
  }
  #parts(list) {
    const items = [];
    for (const item of list ?? []) {
      if (typeof item !== 'string') throw new TypeError(`Iterable yielded ${String(item)} which is not a string`);
      items.push(item);
    }
    const { type, style } = this.#o;
    const patterns = section(this.#data, 'l')[type][style];
    const isSpanish = this.#data.split('-')[0] === 'es';
    const out = [];
    const literal = (value) => value && out.push({ type: 'literal', value });
    items.forEach((value, i) => {
      if (i > 0) {
        const name = items.length === 2 ? 'pair' : i === 1 ? 'start' : i === items.length - 1 ? 'end' : 'middle';
        const pattern = isSpanish ? spanish(patterns[name], value) : patterns[name];
        literal(/\{0\}(.*)\{1\}/s.exec(pattern)[1]);
      }
      out.push({ type: 'element', value });
    });
    if (items.length > 1) {
      const last = items.length === 2 ? patterns.pair : patterns.end;
      literal(/\{1\}(.*)$/s.exec(last)[1]);
    }
    return out;
  }
  format(list) {
    return this.#parts(list).map((part) => part.value).join('');
  }
  formatToParts(list) {
    return this.#parts(list);
  }
  resolvedOptions() {
    return { ...this.#o };
  }
}
finish(ListFormat, 'ListFormat');
