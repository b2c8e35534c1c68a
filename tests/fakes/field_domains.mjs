// What the fake services of tests/field know and do: weather, files, mail, and so on. Node 18 or later, no dependencies.
//
// domains[NAME]() makes the service anew: a list of tools {name, description, inputSchema, outputSchema?, annotations?, run(input)}. `run` gives an object (structured content), or a string
// (one block of text), or throws (an error that the caller sees). Nothing here looks at a clock or a random number: the same calls get the same answers.

// --- Schemas in a few characters ---------------------------------------------------------------------------------------
const typeOf = (word) => (word.endsWith("[]") ? { type: "array", items: typeOf(word.slice(0, -2)) } : word.includes("|") ? { enum: word.split("|") } : word === "any" ? {} : { type: word });

/** "city:string days?:integer" as a JSON Schema of an object. */
function input(words) {
  const fields = words.split(" ").filter(Boolean).map((word) => /^(\w+)(\??):(.+)$/.exec(word));
  return {
    type: "object",
    properties: Object.fromEntries(fields.map(([, name, , type]) => [name, typeOf(type)])),
    required: fields.filter(([, , optional]) => !optional).map(([, name]) => name),
  };
}

/** A schema that this sample fulfils. A key that ends in "?" may be missing; an array's first item stands for all. */
function like(sample) {
  if (Array.isArray(sample)) return { type: "array", items: like(sample[0]) };
  if (sample === null) return {};
  if (typeof sample !== "object") return { type: typeof sample };
  const entries = Object.entries(sample);
  return {
    type: "object",
    properties: Object.fromEntries(entries.map(([key, value]) => [key.replace("?", ""), like(value)])),
    required: entries.map(([key]) => key).filter((key) => !key.endsWith("?")),
  };
}

const READ = { readOnlyHint: true };
const read = (name, description, words, run, sample) => ({ name, description, inputSchema: input(words), ...(sample && { outputSchema: like(sample) }), annotations: READ, run });
const write = (name, description, words, run, sample) => ({ ...read(name, description, words, run, sample), annotations: undefined });
const fail = (message) => { throw new Error(message); };
const json = (value) => JSON.stringify(value, null, 2);
const copy = (value) => JSON.parse(JSON.stringify(value));
const has = (text, words) => text.toLowerCase().includes(words.toLowerCase());

// --- Weather -----------------------------------------------------------------------------------------------------------
const CITIES = {
  Berlin: [52.52, 13.405, "DE", 11.4, 71, 14, "cloudy"], Lisbon: [38.7223, -9.1393, "PT", 19.2, 60, 18, "sunny"],
  Oslo: [59.9139, 10.7522, "NO", 3.1, 80, 9, "snow"], Cairo: [30.0444, 31.2357, "EG", 27.8, 28, 12, "sunny"],
  Tokyo: [35.6762, 139.6503, "JP", 15.6, 55, 20, "rain"], "New York": [40.7128, -74.006, "US", 9, 64, 25, "windy"],
  London: [51.5074, -0.1278, "GB", 10.2, 82, 22, "rain"], Austin: [30.2672, -97.7431, "US", 24.5, 40, 8, "sunny"],
};
function weather() {
  const city = (name) => CITIES[name] ?? fail(`No such city: ${name}`);
  const day = (n) => new Date(Date.UTC(2026, 2, 9 + n)).toISOString().slice(0, 10);
  const skies = ["sunny", "cloudy", "rain", "cloudy", "sunny", "rain", "windy"];
  const now = (name) => { const [, , , temperature, humidity, windKph, condition] = city(name); return { city: name, temperature, unit: "celsius", humidity, windKph, condition }; };
  return [
    read("get-current", "The weather of now", "city:string unit?:celsius|fahrenheit", (a) => {
      const w = now(a.city);
      return a.unit === "fahrenheit" ? { ...w, unit: "fahrenheit", temperature: Math.round((w.temperature * 1.8 + 32) * 10) / 10 } : w;
    }, { city: "", temperature: 0, unit: "", humidity: 0, windKph: 0, condition: "" }),
    read("get-forecast", "The next days, from 2026-03-09", "city:string days?:integer", (a) => {
      const { temperature } = now(a.city);
      const high = (n) => Math.round((temperature + ((n * 7 + a.city.length) % 5) - 1) * 10) / 10;
      return { city: a.city, days: Array.from({ length: a.days ?? 3 }, (_, n) => ({ date: day(n), high: high(n), low: Math.round((high(n) - 6.5) * 10) / 10, condition: skies[(n + a.city.length) % 7], rainMm: ((n + a.city.length) * 3) % 8 })) };
    }, { city: "", days: [{ date: "", high: 0, low: 0, condition: "", rainMm: 0 }] }),
    read("geocode", "Where a city is", "query:string", (a) => {
      const found = Object.entries(CITIES).filter(([name]) => has(name, a.query));
      return { results: found.map(([name, [latitude, longitude, country]]) => ({ name, latitude, longitude, country })) };
    }, { results: [{ name: "", latitude: 0, longitude: 0, country: "" }] }),
    read("get-alerts", "Warnings for a country or a state, as text", "area:string", (a) => ({ NO: "Snow warning: Oslo, until Tuesday\nWind warning: Bergen", US: "Wind advisory: New York" })[a.area] ?? "No active alerts"),
  ];
}

