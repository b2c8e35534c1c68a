/* The bridge: requests of the program's process, carried out on fibers of their own.
 *
 *   POST /           {tool_name, arguments} -> {content, is_error}: the tool's value, or a message
 *   POST /function   {name, args}           -> likewise, for the request's functions
 *   POST /discover   {query}, POST /schema {name} -> likewise
 *
 * Any other request gets an HTTP error with a sentence. All requests are the program's: nothing in them is trusted, and
 * they can do no more than the program's tools.
 */
#include <stdio.h>

#include "base/mem.h"
#include "json/json.h"
#include "replay/recorded_call.h"
#include "runner/deno/deno_bridge.h"
#include "runner/deno/deno_output.h"
#include "runner/deno/deno_clock.h"
#include "runner/deno/deno_folder.h"
#include "runner/deno/deno_program.h"
#include "runner/deno/deno_run.h"
#include "runner/deno/deno_source.h"
#include "tool/failure_message.h"

typedef struct deno_call {
  lt_run_tool_call base; /* first: lt_run_tool_call_free_all frees it */
  lt_deno_run *run;
} deno_call;

/* --- Answers ------------------------------------------------------------------------------------------------------ */

static void deno_bridge_put_answer(lt_http_answer *answer, lt_str content, bool raw, bool is_error) {
  lt_buf_clear(&answer->body);
  lt_json_writer w = lt_json_writer_on(&answer->body);
  lt_json_begin_object(&w);
  lt_json_key(&w, "content");
  if (raw) {
    lt_json_put_raw(&w, content);
  } else {
    lt_json_put_str(&w, content);
  }
  lt_json_key(&w, "is_error");
  lt_json_put_bool(&w, is_error);
  lt_json_end_object(&w);
}

static void deno_bridge_put_error(lt_http_answer *answer, const char *prefix, lt_str what) {
  LT_AUTO_BUF(text, LT_JSON_MAX_BYTES);
  lt_buf_addc(&text, prefix);
  lt_buf_add(&text, what);
  deno_bridge_put_answer(answer, lt_buf_view(&text), false, true);
}

static void deno_bridge_put_status(lt_http_answer *answer, int status, const char *text) {
  answer->status = status;
  answer->content_type = "text/plain; charset=utf-8";
  lt_buf_addc(&answer->body, text);
}

/* --- Request bodies ----------------------------------------------------------------------------------------------- */

typedef struct bridge_body {
  lt_str text;
  lt_arena arena;
  lt_json_doc doc;
  lt_err err;
  lt_status status;
} bridge_body;

static void deno_bridge_read_json(void *arg) {
  bridge_body *r = arg;
  r->status = lt_json_parse(&r->arena, r->text, &r->doc, &r->err);
}

/* Parses the body, which must be an object. A long one is parsed on a worker. False: the request has been answered.
 * LT_YIELDS. */
static bool deno_bridge_read_body(const lt_deno_run *run, const lt_http_call *call, bridge_body *r,
                                  lt_http_answer *answer) LT_YIELDS {
  *r = (bridge_body){.text = call->body, .err = LT_ERR_INIT};
  lt_arena_init(&r->arena, LT_GIB);
  if (call->body.n <= LT_CALL_INLINE_BYTES || lt_loop_offload(run->loop, deno_bridge_read_json, r, NULL) != LT_OK) {
    deno_bridge_read_json(r);
  }
  if (r->status != LT_OK) {
    deno_bridge_put_error(answer, "Invalid request: ", lt_str_of(lt_err_msg(&r->err)));
  } else if (lt_json_typeof(lt_json_root(&r->doc)) != LT_JSON_OBJECT) {
    deno_bridge_put_error(answer, "Invalid request: ", LT_STR("a JSON object is expected"));
  } else {
    return true;
  }
  return false;
}

static bool deno_bridge_read_text(bridge_body *r, const char *key, lt_str *ret, lt_http_answer *answer) {
  if (lt_json_str(lt_json_get(lt_json_root(&r->doc), key), &r->arena, ret)) {
    return true;
  }
  LT_AUTO_BUF(text, LT_KIB);
  lt_buf_printf(&text, "Invalid request: \"%s\" is not a string", key);
  deno_bridge_put_answer(answer, lt_buf_view(&text), false, true);
  return false;
}

/* --- Calls -------------------------------------------------------------------------------------------------------- */

