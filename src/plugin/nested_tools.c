/* Calls of tools for a plugin's call: one, or several in parallel, each on a fiber. */
#include "plugin/nested_tools.h"

#include "base/limits.h"
#include "base/mem.h"
#include "json/json.h"
#include "plugin/abi.h"
#include "plugin/host_state.h"
#include "plugin/nested_caller.h"
#include "plugin/plugin_request.h"
#include "tool/answer_spill.h"

/* --- One tool ----------------------------------------------------------------------------------------------------- */
typedef struct nested_tool_request {
  lt_str id, input;
  lt_buf out;
} nested_tool_request;

static lt_status nested_tools_call_one(lathe_call *call, void *arg, lt_err *err) LT_YIELDS {
  nested_tool_request *r = arg;
  lt_nested_caller n;
  LT_TRY(lt_nested_caller_init(&n, call, err));
  const lt_invoke_options how = {
      .seq = lt_nested_caller_number(&n, call, 1), .on_approval = lt_nested_caller_on_approval, .arg = call};
  return lt_nested_caller_call_tool(&n, call, r->id, r->input, &how, &r->out, err);
}

int lt_nested_tools_call(lathe_call *call, lathe_text id, lathe_text input, lathe_text *ret_value) {
  nested_tool_request r = {.id = lt_abi_to_str(id), .input = lt_abi_to_str(input)};
  lt_buf_init(&r.out, LT_JSON_MAX_BYTES);
  int rc = lt_plugin_request_run(call, &(lt_plugin_request){.fn = nested_tools_call_one, .arg = &r, .borrows = true});
  if (rc != 0 && r.out.n > 0) {
    lt_plugin_call_set_error(call, lt_buf_view(&r.out)); /* the whole message, as that of an lt_err is cut */
  }
  rc = lt_plugin_call_return_text(call, rc, &r.out, ret_value);
  lt_buf_release(&r.out);
  return rc;
}

/* --- Several at once ---------------------------------------------------------------------------------------------- */
typedef struct tool_batch tool_batch;

typedef struct tool_batch_step {
  tool_batch *batch;
  lt_str name; /* the name in the plugin's request */
  lt_str id;
  lt_str input;
  lt_buf out;
  lt_status status;
} tool_batch_step;

struct tool_batch {
  lathe_call *call;
  lt_nested_caller nested;
  lt_arena arena;
  lt_json_doc doc;
  tool_batch_step *steps;
  size_t count;
  size_t next;         /* index of the next step to begin */
  size_t fiber_count;  /* number of running fibers */
  size_t active_count; /* steps that have begun, and do not wait for an approval */
  size_t max_active;
  uint64_t first_number; /* of the first step */
  lt_wait ended;
};

static void tool_batch_start_steps(tool_batch *b);

/* A step that waits for a person does not count: another one begins in its place. */
static void tool_batch_on_approval(void *arg, bool waiting) {
  const tool_batch_step *s = arg;
  tool_batch *b = s->batch;
  lt_nested_caller_on_approval(b->call, waiting);
  if (waiting) {
    b->active_count--;
    tool_batch_start_steps(b);
  } else {
    b->active_count++;
  }
}

static void tool_batch_run_step(tool_batch_step *s) LT_YIELDS {
  tool_batch *b = s->batch;
  uint64_t seq = b->first_number > 0 ? b->first_number + (uint64_t)(s - b->steps) : 0;
  const lt_invoke_options how = {.seq = seq, .on_approval = tool_batch_on_approval, .arg = s};
  LT_ERR_VAR(err);
  s->status = lt_nested_caller_call_tool(&b->nested, b->call, s->id, s->input, &how, &s->out, &err);
  if (s->status != LT_OK && s->out.n == 0) {
    lt_buf_addc(&s->out, lt_err_msg(&err)[0] != '\0' ? lt_err_msg(&err) : lt_status_text(s->status));
  }
}

static tool_batch_step *tool_batch_take_step(tool_batch *b) {
  if (b->next == b->count || b->active_count >= b->max_active) {
    return NULL;
  }
  b->active_count++;
  return &b->steps[b->next++];
}