// --- Files -------------------------------------------------------------------------------------------------------------
const FILES = {
  "notes/todo.md": "# Todo\n\n- [x] pay rent\n- [ ] call Ana\n- [ ] book flight to Lisbon\n- [x] water plants\n- [ ] renew passport\n",
  "notes/meeting.md": "# Meeting 2026-03-02\n\nAttendees: Ana, Ben, Chloe\n\nAction: Ben sends the budget by 2026-03-06\nAction: Ana books a room\nDecision: launch moves to 2026-04-14\n",
  "notes/ideas.txt": "solar kiosk\nbike library\nnight market\n",
  "data/sales.csv": "date,region,product,units,price\n2026-01-05,north,lamp,3,19.90\n2026-01-09,south,chair,2,54.00\n2026-01-20,north,chair,1,54.00\n2026-02-02,east,lamp,10,18.50\n2026-02-14,south,desk,1,240.00\n2026-02-27,north,desk,2,235.00\n2026-03-01,east,chair,4,52.00\n",
  "data/users.json": '{"users":[{"id":1,"name":"Ana","email":"ana@example.com","age":34,"tags":["admin","beta"]},{"id":2,"name":"Ben","email":"ben@example.org","age":27,"tags":[]},{"id":3,"name":"Chloe","email":"chloe@example.com","age":41,"tags":["beta"]}]}',
  "logs/app.log": "2026-03-08T10:00:01Z INFO  start port=8080\n2026-03-08T10:00:09Z WARN  slow query ms=1200\n2026-03-08T10:01:12Z ERROR db: connection refused\n2026-03-08T10:01:13Z ERROR db: connection refused\n2026-03-08T10:02:40Z INFO  request path=/cart ms=31\n2026-03-08T10:02:41Z ERROR auth: token expired user=17\n2026-03-08T10:03:00Z WARN  slow query ms=2300\n",
  "src/config.ini": "[server]\nhost = 0.0.0.0\nport = 8080\n\n[db]\nurl = postgres://db.example/app\npool = 5\n",
  "src/app.js": "// NOTE: split this file\nimport { start } from './server.js';\nstart();\n// NOTE: handle signals\n",
  "src/server.js": "export function start() {\n  // LATER: port is fixed\n  return listen(8080);\n}\n",
  "README.md": "# Field\n\nA shop of small things.\n\n## Install\n\n    npm install\n\n## Links\n\n[docs](https://docs.example/start) and [issues](https://code.example/shop/issues)\n",
};
function files() {
  const tree = { ...FILES };
  const clean = (path) => path.replace(/^\.?\/+|^\.$|\/+$/g, "");
  const inside = (path) => { const start = clean(path) ? clean(path) + "/" : ""; return Object.keys(tree).filter((name) => name.startsWith(start)).map((name) => name.slice(start.length)); };
  const text = (path) => tree[clean(path)] ?? fail(`ENOENT: no such file or directory, open '${path}'`);
  const entries = (path) => {
    const names = new Map(inside(path).map((name) => [name.split("/")[0], name.includes("/")]));
    if (names.size === 0) fail(`ENOENT: no such file or directory, scandir '${path}'`);
    return [...names].sort(([a], [b]) => (a < b ? -1 : 1));
  };
  return [
    read("list_directory", "One entry a line: [FILE] name or [DIR] name", "path:string", (a) => entries(a.path).map(([name, isDirectory]) => `${isDirectory ? "[DIR]" : "[FILE]"} ${name}`).join("\n")),
    read("read_text_file", "A file as text", "path:string head?:integer tail?:integer", (a) => {
      const lines = text(a.path).split("\n");
      return a.head ? lines.slice(0, a.head).join("\n") : a.tail ? lines.slice(-a.tail).join("\n") : lines.join("\n");
    }),
    read("search_files", "Paths that contain a text, one a line", "path:string pattern:string", (a) => inside(a.path).filter((name) => has(name, a.pattern.replace(/\*/g, ""))).sort().join("\n") || "No matches found"),
    read("get_file_info", "Size and kind", "path:string", (a) => ({ path: a.path, size: Buffer.byteLength(text(a.path)), isFile: true, modified: "2026-03-01T12:00:00.000Z" }), { path: "", size: 0, isFile: true, modified: "" }),
    write("write_file", "Writes a file, and replaces one that is there", "path:string content:string", (a) => { tree[clean(a.path)] = a.content; return `Successfully wrote to ${a.path}`; }),
    write("move_file", "Renames a file", "source:string destination:string", (a) => { tree[clean(a.destination)] = text(a.source); delete tree[clean(a.source)]; return `Successfully moved ${a.source} to ${a.destination}`; }),
  ];
}

