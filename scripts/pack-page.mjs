// Packs the files of the page of `lathe serve` for the program (src/serve/page_files.c).
//
//   node scripts/pack-page.mjs FOLDER FILE...
//
// Writes FOLDER/page.pack, the files compressed with gzip, one behind the other, and FOLDER/page_rows.inc, a line of
// assembler for each (src/serve/page_data.S): its name, a hash of what is in it, and where its bytes are.
import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { gzipSync } from "node:zlib";

const [folder, ...files] = process.argv.slice(2);
const parts = [];
const rows = [];
let at = 0;
for (const file of files) {
  const bytes = readFileSync(file);
  const packed = gzipSync(bytes, { level: 9 });
  const hash = createHash("sha256").update(bytes).digest("hex").slice(0, 16);
  rows.push(`        page_file "${basename(file)}", "${hash}", ${at}, ${packed.length}\n`);
  parts.push(packed);
  at += packed.length;
}
writeFileSync(join(folder, "page.pack"), Buffer.concat(parts));
writeFileSync(join(folder, "page_rows.inc"), rows.join(""));
