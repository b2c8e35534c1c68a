/* What plugins do through others: calling tools and running programs, for whoever called them. */
#include "base/limits.h"
#include "json/json.h"
#include "plugin/hook.h"
#include "plugin/nested.h"
#include "replay/recorded_call.h"

/* --- Who asks ----------------------------------------------------------------------------------------------------- */
static unsigned depth_of(const lt_caller *caller) {
  unsigned depth = 0;
  for (; caller != NULL; caller = caller->parent) {
    depth++;
  }
  return depth;
}

void lt_nested_on_approval(void *arg, bool waiting) {
  lathe_call *call = arg;
  if (waiting) {
    lt_call_pause(call);
  } else {
    lt_call_resume(call);
  }
  if (call->options != NULL && call->options->on_approval != NULL) {
    call->options->on_approval(call->options->arg, waiting);
  }
  lt_wait_wake(&call->wait, LT_OK); /* looks at the clock again */
}

/* In hooks without a prompt the plugin acts in the host's name, if that has given one. */
static lt_status find_from(const lathe_call *call, const lt_caller **ret_from, lt_err *err) {
  *ret_from = call->caller;
  if (call->caller != NULL || call->kind == LT_CALL_TOOL || call->kind == LT_CALL_FUNCTION ||
      call->kind == LT_CALL_MODE) {
    return LT_OK;
  }
  *ret_from = call->plugin->host->options.caller;
  return *ret_from != NULL ? LT_OK
                           : lt_fail(err, LT_E_DENIED, "no tools are called in %.*s: nobody has asked for anything yet",
                                     LT_STR_ARG(call->name));
}

/* What is done in a hook, or for a call without a number, is done anew each time. A mode is the prompt itself. */
static lt_status name_run(lt_nested *n, lathe_call *call, lt_err *err) {
  uint64_t seq = call->options != NULL ? call->options->seq : 0;
  if (call->kind == LT_CALL_MODE) {
    return LT_OK;
  }
  if (seq == 0) {
    n->caller.noted = n->caller.recalled = false;
    return LT_OK;
  }
  n->caller.run = lt_arena_printf(&call->arena, "%.*s/%llu%s", LT_STR_ARG(n->caller.run), (unsigned long long)seq,
                                  call->asks ? "/ask" : "");
  return n->caller.run.p != NULL ? LT_OK : lt_fail(err, LT_E_NOMEM, "no memory for the name of a run");
}

uint64_t lt_nested_count(const lt_nested *n, lathe_call *call, size_t count) {
  uint64_t first = call->made + 1;
  call->made += count;
  bool numbered = call->kind == LT_CALL_MODE || (call->options != NULL && call->options->seq > 0);
  return numbered && n->caller.run.n > 0 ? first : 0;
}

lt_status lt_nested_init(lt_nested *n, lathe_call *call, lt_err *err) {
  const lt_caller *from;
  LT_TRY(find_from(call, &from, err));
  if (depth_of(from) >= LT_CALLER_DEPTH_MAX) {
    return lt_fail(err, LT_E_LIMIT, "tools and programs call each other more than %d deep", LT_CALLER_DEPTH_MAX);
  }
  *n = (lt_nested){.caller = {.user = call->user}};
  if (from != NULL) {
    n->caller = *from;
    n->caller.parent = from;
    n->prompt = from->prompt != NULL ? *(const lt_prompt *)from->prompt : n->prompt;
  }
  n->prompt.by = call;
  n->caller.prompt = &n->prompt;
  return name_run(n, call, err);
}

lt_status lt_nested_call(const lt_nested *n, lathe_call *call, lt_str id, lt_str input, const lt_invoke_options *how,
                         lt_buf *out, lt_err *err) {
  lt_invoke_options options = *how;
  options.cancel = &call->cancel;
  options.caller = &n->caller;
  if (call->hard_timeout) {
    options.timeout_ms = lt_call_left_ms(call);
    options.timeout_ms = options.timeout_ms > 0 ? options.timeout_ms : 1; /* 0 would be none */
  }
  if (call->world != NULL) {
    return call->world->call(call->world->arg, id, input, &options, out, err);
  }
  return lt_recorded_call_make(call->plugin->host->options.door, id, input, &options, out, err);
}

/* --- Calling a tool ----------------------------------------------------------------------------------------------- */
typedef struct tool_call {
  lt_str id, input;
  lt_buf out;
} tool_call;

static lt_status call_tool(lathe_call *call, void *arg, lt_err *err) LT_YIELDS {
  tool_call *t = arg;
  lt_nested n;
  LT_TRY(lt_nested_init(&n, call, err));
  const lt_invoke_options how = {
      .seq = lt_nested_count(&n, call, 1), .on_approval = lt_nested_on_approval, .arg = call};
  return lt_nested_call(&n, call, t->id, t->input, &how, &t->out, err);
}