// --- Mail --------------------------------------------------------------------------------------------------------------
const MAIL = [
  ["m1", "ana@example.com", "Budget 2026", "2026-03-08T09:12:00Z", true, ["inbox"], "Hi,\nthe budget is 48,200 EUR. Please confirm by Friday.\nAna"],
  ["m2", "news@letters.example", "Weekly digest", "2026-03-07T06:00:00Z", true, ["inbox", "newsletter"], "Ten links you should not miss. Unsubscribe: https://letters.example/u?id=7"],
  ["m3", "ben@example.org", "Invoice #1042", "2026-03-06T15:40:00Z", false, ["inbox"], "Invoice #1042\nTotal: $1,250.00\nDue: 2026-03-20"],
  ["m4", "support@cloud.example", "Your ticket 881 was closed", "2026-03-05T11:05:00Z", false, ["inbox"], "Ticket 881 was closed. Reply to reopen it."],
  ["m5", "chloe@example.com", "Lunch on Thursday?", "2026-03-05T08:30:00Z", true, ["inbox"], "Thursday 12:30 at the corner place? Chloe"],
  ["m6", "ben@example.org", "Invoice #1043", "2026-03-04T17:22:00Z", true, ["inbox"], "Invoice #1043\nTotal: $310.50\nDue: 2026-03-25"],
  ["m7", "alerts@bank.example", "Payment received", "2026-03-03T10:00:00Z", false, ["inbox", "bank"], "We received 900.00 EUR from ACME GmbH."],
  ["m8", "ana@example.com", "Re: Launch date", "2026-03-02T19:45:00Z", false, ["inbox"], "The launch moves to 2026-04-14. Ana"],
];
function mail() {
  const box = MAIL.map(([id, from, subject, date, unread, labels, body]) => ({ id, from, subject, date, unread, labels: [...labels], body }));
  const sent = [];
  const message = (id) => box.find((m) => m.id === id) ?? fail(`Message not found: ${id}`);
  const matches = (m, query) => (query ?? "").split(/\s+/).filter(Boolean).every((word) => {
    const [, key, rest] = /^(from|subject|is|label):(.+)$/.exec(word) ?? [];
    return key === "is" ? (rest === "unread") === m.unread : key === "label" ? m.labels.includes(rest) : key ? has(m[key], rest) : has(`${m.subject} ${m.body} ${m.from}`, word);
  });
  return [
    read("search_messages", "Messages, newest first; from:, subject:, label:, is:unread", "query?:string pageSize?:integer pageToken?:string", (a) => {
      const all = box.filter((m) => matches(m, a.query)), from = Number(a.pageToken ?? 0), size = a.pageSize ?? 5;
      return { messages: all.slice(from, from + size).map(({ body, ...head }) => copy(head)), total: all.length, ...(from + size < all.length && { nextPageToken: String(from + size) }) };
    }, { messages: [{ id: "", from: "", subject: "", date: "", unread: true, labels: [""] }], total: 0, "nextPageToken?": "" }),
    read("get_message", "One message with its body", "id:string", (a) => copy(message(a.id)), { id: "", from: "", subject: "", date: "", unread: true, labels: [""], body: "" }),
    write("label_message", "Adds and removes labels; unread is one of them", "id:string add?:string[] remove?:string[]", (a) => {
      const m = message(a.id);
      m.labels = [...new Set([...m.labels, ...(a.add ?? [])])].filter((label) => !(a.remove ?? []).includes(label));
      if ((a.remove ?? []).includes("unread")) m.unread = false;
      return { id: m.id, labels: m.labels };
    }, { id: "", labels: [""] }),
    write("send_email", "Sends a message", "to:string subject:string body:string cc?:string[]", (a) => {
      if (!/^[^@\s]+@[^@\s]+$/.test(a.to)) fail(`Invalid recipient: ${a.to}`);
      sent.push(a);
      return { id: `s${sent.length}`, status: "sent" };
    }, { id: "", status: "" }),
    read("list_sent", "What was sent so far", "", () => ({ messages: copy(sent) })),
  ];
}