/* Whether an input or result is short enough to be kept for the run's result. */
static bool deno_bridge_keep(lt_deno_run *run, size_t bytes) {
  bool fits = bytes <= LT_RUN_RECORD_BYTES && bytes <= LT_RUN_RECORDS_MAX_BYTES - run->calls.recorded_bytes;
  run->calls.recorded_bytes += fits ? bytes : 0;
  return fits;
}

static deno_call *deno_bridge_call_new(lt_deno_run *run, lt_str tool, lt_str input) {
  bool is_kept = deno_bridge_keep(run, input.n);
  deno_call *call = (deno_call *)(void *)lt_run_tool_call_new(sizeof *call, tool, is_kept ? input : LT_STR_NULL);
  if (call == NULL) {
    return NULL;
  }
  call->run = run;
  call->base.record.input_bytes = input.n;
  *run->calls.list_end = &call->base;
  run->calls.list_end = &call->base.next;
  return call;
}

static void deno_bridge_on_approval(void *arg, bool waiting) {
  deno_call *call = arg;
  bool waited = call->base.asking > 0;
  call->base.asking += waiting ? 1 : waited ? -1u : 0;
  if (waited != (call->base.asking > 0)) {
    call->run->calls.waiting_for_approval += waiting ? 1 : -1u;
    lt_deno_clock_update(call->run);
  }
}

typedef struct bridge_answer_check {
  lt_str text;
  bool is_json;
} bridge_answer_check;

static void deno_bridge_check_json(void *arg) {
  bridge_answer_check *c = arg;
  c->is_json = lt_json_check(c->text, NULL) == LT_OK;
}

/* A tool's answer that is not JSON becomes an error. */
static void deno_bridge_check_value(lt_deno_run *run, lt_run_tool_call *call) LT_YIELDS {
  bridge_answer_check c = {.text = lt_buf_view(&call->out)};
  if (call->status != LT_OK || c.text.n == 0) {
    return;
  }
  if (c.text.n <= LT_CALL_INLINE_BYTES || lt_loop_offload(run->loop, deno_bridge_check_json, &c, NULL) != LT_OK) {
    deno_bridge_check_json(&c);
  }
  if (!c.is_json) {
    call->status = LT_E_INTERNAL;
    lt_buf_clear(&call->out);
    lt_buf_addc(&call->out, "the answer is not JSON");
  }
}

static void deno_bridge_carry_out_function(lt_run_tool_call *call, lt_str args,
                                           const lt_invoke_options *options) LT_YIELDS {
  LT_ERR_VAR(err);
  call->status = call->function->call(call->function->arg, args, options, &call->out, &err);
  if (call->out.status != LT_OK) {
    lt_buf_release(&call->out);
    call->status = lt_status_first(call->status, LT_E_LIMIT);
  }
  if (call->status != LT_OK && call->out.n == 0) {
    lt_buf_addc(&call->out, lt_err_msg(&err)[0] != '\0' ? lt_err_msg(&err) : lt_status_text(call->status));
  }
}

/* Calls a function of the host. The journal records the call like a tool's, so that a program that is run again gets
 * the same answer. */
static void deno_bridge_call_function(const lt_deno_run *run, lt_run_tool_call *call, lt_str args,
                                      const lt_invoke_options *options) LT_YIELDS {
  lt_journal *journal = run->matching.journal;
  int64_t id;
  LT_ERR_VAR(err);
  if (journal == NULL) {
    deno_bridge_carry_out_function(call, args, options);
    return;
  }
  const lt_journal_call what = {
      .user = options->caller->user,
      .run = options->caller->run,
      .seq = options->seq,
      .hash = lt_journal_hash(call->function->name, args),
      .tool = call->function->name,
      .input = args,
      .repeatable = call->function->repeatable,
  };
  call->status = journal->begin(journal, &what, &id, &err);
  if (call->status != LT_OK) {
    lt_buf_addc(&call->out, lt_err_msg(&err));
    return;
  }
  deno_bridge_carry_out_function(call, args, options);
  /* As the door does for recorded runs: a program that runs again gets the record, which has no secrets. */
  (call->status == LT_OK ? lt_secrets_mask_json_buf : lt_secrets_mask_buf)(lt_door_secrets(run->deno->door),
                                                                           &call->out);
  (void)journal->finish(journal, id, call->status, lt_buf_view(&call->out), NULL);
}

