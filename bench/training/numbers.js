// Arithmetic of all kinds: integers, doubles, bits, typed arrays, big integers, dates.
const SIZE = 60;
const a = [];
const b = [];
for (let i = 0; i < SIZE; i++) {
  a.push([]);
  b.push([]);
  for (let j = 0; j < SIZE; j++) {
    a[i][j] = ((i * j) % 7) + 0.5;
    b[i][j] = (i + j) % 5;
  }
}
const product = a.map((row) => b[0].map((_, j) => {
  let sum = 0;
  for (let k = 0; k < SIZE; k++) sum += row[k] * b[k][j];
  return sum;
}));

const isComposite = new Uint8Array(50000);
let primes = 0;
for (let i = 2; i < isComposite.length; i++) {
  if (isComposite[i]) continue;
  primes++;
  for (let j = i * 2; j < isComposite.length; j += i) isComposite[j] = 1;
}
let hash = 2166136261;
for (let i = 0; i < 40000; i++) {
  hash ^= i & 255;
  hash = Math.imul(hash, 16777619) >>> 0;
}
let waves = 0;
for (let i = 0; i < 20000; i++) waves += (Math.sqrt(i) * Math.sin(i)) / (1 + (i % 9)) + Math.floor(i / 3) - Math.abs(-i);
const factorial = Array.from({length: 80}, (_, i) => BigInt(i + 1)).reduce((x, y) => x * y, 1n);
const doubles = new Float64Array(5000).map((_, i) => (i * 7919) % 5000).sort();
const queue = [];
for (let i = 0; i < 3000; i++) {
  queue.push(i);
  if (i % 3 === 0) queue.shift();
}
const day = new Date(Date.UTC(2026, 0, 1));
let weekdays = 0;
for (let i = 0; i < 500; i++) {
  day.setUTCDate(day.getUTCDate() + 1);
  weekdays += day.getUTCDay() + day.toISOString().length;
}
const ackermann = (m, n) => (m === 0 ? n + 1 : n === 0 ? ackermann(m - 1, 1) : ackermann(m - 1, ackermann(m, n - 1)));
let printed = '';
for (let i = 0; i < 2000; i++) printed = String(i / 7) + (i * 1.5).toFixed(1) + Number.parseFloat(printed || '0') + parseInt('7f', 16);
[product[3][4], primes, hash, waves.toFixed(3), String(factorial % 1000007n), doubles[4999], queue.length, weekdays,
  ackermann(2, 40), printed, (255).toString(2), Date.parse('2026-01-05T10:00:00Z'), Number.isInteger(5), 2 ** 31 | 0, 7 % -3, -5 >> 1];
