// A digest of a text as hexadecimal digits.
// servers: files
// calls: files.read_text_file 1
// result: {"bytes":38,"hex":"038e3a5a3639027e338fe64fbc43d417424f2bfb64cc53647a7ab82ea6c20f0d"}
const text = await filesReadTextFile({ path: "notes/ideas.txt" });
const bytes = new TextEncoder().encode(text);
const digest = await crypto.subtle.digest("SHA-256", bytes);
const hex = Array.from(new Uint8Array(digest)).map((b) => b.toString(16).padStart(2, "0")).join("");
return { bytes: bytes.length, hex };
