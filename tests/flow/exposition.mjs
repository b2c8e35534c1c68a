// A strict reader of Prometheus' text format 0.0.4 (https://prometheus.io/docs/instrumenting/exposition_formats/): it
// takes nothing that the format does not say, and checks what the format promises of histograms and names.
import assert from "node:assert/strict";

const NAME = /^[a-zA-Z_:][a-zA-Z0-9_:]*/;
const LABEL = /^[a-zA-Z_][a-zA-Z0-9_]*/;
const NUMBER = /^[+-]?(\d+(\.\d+)?([eE][+-]?\d+)?|Inf|NaN)$/;
const suffixes = { counter: [""], gauge: [""], histogram: ["_bucket", "_sum", "_count"] };

function readLabels(text, line) {
  const labels = {};
  let rest = text;
  for (;;) {
    const name = LABEL.exec(rest)?.[0];
    assert.ok(name !== undefined && rest[name.length] === "=" && rest[name.length + 1] === '"', line);
    assert.ok(!(name in labels), `a label twice: ${line}`);
    let value = "", i = name.length + 2;
    for (; rest[i] !== '"'; i++) {
      assert.ok(i < rest.length, line);
      if (rest[i] !== "\\") { value += rest[i]; continue; }
      const escaped = { "\\": "\\", '"': '"', n: "\n" }[rest[++i]];
      assert.ok(escaped !== undefined, `a bad escape: ${line}`);
      value += escaped;
    }
    labels[name] = value;
    rest = rest.slice(i + 1);
    if (rest[0] === "}") return [labels, rest.slice(1)];
    assert.equal(rest[0], ",", line);
    rest = rest.slice(1);
  }
}

function checkHistogram(family) {
  const groups = new Map();
  for (const { name, labels, value } of family.samples) {
    const { le, ...others } = labels;
    const key = JSON.stringify(others);
    if (!groups.has(key)) groups.set(key, { buckets: [] });
    const group = groups.get(key);
    if (name.endsWith("_bucket")) group.buckets.push([le === "+Inf" ? Infinity : Number(le), value]);
    else group[name.slice(family.name.length + 1)] = value;
  }
  for (const { buckets, sum, count } of groups.values()) {
    assert.ok(buckets.length > 1 && buckets.at(-1)[0] === Infinity, `${family.name}: the last bucket is +Inf`);
    buckets.slice(1).forEach(([le, n], i) => assert.ok(le > buckets[i][0] && n >= buckets[i][1], `${family.name}: buckets are cumulative`));
    assert.equal(buckets.at(-1)[1], count);
    assert.ok(sum >= 0 && (count > 0 || sum === 0));
  }
}

/** {families, value(name, labels): the sum of matching samples, label(name, label): its values}. Throws on any fault. */
export function readExposition(text) {
  const families = new Map();
  assert.ok(text.endsWith("\n"), "the last line has an end");
  let family;
  for (const line of text.slice(0, -1).split("\n")) {
    const meta = /^# (HELP|TYPE) (\S+) (.+)$/.exec(line);
    if (meta?.[1] === "HELP") {
      assert.ok(!families.has(meta[2]), `a family twice: ${line}`);
      families.set(meta[2], family = { name: meta[2], help: meta[3], samples: [], seen: new Set() });
      continue;
    }
    if (meta) {
      assert.ok(family?.name === meta[2] && family.type === undefined && family.samples.length === 0, line);
      assert.ok(meta[3] in suffixes, line);
      family.type = meta[3];
      continue;
    }
    const name = NAME.exec(line)?.[0];
    assert.ok(name !== undefined && family !== undefined, `no sample: ${JSON.stringify(line)}`);
    assert.ok(suffixes[family.type].some((suffix) => name === family.name + suffix), `not of this family: ${line}`);
    let labels = {}, rest = line.slice(name.length);
    if (rest[0] === "{") [labels, rest] = readLabels(rest.slice(1), line);
    assert.ok(rest[0] === " " && NUMBER.test(rest.slice(1)), line);
    const key = name + JSON.stringify(Object.entries(labels).sort());
    assert.ok(!family.seen.has(key), `a sample twice: ${line}`);
    family.seen.add(key);
    family.samples.push({ name, labels, value: Number(rest.slice(1).replace("Inf", "Infinity")) });
  }
  for (const one of families.values()) {
    assert.ok(one.type !== undefined, `${one.name} has a type`);
    assert.equal(one.name.endsWith("_total"), one.type === "counter", `${one.name}: counters end in _total`);
    if (one.type === "histogram") checkHistogram(one);
  }
  const samples = [...families.values()].flatMap((one) => one.samples);
  const is = (labels, wanted) => Object.entries(wanted).every(([key, value]) => labels[key] === value);
  return {
    families,
    value: (name, wanted = {}) => samples.filter((one) => one.name === name && is(one.labels, wanted)).reduce((sum, one) => sum + one.value, 0),
    label: (name, label) => [...new Set(samples.filter((one) => one.name === name).map((one) => one.labels[label]))],
  };
}
