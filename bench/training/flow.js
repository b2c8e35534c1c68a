// Promises, generators, exceptions, closures, branches.
async function step(i) {
  await null;
  if (i % 50 === 49) throw new RangeError(`not ${i}`);
  return i * 2;
}
function* upTo(n) {
  for (let i = 0; i < n; i++) yield i;
}
async function* slowly(n) {
  for (const i of upTo(n)) {
    await null;
    yield i;
  }
}

let done = 0;
let failed = 0;
for (let i = 0; i < 1500; i++) {
  try {
    done += await step(i);
  } catch (error) {
    failed += error.message.length + (error.stack ? 1 : 0);
  } finally {
    done++;
  }
}
const all = await Promise.all(Array.from({length: 500}, (_, i) => step(i % 49)));
const settled = await Promise.allSettled(Array.from({length: 300}, (_, i) => step(i)));
const first = await Promise.race([step(1), step(2)]);
const chained = await step(3).then((n) => n + 1).catch(() => 0).finally(() => done++);
let sum = 0;
for await (const i of slowly(800)) sum += i;

const collatz = (n) => {
  let count = 0;
  while (n !== 1) {
    n = n % 2 ? 3 * n + 1 : n / 2;
    count++;
  }
  return count;
};
let longest = 0;
for (let i = 1; i < 3000; i++) longest = Math.max(longest, collatz(i));

const makeCounter = () => {
  let n = 0;
  return {next: () => ++n, reset: () => (n = 0)};
};
const counter = makeCounter();
search: for (let i = 0; i < 100; i++) {
  for (let j = 0; j < 100; j++) {
    if (counter.next() > 5000) break search;
    if (j > i) continue search;
  }
}
for (let i = 0; i < 2000; i++) {
  switch (i % 6) {
    case 0:
      sum += 1;
      break;
    case 1:
    case 2:
      sum -= 1;
      break;
    default:
      sum += i & 3;
  }
}
const args = (...list) => list.length + (list[0] ?? 0);
for (let i = 0; i < 2000; i++) sum += args(i, ...[1, 2, 3]) + args.call(null, i) + args.apply(null, [1, 2]);
console.log('done', done, {failed, list: [1, 'two', null]});
[done, failed, all.length, settled.filter((one) => one.status === 'rejected').length, first, chained, sum, longest, counter.next()];
