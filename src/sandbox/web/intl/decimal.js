// Exact decimals and their rounding (ECMA-402, ToRawFixed and ToRawPrecision), as text: a number is what String() says of it.
//
// A decimal is {negative, digits, point}: 0.DIGITS times ten to the power of `point`; digits has no zeros at its ends and is
// empty for zero. `special` is set for NaN and the infinities.

const make = (negative, digits, point, special) => ({ negative, digits, point, special });

function trimmed(negative, digits, point) {
  const lead = /^0*/.exec(digits)[0].length;
  const bare = digits.slice(lead).replace(/0+$/, '');
  return make(negative, bare, bare === '' ? 0 : point - lead);
}

function parse(text) {
  const match = /^([+-]?)(\d*)\.?(\d*)(?:e([+-]?\d+))?$/i.exec(text);
  return trimmed(match[1] === '-', match[2] + match[3], match[2].length + Number(match[4] ?? 0));
}

/** ECMA-402, ToIntlMathematicalValue. */
export function toDecimal(value) {
  const it = typeof value === 'object' && value !== null ? (value[Symbol.toPrimitive]?.('number') ?? value.valueOf()) : value;
  if (typeof it === 'bigint') return parse(String(it));
  if (typeof it === 'string' && /^\s*[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?\s*$/i.test(it)) return parse(it.trim());
  const number = Number(typeof it === 'object' ? value : it);
  if (Number.isFinite(number)) return Object.is(number, -0) ? make(true, '', 0) : parse(String(number));
  return make(number < 0, '', 0, Number.isNaN(number) ? 'nan' : 'infinity');
}

export const isZero = (decimal) => decimal.digits === '' && decimal.special === undefined;
export const shift = (decimal, places) => (decimal.digits === '' ? decimal : make(decimal.negative, decimal.digits, decimal.point + places));

const UP = { ceil: (n) => !n, floor: (n) => n, expand: () => true, trunc: () => false };
const TIE = { halfCeil: (n) => !n, halfFloor: (n) => n, halfExpand: () => true, halfTrunc: () => false };

function roundsUp(decimal, keep, mode) {
  const { digits, negative } = decimal;
  if (mode in UP) return UP[mode](negative);
  const next = keep < 0 ? 0 : Number(digits[keep] ?? 0);
  const isTie = next === 5 && digits.length === keep + 1;
  if (!isTie) return next >= 5;
  if (mode === 'halfEven') return keep > 0 && Number(digits[keep - 1]) % 2 === 1;
  return TIE[mode](negative);
}

function increased(digits) {
  let i = digits.length - 1;
  while (i >= 0 && digits[i] === '9') i--;
  return i < 0 ? ['1', 1] : [digits.slice(0, i) + String(Number(digits[i]) + 1), 0];
}

/** Rounded to `places` digits after the decimal point (negative: before it). */
export function roundAt(decimal, places, mode) {
  const keep = decimal.point + places;
  if (decimal.digits === '' || keep >= decimal.digits.length) return decimal;
  const up = roundsUp(decimal, keep, mode);
  if (keep <= 0) return up ? make(decimal.negative, '1', 1 - places) : make(decimal.negative, '', 0);
  if (!up) return trimmed(decimal.negative, decimal.digits.slice(0, keep), decimal.point);
  const [digits, carry] = increased(decimal.digits.slice(0, keep));
  return trimmed(decimal.negative, digits, decimal.point + carry);
}

/** Rounded to a multiple of `increment` units of the last of `places`. */
function roundTo(decimal, places, increment, mode) {
  if (decimal.digits === '') return decimal;
  const whole = decimal.point + places, extra = Math.max(0, decimal.digits.length - whole);
  const scaled = BigInt(decimal.digits.padEnd(whole + extra, '0')), unit = BigInt(increment) * 10n ** BigInt(extra);
  const low = scaled / unit * unit, twice = (scaled - low) * 2n;
  const tie = () => (mode === 'halfEven' ? (low / unit) % 2n === 1n : TIE[mode](decimal.negative));
  const above = mode in UP ? UP[mode](decimal.negative) : twice === unit ? tie() : twice > unit;
  const value = String((twice === 0n || !above ? low : low + unit) / 10n ** BigInt(extra));
  return trimmed(decimal.negative, value, value.length - places);
}

/** ECMA-402, SetNumberFormatDigitOptions. `ret` receives what resolvedOptions tells. */
export function readDigitOptions(options, least, most, isCompact, { choice, numberChoice }, owner) {
  const o = { minimumIntegerDigits: numberChoice(options, 'minimumIntegerDigits', 1, 21, 1) };
  const { minimumFractionDigits: minF, maximumFractionDigits: maxF, minimumSignificantDigits: minS, maximumSignificantDigits: maxS } = options;
  const increment = numberChoice(options, 'roundingIncrement', 1, 5000, 1);
  if (![1, 2, 5, 10, 20, 25, 50, 100, 200, 250, 500, 1000, 2000, 2500, 5000].includes(increment)) throw new RangeError('roundingIncrement value is out of range.');
  const mode = choice(options, 'roundingMode', [...Object.keys(UP), ...Object.keys(TIE), 'halfEven'], 'halfExpand', owner);
  const priority = choice(options, 'roundingPriority', ['auto', 'morePrecision', 'lessPrecision'], 'auto', owner);
  const zeros = choice(options, 'trailingZeroDisplay', ['auto', 'stripIfInteger'], 'auto', owner);
  if (increment !== 1) most = least;
  const hasS = minS !== undefined || maxS !== undefined, hasF = minF !== undefined || maxF !== undefined;
  const needS = priority !== 'auto' || hasS;
  const needF = priority !== 'auto' || (!hasS && (hasF || !isCompact));
  if (needS) {
    o.minimumSignificantDigits = hasS ? numberChoice(options, 'minimumSignificantDigits', 1, 21, 1) : 1;
    o.maximumSignificantDigits = hasS ? numberChoice(options, 'maximumSignificantDigits', o.minimumSignificantDigits, 21, 21) : 21;
  }
  if (needF) {
    let low = numberChoice(options, 'minimumFractionDigits', 0, 100, undefined);
    let high = numberChoice(options, 'maximumFractionDigits', 0, 100, undefined);
    if (low === undefined && high === undefined) [low, high] = [least, most];
    else if (low === undefined) low = Math.min(least, high);
    else if (high === undefined) high = Math.max(most, low);
    else if (low > high) throw new RangeError('maximumFractionDigits value is out of range.');
    o.minimumFractionDigits = low;
    o.maximumFractionDigits = high;
  }
  let rounding = priority;
  if (!needS && !needF) {
    Object.assign(o, { minimumFractionDigits: 0, maximumFractionDigits: 0, minimumSignificantDigits: 1, maximumSignificantDigits: 2 });
    rounding = 'morePrecision';
  }
  if (increment !== 1) {
    if (needS) throw new TypeError('roundingIncrement value is invalid.');
    if (o.minimumFractionDigits !== o.maximumFractionDigits) throw new RangeError('roundingIncrement value is out of range.');
  }
  return Object.assign(o, { roundingIncrement: increment, roundingMode: mode, roundingPriority: rounding, trailingZeroDisplay: zeros });
}

/** Rounds by such options: {decimal, integer, fraction}, the last two as digits to show. */
export function roundBy(decimal, o) {
  const mode = o.roundingMode;
  const hasS = o.maximumSignificantDigits !== undefined, hasF = o.maximumFractionDigits !== undefined;
  const first = decimal.digits === '' ? 1 : decimal.point;
  const placesS = hasS ? o.maximumSignificantDigits - first : 0, placesF = hasF ? o.maximumFractionDigits : 0;
  let useS = hasS;
  if (hasS && hasF) useS = (o.roundingPriority === 'morePrecision') === (placesS >= placesF);
  let out;
  if (useS) out = roundAt(decimal, placesS, mode);
  else if (o.roundingIncrement !== 1) out = roundTo(decimal, placesF, o.roundingIncrement, mode);
  else out = roundAt(decimal, placesF, mode);
  const shown = out.digits === '' ? 1 : out.point;
  const least = useS ? Math.max(0, o.minimumSignificantDigits - shown) : o.minimumFractionDigits;
  const integer = out.point > 0 ? out.digits.slice(0, out.point).padEnd(out.point, '0') : '0';
  let fraction = out.point > 0 ? out.digits.slice(out.point) : out.digits === '' ? '' : '0'.repeat(-out.point) + out.digits;
  fraction = fraction.padEnd(least, '0');
  if (o.trailingZeroDisplay === 'stripIfInteger' && !/[1-9]/.test(fraction)) fraction = '';
  return { decimal: out, integer: integer.padStart(o.minimumIntegerDigits, '0'), fraction };
}
