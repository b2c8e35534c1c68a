// Functions that are type guards, over a mixed list.
// servers: weather, files
// calls: weather.get-current 2, files.read_text_file 1
// prints:
//   2 of 3 object,string
type Ok<T> = { success: true; value: T };
const isOk = <T,>(r: { success: boolean }): r is Ok<T> => r.success;
const results = await Promise.all([get_current({ city: "Oslo" }), get_current({ city: "Mordor" }), read_text_file({ path: "README.md", head: 1 })]);
const ok = results.filter(isOk);
console.log(`${ok.length} of ${results.length}`, ok.map((r) => typeof r.value).join());
