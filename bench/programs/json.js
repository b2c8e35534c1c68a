const items = [];
for (let i = 0; i < 5000; i++) items.push({ id: i, name: `item ${i}`, tags: ["a", "b"], at: { x: i + 1 / 3, y: -i }, open: i % 2 === 0 });
let text = JSON.stringify(items);
for (let i = 0; i < 3; i++) text = JSON.stringify(JSON.parse(text));
text.length;