static void deno_bridge_put_tool_failure(lt_http_answer *answer, lt_str tool, lt_str why) {
  LT_AUTO_BUF(text, LT_JSON_MAX_BYTES);
  lt_failure_message_put(&text, lt_str_sub(tool, 0, 256), why);
  deno_bridge_put_answer(answer, lt_buf_view(&text), false, true);
}

static void deno_bridge_answer_call(const lt_run_tool_call *call, lt_http_answer *answer) {
  lt_str text = lt_buf_view(&call->out);
  if (call->status == LT_OK) {
    deno_bridge_put_answer(answer, text, true, false);
  } else if (call->function != NULL) {
    deno_bridge_put_answer(answer, text, false, true);
  } else {
    deno_bridge_put_tool_failure(answer, call->record.tool, text);
  }
}

static void deno_bridge_finish(lt_deno_run *run, lt_run_tool_call *call) {
  lt_run_call *record = &call->record;
  bool cut_short = run->cancel.why != LT_OK && call->status != LT_OK && call->status != LT_E_TOOL;
  record->finished = !cut_short;
  record->result_bytes = call->out.n;
  call->kept = call->function == NULL && deno_bridge_keep(run, call->out.n);
  lt_str text = lt_buf_view(&call->out);
  if (!call->kept) {
    lt_buf_release(&call->out);
    text = call->status == LT_OK ? LT_STR_NULL : LT_STR("the tool failed with a message that was too long to keep");
  }
  if (call->status == LT_OK) {
    record->result = text;
  } else {
    record->error = text;
  }
}

static void deno_bridge_carry_out(deno_call *call, lt_str input) LT_YIELDS {
  lt_deno_run *run = call->run;
  lt_run_tool_call *base = &call->base;
  lt_invoke_options options = {
      .cancel = &run->cancel, .caller = run->request->caller, .on_approval = deno_bridge_on_approval, .arg = call};
  bool is_on_record =
      lt_call_matching_answer(&run->matching, base->record.tool, input, &options.seq, &base->status, &base->out);
  if (!is_on_record && base->function != NULL) {
    deno_bridge_call_function(run, base, input, &options);
  } else if (!is_on_record) {
    base->status = lt_door_call(run->deno->door, base->record.tool, input, &options, &base->out, NULL);
    lt_call_matching_note_failure(&run->matching, options.seq, base->status, lt_buf_view(&base->out));
  } else if (base->status == LT_E_DIVERGED) {
    lt_cancel_fire(&run->cancel, LT_E_CANCELLED);
  } else if (base->function == NULL) {
    const lt_call_event event = {.seq = options.seq,
                                 .tool = base->record.tool,
                                 .input = input,
                                 .status = base->status,
                                 .answer = lt_buf_view(&base->out)};
    lt_recorded_call_count(run->deno->door, options.caller, event.tool, event.status);
    lt_recorded_call_report(run->deno->door, options.caller, &event);
  }
  base->seq = options.seq;
}

static void deno_bridge_perform(deno_call *call, lt_str input, lt_http_answer *answer) LT_YIELDS {
  lt_deno_run *run = call->run;
  lt_run_tool_call *base = &call->base;
  run->calls.count++;
  run->calls.running++;
  lt_deno_clock_update(run);
  deno_bridge_carry_out(call, input);
  if (base->asking > 0) { /* the call has ended: its approval is not awaited any more */
    base->asking = 1;
    deno_bridge_on_approval(call, false);
  }
  deno_bridge_check_value(run, base);
  deno_bridge_answer_call(base, answer);
  deno_bridge_finish(run, base);
  run->calls.running--;
  lt_deno_clock_update(run);
  if (run->cancel.why != LT_OK && run->stop_reason == LT_OK && !run->has_ended) { /* this cancel stops the program */
    lt_deno_program_stop(run, LT_E_CANCELLED);
  }
}

/* Whether another call may be made. False: the request has been answered. */
static bool deno_bridge_can_call(const lt_deno_run *run, lt_http_answer *answer) {
  char text[160];
  if (run->cancel.why != LT_OK) {
    deno_bridge_put_answer(answer, LT_STR("the program has ended"), false, true);
    return false;
  }
  if (run->calls.count >= LT_RUN_CALLS_MAX) {
    snprintf(text, sizeof text, "too many tool calls: a program may make %d of them", LT_RUN_CALLS_MAX);
    deno_bridge_put_answer(answer, lt_str_of(text), false, true);
    return false;
  }
  return true;
}

