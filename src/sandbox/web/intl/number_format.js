// Intl.NumberFormat (ECMA-402, section 15), with ICU's patterns (UTS 35, part 3).
import { pluralRules } from './packed.js';
import { section } from './data.js';
import { isZero, readDigitOptions, roundBy, shift, toDecimal } from './decimal.js';
import { choice, finish, nativeDigits, numberChoice, numberingSystem, optionsObject, resolveLocale } from './locale.js';

const OWNER = 'Intl.NumberFormat';
const NO_DIGITS = ' AFN ALL BIF CLP COP DJF GNF HUF IDR IQD IRR ISK JPY KMF KPW KRW LAK LBP MGA MMK MRO PYG RSD RWF SLL SOS STN SYP UGX UYI VND VUV XAF XOF XPF YER ZMK ';
const ISO_DIGITS = { BIF: 0, CLP: 0, DJF: 0, GNF: 0, ISK: 0, JPY: 0, KMF: 0, KRW: 0, PYG: 0, RWF: 0, UGX: 0, UYI: 0, VND: 0, VUV: 0, XAF: 0, XOF: 0, XPF: 0,
  BHD: 3, IQD: 3, JOD: 3, KWD: 3, LYD: 3, OMR: 3, TND: 3, CLF: 4, UYW: 4 };
export const currencyDigits = (code) => ISO_DIGITS[code] ?? (NO_DIGITS.includes(` ${code} `) ? 0 : 2);

export const units = ['acre', 'bit', 'byte', 'celsius', 'centimeter', 'day', 'degree', 'fahrenheit', 'fluid-ounce', 'foot', 'gallon', 'gigabit', 'gigabyte',
  'gram', 'hectare', 'hour', 'inch', 'kilobit', 'kilobyte', 'kilogram', 'kilometer', 'liter', 'megabit', 'megabyte', 'meter', 'microsecond', 'mile',
  'mile-scandinavian', 'milliliter', 'millimeter', 'millisecond', 'minute', 'month', 'nanosecond', 'ounce', 'percent', 'petabyte', 'pound', 'second',
  'stone', 'terabit', 'terabyte', 'week', 'yard', 'year'];

const isUnit = (unit) => {
  const [first, second, more] = unit.split('-per-');
  return units.includes(first) && (second === undefined || units.includes(second)) && more === undefined;
};

// --- Options ----------------------------------------------------------------------------------------------------------
function readUnit(options, style, o) {
  const code = options.currency;
  if (code !== undefined && !/^[a-z]{3}$/i.test(String(code))) throw new RangeError(`Invalid currency code : ${code}`);
  if (code === undefined && style === 'currency') throw new TypeError('Currency code is required with currency style.');
  const display = choice(options, 'currencyDisplay', ['code', 'symbol', 'narrowSymbol', 'name'], 'symbol', OWNER);
  const sign = choice(options, 'currencySign', ['standard', 'accounting'], 'standard', OWNER);
  const unit = options.unit === undefined ? undefined : String(options.unit);
  if (unit === undefined && style === 'unit') throw new TypeError("Invalid unit argument for Intl.NumberFormat() ''");
  if (unit !== undefined && !isUnit(unit)) throw new RangeError(`Invalid unit argument for Intl.NumberFormat() '${unit}'`);
  const unitDisplay = choice(options, 'unitDisplay', ['short', 'narrow', 'long'], 'short', OWNER);
  if (style === 'currency') Object.assign(o, { currency: String(code).toUpperCase(), currencyDisplay: display, currencySign: sign });
  if (style === 'unit') Object.assign(o, { unit, unitDisplay });
}

function readGrouping(options, notation) {
  const value = options.useGrouping, otherwise = notation === 'compact' ? 'min2' : 'auto';
  if (value === undefined) return otherwise;
  if (value === true) return 'always';
  if (value === false || value === null || value === 0 || value === '' || Number.isNaN(value)) return false;
  const text = String(value);
  if (text === 'true' || text === 'false') return otherwise;
  if (!['min2', 'auto', 'always'].includes(text)) throw new RangeError(`Value ${text} out of range for ${OWNER} options property useGrouping`);
  return text;
}