int lt_api_call_tool(lathe_call *call, lathe_text id, lathe_text input, lathe_text *ret_value) {
  tool_call t = {.id = lt_of_text(id), .input = lt_of_text(input)};
  lt_buf_init(&t.out, LT_JSON_MAX_BYTES);
  int rc = lt_ask_loop(call, &(lt_ask){.fn = call_tool, .arg = &t, .borrows = true});
  if (rc == 0 && !lt_call_keep(call, lt_buf_view(&t.out), ret_value)) {
    rc = -1;
  } else if (rc != 0 && t.out.n > 0) {
    lt_call_error(call, lt_buf_view(&t.out)); /* the message whole */
  }
  lt_buf_release(&t.out);
  return rc;
}

/* --- Running a program -------------------------------------------------------------------------------------------- */
typedef struct program_run {
  lathe_program program;
  lt_lang lang;
  lt_str hidden;
  lt_buf out;
} program_run;

static void put_texts(lt_json_writer *w, const lt_run_result *result, const char *key, bool outputs) {
  lt_json_key(w, key);
  lt_json_begin_array(w);
  for (const lt_run_text *text = result->texts; text != NULL; text = text->next) {
    if ((text->said == LT_SAID_OUTPUT) == outputs) {
      lt_json_put_str(w, text->text);
    }
  }
  lt_json_end_array(w);
}

/* What has happened must not be done again by whoever tries again. */
static void put_calls(lt_json_writer *w, const lt_run_result *result) {
  size_t count = 0;
  lt_buf text;
  lt_buf_init(&text, LT_PLUGIN_LINE_BYTES);
  lt_json_key(w, "calls");
  lt_json_begin_array(w);
  for (const lt_run_call *call = result->calls; call != NULL; call = call->next, count++) {
    if (count < LT_TOOL_LISTED_MAX) {
      lt_buf_clear(&text);
      lt_buf_add(&text, lt_str_sub(call->tool, 0, LT_PLUGIN_LINE_BYTES / 2));
      lt_buf_addc(&text, !call->finished ? " (not finished)" : call->error.n > 0 ? " (failed)" : "");
      lt_json_put_str(w, lt_buf_view(&text));
    }
  }
  if (count > LT_TOOL_LISTED_MAX) {
    lt_buf_clear(&text);
    lt_buf_printf(&text, "%zu more", count - LT_TOOL_LISTED_MAX);
    lt_json_put_str(w, lt_buf_view(&text));
  }
  lt_json_end_array(w);
  lt_buf_release(&text);
}

static void put_failure(lt_json_writer *w, const lt_run_result *result) {
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
    put_calls(w, result);
  }
  if (result->status == LT_E_TIMEOUT) {
    lt_json_key(w, "timeout");
    lt_json_put_bool(w, true);
  }
}

static void put_result(const lt_run_result *result, lt_buf *out) {
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
  put_texts(&w, result, "logs", false);
  if (result->log_cut) {
    lt_json_key(&w, "logsCut");
    lt_json_put_bool(&w, true);
  }
  put_texts(&w, result, "outputs", true);
  if (result->status != LT_OK) {
    put_failure(&w, result);
  }
  lt_json_end_object(&w);
}

static const struct {
  const char *name;
  lt_lang lang;
} languages[] = {{"js", LT_LANG_JAVASCRIPT}, {"ts", LT_LANG_TYPESCRIPT}, {"python", LT_LANG_PYTHON}};

/* False: there is no such language. */
static bool read_language(const lathe_program *p, lt_lang *ret_lang) {
  const char *name = p->language != NULL ? p->language : "js";
  for (size_t i = 0; i < sizeof languages / sizeof languages[0]; i++) {
    if (strcmp(name, languages[i].name) == 0) {
      *ret_lang = languages[i].lang;
      return true;
    }
  }
  return false;
}

static void set_request(const program_run *r, const lt_nested *n, lathe_call *call, lt_run_request *request) {
  const lt_host *host = call->plugin->host;
  const lathe_program *p = &r->program;
  *request = n->prompt.defaults;
  if (n->caller.parent == NULL || n->caller.parent->prompt == NULL) {
    *request = lt_host_world(host);
  }
  request->code = lt_of_text(p->code);
  request->lang = r->lang;
  request->input = lt_of_text(p->input);
  request->timeout_ms = p->timeout_ms > 0 ? p->timeout_ms : request->timeout_ms;
  if (request->timeout_ms > LT_RUN_TIMEOUT_MAX_MS) {
    request->timeout_ms = LT_RUN_TIMEOUT_MAX_MS;
  }
  uint64_t left_ms = call->hard_timeout ? lt_call_left_ms(call) : UINT64_MAX;
  if (left_ms < (request->timeout_ms > 0 ? request->timeout_ms : LT_RUN_TIMEOUT_MS)) {
    request->timeout_ms = left_ms > 0 ? left_ms : 1; /* 0 would be none */
  }
  request->caller = &n->caller;
  request->cancel = &call->cancel;
  request->values = NULL;
  request->without_output = p->without_output != 0;
  request->on_text = NULL;
  request->on_standing =
      lt_nested_on_approval; /* not while it is asked: what computes meanwhile has no time for nothing */
  request->arg = call;
}

