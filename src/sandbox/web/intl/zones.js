// Time zones: names, links, and the offset at a moment (the tz database, packed).
import { zoneGroups, zoneLinks, zoneNames, zoneRules } from './packed.js';
import { section } from './data.js';

const decoded = new Map();
let names; // lower case -> [name, rule]
const UTC_NAMES = /^(?:utc|gmt|gmt0|gmt[+-]0|etc\/(?:utc|gmt|gmt0|gmt[+-]0|uct|universal|zulu|greenwich)|uct|universal|zulu|greenwich)$/;
const OFFSET = /^([+-])([01]\d|2[0-3])(?::?([0-5]\d))?$/;
// V8's ICU keeps names that the tz database has given up since.
const KEPT = { 'Asia/Kolkata': 'Asia/Calcutta', 'Asia/Ho_Chi_Minh': 'Asia/Saigon', 'Asia/Kathmandu': 'Asia/Katmandu', 'Asia/Yangon': 'Asia/Rangoon',
  'America/Argentina/Buenos_Aires': 'America/Buenos_Aires', 'America/Argentina/Catamarca': 'America/Catamarca', 'America/Argentina/Cordoba': 'America/Cordoba',
  'America/Argentina/Jujuy': 'America/Jujuy', 'America/Argentina/Mendoza': 'America/Mendoza', 'America/Indiana/Indianapolis': 'America/Indianapolis',
  'America/Kentucky/Louisville': 'America/Louisville', 'Africa/Asmara': 'Africa/Asmera', 'Atlantic/Faroe': 'Atlantic/Faeroe', 'America/Atikokan': 'America/Coral_Harbour',
  'Europe/Kyiv': 'Europe/Kiev', 'Pacific/Chuuk': 'Pacific/Truk', 'Pacific/Pohnpei': 'Pacific/Ponape', 'America/Nuuk': 'America/Godthab', 'Pacific/Kanton': 'Pacific/Enderbury' };
const NEW = Object.fromEntries(Object.entries(KEPT).map(([name, old]) => [old, name]));

function readNames() {
  if (names !== undefined) return names;
  names = new Map();
  for (const line of zoneNames.split('\n')) {
    const [name, rule] = line.split(' ');
    names.set(name.toLowerCase(), [name, Number(rule)]);
  }
  for (const line of zoneLinks.split('\n')) {
    const [name, to] = line.split(' ');
    if (!names.has(name.toLowerCase())) names.set(name.toLowerCase(), [to, names.get(to.toLowerCase())[1]]);
  }
  for (const [old, name] of Object.entries(NEW)) {
    const known = names.get(old.toLowerCase()) ?? names.get(name.toLowerCase());
    if (known === undefined) continue;
    names.set(old.toLowerCase(), [old, known[1]]);
    names.set(name.toLowerCase(), [old, known[1]]);
  }
  return names;
}

// The number behind a name in lines "name number", without decoding them all; undefined: none.
function numberOf(lines, name) {
  const start = lines.startsWith(`${name} `) ? 0 : lines.indexOf(`\n${name} `) + 1;
  return start === 0 && !lines.startsWith(`${name} `) ? undefined : parseInt(lines.slice(start + name.length + 1, start + name.length + 6), 10);
}

/** The zone of this name as {name, offset?, rule?}, or undefined. */
export function findZone(text) {
  const fixed = OFFSET.exec(text);
  if (fixed) {
    const minutes = Number(fixed[2]) * 60 + Number(fixed[3] ?? 0);
    const sign = minutes === 0 ? '+' : fixed[1];
    return { name: `${sign}${fixed[2]}:${fixed[3] ?? '00'}`, offset: (sign === '-' ? -60 : 60) * minutes };
  }
  const lower = text.toLowerCase();
  if (UTC_NAMES.test(lower)) return { name: 'UTC', offset: 0 };
  const exact = KEPT[text] === undefined ? numberOf(zoneNames, text) : undefined;
  if (exact !== undefined) return { name: text, rule: exact };
  const found = readNames().get(lower);
  return found && { name: found[0], rule: found[1] };
}

export function allZones() {
  const out = new Set([...readNames().values()].map(([name]) => name).filter((name) => !/^Etc\/|^[A-Z]+\d*[A-Z]*$/.test(name)));
  return [...out.add('UTC')].sort();
}

// A rule: the first offset, then "step,offset" with ! for daylight saving; steps and offsets in quarters of an hour, or in seconds behind a ~.
const quarters = (text, base) => (text[0] === '~' ? parseInt(text.slice(1), base) : parseInt(text, base) * 900);
function readRule(index) {
  let rule = decoded.get(index);
  if (rule !== undefined) return rule;
  const [first, ...changes] = zoneRules[index].split(';');
  rule = { times: [], offsets: [parseInt(first, 36)], daylight: [false] };
  let at = 0;
  for (const change of changes) {
    const [step, offset] = change.split(',');
    at += step[0] === '~' ? parseInt(step.slice(1), 36) : parseInt(step, 36) * 900;
    rule.times.push(at);
    const isDaylight = offset.endsWith('!');
    rule.offsets.push(quarters(isDaylight ? offset.slice(0, -1) : offset, offset[0] === '~' ? 36 : 10));
    rule.daylight.push(isDaylight);
  }
  decoded.set(index, rule);
  return rule;
}

const LAST_YEAR = 2037;
const yearOf = (seconds) => new Date(seconds * 1000).getUTCFullYear();
const startOf = (year) => Date.UTC(year, 0, 1) / 1000;
const isLeap = (year) => (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0;
// The packed changes end in 2037. A later year has the changes of the last packed year with the same calendar.
function alike(seconds, rule) {
  const year = yearOf(seconds);
  if (year <= LAST_YEAR || rule.times.length === 0 || yearOf(rule.times.at(-1)) < LAST_YEAR) return seconds;
  const weekday = new Date(startOf(year) * 1000).getUTCDay();
  for (let other = LAST_YEAR; other > LAST_YEAR - 28; other--) {
    if (isLeap(other) === isLeap(year) && new Date(startOf(other) * 1000).getUTCDay() === weekday) return seconds - startOf(year) + startOf(other);
  }
  return seconds;
}

/** {offset: seconds east of UTC, daylight} of a zone at a moment in milliseconds. */
export function offsetAt(zone, ms) {
  if (zone.rule === undefined) return { offset: zone.offset, daylight: false };
  const rule = readRule(zone.rule), seconds = alike(Math.floor(ms / 1000), rule);
  let low = 0, high = rule.times.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (rule.times[middle] <= seconds) low = middle + 1;
    else high = middle;
  }
  return { offset: rule.offsets[low], daylight: rule.daylight[low] };
}

/** [long standard, long daylight, short standard, short daylight] of a zone in a locale; empty where there is none. */
export function namesOfZone(data, zone) {
  const index = numberOf(zoneGroups, zone.name) ?? numberOf(zoneGroups, NEW[zone.name] ?? KEPT[zone.name] ?? zone.name);
  if (index === undefined) return ['', '', '', ''];
  const language = data.split('-')[0];
  const own = data === language ? undefined : section(data, 'z')[index];
  return (own ?? section(language, 'z')[index]).split('|');
}