static void deno_bridge_make_call(lt_deno_run *run, lt_str tool, const lt_run_function *function, lt_str input,
                                  lt_http_answer *answer) LT_YIELDS {
  if (!deno_bridge_can_call(run, answer)) {
    return;
  }
  deno_call *call = deno_bridge_call_new(run, tool, input);
  if (call == NULL) {
    deno_bridge_put_answer(answer, LT_STR("no memory for another tool call"), false, true);
    return;
  }
  call->base.function = function;
  deno_bridge_perform(call, input, answer);
}

/* Finds the tool's id by its id or name. An unknown name is returned unchanged, and the door refuses it. */
static lt_str deno_bridge_id_of(const lt_deno_run *run, lt_str name) {
  const lt_tool *tool = lt_catalog_find(run->catalog, name);
  tool = tool != NULL ? tool : lt_deno_source_find_tool(run, name);
  return tool != NULL ? tool->id : name;
}

static void deno_bridge_warn(lt_deno_run *run, lt_str tool, lt_str input) {
  LT_AUTO_BUF(text, LT_RUN_LOG_MAX_BYTES);
  lt_call_warnings_put(&run->calls.warnings, lt_catalog_find(run->catalog, tool), input, &text);
  if (text.n > 0) {
    lt_deno_output_add(run, LT_SAID_WARNING, lt_buf_view(&text));
  }
}

static void deno_bridge_on_tool(lt_deno_run *run, bridge_body *r, lt_http_answer *answer) LT_YIELDS {
  lt_str name;
  if (!deno_bridge_read_text(r, "tool_name", &name, answer)) {
    return;
  }
  lt_str arguments = lt_json_text(lt_json_get(lt_json_root(&r->doc), "arguments"));
  LT_AUTO_BUF(tool, LT_JSON_MAX_BYTES);
  lt_buf_add(&tool, deno_bridge_id_of(run, name));
  lt_arena_release(&r->arena); /* released before the call, which may take long: the parsed body is several times as
                                  large as the text */
  deno_bridge_warn(run, lt_buf_view(&tool), arguments);
  deno_bridge_make_call(run, lt_buf_view(&tool), NULL, arguments, answer);
}

static void deno_bridge_on_function(lt_deno_run *run, bridge_body *r, lt_http_answer *answer) LT_YIELDS {
  lt_str name;
  if (!deno_bridge_read_text(r, "name", &name, answer)) {
    return;
  }
  size_t index = lt_run_request_find_function(run->request, name);
  lt_json args = lt_json_get(lt_json_root(&r->doc), "args");
  if (index >= run->request->function_count || lt_json_typeof(args) != LT_JSON_ARRAY) {
    deno_bridge_put_error(answer, "Invalid request: no such function: ", lt_str_sub(name, 0, 200));
    return;
  }
  deno_bridge_make_call(run, name, &run->request->functions[index], lt_json_text(args), answer);
}

/* --- Discovery ---------------------------------------------------------------------------------------------------- */

#define DISCOVER_MAX 20

static void deno_bridge_put_tool(const lt_deno_run *run, lt_json_writer *w, const lt_tool *tool) {
  lt_str name = run->is_typescript ? tool->ts_name : tool->js_name;
  bool taken = lt_run_request_find_function(run->request, name) < run->request->function_count;
  lt_json_begin_object(w);
  lt_json_key(w, "id");
  lt_json_put_str(w, tool->id);
  lt_json_key(w, "name");
  lt_json_put_str(w, name.n > 0 && !taken ? name : tool->id);
  lt_json_key(w, "description");
  lt_json_put_str(w, tool->description);
  lt_json_end_object(w);
}

static bool deno_bridge_is_hidden(const lt_deno_run *run, const lt_tool *tool) {
  const lt_caller *caller = run->request->caller;
  return caller != NULL && caller->hidden.n > 0 && lt_str_eq(tool->id, caller->hidden);
}

