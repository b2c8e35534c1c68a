// A job is started and asked for until it is done.
// servers: jobs
// calls: jobs.start-export 1, jobs.get-job 4
// result: "https://files.example/job-1.csv"
const { jobId } = await jobsStartExport({ format: "csv" });
let job;
do {
  await sleep(2);
  job = await jobsGetJob({ jobId });
  log(`${job.status} ${job.progress}%`);
} while (job.status !== "done" && job.status !== "failed");
return job.url;
