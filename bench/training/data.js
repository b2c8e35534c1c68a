// What tools answer, worked on: JSON both ways, filters, groups, sorting.
const rows = Array.from({length: 2500}, (_, i) => ({
  id: i,
  name: `item ${i}`,
  price: ((i * 31) % 997) / 7,
  tags: ['a', 'b', 'c'].slice(i % 3),
  nested: {ok: i % 2 === 0, note: i % 5 ? null : 'line\n"quoted" \u00e9 \ud83d\ude00'},
}));
const json = JSON.stringify(rows);
const back = JSON.parse(json);
const pretty = JSON.stringify(back.slice(0, 300), null, 2);
const revived = JSON.parse(pretty, (key, value) => (key === 'price' ? Math.round(value) : value));

const cheap = back
  .filter((row) => row.price < 50)
  .map(({id, price, tags}) => ({id, price: Math.round(price * 100) / 100, tags: tags.length}))
  .sort((a, b) => a.price - b.price || a.id - b.id);
const groups = back.reduce((made, row) => {
  const key = row.tags.join('-');
  (made[key] = made[key] || []).push(row.id);
  return made;
}, {});
const letters = back.flatMap((row) => row.tags).reduce((n, tag) => n + tag.charCodeAt(0), 0);
const names = back.map((row) => row.name).sort();
const ids = back.map((row) => row.id).sort((a, b) => b - a);
const found = back.find((row) => row.name === 'item 2222');
const parts = back.slice(10, 500).concat(back.slice(600)).reverse();
parts.splice(5, 20, {id: -1});
[json.length, pretty.length, revived[3].price, cheap.length, Object.values(groups).map((group) => group.length).join(), letters,
  names[7], ids[3], found.id, back.some((row) => row.nested.note?.length > 20), back.every((row) => row.id >= 0), parts.length,
  parts.findIndex((row) => row.id === 77), back.map((row) => row.id).indexOf(1999), Object.keys(Object.fromEntries(Object.entries(groups))), cheap.at(-1).price];
