const lines = [];
for (let i = 0; i < 20000; i++) lines.push(`${i}: ${"item ".repeat(i % 7)}${i.toString(36)}`);
const text = lines.join("\n");
let upper = "";
for (const line of text.split("\n")) upper += line.replace(/item/g, "thing").toUpperCase().slice(0, 40);
upper.length;
