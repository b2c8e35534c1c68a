// Packs the files of the page of `lathe serve` for the program (src/serve/page_files.c).
//
//   node scripts/pack-page.mjs FOLDER FILE...
//
// Writes FOLDER/page.pack, the files compressed with gzip, one behind the other; FOLDER/page_rows.inc, a line of
// assembler for each (src/serve/page_data.S): its name, a hash of what is in it, and where its bytes are; and
// FOLDER/page_sources.inc, the scripts and styles that the content policy allows.
//
// The script and the stylesheet that index.html names are put into it, so that the first view waits for one answer. The
// policy names their hashes.
import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { gzipSync } from "node:zlib";

const [folder, ...paths] = process.argv.slice(2);
const files = new Map(paths.map((path) => [basename(path), readFileSync(path)]));
const sha256 = (bytes) => createHash("sha256").update(bytes).digest();

/** Puts the file that `tag` names into `html`, and takes it from the files. Returns [html, the policy's source]. */
function inlined(html, tag, put) {
  const [found, name] = tag.exec(html) ?? [];
  if (!files.has(name)) throw new Error(`index.html names no file that is packed by ${tag}`);
  const text = put.text(files.get(name).toString());
  if (text.includes(`</${put.name}`)) throw new Error(`${name} has the end of a <${put.name}> in it`);
  files.delete(name);
  return [html.replace(found, () => `<${put.name}${put.attributes}>${text}</${put.name}>`), `'sha256-${sha256(text).toString("base64")}'`];
}

let html = files.get("index.html").toString(), styles, scripts;
[html, styles] = inlined(html, /<link rel="stylesheet" href="page\/([^"]+)">/, { name: "style", attributes: "", text: (css) => css });
// What the script loads later stands in page/, and the script in the document above it.
[html, scripts] = inlined(html, /<script type="module" src="page\/([^"]+)"><\/script>/, { name: "script", attributes: ' type="module"', text: (js) => js.replaceAll('import("./', 'import("./page/') });
files.set("index.html", Buffer.from(html));

const parts = [];
const rows = [];
let at = 0;
for (const [name, bytes] of files) {
  const packed = gzipSync(bytes, { level: 9 });
  rows.push(`        page_file "${name}", "${sha256(bytes).toString("hex").slice(0, 16)}", ${at}, ${packed.length}\n`);
  parts.push(packed);
  at += packed.length;
}
writeFileSync(join(folder, "page.pack"), Buffer.concat(parts));
writeFileSync(join(folder, "page_rows.inc"), rows.join(""));
writeFileSync(join(folder, "page_sources.inc"), `        .asciz "script-src 'self' ${scripts}; style-src 'self' ${styles}"\n`);
