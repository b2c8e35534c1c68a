// A JSON file: its text is already an object here.
// servers: files
// calls: files.read_text_file 1
// result: {"admins":["Ana"],"average":34}
const data = await filesReadTextFile({ path: "data/users.json" });
const users = (typeof data === "string" ? JSON.parse(data) : data).users;
const { admins, others } = Object.groupBy(users, (u) => (u.tags.includes("admin") ? "admins" : "others"));
return { admins: admins.map((u) => u.name), average: others.reduce((s, u) => s + u.age, 0) / others.length };
