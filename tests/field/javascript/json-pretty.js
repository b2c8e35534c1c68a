// JSON with indentation, a replacer, and a reviver.
// servers: files
// calls: files.read_text_file 1
// prints:
//   {
//     "users": [
//       {
//         "id": 1,
//         "name": "Ana",
//         "age": 34,
//         "tags": [
//           "admin",
// result: {"year":1970,"keys":["id","name","age","tags"]}
const data = await filesReadTextFile({ path: "data/users.json" });
const { users } = typeof data === "string" ? JSON.parse(data) : data;
const text = JSON.stringify({ users, at: new Date(0) }, (k, v) => (k === "email" ? undefined : v), 2);
const back = JSON.parse(text, (k, v) => (k === "at" ? new Date(v) : v));
output(text.split("\n").slice(0, 8).join("\n"));
return { year: back.at.getFullYear(), keys: Object.keys(back.users[0]) };
