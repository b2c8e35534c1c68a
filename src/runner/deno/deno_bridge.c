/* The bridge: requests of the program's process, carried out on fibers of their own.
 *
 *   POST /           {tool_name, arguments} -> {content, is_error}: the door's value, or a message
 *   POST /function   {name, args}           -> likewise, for the request's functions
 *   POST /discover   {query}, POST /schema {name} -> likewise
 *
 * What is no such request is answered as HTTP has it, with a sentence. Whoever speaks is the program: nothing it says
 * is believed, and it can do no more than its tools.
 */
#include <stdio.h>

#include "base/mem.h"
#include "json/json.h"
#include "replay/recorded_call.h"
#include "runner/deno/deno_bridge.h"
#include "runner/deno/deno_clock.h"
#include "runner/deno/deno_folder.h"
#include "runner/deno/deno_run.h"
#include "runner/deno/deno_source.h"

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

/* --- What is asked ------------------------------------------------------------------------------------------------ */
typedef struct deno_reading {
  lt_str text;
  lt_arena arena;
  lt_json_doc doc;
  lt_err err;
  lt_status status;
} deno_reading;

static void deno_bridge_read_json(void *arg) {
  deno_reading *r = arg;
  r->status = lt_json_parse(&r->arena, r->text, &r->doc, &r->err);
}

/* An object. Long ones are read off the loop. LT_YIELDS. False: answered. */
static bool deno_bridge_read_body(const lt_deno_run *run, const lt_http_call *call, deno_reading *r,
                                  lt_http_answer *answer) LT_YIELDS {
  *r = (deno_reading){.text = call->body, .err = LT_ERR_INIT};
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

static bool deno_bridge_read_text(deno_reading *r, const char *key, lt_str *ret, lt_http_answer *answer) {
  if (lt_json_str(lt_json_get(lt_json_root(&r->doc), key), &r->arena, ret)) {
    return true;
  }
  LT_AUTO_BUF(text, LT_KIB);
  lt_buf_printf(&text, "Invalid request: \"%s\" is not a string", key);
  deno_bridge_put_answer(answer, lt_buf_view(&text), false, true);
  return false;
}

/* --- Calls -------------------------------------------------------------------------------------------------------- */
static void deno_bridge_free_text(lt_str *text) {
  char *bytes = NULL;
  memcpy(&bytes, &text->p, sizeof bytes);
  lt_mem_free(bytes);
  *text = LT_STR_NULL;
}

static bool deno_bridge_copy_text(lt_str text, lt_str *ret) {
  char *bytes = lt_mem_strdup(text);
  *ret = lt_str_from(bytes, bytes != NULL ? text.n : 0);
  return bytes != NULL;
}

/* Inputs and results that are short enough stay for the report. */
static bool deno_bridge_keep(lt_deno_run *run, size_t bytes) {
  bool fits = bytes <= LT_RUN_RECORD_BYTES && bytes <= LT_RUN_RECORDS_MAX_BYTES - run->kept_bytes;
  run->kept_bytes += fits ? bytes : 0;
  return fits;
}

static deno_call *deno_bridge_call_new(lt_deno_run *run, lt_str tool, lt_str input) {
  deno_call *call = lt_mem_zalloc(1, sizeof *call);
  if (call == NULL) {
    return NULL;
  }
  call->run = run;
  lt_buf_init(&call->base.out, LT_JSON_MAX_BYTES);
  bool kept = deno_bridge_keep(run, input.n);
  if (!deno_bridge_copy_text(tool, &call->base.record.tool) ||
      (kept && !deno_bridge_copy_text(input, &call->base.record.input))) {
    deno_bridge_free_text(&call->base.record.tool);
    lt_mem_free(call);
    return NULL;
  }
  call->base.record.input_bytes = input.n;
  *run->last_call = &call->base;
  run->last_call = &call->base.next;
  return call;
}

static void deno_bridge_on_approval(void *arg, bool waiting) {
  deno_call *call = arg;
  bool waited = call->base.asking > 0;
  call->base.asking += waiting ? 1 : waited ? -1u : 0;
  if (waited != (call->base.asking > 0)) {
    call->run->asking += waiting ? 1 : -1u;
    lt_deno_set_clock(call->run);
  }
}

typedef struct checking {
  lt_str text;
  bool ok;
} checking;

static void deno_bridge_check_json(void *arg) {
  checking *c = arg;
  c->ok = lt_json_check(c->text, NULL) == LT_OK;
}

/* What comes from a tool is believed only so far: the answer must stay JSON. */
static void deno_bridge_check_value(lt_deno_run *run, lt_run_tool_call *call) LT_YIELDS {
  checking c = {.text = lt_buf_view(&call->out)};
  if (call->status != LT_OK || c.text.n == 0) {
    return;
  }
  if (c.text.n <= LT_CALL_INLINE_BYTES || lt_loop_offload(run->loop, deno_bridge_check_json, &c, NULL) != LT_OK) {
    deno_bridge_check_json(&c);
  }
  if (!c.ok) {
    call->status = LT_E_INTERNAL;
    lt_buf_clear(&call->out);
    lt_buf_addc(&call->out, "the answer is not JSON");
  }
}

static void deno_bridge_carry_out_function(lt_run_tool_call *call, lt_str args,
                                           const lt_invoke_options *options) LT_YIELDS {
  lt_err err = LT_ERR_INIT;
  call->status = call->function->call(call->function->arg, args, options, &call->out, &err);
  if (call->out.status != LT_OK) {
    lt_buf_release(&call->out);
    call->status = call->status == LT_OK ? LT_E_LIMIT : call->status;
  }
  if (call->status != LT_OK && call->out.n == 0) {
    lt_buf_addc(&call->out, lt_err_msg(&err)[0] != '\0' ? lt_err_msg(&err) : lt_status_text(call->status));
  }
}

/* As the door does it. */
static void deno_bridge_mask_answer(const lt_deno_run *run, lt_run_tool_call *call) {
  const lt_secrets *secrets = lt_door_secrets(run->deno->door);
  if (lt_secrets_in(secrets, lt_buf_view(&call->out))) {
    lt_buf masked;
    lt_buf_init(&masked, LT_JSON_MAX_BYTES);
    (call->status == LT_OK ? lt_secrets_mask_json : lt_secrets_mask)(secrets, lt_buf_view(&call->out), &masked);
    lt_buf_release(&call->out);
    call->out = masked;
  }
}

/* Recorded as tools are, so that a program that is run again gets the same. */
static void deno_bridge_call_function(const lt_deno_run *run, lt_run_tool_call *call, lt_str args,
                                      const lt_invoke_options *options) LT_YIELDS {
  lt_journal *journal = run->matching.journal;
  int64_t id;
  lt_err err = LT_ERR_INIT;
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
      .input = lt_secrets_in(lt_door_secrets(run->deno->door), args) ? LT_STR("[]") : args,
      .repeatable = call->function->repeatable,
  };
  call->status = journal->begin(journal, &what, &id, &err);
  if (call->status != LT_OK) {
    lt_buf_addc(&call->out, lt_err_msg(&err));
    return;
  }
  deno_bridge_carry_out_function(call, args, options);
  deno_bridge_mask_answer(run, call);
  (void)journal->finish(journal, id, call->status, lt_buf_view(&call->out), NULL);
}