function readOptions(locales, given) {
  const { locale, data, keys } = resolveLocale(locales);
  const options = optionsObject(given, OWNER);
  const system = numberingSystem(options, keys, OWNER);
  const o = { locale: keys.nu === system ? `${locale}-u-nu-${system}` : locale, numberingSystem: system };
  o.style = choice(options, 'style', ['decimal', 'percent', 'currency', 'unit'], 'decimal', OWNER);
  readUnit(options, o.style, o);
  const notation = choice(options, 'notation', ['standard', 'scientific', 'engineering', 'compact'], 'standard', OWNER);
  const money = o.style === 'currency' ? currencyDigits(o.currency) : undefined;
  const most = money ?? (o.style === 'percent' ? 0 : 3);
  const digits = readDigitOptions(options, money ?? 0, most, notation === 'compact', { choice, numberChoice }, OWNER);
  const display = choice(options, 'compactDisplay', ['short', 'long'], 'short', OWNER);
  const { roundingIncrement, roundingMode, roundingPriority, trailingZeroDisplay, ...shown } = digits;
  Object.assign(o, shown, { useGrouping: readGrouping(options, notation), notation });
  if (notation === 'compact') o.compactDisplay = display;
  o.signDisplay = choice(options, 'signDisplay', ['auto', 'never', 'always', 'exceptZero', 'negative'], 'auto', OWNER);
  Object.assign(o, { roundingIncrement, roundingMode, roundingPriority, trailingZeroDisplay });
  return { resolved: o, data };
}

