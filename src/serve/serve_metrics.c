#include "serve/serve_metrics.h"

#include <math.h>
#include <stdio.h>

#include "base/mem.h"
#include "io/process_self.h"
#include "model/model.h"
#include "serve/serve_events.h"
#include "serve/serve_queue.h"
#include "store/store_upkeep.h"
#include "text/metric.h"

enum {
  METRIC_PROMPTS,
  METRIC_PROMPT_SECONDS,
  METRIC_ROUNDS,
  METRIC_QUESTIONS,
  METRIC_MODEL_SECONDS,
  METRIC_FIRST_SECONDS,
  METRIC_TOKENS,
  METRIC_COST,
  METRIC_RETRIES,
  METRIC_PROGRAM_SECONDS,
  METRIC_CALL_SECONDS,
  METRIC_LAG_SECONDS,
  METRIC_REQUESTS,
  METRIC_REQUEST_SECONDS,
  METRICS
};

static const lt_metric_kind metrics_kinds[METRICS] = {
    [METRIC_PROMPTS] = {"lathe_prompts_total",
                        "Prompts that ended in this process.",
                        LT_METRIC_COUNTER,
                        {"mode", "state"},
                        LT_METRICS_MODELS},
    [METRIC_PROMPT_SECONDS] = {"lathe_prompt_duration_seconds",
                               "Time of prompts in this process, waits included.",
                               LT_METRIC_HISTOGRAM,
                               {"mode"},
                               LT_METRICS_MODELS},
    [METRIC_ROUNDS] =
        {"lathe_rounds_total", "Replies of models in prompts.", LT_METRIC_COUNTER, {"model"}, LT_METRICS_MODELS},
    [METRIC_QUESTIONS] = {"lathe_model_requests_total",
                          "Questions to models: of prompts (round), programs (llm), servers (sampling), for titles.",
                          LT_METRIC_COUNTER,
                          {"model", "purpose"},
                          LT_METRICS_MODELS},
    [METRIC_MODEL_SECONDS] = {"lathe_model_request_duration_seconds",
                              "Time to the end of a model's reply.",
                              LT_METRIC_HISTOGRAM,
                              {"model", "outcome"},
                              LT_METRICS_MODELS},
    [METRIC_FIRST_SECONDS] = {"lathe_model_first_token_seconds",
                              "Time to the first piece of a model's reply.",
                              LT_METRIC_HISTOGRAM,
                              {"model"},
                              LT_METRICS_MODELS},
    [METRIC_TOKENS] = {"lathe_model_tokens_total",
                       "Tokens: input, of it cached_input and cache_write, output, of it reasoning.",
                       LT_METRIC_COUNTER,
                       {"model", "kind"},
                       LT_METRICS_MODELS},
    [METRIC_COST] = {"lathe_model_cost_usd_total",
                     "Cost of the tokens by models[].price, in US dollars.",
                     LT_METRIC_COUNTER,
                     {"model"},
                     LT_METRICS_MODELS},
    [METRIC_RETRIES] = {"lathe_model_retries_total",
                        "Questions that were sent again.",
                        LT_METRIC_COUNTER,
                        {"model"},
                        LT_METRICS_MODELS},
    [METRIC_PROGRAM_SECONDS] = {"lathe_program_duration_seconds",
                                "Time of programs, waits included.",
                                LT_METRIC_HISTOGRAM,
                                {"runner", "outcome"},
                                LT_METRICS_MODELS},
    [METRIC_CALL_SECONDS] = {"lathe_tool_call_duration_seconds",
                             "Time of tool calls, without a wait for an approval.",
                             LT_METRIC_HISTOGRAM,
                             {"tool", "outcome"},
                             LT_METRICS_TOOLS},
    [METRIC_LAG_SECONDS] =
        {"lathe_event_lag_seconds", "Time from an event to its readers.", LT_METRIC_HISTOGRAM, {NULL}, 1},
    [METRIC_REQUESTS] = {"lathe_http_requests_total",
                         "Requests that were answered.",
                         LT_METRIC_COUNTER,
                         {"route", "status"},
                         LT_METRICS_ROUTES},
    [METRIC_REQUEST_SECONDS] = {"lathe_http_request_duration_seconds",
                                "Time of requests, without streams of events.",
                                LT_METRIC_HISTOGRAM,
                                {"route"},
                                LT_METRICS_ROUTES},
};

