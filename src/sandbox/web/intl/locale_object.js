// Intl.Locale (ECMA-402, section 14), for what programs read of it.
import { canonicalTag, choice, finish, optionsObject } from './locale.js';

const LIKELY = { en: 'Latn-US', de: 'Latn-DE', fr: 'Latn-FR', es: 'Latn-ES', pt: 'Latn-BR', it: 'Latn-IT', nl: 'Latn-NL', ja: 'Jpan-JP', zh: 'Hans-CN', ko: 'Kore-KR' };
const KEYS = { calendar: 'ca', collation: 'co', hourCycle: 'hc', caseFirst: 'kf', numeric: 'kn', numberingSystem: 'nu' };

export class Locale {
  #tag;
  #base;
  #keys = {};
  constructor(tag, given) {
    if (new.target === undefined) throw new TypeError("Constructor Intl.Locale requires 'new'");
    if (typeof tag !== 'string' && (typeof tag !== 'object' || tag === null)) throw new TypeError('First argument to Intl.Locale constructor can\'t be empty or missing');
    const options = optionsObject(given, 'Intl.Locale');
    const [base, unicode] = canonicalTag(String(tag)).split(/-u-/);
    const [language, ...rest] = base.split('-');
    const script = rest.find((it) => /^[A-Z][a-z]{3}$/.test(it)), region = rest.find((it) => /^(?:[A-Z]{2}|\d{3})$/.test(it));
    const parts = [options.language ?? language, options.script ?? script, options.region ?? region, ...rest.filter((it) => it !== script && it !== region)];
    this.#base = canonicalTag(parts.filter((it) => it !== undefined).join('-'));
    for (const [, key, value] of (unicode ?? '').matchAll(/(?:^|-)([a-z\d]{2})((?:-[a-z\d]{3,8})*)/g)) this.#keys[key] = value.slice(1);
    for (const [name, key] of Object.entries(KEYS)) if (options[name] !== undefined) this.#keys[key] = name === 'numeric' ? (options[name] ? '' : 'false') : choice(options, name, undefined, '', 'Intl.Locale');
    const keys = Object.keys(this.#keys).sort().map((key) => (this.#keys[key] ? `${key}-${this.#keys[key]}` : key));
    this.#tag = keys.length ? `${this.#base}-u-${keys.join('-')}` : this.#base;
  }
  get baseName() { return this.#base; }
  get language() { return this.#base.split('-')[0]; }
  get script() { return this.#base.split('-').slice(1).find((it) => it.length === 4 && /^[A-Z]/.test(it)); }
  get region() { return this.#base.split('-').slice(1).find((it) => /^(?:[A-Z]{2}|\d{3})$/.test(it)); }
  get calendar() { return this.#keys.ca; }
  get collation() { return this.#keys.co; }
  get hourCycle() { return this.#keys.hc; }
  get caseFirst() { return this.#keys.kf; }
  get numeric() { return this.#keys.kn !== undefined && this.#keys.kn !== 'false'; }
  get numberingSystem() { return this.#keys.nu; }
  maximize() {
    const likely = LIKELY[this.language];
    if (likely === undefined) return new Locale(this.#tag);
    const [script, region] = likely.split('-');
    const isTraditional = this.language === 'zh' && ['TW', 'HK', 'MO'].includes(this.region);
    return new Locale(this.#tag, { script: this.script ?? (isTraditional ? 'Hant' : script), region: this.region ?? (this.script === 'Hant' ? 'TW' : region) });
  }
  minimize() {
    const full = this.maximize();
    const likely = LIKELY[this.language];
    const tail = this.#tag.slice(this.#base.length);
    if (likely === undefined) return new Locale(this.#tag);
    if (`${full.script}-${full.region}` === likely) return new Locale(this.language + tail);
    return new Locale((full.script === likely.split('-')[0] || this.language === 'zh' ? `${this.language}-${full.region}` : full.baseName) + tail);
  }
  toString() { return this.#tag; }
}
finish(Locale, 'Locale');
delete Locale.supportedLocalesOf;
