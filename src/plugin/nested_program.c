/* Running a program for a plugin's call. */
#include "plugin/nested_program.h"

#include "runner/call_summary.h"
#include "base/limits.h"
#include "json/json.h"
#include "plugin/abi.h"
#include "plugin/host_programs.h"
#include "plugin/nested_caller.h"
#include "plugin/plugin_request.h"

typedef struct nested_program_request {
  lathe_program program;
  lt_lang lang;
  lt_str hidden;
  lt_buf out;
} nested_program_request;

static void nested_program_put_texts(lt_json_writer *w, const lt_run_result *result, const char *key, bool is_output) {
  lt_json_key(w, key);
  lt_json_begin_array(w);
  for (const lt_run_text *text = result->texts; text != NULL; text = text->next) {
    if ((text->said == LT_SAID_OUTPUT) == is_output) {
      lt_json_put_str(w, text->text);
    }
  }
  lt_json_end_array(w);
}

/* Adds the calls of a failed program, so that a second attempt does not repeat their effects. */
static void nested_program_put_calls(lt_json_writer *w, const lt_run_result *result) {
  LT_AUTO_BUF(text, LT_PLUGIN_LINE_BYTES);
  const lt_call_summary summary = lt_call_summary_read(result, " (not finished)");
  lt_json_key(w, "calls");
  lt_json_begin_array(w);
  for (size_t i = 0; i < summary.count; i++) {
    lt_call_group group = summary.groups[i];
    group.tool = lt_str_sub(group.tool, 0, LT_PLUGIN_LINE_BYTES / 2);
    lt_buf_clear(&text);
    lt_call_summary_put_group(&text, &group);
    lt_json_put_str(w, lt_buf_view(&text));
  }
  if (summary.more > 0) {
    lt_buf_clear(&text);
    lt_buf_printf(&text, "%zu more", summary.more);
    lt_json_put_str(w, lt_buf_view(&text));
  }
  lt_json_end_array(w);
}

static void nested_program_put_failure(lt_json_writer *w, const lt_run_result *result) {
  lt_json_key(w, "error");
  lt_json_put_str(w, lt_buf_view(&result->error));
  if (result->line > 0) {
    lt_json_key(w, "line");
    lt_json_put_int(w, result->line);
  }
  if (result->column > 0) {
    lt_json_key(w, "column");
    lt_json_put_int(w, result->column);
  }
  if (result->context.n > 0) {
    lt_json_key(w, "context");
    lt_json_put_str(w, lt_buf_view(&result->context));
  }
  if (result->stack.n > 0) {
    lt_json_key(w, "stack");
    lt_json_put_str(w, lt_buf_view(&result->stack));
  }
  if (result->calls != NULL) {
    nested_program_put_calls(w, result);
  }
  if (result->status == LT_E_TIMEOUT) {
    lt_json_key(w, "timeout");
    lt_json_put_bool(w, true);
  }
}

static void nested_program_put_result(const lt_run_result *result, lt_buf *out) {
  lt_json_writer w = lt_json_writer_on(out);
  lt_json_begin_object(&w);
  if (result->kind != LT_VALUE_UNDEFINED) {
    lt_json_key(&w, "result");
    if (result->kind == LT_VALUE_STRING) {
      lt_json_put_str(&w, lt_buf_view(&result->value));
    } else {
      lt_json_put_raw(&w, lt_buf_view(&result->value));
    }
  }
  nested_program_put_texts(&w, result, "logs", false);
  if (result->log_cut) {
    lt_json_key(&w, "logsCut");
    lt_json_put_bool(&w, true);
  }
  nested_program_put_texts(&w, result, "outputs", true);
  if (result->status != LT_OK) {
    nested_program_put_failure(&w, result);
  } else if (result->unread.n > 0) {
    lt_json_key(&w, "unread");
    lt_json_put_str(&w, lt_buf_view(&result->unread));
  }
  lt_json_end_object(&w);
}

static const struct {
  const char *name;
  lt_lang lang;
} nested_program_languages[] = {{"js", LT_LANG_JAVASCRIPT}, {"ts", LT_LANG_TYPESCRIPT}, {"python", LT_LANG_PYTHON}};

/* False: there is no such language. */
static bool nested_program_read_language(const lathe_program *p, lt_lang *ret_lang) {
  const char *name = p->language != NULL ? p->language : "js";
  for (size_t i = 0; i < sizeof nested_program_languages / sizeof nested_program_languages[0]; i++) {
    if (strcmp(name, nested_program_languages[i].name) == 0) {
      *ret_lang = nested_program_languages[i].lang;
      return true;
    }
  }
  return false;
}

