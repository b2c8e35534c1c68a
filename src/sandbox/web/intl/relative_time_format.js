// Intl.RelativeTimeFormat (ECMA-402, section 17).
import { pluralRules } from './packed.js';
import { section } from './data.js';
import { choice, finish, numberingSystem, optionsOnly, optionsObject, resolveLocale } from './locale.js';
import { NumberFormat } from './number_format.js';

const OWNER = 'Intl.RelativeTimeFormat';
const UNITS = ['second', 'minute', 'hour', 'day', 'week', 'month', 'quarter', 'year'];

export class RelativeTimeFormat {
  #o;
  #data;
  #numbers;
  constructor(locales, given) {
    const { locale, data, keys } = resolveLocale(locales);
    const options = optionsObject(given, OWNER);
    const system = numberingSystem(options, keys, OWNER);
    const style = choice(options, 'style', ['long', 'short', 'narrow'], 'long', OWNER);
    const numeric = choice(options, 'numeric', ['always', 'auto'], 'always', OWNER);
    this.#o = { locale, style, numeric, numberingSystem: system };
    this.#data = data;
    this.#numbers = new NumberFormat(locale, { numberingSystem: system });
  }
  #parts(value, unit, method) {
    const number = Number(value), name = String(unit).replace(/s$/, '');
    if (!UNITS.includes(name)) throw new RangeError(`Invalid unit argument for ${OWNER}.prototype.${method}() '${unit}'`);
    if (!Number.isFinite(number)) throw new RangeError(`Value need to be finite number for ${OWNER}.prototype.${method}()`);
    const { style, numeric } = this.#o;
    const forms = section(this.#data, 'r')[style === 'long' ? name : `${name}-${style}`];
    const fixed = numeric === 'auto' ? forms[Object.is(number, -0) ? '-0' : String(number)] ?? forms[String(number)] : undefined;
    if (fixed !== undefined) return [{ type: 'literal', value: fixed }];
    const isPast = number < 0 || Object.is(number, -0);
    const parts = this.#numbers.formatToParts(Math.abs(number));
    const digits = (type) => parts.filter((part) => part.type === type).map((part) => part.value).join('');
    const rules = pluralRules[this.#data] ?? pluralRules[this.#data.split('-')[0]];
    const fraction = digits('fraction');
    const category = rules.of(fraction === '' ? digits('integer') : `${digits('integer')}.${fraction}`, false, 0);
    const pattern = forms[isPast ? 'past' : 'future'];
    const [before, after] = (pattern[category] ?? pattern.other).split('{0}');
    const out = parts.map((part) => ({ ...part, unit: name }));
    if (before) out.unshift({ type: 'literal', value: before });
    if (after) out.push({ type: 'literal', value: after });
    return out;
  }
  format(value, unit) {
    return this.#parts(value, unit, 'format').map((part) => part.value).join('');
  }
  formatToParts(value, unit) {
    return this.#parts(value, unit, 'formatToParts');
  }
  resolvedOptions() {
    return { ...this.#o };
  }
}
finish(RelativeTimeFormat, 'RelativeTimeFormat');
export { optionsOnly };
