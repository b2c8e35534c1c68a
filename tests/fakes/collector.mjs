// A fake collector: takes OTLP/HTTP in JSON, checks its shape strictly, and keeps the spans.
import assert from "node:assert/strict";
import { createServer } from "node:http";
import { after } from "node:test";

const only = (value, required, optional = []) => {
  for (const key of required) assert.ok(key in value, `${key} is missing in ${JSON.stringify(value).slice(0, 300)}`);
  for (const key of Object.keys(value)) assert.ok(required.includes(key) || optional.includes(key), `${key} is not known in ${JSON.stringify(value).slice(0, 300)}`);
};
const HEX = (digits) => new RegExp(`^[0-9a-f]{${digits}}$`);
const id = (text, digits) => { assert.match(text, HEX(digits)); assert.doesNotMatch(text, /^0*$/); };
const uint64 = (text) => { assert.equal(typeof text, "string"); assert.match(text, /^\d+$/); return BigInt(text); };

/** The value of an AnyValue. */
function valueOf(any) {
  const [[kind, value], ...rest] = Object.entries(any);
  assert.equal(rest.length, 0);
  if (kind === "stringValue") { assert.equal(typeof value, "string"); return value; }
  if (kind === "boolValue") { assert.equal(typeof value, "boolean"); return value; }
  if (kind === "intValue") { assert.match(value, /^-?\d+$/); return Number(value); } // 64 bits: a text
  assert.equal(kind, "arrayValue");
  only(value, ["values"]);
  return value.values.map(valueOf);
}

function attributesOf(list) {
  const all = {};
  for (const one of list) {
    only(one, ["key", "value"]);
    assert.ok(one.key !== "" && !(one.key in all), `${one.key} is there once`);
    all[one.key] = valueOf(one.value);
  }
  return all;
}

function spanOf(span) {
  only(span, ["traceId", "spanId", "flags", "name", "kind", "startTimeUnixNano", "endTimeUnixNano", "attributes"], ["parentSpanId", "traceState", "links", "events", "status"]);
  id(span.traceId, 32);
  id(span.spanId, 16);
  if ("parentSpanId" in span) id(span.parentSpanId, 16);
  assert.ok(Number.isInteger(span.flags) && [1, 2, 3, 4, 5].includes(span.kind) && span.name.length > 0);
  const begin = uint64(span.startTimeUnixNano), end = uint64(span.endTimeUnixNano);
  assert.ok(begin <= end, `${span.name} ends after its begin`);
  const seconds = Number(begin / 1_000_000_000n);
  assert.ok(Math.abs(seconds - Date.now() / 1000) < 600, `${span.name} is of now`);
  if (span.status !== undefined) {
    only(span.status, ["code"], ["message"]);
    assert.ok([0, 1, 2].includes(span.status.code));
  }
  for (const link of span.links ?? []) {
    only(link, ["traceId", "spanId", "flags"], ["traceState"]);
    id(link.traceId, 32);
    id(link.spanId, 16);
  }
  const events = (span.events ?? []).map((event) => {
    only(event, ["timeUnixNano", "name", "attributes"]);
    return { name: event.name, at: uint64(event.timeUnixNano), attributes: attributesOf(event.attributes) };
  });
  return { ...span, begin, end, events, attributes: attributesOf(span.attributes) };
}

/** Starts one. `answers(n)` says how the n-th request is answered: {status, headers, body, delayMs}; 200 by default. */
export async function collector(answers = () => ({})) {
  const seen = { spans: [], requests: [], faults: [], resource: undefined };
  const server = createServer((request, response) => {
    const pieces = [];
    request.on("data", (piece) => pieces.push(piece));
    request.on("end", () => {
      const answer = { status: 200, headers: {}, body: "{}", delayMs: 0, ...answers(seen.requests.length) };
      const text = Buffer.concat(pieces).toString();
      seen.requests.push({ method: request.method, path: request.url, headers: request.headers, text, at: Date.now() });
      if (answer.status === 200) {
        try {
          const body = JSON.parse(text);
          only(body, ["resourceSpans"]);
          for (const one of body.resourceSpans) {
            only(one, ["resource", "scopeSpans"]);
            only(one.resource, ["attributes"]);
            seen.resource = attributesOf(one.resource.attributes);
            for (const scope of one.scopeSpans) {
              only(scope, ["scope", "spans"]);
              only(scope.scope, ["name", "version"]);
              seen.spans.push(...scope.spans.map(spanOf));
            }
          }
        } catch (error) { seen.faults.push(error); }
      }
      setTimeout(() => response.writeHead(answer.status, { "content-type": "application/json", ...answer.headers }).end(answer.body), answer.delayMs).unref(); // one that never answers does not hold the test up
    });
  });
  await new Promise((done) => server.listen(0, "127.0.0.1", done));
  after(() => { server.closeAllConnections(); server.close(); });
  return {
    ...seen,
    get resource() { return seen.resource; },
    url: `http://127.0.0.1:${server.address().port}`,
    named: (pattern) => seen.spans.filter((span) => pattern.test(span.name)),
    /** Every span was in shape, has its parent among the others (`outside`: ids that are elsewhere), and lies within it where `nests`. */
    check({ outside = [], apart = [] } = {}) {
      assert.deepEqual(seen.faults.map(String), []);
      const byId = new Map(seen.spans.map((span) => [span.spanId, span]));
      assert.equal(byId.size, seen.spans.length, "no span comes twice");
      for (const span of seen.spans) {
        if (span.parentSpanId === undefined || outside.includes(span.parentSpanId)) continue;
        const parent = byId.get(span.parentSpanId);
        assert.ok(parent, `the parent of ${span.name} exists`);
        assert.equal(parent.traceId, span.traceId);
        const isApart = apart.some((pattern) => pattern.test(span.name)); // a prompt outlives its request
        if (!isApart) assert.ok(parent.begin <= span.begin && span.end <= parent.end, `${span.name} lies within ${parent.name}`);
        for (const event of span.events) assert.ok(span.begin <= event.at && event.at <= span.end);
      }
    },
  };
}
