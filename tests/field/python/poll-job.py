# A job is asked for until it is done.
# servers: jobs
# calls: jobs.start-export 1, jobs.get-job 4
# logs:
#   queued: 25%
#   running: 50%
#   running: 75%
# result: "https://files.example/job-1.csv"
import time
job = jobs_start_export(format="csv")
while (state := jobs_get_job(jobId=job["jobId"]))["status"] not in ("done", "failed"):
    print(f"{state['status']}: {state['progress']}%")
    time.sleep(0.002)
set_result(state["url"])
