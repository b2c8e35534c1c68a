#include "app/run_llm.h"

#include "base/limits.h"
#include "base/mem.h"

/* A function, and the one behind it that asks the model. */
typedef struct run_llm_function {
  lt_run_function asks;
} run_llm_function;

static lt_status run_llm_prepare(lt_llm *llm, lt_err *err) {
  lt_run_llm *r = llm->arg;
  if (r->models.list == NULL) {
    LT_TRY(lt_models_fill(&r->session->config, &r->models, err));
  }
  LT_TRY(lt_models_find(&r->models, LT_STR_NULL, &llm->model, err));
  return llm->http != NULL ? LT_OK : lt_http_new(r->session->loop, &llm->http, err);
}

static void run_llm_report_retry(void *arg, const lt_retry_notice *notice) {
  const lt_run_llm *r = arg;
  LT_AUTO_BUF(line, LT_KIB);
  lt_buf_addc(&line, "llm(): ");
  lt_model_put_retry(notice, &line);
  lt_report_line(&r->session->report, LT_REPORT_INFO, lt_buf_view(&line));
}

/* --- The record --------------------------------------------------------------------------------------------------- */
static lt_status run_llm_begin_record(const run_llm_function *f, const lt_caller *caller, lt_str args, int64_t *ret_id,
                                      lt_err *err) LT_YIELDS {
  LT_AUTO_BUF(input, LT_JSON_MAX_BYTES + LT_KIB);
  lt_json_writer w = lt_json_writer_on(&input);
  lt_json_begin_object(&w);
  lt_json_key(&w, "args");
  lt_json_put_raw(&w, args);
  lt_json_end_object(&w);
  LT_TRY(lt_buf_check(&input, err, "no memory for another question to the model"));
  const lt_journal_call call = {
      .user = caller->user,
      .run = caller->run,
      .tool = f->asks.name,
      .input = lt_buf_view(&input),
      .repeatable = true,
  };
  return caller->journal->begin(caller->journal, &call, ret_id, err);
}

static lt_status run_llm_call(void *arg, lt_str args, const lt_invoke_options *options, lt_buf *out,
                              lt_err *err) LT_YIELDS {
  const run_llm_function *f = arg;
  const lt_caller *caller = options->caller;
  lt_journal *journal = caller != NULL ? caller->journal : NULL;
  int64_t id = 0;
  if (journal != NULL) {
    LT_TRY(run_llm_begin_record(f, caller, args, &id, err));
  }
  lt_status status = f->asks.call(f->asks.arg, args, options, out, err);
  if (journal != NULL) {
    lt_str answer = status == LT_OK || out->n > 0 ? lt_buf_view(out) : lt_str_of(lt_err_msg(err));
    (void)journal->finish(journal, id, status, answer, NULL); /* the answer is the program's all the same */
  }
  return status;
}

/* --- The functions ------------------------------------------------------------------------------------------------ */
static lt_status run_llm_wrap(lt_run_llm *r, lt_run_request *request, size_t from, lt_err *err) {
  size_t count = request->function_count - from;
  lt_run_function *all = lt_arena_zalloc(&r->arena, request->function_count, sizeof *all);
  run_llm_function *wrapped = lt_arena_zalloc(&r->arena, count, sizeof *wrapped);
  if (all == NULL || wrapped == NULL) {
    return lt_fail(err, LT_E_NOMEM, "out of memory");
  }
  memcpy(all, request->functions, request->function_count * sizeof *all);
  for (size_t i = 0; i < count; i++) {
    wrapped[i] = (run_llm_function){.asks = all[from + i]};
    all[from + i].call = run_llm_call;
    all[from + i].arg = &wrapped[i];
  }
  request->functions = all;
  return LT_OK;
}

lt_status lt_run_llm_init(lt_run_llm *r, lt_session *session, lt_run_request *request, lt_err *err) {
  *r = (lt_run_llm){.session = session};
  r->llm = (lt_llm){.secrets = session->secrets,
                    .monitor = &session->monitor,
                    .prepare = run_llm_prepare,
                    .on_retry = run_llm_report_retry,
                    .arg = r};
  lt_arena_init(&r->arena, LT_MIB);
  size_t from = request->function_count;
  if (!lt_llm_add_functions(&r->llm, &r->arena, request)) {
    return lt_fail(err, LT_E_NOMEM, "out of memory");
  }
  return run_llm_wrap(r, request, from, err);
}

void lt_run_llm_release(lt_run_llm *r) {
  lt_http_free(r->llm.http);
  lt_arena_release(&r->arena);
}
