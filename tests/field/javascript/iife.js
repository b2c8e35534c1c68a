// An async function that is called where it stands.
// servers: files
// calls: files.get_file_info 1
// result: {"kb":"0.24","modified":"2026-03-01"}
(async () => {
  const info = await filesGetFileInfo({ path: "data/sales.csv" });
  return { kb: (info.size / 1024).toFixed(2), modified: info.modified.slice(0, 10) };
})();