struct lt_serve_metrics {
  lt_metric all[METRICS];
};

lt_status lt_serve_metrics_new(lt_serve_metrics **ret_metrics, lt_err *err) {
  lt_serve_metrics *m = lt_mem_zalloc(1, sizeof *m);
  lt_status status = m != NULL ? LT_OK : lt_fail(err, LT_E_NOMEM, "no memory for metrics");
  for (unsigned i = 0; status == LT_OK && i < METRICS; i++) {
    status = lt_metric_init(&m->all[i], &metrics_kinds[i], err);
  }
  if (status != LT_OK) {
    lt_serve_metrics_free(m);
    return status;
  }
  *ret_metrics = m;
  return LT_OK;
}

void lt_serve_metrics_free(lt_serve_metrics *m) {
  for (unsigned i = 0; m != NULL && i < METRICS; i++) {
    lt_metric_release(&m->all[i]);
  }
  lt_mem_free(m);
}

/* --- Counting ----------------------------------------------------------------------------------------------------- */
static lt_str metrics_outcome(lt_status status) {
  switch ((int)status) {
    case LT_OK:
      return LT_STR("ok");
    case LT_E_DENIED:
      return LT_STR("denied");
    case LT_E_TIMEOUT:
      return LT_STR("timeout");
    case LT_E_CANCELLED:
      return LT_STR("cancelled");
    case LT_E_INVALID:
      return LT_STR("invalid");
    case LT_E_LIMIT:
      return LT_STR("limit");
    default:
      return LT_STR("error");
  }
}

void lt_serve_metrics_take_prompt(lt_serve_metrics *m, const lt_monitor_prompt *prompt) {
  if (prompt->has_ended) {
    lt_metric_add(&m->all[METRIC_PROMPTS], prompt->mode, lt_str_of(prompt->state), 1);
    lt_metric_observe(&m->all[METRIC_PROMPT_SECONDS], prompt->mode, LT_STR_NULL, prompt->took_us);
  }
}

static void metrics_add_tokens(lt_serve_metrics *m, lt_str model, const char *kind, int64_t tokens) {
  if (tokens > 0) {
    lt_metric_add(&m->all[METRIC_TOKENS], model, lt_str_of(kind), (double)tokens);
  }
}

void lt_serve_metrics_take_question(lt_serve_metrics *m, const lt_monitor_question *question) {
  if (!question->has_ended) {
    return;
  }
  lt_str model = question->model->ref;
  const lt_completion *c = question->completion;
  lt_str purpose = lt_str_of(question->purpose != NULL ? question->purpose : "other");
  lt_metric_add(&m->all[METRIC_QUESTIONS], model, purpose, 1);
  if (question->status == LT_OK && lt_str_eqc(purpose, "round")) {
    lt_metric_add(&m->all[METRIC_ROUNDS], model, LT_STR_NULL, 1);
  }
  lt_metric_observe(&m->all[METRIC_MODEL_SECONDS], model, metrics_outcome(question->status), question->took_us);
  if (c->first_us > 0) {
    lt_metric_observe(&m->all[METRIC_FIRST_SECONDS], model, LT_STR_NULL, c->first_us);
  }
  if (c->retries > 0) {
    lt_metric_add(&m->all[METRIC_RETRIES], model, LT_STR_NULL, c->retries);
  }
  metrics_add_tokens(m, model, "input", c->usage.input_tokens);
  metrics_add_tokens(m, model, "cached_input", c->usage.cached_input_tokens);
  metrics_add_tokens(m, model, "cache_write", c->usage.cache_write_tokens);
  metrics_add_tokens(m, model, "output", c->usage.output_tokens);
  metrics_add_tokens(m, model, "reasoning", c->usage.reasoning_tokens);
  double cost = lt_model_cost(&c->usage, &question->model->price);
  if (cost > 0) {
    lt_metric_add(&m->all[METRIC_COST], model, LT_STR_NULL, cost);
  }
}

