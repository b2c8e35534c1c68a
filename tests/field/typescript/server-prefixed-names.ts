// Tools by their name with the server before it.
// servers: weather, files
// calls: weather.get-current 1, files.read_text_file 1
// prints:
//   rain solar kiosk
const w = await weather_get_current({ city: "London" });
const f = await files_read_text_file({ path: "notes/ideas.txt", head: 1 });
console.log(w.success && w.value.condition, f.success && f.value);