static lt_status run_nested(lathe_call *call, program_run *r, lt_nested *n, lt_err *err) LT_YIELDS {
  const lt_host_options *options = &call->plugin->host->options;
  lt_runner *runner = options->runner != NULL ? options->runner(options->arg, r->lang, err) : NULL;
  if (runner == NULL) {
    return options->runner != NULL ? err->status
                                   : lt_fail(err, LT_E_UNSUPPORTED, "there is no runner for programs here");
  }
  lt_run_request request;
  lt_run_result result;
  set_request(r, n, call, &request);
  lt_run_result_init(&result);
  lt_status status = runner->run(runner, &request, &result, err);
  if (status == LT_OK && result.status == LT_E_DIVERGED) { /* whatever the plugin makes of it, it goes no further */
    call->divergence = lt_arena_dup(&call->arena, lt_buf_view(&result.error));
    status = lt_fail(err, LT_E_DIVERGED, "%.*s", LT_STR_ARG(lt_buf_view(&result.error)));
  } else if (status == LT_OK) {
    put_result(&result, &r->out);
    status = r->out.status == LT_OK ? LT_OK : lt_fail(err, r->out.status, "the program's result is too long");
  }
  lt_run_result_release(&result);
  return status;
}

/* A program has no tools but those that are for programs. A reference. */
static lt_status take_catalog(lathe_call *call, lt_caller *caller, lt_err *err) {
  lt_catalog *all = caller->catalog;
  if (all != NULL) {
    return lt_catalog_for_programs(all, &caller->catalog, err);
  }
  LT_TRY(lt_door_catalog(call->plugin->host->options.door, &all, err));
  lt_status status = lt_catalog_for_programs(all, &caller->catalog, err);
  lt_catalog_unref(all);
  return status;
}

static lt_status run_program(lathe_call *call, void *arg, lt_err *err) LT_YIELDS {
  program_run *r = arg;
  lt_nested n;
  LT_TRY(lt_nested_init(&n, call, err));
  (void)lt_nested_count(&n, call, 1);
  lt_str run = lt_arena_printf(&call->arena, "%.*s/%llu", LT_STR_ARG(n.caller.run), (unsigned long long)call->made);
  if (run.p == NULL) {
    return lt_fail(err, LT_E_NOMEM, "no memory for another program");
  }
  n.caller.run = run;
  if (r->hidden.n > 0) {
    n.caller.hidden = r->hidden;
  }
  LT_TRY(take_catalog(call, &n.caller, err));
  lt_status status = run_nested(call, r, &n, err);
  lt_catalog_unref(n.caller.catalog);
  return status;
}

static int check_program(lathe_call *call, program_run *r) {
  lt_err err = LT_ERR_INIT;
  const lathe_program *p = &r->program;
  if (!read_language(p, &r->lang)) {
    return lt_call_error(call, LT_STR("a program's language is \"js\", \"ts\" or \"python\""));
  }
  if (p->input.n > 0 && lt_json_check(lt_of_text(p->input), &err) != LT_OK) {
    lt_err_prefix(&err, "a program's input has to be JSON");
    return lt_call_error(call, lt_str_of(lt_err_msg(&err)));
  }
  return 0;
}

int lt_api_run_program(lathe_call *call, const lathe_program *program, lathe_text *ret_result) {
  program_run r = {0};
  size_t least = offsetof(lathe_program, code) + sizeof program->code;
  if (!lt_struct_read(&r.program, sizeof r.program, least, program)) {
    return lt_call_error(call, LT_STR("a lathe_program's size has to be sizeof(lathe_program)"));
  }
  if (check_program(call, &r) != 0) {
    return -1;
  }
  r.hidden = lt_plugin_text(r.program.hidden, LT_PLUGIN_NAME_BYTES);
  lt_buf_init(&r.out, LT_PLUGIN_CALL_MAX_BYTES);
  int rc = lt_ask_loop(call, &(lt_ask){.fn = run_program, .arg = &r, .borrows = true});
  if (rc == 0 && !lt_call_keep(call, lt_buf_view(&r.out), ret_result)) {
    rc = -1;
  }
  lt_buf_release(&r.out);
  return rc;
}