// --- Calendar ----------------------------------------------------------------------------------------------------------
const EVENTS = [
  ["e1", "Stand-up", "2026-03-09T09:00:00Z", "2026-03-09T09:15:00Z", ["ana@example.com", "ben@example.org"]],
  ["e2", "Design review", "2026-03-09T13:00:00Z", "2026-03-09T14:30:00Z", ["chloe@example.com"]],
  ["e3", "Dentist", "2026-03-10T08:00:00Z", "2026-03-10T09:00:00Z", []],
  ["e4", "1:1 Ana", "2026-03-10T08:30:00Z", "2026-03-10T09:30:00Z", ["ana@example.com"]],
  ["e5", "Lunch", "2026-03-12T12:30:00Z", "2026-03-12T13:30:00Z", ["chloe@example.com"]],
  ["e6", "Budget", "2026-03-13T15:00:00Z", "2026-03-13T16:00:00Z", ["ana@example.com", "ben@example.org", "chloe@example.com"]],
];
function calendar() {
  const events = EVENTS.map(([id, title, start, end, attendees]) => ({ id, title, start, end, attendees }));
  const sample = { id: "", title: "", start: "", end: "", attendees: [""] };
  return [
    read("list-events", "Events that begin in a span of time", "timeMin?:string timeMax?:string", (a) => ({ events: copy(events.filter((e) => e.start >= (a.timeMin ?? "") && e.start < (a.timeMax ?? "9"))) }), { events: [sample] }),
    write("create-event", "Adds an event", "title:string start:string end:string attendees?:string[]", (a) => {
      if (!(Date.parse(a.end) > Date.parse(a.start))) fail("end must be after start");
      const event = { id: `e${events.length + 1}`, title: a.title, start: a.start, end: a.end, attendees: a.attendees ?? [] };
      events.push(event);
      return copy(event);
    }, sample),
    write("delete-event", "Removes an event", "id:string", (a) => {
      const at = events.findIndex((e) => e.id === a.id);
      if (at < 0) fail(`Event not found: ${a.id}`);
      events.splice(at, 1);
      return "deleted";
    }),
  ];
}

// --- A database --------------------------------------------------------------------------------------------------------
const TABLES = {
  customers: [[1, "Acme", "DE", "2024-05-01"], [2, "Globex", "US", "2023-11-12"], [3, "Initech", "US", "2025-02-20"], [4, "Umbrella", "GB", "2025-08-03"], [5, "Hooli", "DE", "2026-01-15"]].map(([id, name, country, since]) => ({ id, name, country, since })),
  orders: [[101, 1, 250, "paid", "2026-01-10"], [102, 2, 99.5, "paid", "2026-01-22"], [103, 1, 40, "refunded", "2026-02-01"], [104, 3, 720, "paid", "2026-02-11"], [105, 4, 18.25, "open", "2026-02-19"], [106, 2, 310, "open", "2026-03-02"], [107, 1, 75, "paid", "2026-03-04"]].map(([id, customer_id, total, status, created]) => ({ id, customer_id, total, status, created })),
  employees: [[1, "Ana", "engineering", 7200, null], [2, "Ben", "engineering", 6100, 1], [3, "Chloe", "design", 5800, 1], [4, "Dan", "sales", 4900, 3], [5, "Eve", "sales", 5300, 3]].map(([id, name, department, salary, manager_id]) => ({ id, name, department, salary, manager_id })),
};
/** SELECT columns|*|COUNT(*)|SUM(x) FROM t [WHERE a op v AND ...] [ORDER BY a [DESC]] [LIMIT n [OFFSET m]] */
function select(sql) {
  const [, columns, table, where, order, down, limit, offset] = /^\s*select\s+(.+?)\s+from\s+(\w+)(?:\s+where\s+(.+?))?(?:\s+order\s+by\s+(\w+)(\s+desc)?(?:\s+asc)?)?(?:\s+limit\s+(\d+))?(?:\s+offset\s+(\d+))?\s*;?\s*$/is.exec(sql) ?? fail(`syntax error at or near "${sql.trim().split(/\s+/)[0] ?? ""}"`);
  let rows = TABLES[table] ?? fail(`relation "${table}" does not exist`);
  for (const part of where ? where.split(/\s+and\s+/i) : []) {
    const [, column, op, raw] = /^(\w+)\s*(=|<>|!=|>=|<=|>|<|is not|is|like)\s*(.+)$/i.exec(part.trim()) ?? fail(`syntax error at or near "${part}"`);
    if (!(column in rows[0])) fail(`column "${column}" does not exist`);
    const value = /^null$/i.test(raw) ? null : raw[0] === "'" ? raw.slice(1, -1) : Number(raw);
    const tests = { "=": (x) => x === value, is: (x) => x === value, "is not": (x) => x !== value, "<>": (x) => x !== value, "!=": (x) => x !== value, ">": (x) => x > value, "<": (x) => x < value, ">=": (x) => x >= value, "<=": (x) => x <= value, like: (x) => has(x, value.replace(/%/g, "")) };
    const keeps = tests[op.toLowerCase()];
    rows = rows.filter((row) => keeps(row[column]));
  }
  if (order) rows = [...rows].sort((a, b) => (a[order] < b[order] ? -1 : a[order] > b[order] ? 1 : 0) * (down ? -1 : 1));
  const [, fold, of, as] = /^(count|sum|max|min)\(\s*(\*|\w+)\s*\)(?:\s+as\s+(\w+))?$/i.exec(columns.trim()) ?? [];
  if (fold) {
    const values = rows.map((row) => row[of]);
    const folded = { count: () => rows.length, sum: () => values.reduce((x, y) => x + y, 0), max: () => Math.max(...values), min: () => Math.min(...values) }[fold.toLowerCase()]();
    return [{ [as ?? fold.toLowerCase()]: folded }];
  }
  rows = rows.slice(Number(offset ?? 0), limit === undefined ? undefined : Number(offset ?? 0) + Number(limit));
  if (columns.trim() === "*") return rows;
  return rows.map((row) => Object.fromEntries(columns.split(",").map((one) => {
    const [, name, alias] = /^(\w+)(?:\s+as\s+(\w+))?$/i.exec(one.trim()) ?? fail(`syntax error at or near "${one.trim()}"`);
    return [alias ?? name, name in row ? row[name] : fail(`column "${name}" does not exist`)];
  })));
}
function db() {
  return [
    read("query", "Runs a SELECT, answers the rows as JSON", "sql:string", (a) => json(select(a.sql))),
    read("list_tables", "The tables", "", () => ({ tables: Object.keys(TABLES) }), { tables: [""] }),
    read("describe_table", "The columns of a table", "table:string", (a) => ({ columns: Object.entries((TABLES[a.table] ?? fail(`relation "${a.table}" does not exist`))[0]).map(([name, value]) => ({ name, type: typeof value === "number" ? "numeric" : "text" })) }), { columns: [{ name: "", type: "" }] }),
  ];
}

