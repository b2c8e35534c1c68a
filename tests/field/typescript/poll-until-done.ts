// A polling loop with a typed state.
// servers: jobs
// calls: jobs.start-export 1, jobs.get-job 4
// prints:
//   queued > running > running > done https://files.example/job-1.pdf
type State = "queued" | "running" | "done" | "failed";
const started = await start_export({ format: "pdf" });
if (!started.success) throw new Error(started.error);
const history: State[] = [];
for (;;) {
  const r = await get_job({ jobId: started.value.jobId });
  if (!r.success) throw new Error(r.error);
  history.push(r.value.status as State);
  if (r.value.status === "done") {
    console.log(history.join(" > "), r.value.url);
    break;
  }
  await sleep(1);
}
