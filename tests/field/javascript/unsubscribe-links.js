// URLs found in texts; grouped by host.
// servers: mail, files
// calls: mail.search_messages 1, mail.get_message 8, files.read_text_file 1
// result: {"letters.example":["/u id=7"],"docs.example":["/start"],"code.example":["/shop/issues"]}
const bodies = await Promise.all((await mailSearchMessages({ pageSize: 20 })).messages.map((m) => mailGetMessage({ id: m.id }).then((x) => x.body)));
const readme = await filesReadTextFile({ path: "README.md" });
const urls = [...bodies, readme].flatMap((t) => t.match(/https?:\/\/[^\s)\]]+/g) ?? []);
const byHost = {};
for (const u of urls) {
  const { host, searchParams, pathname } = new URL(u);
  (byHost[host] ??= []).push(pathname + (searchParams.has("id") ? ` id=${searchParams.get("id")}` : ""));
}
return byHost;