static void nested_program_set_request(const nested_program_request *r, const lt_nested_caller *n, lathe_call *call,
                                       lt_run_request *request) {
  const lt_host *host = call->plugin->host;
  const lathe_program *p = &r->program;
  *request = n->prompt.defaults;
  if (n->caller.parent == NULL || n->caller.parent->prompt == NULL) {
    *request = lt_host_programs_defaults(host);
  }
  request->code = lt_abi_to_str(p->code);
  request->lang = r->lang;
  request->input = lt_abi_to_str(p->input);
  request->timeout_ms = p->timeout_ms > 0 ? p->timeout_ms : request->timeout_ms;
  if (request->timeout_ms > LT_RUN_TIMEOUT_MAX_MS) {
    request->timeout_ms = LT_RUN_TIMEOUT_MAX_MS;
  }
  request->has_fixed_timeout = call->has_hard_timeout;
  uint64_t left_ms = call->has_hard_timeout ? lt_plugin_call_left_ms(call) : UINT64_MAX;
  if (left_ms < (request->timeout_ms > 0 ? request->timeout_ms : LT_RUN_TIMEOUT_MS)) {
    request->timeout_ms = left_ms > 0 ? left_ms : 1; /* 0 means: no limit */
  }
  request->caller = &n->caller;
  request->cancel = &call->cancel;
  request->values = NULL;
  request->without_output = p->without_output != 0;
  request->on_text = NULL;
  /* A program that computes during an approval request uses time. */
  request->on_standing = lt_nested_caller_on_approval;
  request->arg = call;
}

static lt_status nested_program_run_with(lathe_call *call, nested_program_request *r, lt_nested_caller *n,
                                         lt_err *err) LT_YIELDS {
  const lt_host_options *options = &call->plugin->host->options;
  lt_runner *runner = options->runner != NULL ? options->runner(options->arg, r->lang, err) : NULL;
  if (runner == NULL) {
    return options->runner != NULL ? err->status
                                   : lt_fail(err, LT_E_UNSUPPORTED, "there is no runner for programs here");
  }
  lt_run_request request;
  lt_run_result result;
  nested_program_set_request(r, n, call, &request);
  lt_run_result_init(&result);
  lt_status status = lt_runner_run(runner, &request, &result, err);
  if (status == LT_OK && result.status == LT_E_DIVERGED) {
    call->divergence = lt_arena_dup(&call->arena, lt_buf_view(&result.error)); /* the plugin cannot hide it */
    status = lt_fail(err, LT_E_DIVERGED, "%.*s", LT_STR_ARG(lt_buf_view(&result.error)));
  } else if (status == LT_OK) {
    nested_program_put_result(&result, &r->out);
    status = lt_buf_check(&r->out, err, "the program's result is too long");
  }
  lt_run_result_release(&result);
  return status;
}

static lt_status nested_program_carry_out(lathe_call *call, void *arg, lt_err *err) LT_YIELDS {
  nested_program_request *r = arg;
  lt_nested_caller n;
  LT_TRY(lt_nested_caller_init(&n, call, err));
  (void)lt_nested_caller_number(&n, call, 1);
  lt_str run =
      lt_arena_printf(&call->arena, "%.*s/%llu", LT_STR_ARG(n.caller.run), (unsigned long long)call->nested_count);
  if (run.p == NULL) {
    return lt_fail(err, LT_E_NOMEM, "no memory for another program");
  }
  n.caller.run = run;
  if (r->hidden.n > 0) {
    n.caller.hidden = r->hidden;
  }
  lt_catalog *all = NULL, *for_programs = NULL;
  LT_TRY(lt_door_catalog_of(call->plugin->host->options.door, &n.caller, &all, err));
  lt_status status = lt_catalog_for_programs(all, &for_programs, err);
  lt_catalog_unref(all);
  if (status == LT_OK) {
    n.caller.catalog = for_programs;
    status = nested_program_run_with(call, r, &n, err);
    lt_catalog_unref(for_programs);
  }
  return status;
}

static int nested_program_check(lathe_call *call, nested_program_request *r) {
  LT_ERR_VAR(err);
  const lathe_program *p = &r->program;
  if (!nested_program_read_language(p, &r->lang)) {
    return lt_plugin_call_set_error(call, LT_STR("a program's language is \"js\", \"ts\" or \"python\""));
  }
  if (p->input.n > 0 && lt_json_check(lt_abi_to_str(p->input), &err) != LT_OK) {
    lt_err_prefix(&err, "a program's input has to be JSON");
    return lt_plugin_call_set_err(call, &err);
  }
  return 0;
}

int lt_nested_program_run(lathe_call *call, const lathe_program *program, lathe_text *ret_result) {
  nested_program_request r = {0};
  size_t least = offsetof(lathe_program, code) + sizeof program->code;
  if (!lt_abi_read_struct(&r.program, sizeof r.program, least, program)) {
    return lt_plugin_call_set_error(call, LT_STR("a lathe_program's size has to be sizeof(lathe_program)"));
  }
  if (nested_program_check(call, &r) != 0) {
    return -1;
  }
  r.hidden = lt_abi_view_text(r.program.hidden, LT_PLUGIN_NAME_BYTES);
  lt_buf_init(&r.out, LT_PLUGIN_CALL_MAX_BYTES);
  int rc =
      lt_plugin_request_run(call, &(lt_plugin_request){.fn = nested_program_carry_out, .arg = &r, .borrows = true});
  rc = lt_plugin_call_return_text(call, rc, &r.out, ret_result);
  lt_buf_release(&r.out);
  return rc;
}