/* Runs `s` and then the following steps, one after another. */
static void tool_batch_run_steps(tool_batch *b, tool_batch_step *s) LT_YIELDS {
  for (; s != NULL; s = tool_batch_take_step(b)) {
    tool_batch_run_step(s);
    b->active_count--;
  }
}

static void tool_batch_run_fiber(void *arg) LT_YIELDS {
  tool_batch_step *s = arg;
  tool_batch *b = s->batch;
  tool_batch_run_steps(b, s);
  if (--b->fiber_count == 0) {
    lt_wait_wake(&b->ended, LT_OK);
  }
}

/* A step that gets no fiber is put back: the next free fiber takes it. */
static void tool_batch_start_steps(tool_batch *b) {
  for (tool_batch_step *s = tool_batch_take_step(b); s != NULL; s = tool_batch_take_step(b)) {
    b->fiber_count++;
    if (lt_loop_spawn(b->call->plugin->host->options.loop, tool_batch_run_fiber, s, NULL) != LT_OK) {
      b->fiber_count--;
      b->active_count--;
      b->next--;
      return;
    }
  }
}

static void tool_batch_run(tool_batch *b) LT_YIELDS {
  b->first_number = lt_nested_caller_number(&b->nested, b->call, b->count);
  lt_wait_init(&b->ended, b->call->plugin->host->options.loop);
  tool_batch_start_steps(b);
  while (b->fiber_count > 0 || b->next < b->count) {
    if (b->fiber_count > 0) {
      lt_wait_on(&b->ended, UINT64_MAX);
    } else { /* no fiber is available: run on this one */
      tool_batch_run_steps(b, tool_batch_take_step(b));
    }
  }
}

/* --- Reading the calls -------------------------------------------------------------------------------------------- */
static lt_status tool_batch_read_step(tool_batch *b, lt_json v, const lt_catalog *catalog, lt_err *err) {
  tool_batch_step *s = &b->steps[b->count];
  if (!lt_json_str(lt_json_get(v, "tool"), &b->arena, &s->name)) {
    return lt_fail(err, LT_E_INVALID, "call %zu of several names no tool: {\"tool\": \"...\", \"input\": {...}}",
                   b->count);
  }
  const lt_tool *tool = lt_catalog_find_any(catalog, s->name);
  s->batch = b;
  s->id = tool != NULL ? tool->id : s->name; /* the door refuses an unknown name */
  s->input = lt_json_text(lt_json_get(v, "input"));
  lt_buf_init(&s->out, LT_JSON_MAX_BYTES);
  b->count++;
  return LT_OK;
}

static lt_status tool_batch_read(tool_batch *b, lt_str calls, const lt_catalog *catalog, lt_err *err) {
  LT_TRY(lt_json_parse(&b->arena, calls, &b->doc, err));
  lt_json list = lt_json_root(&b->doc);
  if (lt_json_typeof(list) != LT_JSON_ARRAY || lt_json_count(list) > LT_RUN_OPEN_CALLS_MAX) {
    return lt_fail(err, LT_E_INVALID, "several calls are an array of %d at most", LT_RUN_OPEN_CALLS_MAX);
  }
  b->steps = lt_arena_zalloc(&b->arena, lt_json_count(list) + 1, sizeof *b->steps);
  if (b->steps == NULL) {
    return lt_fail(err, LT_E_NOMEM, "no memory for several calls");
  }
  lt_json_iter it = lt_json_each(list);
  while (lt_json_next(&it)) {
    LT_TRY(tool_batch_read_step(b, it.value, catalog, err));
  }
  return LT_OK;
}

/* --- Writing the results ------------------------------------------------------------------------------------------ */
/* Stores a long result as an artifact, without secrets, as the door does with a long answer. */
static void tool_batch_spill(const tool_batch *b, tool_batch_step *s) LT_YIELDS {
  LT_ERR_VAR(err);
  lt_secrets_mask_json_buf(b->call->plugin->host->options.secrets, &s->out); /* before the cut */
  /* When it could not be stored, the result itself says so. */
  (void)lt_answer_spill(&b->nested.caller, s->id, &s->out, &err);
}

