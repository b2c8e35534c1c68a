// An iterable class with Symbol.iterator and a generator method.
// servers: files
// calls: files.read_text_file 1
// prints:
//   2 Ben sends the budget by 2026-03-06
class Lines implements Iterable<string> {
  constructor(private text: string) {}
  *[Symbol.iterator](): IterableIterator<string> {
    for (const line of this.text.split("\n")) if (line.trim()) yield line.trim();
  }
}
const r = await read_text_file({ path: "notes/meeting.md" });
if (!r.success) throw new Error(r.error);
const actions = [...new Lines(r.value)].filter((l) => l.startsWith("Action:")).map((l) => l.slice(8));
console.log(actions.length, actions[0]);
