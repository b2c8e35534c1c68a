// Packs what Intl needs (locales, time zones) into one script of strings: node scripts/intl-data.mjs OUT ZONES. ZONES gets the zones
// once more, for Lathe itself (src/base/time_zone.c).
//
// Everything comes from pinned packages, never from this machine's own ICU or tzdata, so that every build is the same.
// A string is decoded when a program first uses it (src/sandbox/web/intl/data.js).
import { readFileSync, writeFileSync, existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import vm from "node:vm";

const packages = join(dirname(fileURLToPath(import.meta.url)), "../node_modules/@formatjs");
const languages = ["en", "de", "fr", "es", "pt", "it", "nl", "ja", "zh", "ko"];
// Only what differs from the language is packed.
const regions = ["en-GB", "en-AU", "en-CA", "en-IE", "en-IN", "en-NZ", "en-ZA", "de-AT", "de-CH", "es-419", "es-AR", "es-CL", "es-CO", "es-MX",
  "es-PE", "es-US", "fr-BE", "fr-CA", "fr-CH", "it-CH", "nl-BE", "pt-PT", "zh-Hant"];

// What the packages leave out of CLDR: how a long date and a time are joined, and names that stand alone.
const joined = { en: "{1} 'at' {0}", de: "{1} 'um' {0}", fr: "{1} 'à' {0}", es: "{1} 'a' 'las' {0}", pt: "{1} 'às' {0}", it: "{1} 'alle' 'ore' {0}",
  nl: "{1} 'om' {0}", ja: "{1} {0}", zh: "{1} {0}", ko: "{1} {0}" };
const alone = {
  de: { E: ["So", "Mo", "Di", "Mi", "Do", "Fr", "Sa"],
    M: ["Jan", "Feb", "Mär", "Apr", "Mai", "Jun", "Jul", "Aug", "Sep", "Okt", "Nov", "Dez"] },
};

// Zones whose summer has a name of its own.
const summers = {
  "Europe/London": { en: "British Summer Time", de: "Britische Sommerzeit", fr: "heure d’été britannique", es: "hora de verano británica", pt: "Horário de Verão Britânico",
    it: "Ora legale del Regno Unito", nl: "Britse zomertijd", ja: "英国夏時間", zh: "英国夏令时间", ko: "영국 하계 표준시" },
  "Europe/Dublin": { en: "Irish Standard Time", de: "Irische Sommerzeit", fr: "heure d’été irlandaise", es: "hora de verano de Irlanda", pt: "Horário Padrão Irlandês",
    it: "Ora legale dell’Irlanda", nl: "Ierse standaardtijd", ja: "アイルランド標準時", zh: "爱尔兰标准时间", ko: "아일랜드 표준시" },
};

/** What a data file hands to the constructor that it is for. */
function load(name, file) {
  let data;
  const receiver = class { static __addLocaleData(it) { data = it; } static __addTZData(it) { data = it; } };
  const names = ["NumberFormat", "DateTimeFormat", "PluralRules", "ListFormat", "RelativeTimeFormat"];
  vm.runInNewContext(readFileSync(join(packages, name, file), "utf8"),
    { Intl: Object.fromEntries(names.map((it) => [it, receiver])), JSON });
  return data;
}
const locale = (name, tag) => {
  const file = `locale-data/${tag}.js`;
  return existsSync(join(packages, name, file)) ? load(name, file).data : undefined;
};

const plainKeys = (object) => Object.fromEntries(Object.entries(object ?? {}).filter(([key]) => /^[A-Za-z]+$/.test(key)));

function numbers(data) {
  const { symbols, percent, decimal, currency, minimumGroupingDigits } = data.numbers;
  const latin = (object) => object.latn ?? Object.values(object)[0];
  const thousands = latin(decimal).long?.[1000];
  if (thousands?.one === "0 millier") thousands["1"] = "mille"; // French, exactly one
  const { approximatelySign, decimal: point, exponential, group, infinity, minusSign, nan, percentSign, plusSign, rangeSign } = latin(symbols);
  return { s: { approximatelySign, decimal: point, exponential, group, infinity, minusSign, nan, percentSign, plusSign, rangeSign },
    percent: latin(percent), decimal: latin(decimal), currency: latin(currency), least: minimumGroupingDigits };
}
// code -> [symbol, narrow, one, other]; what equals the code, or the one before, is left out
function currencies(data) {
  return Object.fromEntries(Object.entries(data.currencies).map(([code, { displayName, symbol, narrow }]) => {
    const { one = "", other } = displayName;
    return [code, [symbol === code ? "" : symbol, narrow === symbol ? "" : narrow, one === other ? "" : one, other].join("|")];
  }));
}
function dates(data, tag) {
  const { am, pm, dayPeriods, dayPeriodRules, weekday, era, month, gmtFormat, hourFormat, dateFormat, timeFormat } = data;
  const hourCycle = data.hourCycle || (/[hK]/.test(timeFormat.short) ? "h12" : "h23");
  const formats = plainKeys(data.formats.gregory ?? Object.values(data.formats)[0]);
  const language = tag.split("-")[0];
  // CLDR has a comma here since the packages' edition.
  const dateTimeFormat = language === "pt" ? { ...data.dateTimeFormat, medium: "{1}, {0}", short: "{1}, {0}" } : data.dateTimeFormat;
  return { am, pm, dayPeriods, dayPeriodRules, weekday, era, month, gmtFormat, hourFormat, dateFormat, timeFormat, dateTimeFormat,
    hourCycle, formats, joined: joined[language], alone: alone[language] };
}
const intervals = (data) => {
  const { intervalFormatFallback } = data.intervalFormats;
  return { fallback: intervalFormatFallback, ...plainKeys(data.intervalFormats) };
};

/** The members of `value` that `base` has not, or has otherwise; null where only `base` has one. */
function difference(base, value) {
  if (JSON.stringify(base) === JSON.stringify(value)) return undefined;
  if (Array.isArray(value) || typeof value !== "object" || typeof base !== "object") return value;
  const out = {};
  for (const key of new Set([...Object.keys(base), ...Object.keys(value)])) {
    if (!(key in value)) out[key] = null;
    else if (!(key in base)) out[key] = value[key];
    else {
      const inner = difference(base[key], value[key]);
      if (inner !== undefined) out[key] = inner;
    }
  }
  return out;
}

// Zones without names of their own in the packages, and whose they have.
const namesakes = { "America/New_York": ["Indiana/Marengo", "Indiana/Petersburg", "Indiana/Vevay", "Indiana/Vincennes", "Indiana/Winamac", "Kentucky/Monticello"],
  "America/Chicago": ["Indiana/Knox", "Indiana/Tell_City", "North_Dakota/Beulah", "North_Dakota/Center", "North_Dakota/New_Salem"],
  "America/Buenos_Aires": ["La_Rioja", "Rio_Gallegos", "Salta", "San_Juan", "San_Luis", "Tucuman", "Ushuaia"].map((it) => `Argentina/${it}`) };

// Zones with the same names in every language are one group.
function zoneNames(tags) {
  const names = tags.map((tag) => ({ ...locale("intl-datetimeformat", tag)?.timeZoneName }));
  for (const it of names) {
    for (const [known, others] of Object.entries(namesakes)) for (const other of others) it[`America/${other}`] ??= it[known] ?? it["America/Argentina/Buenos_Aires"] ?? {};
  }
  const groups = new Map(), zones = {}, lists = tags.map(() => []);
  for (const zone of [...new Set(names.flatMap((it) => Object.keys(it)))].sort()) {
    const texts = names.map((it, i) => {
      const [standard, daylight] = it[zone]?.long ?? ["", ""], [short, shortDaylight] = it[zone]?.short ?? ["", ""];
      const own = summers[zone]?.[tags[i].split("-")[0]];
      const ownShort = tags[i] === "en-GB" && zone === "Europe/London" ? "BST" : "";
      return [standard, own ?? daylight, short, own ? ownShort : shortDaylight].join("|");
    });
    const key = texts.join("\n");
    if (!groups.has(key)) {
      groups.set(key, groups.size);
      texts.forEach((text, i) => lists[i].push(text));
    }
    zones[zone] = groups.get(key);
  }
  return { zones, lists };
}

function localeSections(tag) {
  const number = locale("intl-numberformat", tag), date = locale("intl-datetimeformat", tag);
  const list = locale("intl-listformat", tag), relative = locale("intl-relativetimeformat", tag);
  const sections = {};
  if (number) Object.assign(sections, { n: numbers(number), c: currencies(number), u: number.units });
  if (date) Object.assign(sections, { d: dates(date, tag), i: intervals(date) });
  if (list) sections.l = list;
  if (relative) {
    const { nu, ...units } = relative;
    sections.r = units;
  }
  return sections;
}

// A zone: the numbers of its offsets and the steps between its changes, in quarters of an hour where that is exact.
function zones() {
  const data = load("intl-datetimeformat", "add-all-tz.js");
  const seconds = data.offsets.split("|").map((text) => parseInt(text, 36));
  const out = {}, same = new Map();
  for (const text of data.zones) {
    const [name, first, ...rest] = text.split("|");
    let at = first.split(","), last = [seconds[at[2]], at[3]].join(), before = 0, packed = [`${seconds[at[2]].toString(36)}`];
    for (const change of rest) {
      const [time, , offset, isDst] = change.split(",");
      const state = [seconds[offset], isDst].join();
      if (time === "NaN" || state === last) continue;
      const when = parseInt(time, 36), step = when - before;
      const length = step % 900 === 0 ? (step / 900).toString(36) : `~${step.toString(36)}`;
      packed.push(`${length},${(seconds[offset] % 900 === 0 ? seconds[offset] / 900 : `~${seconds[offset].toString(36)}`)}${isDst === "1" ? "!" : ""}`);
      before = when;
      last = state;
    }
    const line = packed.join(";");
    if (!same.has(line)) same.set(line, same.size);
    out[name] = same.get(line);
  }
  // The packages leave out the first of all zones.
  out["Africa/Abidjan"] ??= out["Africa/Accra"];
  return { names: out, rules: [...same.keys()] };
}
// "Asia/Calcutta": "Asia/Kolkata" and such stand in the package's code.
function zoneLinks(known) {
  const text = readFileSync(join(packages, "intl-datetimeformat/index.js"), "utf8");
  const out = {};
  for (const [, from, to] of text.matchAll(/"?([A-Z][\w+\-/]*)"?: "((?:[A-Z]\w+\/[\w/+\-]+)|UTC|GMT)"/g)) if (!(from in known) && to in known) out[from] = to;
  return out;
}

function pluralRules() {
  const rules = languages.concat(["pt-PT"]).map((tag) => {
    const { fn, categories, pluralRanges } = locale("intl-pluralrules", tag);
    return `${JSON.stringify(tag)}: { of: ${fn.toString()}, categories: ${JSON.stringify(categories)}, ranges: ${JSON.stringify(pluralRanges ?? {})} }`;
  });
  return `{\n${rules.join(",\n")}\n}`;
}

const bases = Object.fromEntries(languages.map((tag) => [tag, localeSections(tag)]));
const packed = {};
for (const tag of languages) packed[tag] = bases[tag];
for (const tag of regions) {
  const own = localeSections(tag), out = {};
  const base = bases[tag.split("-")[0]];
  for (const [key, section] of Object.entries(own)) out[key] = difference(base[key], section) ?? {};
  packed[tag] = out;
}
const named = zoneNames([...languages, ...regions]);
[...languages, ...regions].forEach((tag, i) => {
  if (i < languages.length) packed[tag].z = named.lists[i];
  else {
    const base = named.lists[languages.indexOf(tag.split("-")[0])];
    packed[tag].z = Object.fromEntries(named.lists[i].map((text, n) => [n, text]).filter(([n, text]) => text !== base[n] && text !== "|||"));
  }
});
const all = zones();
// The engine has two bytes for each character of a string in which one is beyond Latin-1: escaped it is often shorter.
const shortest = (json) => {
  const escaped = json.replace(/[^\0-\xff]/g, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, "0")}`);
  return escaped.length < 2 * json.length ? escaped : json;
};
const strings = Object.fromEntries(Object.entries(packed).map(([tag, sections]) =>
  [tag, Object.fromEntries(Object.entries(sections).map(([key, value]) => [key, shortest(JSON.stringify(value))]))]));
const lines = (object) => Object.entries(object).map(([key, value]) => `${key} ${value}`).join("\n");

// A script of an image (Makefile): the one that is run next takes `roots.intl` (src/sandbox/web/intl/packed.js).
const members = {
  locales: JSON.stringify(strings),
  zoneGroups: JSON.stringify(lines(named.zones)),
  zoneNames: JSON.stringify(lines(all.names)),
  zoneRules: JSON.stringify(all.rules),
  zoneLinks: JSON.stringify(lines(zoneLinks(all.names))),
  pluralRules: pluralRules(),
};
const text = `((H, roots) => { 'use strict'; roots.intl = {\n${Object.entries(members).map(([name, value]) => `${name}: ${value}`).join(",\n")}\n}; })\n`;
writeFileSync(process.argv[2], text);
// Names with the number of their rule, an empty line, then the rules.
const utc = all.rules.push("0") - 1;
const every = { ...all.names, ...Object.fromEntries(Object.entries(zoneLinks(all.names)).map(([name, to]) => [name, all.names[to]])),
  ...Object.fromEntries(["UTC", "GMT", "Etc/UTC", "Etc/GMT"].map((name) => [name, utc])) };
writeFileSync(process.argv[3], `${lines(every)}\n\n${all.rules.join("\n")}\n`);