// --- Issues ------------------------------------------------------------------------------------------------------------
const TITLES = ["Crash on empty cart", "Add dark mode", "Typo in README", "Slow search", "Login loops on Safari", "Export as CSV", "Crash when offline", "Update dependencies", "Wrong total with coupons", "Docs: install on Windows", "Keyboard navigation", "Crash in checkout"];
const LABELS = [["bug", "p1"], ["feature"], ["docs"], ["bug", "performance"], ["bug"], ["feature"], ["bug"], ["chore"], ["bug", "p1"], ["docs"], ["feature", "a11y"], ["bug", "p0"]];
const WHO = ["ana", "ben", "chloe", "dependabot"];
function github() {
  const issues = TITLES.map((title, i) => ({
    number: i + 1, title, state: i % 4 === 2 ? "closed" : "open", user: { login: WHO[(i * 3 + 1) % 4] }, labels: LABELS[i].map((name) => ({ name })), comments: (i * 5) % 7,
    created_at: new Date(Date.UTC(2026, 1, 1 + i * 3)).toISOString().replace(".000", ""), assignee: i % 3 === 0 ? { login: WHO[i % 2] } : null, body: `Seen in version 1.${i}.\n\nSteps: see #${((i + 4) % 12) + 1}`,
  }));
  const comments = [];
  const repository = (a) => (a.repo === "shop" ? issues : fail("Not Found"));
  const issue = (a) => repository(a).find((i) => i.number === a.issue_number) ?? fail("Not Found");
  const commits = ["Fix total", "Bump deps", "Add coupons", "Fix crash on empty cart (#1)", "Docs", "Refactor cart"].map((message, i) => ({ sha: ((i + 11) * 7919 * 104729).toString(16), commit: { message, author: { name: WHO[i % 3], date: `2026-03-0${6 - i}T1${i}:00:00Z` } } }));
  const pulls = [[31, "Fix coupons", "ben", false, 120, 14], [32, "Dark mode", "chloe", true, 840, 22], [33, "Bump deps", "dependabot", false, 4, 4]].map(([number, title, login, draft, additions, deletions]) => ({ number, title, user: { login }, draft, additions, deletions, created_at: `2026-03-0${number - 30}T08:00:00Z` }));
  return [
    read("list_issues", "Issues of a repository, as JSON", "owner:string repo:string state?:open|closed|all labels?:string[] page?:integer perPage?:integer", (a) => {
      const all = repository(a).filter((i) => (a.state ?? "open") === "all" || i.state === (a.state ?? "open")).filter((i) => (a.labels ?? []).every((label) => i.labels.some(({ name }) => name === label)));
      const size = a.perPage ?? 30, from = ((a.page ?? 1) - 1) * size;
      return json(all.slice(from, from + size).map(({ body, ...rest }) => rest));
    }),
    read("get_issue", "One issue, as JSON", "owner:string repo:string issue_number:integer", (a) => json(issue(a))),
    read("list_commits", "Commits, newest first, as JSON", "owner:string repo:string", (a) => (repository(a), json(commits))),
    read("list_pull_requests", "Open pull requests, as JSON", "owner:string repo:string", (a) => (repository(a), json(pulls))),
    write("create_issue", "Opens an issue", "owner:string repo:string title:string body?:string labels?:string[]", (a) => {
      const made = { number: repository(a).length + 1, title: a.title, state: "open", user: { login: "lathe" }, labels: (a.labels ?? []).map((name) => ({ name })), comments: 0, created_at: "2026-03-09T10:00:00Z", assignee: null, body: a.body ?? "" };
      issues.push(made);
      return json(made);
    }),
    write("update_issue", "Changes an issue", "owner:string repo:string issue_number:integer state?:open|closed labels?:string[]", (a) => {
      const one = issue(a);
      if (a.state) one.state = a.state;
      if (a.labels) one.labels = a.labels.map((name) => ({ name }));
      return json(one);
    }),
    write("add_issue_comment", "Comments on an issue", "owner:string repo:string issue_number:integer body:string", (a) => { issue(a).comments++; comments.push(a); return json({ id: comments.length, body: a.body }); }),
  ];
}

