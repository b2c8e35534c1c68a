#include "serve/serve_log.h"

#include "model/model.h"
#include "serve/serve_routes.h"

#define LOG_END \
  { .name = NULL }
#define LOG_TEXT(n, t) \
  { .name = (n), .text = (t) }
#define LOG_COUNT(n, c) \
  { .name = (n), .number = (int64_t)(c) }

void lt_serve_log_begin(const lt_serve *serve) {
  const lt_report_fact facts[] = {LOG_TEXT("url", lt_str_of(serve->url)), LOG_TEXT("version", LT_STR(LT_VERSION)),
                                  LOG_TEXT("store", lt_str_of(lt_store_path(lt_serve_store(serve)))),
                                  LOG_TEXT("users", serve->users.is_guarded ? LT_STR("by token") : LT_STR("local")),
                                  LOG_END};
  lt_report_note(&serve->session->report, LT_REPORT_INFO, "listening", facts);
}

void lt_serve_log_wait(const lt_serve *serve, size_t busy) {
  const lt_report_fact facts[] = {LOG_COUNT("promptsBusy", busy),
                                  LOG_COUNT("graceMs", (size_t)serve->session->config.server.grace_ms), LOG_END};
  lt_report_note(&serve->session->report, LT_REPORT_INFO, "asked to end; waits for what runs, or for a second signal",
                 facts);
}

void lt_serve_log_end(const lt_serve *serve) {
  size_t running = 0, waiting = 0;
  if (serve->agent != NULL) {
    lt_agent_count_prompts(serve->agent, &running, &waiting);
  }
  const lt_report_fact facts[] = {LOG_COUNT("promptsRunning", running), LOG_COUNT("promptsWaiting", waiting), LOG_END};
  lt_report_note(&serve->session->report, LT_REPORT_INFO, "ending; prompts are left to the next process", facts);
}

void lt_serve_log_prompt(const lt_serve *serve, const lt_monitor_prompt *prompt) {
  bool has_failed = prompt->has_ended && strcmp(prompt->state, "failed") == 0;
  lt_report_fact facts[8] = {
      LOG_TEXT("promptId", prompt->id),      LOG_TEXT("conversationId", prompt->conversation),
      LOG_TEXT("user", prompt->user),        LOG_TEXT("mode", prompt->mode),
      LOG_TEXT("model", prompt->model->ref),
  };
  size_t count = 5;
  if (prompt->has_ended) {
    facts[count++] = (lt_report_fact)LOG_COUNT("durationMs", prompt->took_us / 1000);
  }
  if (has_failed) {
    facts[count++] = (lt_report_fact)LOG_TEXT("error", prompt->error);
  }
  const char *message = !prompt->has_ended ? prompt->is_resumed ? "prompt resumed" : "prompt begun"
                        : has_failed       ? "prompt failed"
                        : strcmp(prompt->state, "cancelled") == 0 ? "prompt cancelled"
                                                                  : "prompt completed";
  lt_report_note(&serve->session->report, has_failed ? LT_REPORT_WARNING : LT_REPORT_INFO, message, facts);
}

static lt_str log_route(const lt_serve_request *r) {
  return lt_str_of(r->route == NULL ? "none" : r->route->name != NULL ? r->route->name : r->route->path);
}

void lt_serve_log_request(const lt_serve_request *r, uint64_t took_us) {
  const lt_report_fact facts[] = {LOG_TEXT("route", log_route(r)), LOG_COUNT("status", r->answer->status),
                                  LOG_TEXT("user", r->user.p != NULL ? r->user : LT_STR("")),
                                  LOG_COUNT("durationMs", took_us / 1000), LOG_END};
  lt_report_note(&r->serve->session->report, LT_REPORT_DEBUG, "request", facts);
}

void lt_serve_log_failure(const lt_serve_request *r, int http_status, const char *message) {
  const lt_report_fact facts[] = {LOG_TEXT("route", log_route(r)), LOG_COUNT("status", http_status),
                                  LOG_TEXT("user", r->user.p != NULL ? r->user : LT_STR("")),
                                  LOG_TEXT("error", lt_str_of(message)), LOG_END};
  lt_report_note(&r->serve->session->report, LT_REPORT_ERROR, "request failed", facts);
}
