// The packed data (scripts/intl-data.mjs), decoded when it is first used: a program pays for the locales it names.
import { locales } from './packed.js';

const decoded = new Map();

/** The base with what a region has otherwise; null removes a member. */
function merge(base, changes) {
  if (Array.isArray(changes) || typeof changes !== 'object' || typeof base !== 'object') return changes;
  const out = Array.isArray(base) ? base.slice() : { ...base };
  for (const key of Object.keys(changes)) {
    if (changes[key] === null) delete out[key];
    else out[key] = key in out ? merge(out[key], changes[key]) : changes[key];
  }
  return out;
}

/** A section of a locale's data: n numbers, c currencies, u units, d dates, i intervals, l lists, r relative times,
 * z names of time zones. `tag` is a key of `locales`. */
export function section(tag, name) {
  const key = `${tag} ${name}`;
  let it = decoded.get(key);
  if (it === undefined) {
    const own = locales[tag][name];
    const language = tag.split('-')[0];
    it = own === undefined ? section(language, name) : JSON.parse(own);
    if (own !== undefined && language !== tag) it = merge(section(language, name), it);
    decoded.set(key, it);
  }
  return it;
}

export const hasLocale = (tag) => Object.hasOwn(locales, tag);
