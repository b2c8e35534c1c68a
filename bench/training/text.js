// Lines of a log: regular expressions, splitting, joining, replacing, words counted.
const lines = [];
for (let i = 0; i < 2500; i++) {
  const day = `2026-${String((i % 12) + 1).padStart(2, '0')}-${String((i % 28) + 1).padStart(2, '0')}`;
  lines.push(`${day} user${i % 97}@example.org GET /item/${(i * 7919) % 1000}?q=${encodeURIComponent(`a b&c${i}`)} ${200 + (i % 5)} ${(i * 37) % 999}ms`);
}

const pattern = /^(?<year>\d{4})-(\d\d)-(\d\d) (\S+)@(\S+) (GET|POST) (\/\S*) (\d{3}) (\d+)ms$/;
const stats = {};
for (const line of lines) {
  const match = pattern.exec(line);
  if (!match) continue;
  const [, , month, , user, , , path, , ms] = match;
  const entry = (stats[`${month}/${user}`] ??= {count: 0, ms: 0, paths: []});
  entry.count++;
  entry.ms += Number(ms);
  entry.paths.push(decodeURIComponent(path.split('?')[1].slice(2)));
}

const text = lines.join('\n');
const counts = {};
for (const word of text.split(/\W+/)) if (word.length > 2) counts[word.toLowerCase()] = (counts[word.toLowerCase()] || 0) + 1;
const table = Object.entries(counts).sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1)).slice(0, 10).map(([word, n]) => `| ${word} | ${n} |`);

let shouted = '';
for (let i = 0; i < text.length; i += 50) shouted += text.slice(i, i + 40).replace(/[aeiou]/g, (c) => c.toUpperCase()).trim();
let sum = 0;
for (let i = 0; i < 20000; i++) sum = (sum * 31 + text.charCodeAt(i)) | 0;
let letters = 0;
for (const character of 'grüße, 世界, 😀 '.repeat(200)) letters += character.codePointAt(0) > 127 ? 1 : 0;

const all = [...text.matchAll(/user(\d+)/g)].map((match) => Number(match[1]));
[Object.keys(stats).length, table.join('\n').length, shouted.length, sum, letters, all.length, text.indexOf('item/999'),
  text.lastIndexOf('GET'), text.includes('zzz'), text.replaceAll('GET', 'PUT').length, 'a-b_c'.split(/[-_]/).join(''),
  'Abc'.localeCompare?.('abd'), ' x '.trimEnd().padEnd(9, '.'), text.startsWith('2026'), 'ß'.toUpperCase(), 'é'.normalize('NFD').length];