// --- A shop ------------------------------------------------------------------------------------------------------------
const PRODUCTS = [["LMP-1", "Desk lamp", "lighting", 19.9, 34], ["LMP-2", "Floor lamp", "lighting", 89, 3], ["CHR-1", "Oak chair", "seating", 54, 12], ["CHR-2", "Stool", "seating", 31.5, 0], ["DSK-1", "Writing desk", "tables", 240, 2], ["DSK-2", "Side table", "tables", 75.25, 9], ["RUG-1", "Wool rug", "textiles", 130, 5], ["CUP-1", "Cup, blue", "kitchen", 7.5, 120]].map(([sku, name, category, price, stock]) => ({ sku, name, category, price, stock }));
const ORDERS = [["o1", "Ana", "shipped", [["LMP-1", 2], ["CUP-1", 4]], "2026-02-20"], ["o2", "Ben", "pending", [["CHR-2", 1]], "2026-03-01"], ["o3", "Chloe", "pending", [["DSK-1", 1], ["CHR-1", 2]], "2026-03-03"], ["o4", "Ana", "delivered", [["RUG-1", 1]], "2026-01-15"], ["o5", "Dan", "pending", [["CUP-1", 12]], "2026-03-05"]];
function shop() {
  const products = copy(PRODUCTS);
  const orders = ORDERS.map(([id, customer, status, lines, placed]) => ({ id, customer, status, placed, items: lines.map(([sku, quantity]) => ({ sku, quantity })) }));
  const product = (sku) => products.find((p) => p.sku === sku) ?? fail(`Unknown SKU: ${sku}`);
  const order = (id) => orders.find((o) => o.id === id) ?? fail(`Order not found: ${id}`);
  const sample = { id: "", customer: "", status: "", placed: "", items: [{ sku: "", quantity: 0 }] };
  return [
    read("listProducts", "Products, some to a page", "category?:string page?:integer pageSize?:integer", (a) => {
      const all = products.filter((p) => !a.category || p.category === a.category), size = a.pageSize ?? 3, page = a.page ?? 1;
      return { products: copy(all.slice((page - 1) * size, page * size)), page, totalPages: Math.ceil(all.length / size) };
    }, { products: [{ sku: "", name: "", category: "", price: 0, stock: 0 }], page: 0, totalPages: 0 }),
    read("getProduct", "One product", "sku:string", (a) => copy(product(a.sku)), { sku: "", name: "", category: "", price: 0, stock: 0 }),
    read("listOrders", "Orders, two to a page", "status?:pending|shipped|delivered|cancelled cursor?:string", (a) => {
      const all = orders.filter((o) => !a.status || o.status === a.status), from = a.cursor ? all.findIndex((o) => o.id === a.cursor) : 0;
      return { orders: copy(all.slice(from, from + 2)), nextCursor: all[from + 2]?.id ?? null };
    }, { orders: [sample], nextCursor: null }),
    read("getOrder", "One order", "id:string", (a) => copy(order(a.id)), sample),
    write("updateOrder", "Sets the status of an order", "id:string status:pending|shipped|delivered|cancelled", (a) => { order(a.id).status = a.status; return copy(order(a.id)); }, sample),
    write("reserveStock", "Takes some from the stock", "sku:string quantity:integer", (a) => {
      const p = product(a.sku);
      if (p.stock < a.quantity) fail(`Insufficient stock for ${a.sku}: ${p.stock} left`);
      p.stock -= a.quantity;
      return { sku: p.sku, reserved: a.quantity, left: p.stock };
    }, { sku: "", reserved: 0, left: 0 }),
  ];
}

