// setInterval until a job has ended, in a promise.
// servers: jobs
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
