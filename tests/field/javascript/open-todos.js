// The open items of a checklist, by a regular expression with the flags g and m.
// servers: files
// calls: files.read_text_file 1
// result: {"open":["call Ana","book flight to Lisbon","renew passport"],"done":2,"percent":40}
const text = filesReadTextFile({ path: "notes/todo.md" });
const open = [...text.matchAll(/^- \[ \] (.+)$/gm)].map((m) => m[1]);
const done = [...text.matchAll(/^- \[x\] (.+)$/gm)].map((m) => m[1]);
({ open, done: done.length, percent: Math.round((100 * done.length) / (open.length + done.length)) });
