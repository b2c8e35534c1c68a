// Intl.PluralRules (ECMA-402, section 16); the rules are CLDR's, as functions.
import { pluralRules } from './packed.js';
import { readDigitOptions, roundBy, toDecimal } from './decimal.js';
import { choice, finish, numberChoice, optionsObject, resolveLocale } from './locale.js';

const OWNER = 'Intl.PluralRules';
const ORDER = ['few', 'many', 'one', 'two', 'zero', 'other'];

function categoryOf({ o, rules }, value) {
  const decimal = toDecimal(value);
  if (decimal.special !== undefined) return 'other';
  const { integer, fraction } = roundBy(decimal, o);
  return rules.of(fraction === '' ? integer : `${integer}.${fraction}`, o.type === 'ordinal', 0);
}

export class PluralRules {
  #inner;
  constructor(locales, given) {
    const { locale, data } = resolveLocale(locales);
    const options = optionsObject(given, OWNER);
    const type = choice(options, 'type', ['cardinal', 'ordinal'], 'cardinal', OWNER);
    const digits = readDigitOptions(options, 0, 3, false, { choice, numberChoice }, OWNER);
    this.#inner = { rules: pluralRules[data] ?? pluralRules[data.split('-')[0]], o: { locale: data === 'pt-PT' ? data : locale.split('-')[0], type, ...digits } };
  }
  select(value) {
    return categoryOf(this.#inner, value);
  }
  selectRange(start, end) {
    if (start === undefined) throw new TypeError('Invalid start : undefined');
    if (end === undefined) throw new TypeError('Invalid end : undefined');
    if (Number.isNaN(Number(start))) throw new RangeError('Invalid start : NaN');
    if (Number.isNaN(Number(end))) throw new RangeError('Invalid end : NaN');
    const { rules, o } = this.#inner;
    const a = categoryOf(this.#inner, start), b = categoryOf(this.#inner, end);
    return rules.ranges[o.type]?.[`${a}_${b}`] ?? b;
  }
  resolvedOptions() {
    const { rules, o } = this.#inner;
    const { roundingIncrement, roundingMode, roundingPriority, trailingZeroDisplay, ...first } = o;
    const categories = rules.categories[o.type];
    return { ...first, pluralCategories: ORDER.filter((it) => categories.includes(it)), roundingIncrement, roundingMode, roundingPriority, trailingZeroDisplay };
  }
}
finish(PluralRules, 'PluralRules');