static void deno_bridge_on_discover(lt_deno_run *run, bridge_body *r, lt_http_answer *answer) {
  lt_str query;
  if (!deno_bridge_read_text(r, "query", &query, answer)) {
    return;
  }
  size_t max = query.n == 0 ? lt_catalog_count(run->catalog) : DISCOVER_MAX;
  uint32_t *found = lt_mem_alloc((max + 1) * sizeof *found);
  size_t count = found != NULL ? lt_catalog_search(run->catalog, query, found, max) : 0;
  lt_json_writer w = lt_json_writer_on(&answer->body);
  lt_json_begin_object(&w);
  lt_json_key(&w, "content");
  lt_json_begin_array(&w);
  for (size_t i = 0; i < count; i++) {
    const lt_tool *tool = lt_catalog_at(run->catalog, found[i]);
    if (!deno_bridge_is_hidden(run, tool)) {
      deno_bridge_put_tool(run, &w, tool);
    }
  }
  lt_json_end_array(&w);
  lt_json_end_object(&w);
  lt_mem_free(found);
}

static void deno_bridge_on_schema(lt_deno_run *run, bridge_body *r, lt_http_answer *answer) {
  lt_str name;
  if (!deno_bridge_read_text(r, "name", &name, answer)) {
    return;
  }
  const lt_tool *tool = lt_catalog_find(run->catalog, deno_bridge_id_of(run, name));
  if (tool != NULL && !deno_bridge_is_hidden(run, tool)) {
    deno_bridge_put_answer(answer, tool->input_schema, true, false);
    return;
  }
  deno_bridge_put_answer(answer, LT_STR("{\"error\":\"no such tool; discoverTools() lists what there is\"}"), true,
                         false);
}

/* --- The server --------------------------------------------------------------------------------------------------- */

static void deno_bridge_on_handle(void *arg, const lt_http_call *call, lt_http_answer *answer) LT_YIELDS {
  static const struct {
    const char *path;
    void (*fn)(lt_deno_run *run, bridge_body *r, lt_http_answer *answer) LT_YIELDS;
  } routes[] = {{"/", deno_bridge_on_tool},
                {"/function", deno_bridge_on_function},
                {"/discover", deno_bridge_on_discover},
                {"/schema", deno_bridge_on_schema}};
  lt_deno_run *run = arg;
  answer->content_type = "application/json";
  for (size_t i = 0; i < sizeof routes / sizeof routes[0]; i++) {
    if (lt_str_eqc(call->path, routes[i].path)) {
      bridge_body r;
      if (deno_bridge_read_body(run, call, &r, answer)) {
        routes[i].fn(run, &r, answer);
      }
      lt_arena_release(&r.arena);
      return;
    }
  }
  deno_bridge_put_status(answer, 404, "Not found\n");
}

/* Compares in constant time, so that the time does not tell how much of the secret is right. */
static bool deno_bridge_is_secret(const lt_deno_run *run, lt_str given) {
  size_t n = strlen(run->instance.secret);
  unsigned char differs = given.n != n;
  for (size_t i = 0; i < n; i++) {
    differs |= (unsigned char)((i < given.n ? given.p[i] : 0) ^ run->instance.secret[i]);
  }
  return differs == 0;
}

static bool deno_bridge_on_admit(void *arg, const lt_http_call *call, lt_http_answer *answer) {
  const lt_deno_run *run = arg;
  if (!deno_bridge_is_secret(run, lt_http_call_header(call, "X-Lathe-Secret"))) {
    deno_bridge_put_status(answer, 403, "Not allowed\n");
    return false;
  }
  if (!lt_str_eqc(call->method, "POST")) {
    deno_bridge_put_status(answer, 405, "Method not allowed\n");
    lt_http_answer_header(answer, "Allow", LT_STR("POST"));
    return false;
  }
  return true;
}

lt_status lt_deno_bridge_open(lt_deno_run *run, lt_deno_transport way, lt_err *err) {
  char path[sizeof run->instance.folder + 16];
  snprintf(path, sizeof path, "%s/bridge", run->instance.folder);
  lt_http_server_options options = {.unix_path = way == LT_DENO_TCP ? NULL : path,
                                    .body_max = LT_JSON_MAX_BYTES,
                                    .bodies_max = LT_RUN_HELD_MAX_BYTES,
                                    .idle_ms = LT_DENO_IDLE_MS,
                                    .connections_max = 2 * LT_DENO_CONNECTIONS_MAX,
                                    .admit = deno_bridge_on_admit,
                                    .handle = deno_bridge_on_handle,
                                    .arg = run};
  LT_TRY(lt_http_server_open(run->loop, &options, &run->server, err));
  if (way != LT_DENO_TCP) {
    lt_deno_folder_chown(&run->instance, "bridge");
  }
  return LT_OK;
}
