// A recursive walk over folders, with a function declared below its use.
// servers: files
// calls: files.list_directory 5
// result: {"count":10,"folders":["data","logs","notes","src"],"longest":"notes/meeting.md"}
const all = await walk(".");
return { count: all.length, folders: [...new Set(all.filter((p) => p.includes("/")).map((p) => p.split("/")[0]))], longest: all.reduce((a, b) => (b.length > a.length ? b : a)) };

async function walk(path) {
  const out = [];
  for (const entry of (await filesListDirectory({ path })).split("\n")) {
    const [, kind, name] = /^\[(FILE|DIR)\] (.+)$/.exec(entry);
    const full = path === "." ? name : `${path}/${name}`;
    if (kind === "DIR") out.push(...(await walk(full)));
    else out.push(full);
  }
  return out;
}
