// setInterval until a job has ended, in a promise.
// servers: jobs
// calls: jobs.start-export 1, jobs.get-job 4
// result: "https://files.example/job-1.pdf"
const { jobId } = await jobsStartExport({ format: "pdf" });
const url = await new Promise((resolve, reject) => {
  const timer = setInterval(async () => {
    const job = await jobsGetJob({ jobId });
    if (job.status === "done") {
      clearInterval(timer);
      resolve(job.url);
    }
  }, 5);
});
return url;
