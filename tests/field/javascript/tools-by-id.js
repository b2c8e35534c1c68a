// Tools by their id, from a table of work.
// servers: files, mail
// calls: files.get_file_info 1, mail.search_messages 1
// result: [true,"m1"]
const jobs = [
  ["files.get_file_info", { path: "README.md" }],
  ["mail.search_messages", { query: "is:unread", pageSize: 1 }],
];
const answers = [];
for (const [id, args] of jobs) answers.push(await tools[id](args));
return [answers[0].isFile, answers[1].messages[0].id];