// --- Customers ---------------------------------------------------------------------------------------------------------
function crm() {
  const contacts = [["c1", "Ana Sousa", "ana@example.com", "Acme", "+351 912 000 111"], ["c2", "Ben Okoro", "ben@example.org", "Globex", null], ["c3", "Chloe Martin", "CHLOE@example.com", "Initech", "+33 6 00 00 00 00"], ["c4", "Ana Sousa", "ana.sousa@example.com", "Acme", null]].map(([id, name, email, company, phone]) => ({ id, name, email, company, phone }));
  const deals = [["d1", "c1", "Acme renewal", 12000, "won", "2026-02-10"], ["d2", "c2", "Globex pilot", 4500, "open", "2026-03-31"], ["d3", "c3", "Initech expansion", 27500, "open", "2026-04-15"], ["d4", "c2", "Globex training", 1800, "lost", "2026-01-20"]].map(([id, contactId, name, amount, stage, closeDate]) => ({ id, contactId, name, amount, stage, closeDate }));
  const tasks = [];
  const contact = (id) => contacts.find((c) => c.id === id) ?? fail(`No contact with id ${id}`);
  return [
    read("search-contacts", "Contacts by a text in any field", "query:string", (a) => ({ contacts: copy(contacts.filter((c) => has(Object.values(c).join(" "), a.query))) })),
    read("get-contact", "One contact", "id:string", (a) => copy(contact(a.id))),
    write("update-contact", "Changes fields of a contact", "id:string fields:object", (a) => copy(Object.assign(contact(a.id), a.fields))),
    read("list-deals", "Deals", "stage?:open|won|lost", (a) => ({ deals: copy(deals.filter((d) => !a.stage || d.stage === a.stage)) }), { deals: [{ id: "", contactId: "", name: "", amount: 0, stage: "", closeDate: "" }] }),
    write("create-task", "A task for somebody", "title:string due:string contactId?:string", (a) => { tasks.push(a); return { taskId: `t${tasks.length}`, ...a }; }),
  ];
}

// --- A bank ------------------------------------------------------------------------------------------------------------
function bank() {
  const accounts = [{ id: "chk", name: "Checking", currency: "EUR", balance: 2310.55 }, { id: "sav", name: "Savings", currency: "EUR", balance: 15200 }, { id: "usd", name: "Travel", currency: "USD", balance: 480.1 }];
  const transactions = [["2026-02-27", "Rent", -950, "housing"], ["2026-02-28", "Salary", 3200, "income"], ["2026-03-01", "Grocer", -64.2, "food"], ["2026-03-02", "Bookshop", -23.9, "leisure"], ["2026-03-03", "ACME GmbH", 900, "income"], ["2026-03-04", "Grocer", -41.75, "food"], ["2026-03-05", "Cinema", -18, "leisure"], ["2026-03-05", "Cinema", -18, "leisure"], ["2026-03-07", "Restaurant", -57.3, "food"]].map(([date, description, amount, category], i) => ({ id: `tx${i + 1}`, date, description, amount, category }));
  const account = (id) => accounts.find((a) => a.id === id) ?? fail(`Unknown account: ${id}`);
  const RATES = { "EUR/USD": 1.08, "USD/EUR": 0.925926, "EUR/GBP": 0.855, "EUR/JPY": 161.5, "USD/JPY": 149.5 };
  const cents = (n) => Math.round(n * 100) / 100;
  return [
    read("list_accounts", "The accounts", "", () => ({ accounts: copy(accounts) }), { accounts: [{ id: "", name: "", currency: "", balance: 0 }] }),
    read("list_transactions", "Transactions of the checking account, oldest first", "since?:string until?:string", (a) => ({ transactions: copy(transactions.filter((t) => t.date >= (a.since ?? "") && t.date <= (a.until ?? "9"))) }), { transactions: [{ id: "", date: "", description: "", amount: 0, category: "" }] }),
    read("get_rate", "What one unit of a currency is in another", "base:string quote:string", (a) => ({ base: a.base, quote: a.quote, rate: a.base === a.quote ? 1 : RATES[`${a.base}/${a.quote}`] ?? fail(`No rate for ${a.base}/${a.quote}`) }), { base: "", quote: "", rate: 0 }),
    write("transfer", "Moves money between accounts", "from:string to:string amount:number", (a) => {
      if (a.amount <= 0) fail("amount must be positive");
      if (account(a.from).balance < a.amount) fail(`Insufficient funds: ${account(a.from).balance} ${account(a.from).currency}`);
      account(a.to);
      account(a.from).balance = cents(account(a.from).balance - a.amount);
      account(a.to).balance = cents(account(a.to).balance + a.amount);
      return { status: "completed", from: copy(account(a.from)), to: copy(account(a.to)) };
    }),
  ];
}

// --- The web -----------------------------------------------------------------------------------------------------------
const PAGES = {
  "https://heights.example/eiffel": ["Eiffel Tower", "<html><head><title>Eiffel Tower</title></head><body><h1>Eiffel Tower</h1><p>Height: 330 m. Built: 1889.</p><a href=\"/burj?ref=eiffel&amp;lang=en\">Burj Khalifa</a></body></html>"],
  "https://heights.example/burj": ["Burj Khalifa", "<html><head><title>Burj Khalifa</title></head><body><h1>Burj Khalifa</h1><p>Height: 828 m. Built: 2010.</p></body></html>"],
  "https://census.example/tokyo?year=2025": ["Population of Tokyo", "Tokyo\nPopulation: 14,178,000\nArea: 2,194 km2\n"],
  "https://census.example/paris?year=2025": ["Population of Paris", "Paris\nPopulation: 2,048,000\nArea: 105 km2\n"],
  "https://blog.example/code-mode": ["Programs instead of calls", "# Programs instead of calls\n\nModels write code well. Let them.\n\nPublished 2025-11-04, updated 2026-01-20.\n"],
};
function web() {
  return [
    read("search", "Searches the web", "query:string max_results?:integer", (a) => {
      const words = a.query.toLowerCase().split(/\W+/).filter((word) => word.length > 2);
      const scored = Object.entries(PAGES).map(([url, [title, body]]) => ({ url, title, snippet: body.replace(/<[^>]+>/g, " ").replace(/\s+/g, " ").trim().slice(0, 60), score: words.filter((word) => has(title + body, word)).length }));
      return { results: scored.filter((r) => r.score > 0).sort((x, y) => y.score - x.score).slice(0, a.max_results ?? 5) };
    }, { results: [{ url: "", title: "", snippet: "", score: 0 }] }),
    read("fetch_page", "A page as it is", "url:string", (a) => (PAGES[a.url] ?? fail(`HTTP 404: ${a.url}`))[1]),
  ];
}

