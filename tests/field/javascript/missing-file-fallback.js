// try and catch around a read; the file is made when it is not there.
// servers: files
// calls: files.read_text_file 2, files.write_file 1
// result: {"settings":{"theme":"light","pageSize":20},"stored":{"theme":"light","pageSize":20}}
let settings;
try {
  settings = JSON.parse(await filesReadTextFile({ path: "settings.json" }));
} catch (err) {
  console.warn("no settings, writing defaults:", err.message);
  settings = { theme: "light", pageSize: 20 };
  await filesWriteFile({ path: "settings.json", content: JSON.stringify(settings, null, 2) });
}
const again = await filesReadTextFile({ path: "settings.json" });
return { settings, stored: typeof again === "string" ? JSON.parse(again) : again };