void lt_serve_metrics_take_program(lt_serve_metrics *m, const lt_monitor_program *program) {
  if (program->has_ended) {
    lt_metric_observe(&m->all[METRIC_PROGRAM_SECONDS], lt_str_of(program->runner), metrics_outcome(program->status),
                      program->took_us);
  }
}

/* Ids that no tool has are anybody's invention. */
void lt_serve_metrics_take_call(lt_serve_metrics *m, const lt_call_event *event) {
  if (event->stage == LT_CALL_FINISHED) {
    lt_metric_observe(&m->all[METRIC_CALL_SECONDS], event->is_known ? event->tool : LT_STR("unknown"),
                      metrics_outcome(event->status), event->took_us);
  }
}

void lt_serve_metrics_take_request(lt_serve_metrics *m, const lt_serve_route *route, const lt_http_answer *answer,
                                   uint64_t took_us) {
  char status[16];
  lt_str name = lt_str_of(route == NULL ? "none" : route->name != NULL ? route->name : route->path);
  bool is_stream = answer->content_type != NULL && strcmp(answer->content_type, "text/event-stream") == 0;
  snprintf(status, sizeof status, "%d", answer->status);
  lt_metric_add(&m->all[METRIC_REQUESTS], name, lt_str_of(status), 1);
  if (!is_stream) {
    lt_metric_observe(&m->all[METRIC_REQUEST_SECONDS], name, LT_STR_NULL, took_us);
  }
}

void lt_serve_metrics_take_event(lt_serve_metrics *m, uint64_t lag_us) {
  lt_metric_observe(&m->all[METRIC_LAG_SECONDS], LT_STR_NULL, LT_STR_NULL, lag_us);
}

/* --- What there is now -------------------------------------------------------------------------------------------- */
/* What blocks while it is read. */
typedef struct metrics_files {
  const lt_store *store;
  uint64_t store_bytes, journal_bytes;
  lt_process_self self;
} metrics_files;

static void metrics_read_files(void *arg) {
  metrics_files *files = arg;
  lt_store_measure(files->store, &files->store_bytes, &files->journal_bytes);
  lt_process_self_read(&files->self);
}

static void metrics_put_one(const char *name, const char *help, lt_metric_type type, double n, lt_buf *out) {
  const lt_metric_kind kind = {.name = name, .help = help, .type = type};
  lt_metric_put_head(&kind, out);
  lt_metric_put_value(&kind, NULL, n, out);
}

static void metrics_put_two(const lt_metric_kind *kind, const char *const values[2], const double n[2], lt_buf *out) {
  lt_metric_put_head(kind, out);
  for (unsigned i = 0; i < 2; i++) {
    lt_metric_put_value(kind, values[i], n[i], out);
  }
}

