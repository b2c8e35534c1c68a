// Two jobs side by side, one of which fails; a promise with a timer between the polls.
// servers: jobs
// calls: jobs.start-export 2, jobs.get-job 8
// result: {"pdf":"https://files.example/job-1.pdf","broken":"broken: unknown format"}
const delay = (ms) => new Promise((r) => setTimeout(r, ms));
async function run(format) {
  const { jobId } = await jobsStartExport({ format });
  for (let i = 0; i < 20; i++) {
    const job = await jobsGetJob({ jobId });
    if (job.status === "done") return job.url;
    if (job.status === "failed") throw new Error(`${format}: ${job.reason}`);
    await delay(1);
  }
  throw new Error("timeout");
}
const [pdf, broken] = await Promise.allSettled([run("pdf"), run("broken")]);
return { pdf: pdf.value, broken: broken.reason.message };