/* When all results together are too long for a model, the long ones are stored, and the short ones stay whole. */
static void tool_batch_shorten(tool_batch *b) LT_YIELDS {
  const lt_invoke_options *options = b->call->options;
  size_t max = options != NULL ? options->max_answer_bytes : 0;
  size_t total = 0;
  for (size_t i = 0; i < b->count; i++) {
    total += b->steps[i].out.n;
  }
  for (size_t i = 0; max > 0 && total > max && i < b->count; i++) {
    tool_batch_step *s = &b->steps[i];
    if (s->status == LT_OK && s->out.n > max / b->count && s->out.n > LT_ANSWER_PREVIEW_BYTES) {
      tool_batch_spill(b, s);
    }
  }
}

static void tool_batch_put_result(lt_json_writer *w, size_t i, const tool_batch_step *s) {
  bool is_ok = s->status == LT_OK;
  lt_json_begin_object(w);
  lt_json_key(w, "step");
  lt_json_put_int(w, (int64_t)i);
  lt_json_key(w, "tool");
  lt_json_put_str(w, s->name);
  lt_json_key(w, "status");
  lt_json_put_cstr(w, is_ok ? "ok" : "error");
  lt_json_key(w, is_ok ? "result" : "error");
  if (is_ok) {
    lt_json_put_raw(w, lt_buf_view(&s->out));
  } else {
    lt_json_put_str(w, lt_buf_view(&s->out));
  }
  lt_json_end_object(w);
}

static lt_status tool_batch_put_results(const tool_batch *b, lt_buf *out, lt_err *err) {
  lt_json_writer w = lt_json_writer_on(out);
  lt_json_begin_array(&w);
  for (size_t i = 0; i < b->count; i++) {
    tool_batch_put_result(&w, i, &b->steps[i]);
    out->status = lt_status_first(out->status, b->steps[i].out.status);
  }
  lt_json_end_array(&w);
  return lt_buf_check(out, err, "the answers of several calls are too long together");
}

/* --- A batch from its calls to its results ------------------------------------------------------------------------ */
typedef struct tool_batch_request {
  lt_str calls;
  size_t at_once;
  lt_buf out;
} tool_batch_request;

static lt_status tool_batch_carry_out(tool_batch *b, tool_batch_request *r, lt_err *err) LT_YIELDS {
  lt_catalog *catalog = NULL; /* kept until the end: the steps borrow ids from it */
  LT_TRY(lt_door_catalog_of(b->call->plugin->host->options.door, &b->nested.caller, &catalog, err));
  lt_status status = tool_batch_read(b, r->calls, catalog, err);
  if (status == LT_OK) {
    b->max_active = r->at_once > 0 ? r->at_once : LT_RUN_OPEN_CALLS_MAX;
    tool_batch_run(b);
    tool_batch_shorten(b);
    status = tool_batch_put_results(b, &r->out, err);
  }
  for (size_t i = 0; i < b->count; i++) {
    lt_buf_release(&b->steps[i].out);
  }
  lt_catalog_unref(catalog);
  return status;
}

static lt_status nested_tools_call_batch(lathe_call *call, void *arg, lt_err *err) LT_YIELDS {
  tool_batch *b = lt_mem_zalloc(1, sizeof *b);
  if (b == NULL) {
    return lt_fail(err, LT_E_NOMEM, "no memory for several calls");
  }
  b->call = call;
  lt_arena_init(&b->arena, LT_CALL_INDEX_MAX_BYTES);
  lt_status status = lt_nested_caller_init(&b->nested, call, err);
  if (status == LT_OK) {
    status = tool_batch_carry_out(b, arg, err);
  }
  lt_arena_release(&b->arena);
  lt_mem_free(b);
  return status;
}

int lt_nested_tools_call_many(lathe_call *call, lathe_text calls, unsigned at_once, lathe_text *ret_results) {
  tool_batch_request r = {.calls = lt_abi_to_str(calls), .at_once = at_once};
  lt_buf_init(&r.out, LT_JSON_MAX_BYTES);
  int rc = lt_plugin_request_run(call, &(lt_plugin_request){.fn = nested_tools_call_batch, .arg = &r, .borrows = true});
  rc = lt_plugin_call_return_text(call, rc, &r.out, ret_results);
  lt_buf_release(&r.out);
  return rc;
}