static void metrics_put_work(const lt_serve *serve, lt_buf *out) {
  static const lt_metric_kind prompts = {
      "lathe_prompts", "Prompts in this process that have not ended.", LT_METRIC_GAUGE, {"state"}, 0};
  static const lt_metric_kind boxes = {
      "lathe_sandbox_boxes", "Sandboxes with a program inside, and ready for the next.", LT_METRIC_GAUGE, {"state"}, 0};
  static const char *const prompt_states[] = {"running", "waiting_for_approval"};
  static const char *const box_states[] = {"used", "pooled"};
  size_t running, waiting;
  lt_agent_count_prompts(serve->agent, &running, &waiting);
  lt_runner_boxes count = lt_toolbox_count_boxes(serve->session->toolbox);
  metrics_put_two(&prompts, prompt_states, (double[]){(double)running, (double)waiting}, out);
  metrics_put_one("lathe_prompts_queued", "Requests that wait until their conversation is free.", LT_METRIC_GAUGE,
                  (double)lt_serve_queue_count(serve), out);
  metrics_put_two(&boxes, box_states, (double[]){(double)count.used, (double)count.pooled}, out);
  metrics_put_one("lathe_sandbox_boxes_taken_total", "Sandboxes that were taken for a program.", LT_METRIC_COUNTER,
                  (double)count.taken, out);
  metrics_put_one("lathe_sandbox_boxes_cleaned_total", "Sandboxes that were cleaned to be used again.",
                  LT_METRIC_COUNTER, (double)count.cleaned, out);
}

static void metrics_put_events(const lt_serve *serve, lt_buf *out) {
  lt_serve_events_counts counts = lt_serve_events_count(serve->events);
  metrics_put_one("lathe_events_queued", "Events that are not stored and sent yet.", LT_METRIC_GAUGE,
                  (double)counts.queued, out);
  metrics_put_one("lathe_events_queued_bytes", "Their size.", LT_METRIC_GAUGE, (double)counts.queued_bytes, out);
  metrics_put_one("lathe_event_readers", "Streams of events that are open.", LT_METRIC_GAUGE, (double)counts.readers,
                  out);
  metrics_put_one("lathe_http_connections", "Connections that are open.", LT_METRIC_GAUGE,
                  lt_http_server_connections(serve->server), out);
}

static void metrics_put_files(const metrics_files *files, lt_buf *out) {
  static const lt_metric_kind store = {
      "lathe_store_size_bytes", "Size of the database, and of changes not in it yet.", LT_METRIC_GAUGE, {"file"}, 0};
  static const char *const names[] = {"database", "journal"};
  const lt_process_self *self = &files->self;
  metrics_put_two(&store, names, (double[]){(double)files->store_bytes, (double)files->journal_bytes}, out);
  metrics_put_one("process_cpu_seconds_total", "Processor time.", LT_METRIC_COUNTER, self->cpu_seconds, out);
  metrics_put_one("process_resident_memory_bytes", "Memory in use.", LT_METRIC_GAUGE, (double)self->resident_bytes,
                  out);
  metrics_put_one("process_threads", "Threads.", LT_METRIC_GAUGE, (double)self->threads, out);
  metrics_put_one("process_open_fds", "Files and sockets that are open.", LT_METRIC_GAUGE, (double)self->open_files,
                  out);
  metrics_put_one("process_max_fds", "How many may be open.", LT_METRIC_GAUGE, (double)self->open_files_max, out);
  metrics_put_one("process_start_time_seconds", "Start of the process since 1970.", LT_METRIC_GAUGE, self->start_time,
                  out);
}

/* --- The answer --------------------------------------------------------------------------------------------------- */
lt_status lt_serve_metrics_answer(lt_serve_request *r, lt_err *err) {
  static const lt_metric_kind build = {"lathe_build_info", "The version.", LT_METRIC_GAUGE, {"version"}, 0};
  const lt_serve *serve = r->serve;
  lt_buf *out = &r->answer->body;
  metrics_files files = {.store = lt_serve_store(serve)};
  LT_TRY(lt_loop_offload(serve->session->loop, metrics_read_files, &files, err));
  lt_metric_put_head(&build, out);
  lt_metric_put_value(&build, LT_VERSION, 1, out);
  metrics_put_work(serve, out);
  metrics_put_events(serve, out);
  metrics_put_files(&files, out);
  for (unsigned i = 0; i < METRICS; i++) {
    lt_metric_put(&serve->metrics->all[i], out);
  }
  r->answer->content_type = "text/plain; version=0.0.4; charset=utf-8";
  return LT_OK;
}