// --- Patterns ---------------------------------------------------------------------------------------------------------
/** "#,##0.00 ¤" as {prefix, suffix, negative: [prefix, suffix] or undefined, groups: [least significant, others]}. */
function readPattern(text) {
  const [positive, negative] = text.split(';');
  const parts = (it) => /^([^#0.,]*?)([#0.,]+)(.*)$/.exec(it);
  const [, prefix, body, suffix] = parts(positive);
  const groups = body.split('.')[0].split(',').slice(1).reverse().map((it) => it.length);
  const own = negative && parts(negative);
  return { prefix, suffix, negative: own && [own[1], own[3]], groups: groups.length ? [groups[0], groups[1] ?? groups[0]] : undefined };
}

const ARABIC = { group: '٬', decimal: '٫', percentSign: '٪؜' };
const NUMBER_SIDE = /[^\p{S}\p{Z}]/u;

class Numbers {
  constructor({ resolved, data }) {
    this.o = resolved;
    this.data = data;
    this.numbers = section(data, 'n');
    this.symbols = resolved.numberingSystem.startsWith('arab') ? { ...this.numbers.s, ...ARABIC } : this.numbers.s;
    this.plural = pluralRules[data] ?? pluralRules[data.split('-')[0]];
    this.native = nativeDigits(resolved.numberingSystem);
    const { style, currencyDisplay, currencySign } = resolved;
    const isNamed = style === 'currency' && currencyDisplay === 'name';
    const { currency, percent, decimal } = this.numbers;
    const text = style === 'percent' ? (resolved.notation === 'compact' ? this.compactPercent() : percent) : style !== 'currency' || isNamed ? decimal.standard : currencySign === 'accounting' ? currency.accounting : currency.standard;
    this.pattern = readPattern(text);
    this.isNamed = isNamed;
    if (style === 'currency' && !isNamed) this.symbol = this.symbolOf(resolved.currency, currencyDisplay);
    this.affixes = new Map();
  }

  // ICU takes the unit's pattern for compact numbers.
  compactPercent() {
    return section(this.data, 'u').simple.percent.short.other.replace('{0}', '#,##0');
  }

  symbolOf(code, display) {
    if (display === 'code') return code;
    const [symbol = '', narrow = ''] = (section(this.data, 'c')[code] ?? '').split('|');
    return (display === 'narrowSymbol' ? narrow || symbol : symbol) || code;
  }

  // --- The number itself
  grouped(integer, out) {
    const { useGrouping } = this.o;
    const groups = this.pattern.groups ?? [3, 3];
    const least = useGrouping === 'always' ? 1 : useGrouping === 'min2' ? 2 : Math.max(1, this.numbers.least);
    if (!useGrouping || integer.length < groups[0] + least) {
      out.push({ type: 'integer', value: this.digits(integer) });
      return;
    }
    const pieces = [];
    let end = integer.length, size = groups[0];
    while (end > 0) {
      pieces.unshift(integer.slice(Math.max(0, end - size), end));
      end -= size;
      size = groups[1];
    }
    pieces.forEach((piece, i) => {
      if (i > 0) out.push({ type: 'group', value: this.symbols.group });
      out.push({ type: 'integer', value: this.digits(piece) });
    });
  }

  digits(text) {
    return this.native === undefined ? text : text.replace(/\d/g, (digit) => this.native[digit]);
  }

  plain({ integer, fraction }, out) {
    this.grouped(integer, out);
    if (fraction !== '') out.push({ type: 'decimal', value: this.symbols.decimal }, { type: 'fraction', value: this.digits(fraction) });
  }

  scientific(decimal, step, out) {
    const exponentOf = (it) => (it.digits === '' ? 0 : Math.floor((it.point - 1) / step) * step);
    let exponent = exponentOf(decimal), rounded = roundBy(shift(decimal, -exponent), this.o);
    const again = exponent + exponentOf(rounded.decimal);
    if (again !== exponent) {
      exponent = again;
      rounded = roundBy(shift(decimal, -exponent), this.o);
    }
    const { integer, fraction } = rounded;
    out.push({ type: 'integer', value: this.digits(integer) });
    if (fraction !== '') out.push({ type: 'decimal', value: this.symbols.decimal }, { type: 'fraction', value: this.digits(fraction) });
    out.push({ type: 'exponentSeparator', value: this.symbols.exponential });
    if (exponent < 0) out.push({ type: 'exponentMinusSign', value: this.symbols.minusSign });
    out.push({ type: 'exponentInteger', value: this.digits(String(Math.abs(exponent))) });
    return { rounded, exponent };
  }

  // The pattern for a number of this size, and the power of ten that it stands for.
  compactPattern(patterns, magnitude) {
    const size = Math.min(magnitude, 14);
    const forms = magnitude < 3 ? undefined : patterns[`1${'0'.repeat(size)}`];
    if (forms === undefined || forms.other === '0') return { places: 0 };
    return { forms, places: size - (/0+/.exec(forms.other)[0].length - 1) };
  }

  compact(decimal, out) {
    const { decimal: plain, currency } = this.numbers;
    const isMoney = this.o.style === 'currency' && !this.isNamed;
    const patterns = isMoney ? currency.short : plain[this.o.compactDisplay];
    let chosen = this.compactPattern(patterns, decimal.digits === '' ? 0 : decimal.point - 1);
    let rounded = roundBy(shift(decimal, -chosen.places), this.o);
    const grown = rounded.decimal.digits === '' ? 0 : rounded.decimal.point - 1 + chosen.places;
    const next = this.compactPattern(patterns, grown);
    if (next.places !== chosen.places || next.forms !== chosen.forms) {
      chosen = next;
      rounded = roundBy(shift(decimal, -chosen.places), this.o);
    }
    const isOne = rounded.decimal.digits === '1' && rounded.decimal.point === 1;
    const form = chosen.forms && ((isOne ? chosen.forms[1] : undefined) ?? chosen.forms[this.category(rounded)] ?? chosen.forms.other);
    if (form === undefined || form.includes('0')) this.plain(rounded, out); // "mille" stands for one thousand
    return { rounded, form, exponent: chosen.places };
  }

  category({ integer, fraction }, exponent = 0, isCompact = false) {
    const text = fraction === '' ? integer : `${integer}.${fraction}`;
    return this.plural.of(exponent > 0 ? String(Number(text) * 10 ** exponent) : text, false, isCompact ? exponent : 0);
  }

  // --- Around the number
  /** Text of a pattern beside the number, as parts. `type` is what plain text is called. */
  affix(text, type, sign) {
    const key = `${type} ${sign} ${text}`;
    let parts = this.affixes.get(key);
    if (parts === undefined) {
      parts = this.readAffix(text, type, sign);
      this.affixes.set(key, parts);
    }
    return parts;
  }

  readAffix(text, type, sign) {
    const parts = [];
    let plain = '';
    const flush = () => {
      const [, before, inner, after] = /^(\s*)(.*?)(\s*)$/su.exec(plain);
      if (before) parts.push({ type: 'literal', value: before });
      if (inner) parts.push({ type, value: inner });
      if (after) parts.push({ type: 'literal', value: after });
      plain = '';
    };
    let quoted = false;
    for (const char of text) {
      if (char === "'") quoted = !quoted;
      else if (!quoted && '¤%-+'.includes(char)) {
        flush();
        if (char === '¤') parts.push({ type: 'currency', value: this.symbol });
        else if (char === '%') parts.push({ type: this.o.style === 'unit' ? 'unit' : 'percentSign', value: this.symbols.percentSign });
        else parts.push(sign);
      } else plain += char;
    }
    flush();
    return parts;
  }

  sign(decimal, rounded) {
    const { signDisplay } = this.o;
    const zero = decimal.special === 'nan' || (decimal.special === undefined && rounded.decimal.digits === '');
    const negative = decimal.negative && decimal.special !== 'nan';
    if (signDisplay === 'never') return 0;
    if (signDisplay === 'auto') return negative ? -1 : 0;
    if (signDisplay === 'negative') return negative && !zero ? -1 : 0;
    if (signDisplay === 'always') return negative ? -1 : 1;
    return zero ? 0 : negative ? -1 : 1;
  }

  signed(parts, sign, form) {
    const isMinus = sign < 0;
    const mark = { type: isMinus ? 'minusSign' : 'plusSign', value: isMinus ? this.symbols.minusSign : this.symbols.plusSign };
    let { prefix, suffix, negative } = this.pattern;
    let plainType = 'literal';
    if (form !== undefined) {
      const [, before, , after] = /^([^0]*)(0*)(.*)$/su.exec(form.split(';')[0]);
      [prefix, suffix, negative] = [before, after, undefined];
      if (this.o.style === 'percent') suffix += this.pattern.suffix;
      plainType = 'compact';
    }
    if (sign !== 0) {
      // A pattern of its own for negative numbers that has no sign (accounting) is not for plus.
      if (negative !== undefined && (isMinus || negative.join('').includes('-'))) [prefix, suffix] = negative;
      else prefix = `-${prefix}`;
    }
    const before = this.affix(prefix, plainType, mark).slice(), after = this.affix(suffix, plainType, mark).slice();
    this.space(before, after);
    return [...before, ...parts, ...after];
  }

  // UTS 35, currencySpacing: a no-break space between letters and digits.
  space(before, after) {
    const last = before.at(-1), first = after[0];
    if (last?.type === 'currency' && NUMBER_SIDE.test([...last.value].at(-1))) before.push({ type: 'literal', value: '\u00a0' });
    if (first?.type === 'currency' && NUMBER_SIDE.test([...first.value][0])) after.unshift({ type: 'literal', value: '\u00a0' });
  }

  named(parts, category) {
    const [, , one = '', other = ''] = (section(this.data, 'c')[this.o.currency] ?? '|||').split('|');
    const name = (category === 'one' ? one || other : other) || this.o.currency;
    const [between] = /(?<=^\{0\}).*(?=\{1\}$)/su.exec(this.numbers.currency.unitPattern) ?? [' '];
    if (between !== '') parts = [...parts, { type: 'literal', value: between }];
    return [...parts, { type: 'currency', value: name }];
  }

  measured(parts, category) {
    const { unit, unitDisplay } = this.o;
    const { simple, compound } = section(this.data, 'u');
    const of = (forms) => forms[unitDisplay][category] ?? forms[unitDisplay].other;
    if (unit === 'percent' && unitDisplay !== 'long') {
      const { prefix, suffix } = readPattern(this.numbers.percent);
      return [...this.affix(prefix, 'literal'), ...parts, ...this.affix(suffix, 'literal')];
    }
    if (simple[unit]) return this.around(of(simple[unit]), parts);
    const [first, second] = unit.split('-per-');
    const pattern = of(simple[first]), per = simple[second].perUnit?.[unitDisplay];
    if (per !== undefined) return this.around(per.replace('{0}', pattern), parts);
    const other = (simple[second][unitDisplay].one ?? simple[second][unitDisplay].other).replace('{0}', '').trim();
    return this.around(compound.per[unitDisplay].replace('{0}', pattern).replace('{1}', other), parts);
  }

  around(pattern, parts) {
    const [before, after] = pattern.split('{0}');
    return [...this.affix(before.replaceAll("'", "''"), 'unit', undefined), ...parts, ...this.affix(after.replaceAll("'", "''"), 'unit', undefined)];
  }

  /** The parts of a number, and the category of its plural. */
  parts(value) {
    const decimal = this.o.style === 'percent' ? shift(toDecimal(value), 2) : toDecimal(value);
    const out = [];
    let done = { rounded: { decimal, integer: '', fraction: '' }, exponent: 0 };
    if (decimal.special === 'nan') out.push({ type: 'nan', value: this.symbols.nan });
    else if (decimal.special === 'infinity') out.push({ type: 'infinity', value: this.symbols.infinity });
    else if (this.o.notation === 'standard') {
      done.rounded = roundBy(decimal, this.o);
      this.plain(done.rounded, out);
    } else if (this.o.notation === 'compact') done = this.compact(decimal, out);
    else done = this.scientific(decimal, this.o.notation === 'engineering' ? 3 : 1, out);
    const parts = this.signed(out, this.sign(decimal, done.rounded), done.form);
    if (!this.isNamed && this.o.style !== 'unit') return parts;
    const category = decimal.special ? 'other' : this.category(done.rounded, done.exponent, this.o.notation === 'compact');
    return this.isNamed ? this.named(parts, category) : this.measured(parts, category);
  }
}

// --- Ranges -----------------------------------------------------------------------------------------------------------
const NUMERIC = new Set(['integer', 'group', 'decimal', 'fraction', 'minusSign', 'plusSign', 'nan', 'infinity', 'exponentSeparator', 'exponentMinusSign', 'exponentInteger']);
const joinParts = (parts) => {
  let text = '';
  for (const part of parts) text += part.value;
  return text;
};
const split = (parts) => {
  const isNumber = (part) => NUMERIC.has(part.type) && part.type !== 'minusSign' && part.type !== 'plusSign';
  const first = parts.findIndex(isNumber), last = parts.findLastIndex(isNumber);
  return [parts.slice(0, first), parts.slice(first, last + 1), parts.slice(last + 1)];
};

function rangeParts(numbers, start, end) {
  const a = numbers.parts(start), b = numbers.parts(end);
  const shared = (part) => ({ ...part, source: 'shared' });
  if (joinParts(a) === joinParts(b)) return [{ type: 'approximatelySign', value: numbers.symbols.approximatelySign, source: 'shared' }, ...a.map(shared)];
  let [beforeA, middleA, afterA] = split(a), [beforeB, middleB, afterB] = split(b);
  const collapses = (x, y) => x.length > 0 && joinParts(x) === joinParts(y) && [...joinParts(x)].length > 1 && !/minusSign|plusSign/.test(x.map((part) => part.type));
  const isPrefix = collapses(beforeA, beforeB) && joinParts(afterA) === joinParts(afterB), isSuffix = collapses(afterA, afterB) && joinParts(beforeA) === joinParts(beforeB);
  const out = [];
  if (isPrefix) {
    out.push(...beforeA.map(shared));
    beforeA = beforeB = [];
  }
  let tail = [];
  if (isSuffix) {
    tail = afterA.map(shared);
    afterA = afterB = [];
  }
  const range = numbers.symbols.rangeSign;
  const isSpaced = beforeB.length + afterA.length > 0 && !/\s/.test(range);
  out.push(...[...beforeA, ...middleA, ...afterA].map((part) => ({ ...part, source: 'startRange' })));
  out.push({ type: 'literal', value: isSpaced ? ` ${range} ` : range, source: 'shared' });
  out.push(...[...beforeB, ...middleB, ...afterB].map((part) => ({ ...part, source: 'endRange' })), ...tail);
  return out;
}

function checkRange(start, end) {
  if (start === undefined) throw new TypeError('Invalid start : undefined');
  if (end === undefined) throw new TypeError('Invalid end : undefined');
  if (toDecimal(start).special === 'nan') throw new RangeError('Invalid start : NaN');
  if (toDecimal(end).special === 'nan') throw new RangeError('Invalid end : NaN');
}

// --- The constructor --------------------------------------------------------------------------------------------------
const inner = new WeakMap();
const of = (it, method) => {
  const numbers = inner.get(it);
  if (numbers === undefined) throw new TypeError(`Method Intl.NumberFormat.prototype.${method} called on incompatible receiver ${typeof it === 'object' && it !== null ? '#<Object>' : String(it)}`);
  return numbers;
};

export function NumberFormat(locales, options) {
  const it = Object.create(new.target === undefined ? NumberFormat.prototype : new.target.prototype);
  inner.set(it, new Numbers(readOptions(locales, options)));
  return it;
}
const methods = {
  get format() {
    const numbers = of(this, 'format');
    return numbers.bound ??= (value) => joinParts(numbers.parts(value));
  },
  formatToParts(value) {
    return of(this, 'formatToParts').parts(value).map((part) => ({ ...part }));
  },
  formatRange(start, end) {
    const numbers = of(this, 'formatRange');
    checkRange(start, end);
    return joinParts(rangeParts(numbers, start, end));
  },
  formatRangeToParts(start, end) {
    const numbers = of(this, 'formatRangeToParts');
    checkRange(start, end);
    return rangeParts(numbers, start, end);
  },
  resolvedOptions() {
    return { ...of(this, 'resolvedOptions').o };
  },
};
for (const name of Object.keys(methods)) {
  Object.defineProperty(NumberFormat.prototype, name, { ...Object.getOwnPropertyDescriptor(methods, name), enumerable: false });
}
Object.defineProperty(NumberFormat, 'length', { value: 0, configurable: true });
finish(NumberFormat, 'NumberFormat');
export { isZero };
