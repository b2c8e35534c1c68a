/* What lathe serve notes in its log (lt_report_note): prompts, requests that failed, and debugging lines of all
 * requests. Never an input, an output or a header. Internal to serve/. */
#ifndef LT_SERVE_SERVE_LOG_H
#define LT_SERVE_SERVE_LOG_H

#include "serve/serve_request.h"

/* It listens, and resumes prompts. */
void lt_serve_log_begin(const lt_serve *serve);
/* It is asked to end, and waits for `busy` prompts first. */
void lt_serve_log_wait(const lt_serve *serve, size_t busy);
/* It ends, and leaves its prompts to the next process. */
void lt_serve_log_end(const lt_serve *serve);
/* A prompt begins in this process, or has ended. */
void lt_serve_log_prompt(const lt_serve *serve, const lt_monitor_prompt *prompt);
/* A request is answered. */
void lt_serve_log_request(const lt_serve_request *request, uint64_t took_us);
/* It has failed, and the reason is not the client's: `message` is without secrets. */
void lt_serve_log_failure(const lt_serve_request *request, int http_status, const char *message);

#endif