// --- Messages of a team ------------------------------------------------------------------------------------------------
function slack() {
  const channels = [["C1", "general", 42], ["C2", "random", 40], ["C3", "incidents", 9], ["C4", "releases", 17], ["C5", "old-project", 0]].map(([id, name, num_members]) => ({ id, name, num_members, is_archived: num_members === 0 }));
  const users = [["U1", "ana", "Ana Sousa", "Europe/Lisbon", false], ["U2", "ben", "Ben Okoro", "Africa/Lagos", false], ["U3", "chloe", "Chloe Martin", "Europe/Paris", false], ["U4", "buildbot", "Build Bot", "UTC", true]].map(([id, name, real_name, tz, is_bot]) => ({ id, name, real_name, tz, is_bot }));
  const history = { C3: [["U1", "Checkout is down :fire:", "1772874000.000100"], ["U2", "Looking. <@U1> what do you see?", "1772874180.000200"], ["U4", "build 512 failed", "1772874300.000300"], ["U2", "Rolled back, errors are gone", "1772874900.000400"]].map(([user, text, ts]) => ({ user, text, ts })) };
  const channel = (id) => channels.find((c) => c.id === id || c.name === id.replace(/^#/, "")) ?? fail("channel_not_found");
  return [
    read("list_channels", "Channels, some to a page", "limit?:integer cursor?:string", (a) => {
      const from = a.cursor ? Number(Buffer.from(a.cursor, "base64").toString()) : 0, to = from + (a.limit ?? 2);
      return { ok: true, channels: copy(channels.slice(from, to)), response_metadata: { next_cursor: to < channels.length ? Buffer.from(String(to)).toString("base64") : "" } };
    }),
    read("list_users", "Who is there", "", () => ({ ok: true, members: copy(users) })),
    read("get_channel_history", "The messages of a channel, oldest first", "channel:string limit?:integer", (a) => ({ ok: true, messages: copy((history[channel(a.channel).id] ?? []).slice(-(a.limit ?? 100))) })),
    write("post_message", "Says something in a channel", "channel:string text:string", (a) => {
      const { id } = channel(a.channel);
      if (channel(a.channel).is_archived) fail("is_archived");
      (history[id] ??= []).push({ user: "U0", text: a.text, ts: `17729${history[id].length}0000.000000` });
      return { ok: true, channel: id, ts: history[id].at(-1).ts };
    }),
  ];
}

// --- Work that takes a while, and services that fail at times ------------------------------------------------------------
function jobs() {
  const started = [];
  const failures = new Map();
  return [
    write("start-export", "Begins an export; get-job says how far it is", "format:csv|pdf|broken", (a) => { started.push({ jobId: `job-${started.length + 1}`, format: a.format, asked: 0 }); return { jobId: started.at(-1).jobId, status: "queued" }; }, { jobId: "", status: "" }),
    read("get-job", "queued, running, then done or failed", "jobId:string", (a) => {
      const job = started.find((one) => one.jobId === a.jobId) ?? fail(`No such job: ${a.jobId}`);
      const status = ["queued", "running", "running"][job.asked++] ?? (job.format === "broken" ? "failed" : "done");
      return { jobId: job.jobId, status, progress: Math.min(job.asked * 25, 100), ...(status === "done" && { url: `https://files.example/${job.jobId}.${job.format}` }), ...(status === "failed" && { reason: "unknown format" }) };
    }, { jobId: "", status: "", progress: 0, "url?": "", "reason?": "" }),
    read("fetch-quote", "A quote for a symbol. FLAKY answers at the third try, DOWN never", "symbol:string", (a) => {
      const times = (failures.get(a.symbol) ?? 0) + 1;
      failures.set(a.symbol, times);
      if (a.symbol === "DOWN" || (a.symbol === "FLAKY" && times < 3)) fail(a.symbol === "DOWN" ? "503 Service Unavailable" : "429 Too Many Requests");
      return { symbol: a.symbol, price: a.symbol.length * 12.5, tries: times };
    }, { symbol: "", price: 0, tries: 0 }),
  ];
}

export const domains = { weather, files, mail, calendar, db, github, shop, crm, bank, web, slack, jobs };