/* `Tool "x" failed: why`, unless the door said as much already, or it is no tool. */
static void deno_bridge_answer_call(const lt_run_tool_call *call, lt_http_answer *answer) {
  lt_str text = lt_buf_view(&call->out);
  if (call->status == LT_OK) {
    deno_bridge_put_answer(answer, text, true, false);
  } else if (call->function != NULL || lt_str_starts(text, LT_STR("Tool \""))) {
    deno_bridge_put_answer(answer, text, false, true);
  } else {
    char prefix[320];
    snprintf(prefix, sizeof prefix, "Tool \"%.*s\" failed: ", LT_STR_ARG(lt_str_sub(call->record.tool, 0, 256)));
    deno_bridge_put_error(answer, prefix, text);
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
  bool on_record =
      lt_call_matching_answer(&run->matching, base->record.tool, input, &options.seq, &base->status, &base->out);
  if (!on_record && base->function != NULL) {
    deno_bridge_call_function(run, base, input, &options);
  } else if (!on_record) {
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
  run->call_count++;
  run->in_flight++;
  lt_deno_set_clock(run);
  deno_bridge_carry_out(call, input);
  if (base->asking > 0) { /* whoever was asked has no say any more */
    base->asking = 1;
    deno_bridge_on_approval(call, false);
  }
  deno_bridge_check_value(run, base);
  deno_bridge_answer_call(base, answer);
  deno_bridge_finish(run, base);
  run->in_flight--;
  lt_deno_set_clock(run);
  if (run->cancel.why != LT_OK && run->stopped == LT_OK && !run->ended) { /* not with what its cancel has done */
    lt_deno_stop(run, LT_E_CANCELLED);
  }
}

/* May it be made? Otherwise it is answered. */
static bool deno_bridge_has_room(const lt_deno_run *run, lt_http_answer *answer) {
  char text[160];
  if (run->cancel.why != LT_OK) {
    deno_bridge_put_answer(answer, LT_STR("the program has ended"), false, true);
    return false;
  }
  if (run->call_count >= LT_RUN_CALLS_MAX) {
    snprintf(text, sizeof text, "too many tool calls: a program may make %d of them", LT_RUN_CALLS_MAX);
    deno_bridge_put_answer(answer, lt_str_of(text), false, true);
    return false;
  }
  return true;
}

static void deno_bridge_make_call(lt_deno_run *run, lt_str tool, const lt_run_function *function, lt_str input,
                                  lt_http_answer *answer) LT_YIELDS {
  if (!deno_bridge_has_room(run, answer)) {
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

/* A tool by its id, or by the names programs have for it; what is none is the door's to refuse. */
static lt_str deno_bridge_id_of(const lt_deno_run *run, lt_str name) {
  const lt_tool *tool = lt_catalog_find(run->catalog, name);
  tool = tool != NULL ? tool : lt_deno_find_named(run, name);
  return tool != NULL ? tool->id : name;
}

static void deno_bridge_on_tool(lt_deno_run *run, deno_reading *r, lt_http_answer *answer) LT_YIELDS {
  lt_str name;
  if (!deno_bridge_read_text(r, "tool_name", &name, answer)) {
    return;
  }
  lt_str arguments = lt_json_text(lt_json_get(lt_json_root(&r->doc), "arguments"));
  LT_AUTO_BUF(tool, LT_JSON_MAX_BYTES);
  lt_buf_add(&tool, deno_bridge_id_of(run, name));
  lt_arena_release(&r->arena); /* not while the call lasts: it may have several times the bytes of the body */
  deno_bridge_make_call(run, lt_buf_view(&tool), NULL, arguments, answer);
}

static void deno_bridge_on_function(lt_deno_run *run, deno_reading *r, lt_http_answer *answer) LT_YIELDS {
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

/* --- What there is ------------------------------------------------------------------------------------------------ */
#define DISCOVER_MAX 20

static void deno_bridge_put_tool(const lt_deno_run *run, lt_json_writer *w, const lt_tool *tool) {
  lt_str name = run->typed ? tool->ts_name : tool->js_name;
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

static void deno_bridge_on_discover(lt_deno_run *run, deno_reading *r, lt_http_answer *answer) {
  lt_str query;
  if (!deno_bridge_read_text(r, "query", &query, answer)) {
    return;
  }
  size_t most = query.n == 0 ? lt_catalog_count(run->catalog) : DISCOVER_MAX;
  uint32_t *found = lt_mem_alloc((most + 1) * sizeof *found);
  size_t count = found != NULL ? lt_catalog_search(run->catalog, query, found, most) : 0;
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

static void deno_bridge_on_schema(lt_deno_run *run, deno_reading *r, lt_http_answer *answer) {
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
    void (*fn)(lt_deno_run *run, deno_reading *r, lt_http_answer *answer) LT_YIELDS;
  } routes[] = {{"/", deno_bridge_on_tool},
                {"/function", deno_bridge_on_function},
                {"/discover", deno_bridge_on_discover},
                {"/schema", deno_bridge_on_schema}};
  lt_deno_run *run = arg;
  answer->content_type = "application/json";
  for (size_t i = 0; i < sizeof routes / sizeof routes[0]; i++) {
    if (lt_str_eqc(call->path, routes[i].path)) {
      deno_reading r;
      if (deno_bridge_read_body(run, call, &r, answer)) {
        routes[i].fn(run, &r, answer);
      }
      lt_arena_release(&r.arena);
      return;
    }
  }
  deno_bridge_put_status(answer, 404, "Not found\n");
}

/* Without a difference in time that tells how much of it was right. */
static bool deno_bridge_is_secret(const lt_deno_run *run, lt_str said) {
  size_t n = strlen(run->room.secret);
  unsigned char differs = said.n != n;
  for (size_t i = 0; i < n; i++) {
    differs |= (unsigned char)((i < said.n ? said.p[i] : 0) ^ run->room.secret[i]);
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

lt_status lt_deno_open_bridge(lt_deno_run *run, lt_deno_way way, lt_err *err) {
  char path[sizeof run->room.folder + 16];
  snprintf(path, sizeof path, "%s/bridge", run->room.folder);
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
    lt_deno_hand_over(&run->room, "bridge");
  }
  return LT_OK;
}
