/* The program's world as far as nobody else is needed for it: answered on the worker, without the loop. */
#include "base/mem.h"
#include "base/utf8.h"
#include "json/json.h"
#include "runner/quickjs/tape.h"

#define DISCOVER_MAX 200 /* tools in one answer of discoverTools */

/* --- What it says ------------------------------------------------------------------------------------------------- */
static void text_on_loop(void *arg) {
  lt_run_text *text = arg;
  lt_run *run = text->run;
  run->request->on_text(run->request->arg, text->said, text->text);
}

static void say(lt_run *run, lt_said said, lt_str what) {
  if (run->tape != NULL && said == LT_SAID_OUTPUT) {
    lt_tape_shown(run);
  }
  if (run->tape != NULL && (run->tape->fault.n > 0 || run->tape->said++ < run->tape->said_before)) {
    return; /* on its way out, or before the program was dropped */
  }
  lt_run_text *text = lt_mem_alloc(sizeof *text + what.n);
  if (text == NULL) {
    *(said == LT_SAID_OUTPUT ? &run->result->output_cut : &run->result->log_cut) = true;
    return;
  }
  char *bytes = (char *)(text + 1);
  memcpy(bytes, what.p ? what.p : "", what.n);
  *text = (lt_run_text){.said = said, .text = lt_str_from(bytes, what.n), .run = run};
  *run->last_text = text;
  run->last_text = &text->next;
  if (run->tape != NULL) {
    run->tape->said_before++;
  }
  if (run->request->on_text != NULL) {
    text->post = (lt_post){.fn = text_on_loop, .arg = text};
    lt_loop_post(run->loop, &text->post);
  }
}

/* Says as much of a text as still fits; once something was cut, nothing more. */
static void say_fitting(lt_run *run, lt_said said, lt_str text, size_t *used, size_t max, bool *was_cut) {
  size_t room = max > *used ? max - *used : 0;
  size_t costs = text.n > 0 ? text.n : 1; /* ten million empty ones are too many */
  if (*was_cut) {
    return;
  }
  *was_cut = costs > room;
  *used += costs;
  text = lt_utf8_cut(text, room);
  if (!*was_cut || text.n > 0) {
    say(run, said, text);
  }
}

static void on_output(void *arg, lt_str text) {
  lt_run *run = arg;
  size_t max = run->request->max_output_bytes != 0 ? run->request->max_output_bytes : LT_RUN_OUTPUT_MAX_BYTES;
  say_fitting(run, LT_SAID_OUTPUT, text, &run->output_bytes, max, &run->result->output_cut);
}

static void on_log(void *arg, lt_log_level level, lt_str text) {
  lt_run *run = arg;
  lt_said said = level == LT_LOG_ERROR ? LT_SAID_ERROR : level == LT_LOG_WARN ? LT_SAID_WARNING : LT_SAID_LOG;
  say_fitting(run, said, text, &run->log_bytes, LT_RUN_LOG_MAX_BYTES, &run->result->log_cut);
}

static void on_done(void *arg) {
  ((lt_run *)arg)->result->done = true;
}

/* --- What it keeps ------------------------------------------------------------------------------------------------ */
static lt_str reply(lt_run *run, const char *text) {
  lt_buf_clear(&run->reply);
  lt_buf_addc(&run->reply, text);
  return lt_buf_view(&run->reply);
}

static bool on_store(void *arg, lt_str key, lt_str json, lt_outcome *ret) {
  lt_run *run = arg;
  lt_err err = LT_ERR_INIT;
  if (run->values == NULL) {
    run->values = run->own_values = lt_stored_values_new();
  }
  if (run->values == NULL) {
    ret->text = LT_STR("store(): out of memory");
    return false;
  }
  if (lt_stored_values_put(run->values, key, json, &err) != LT_OK) {
    ret->text = reply(run, lt_err_msg(&err));
    return false;
  }
  return true;
}

static lt_str on_recall(void *arg, lt_str key) {
  lt_run *run = arg;
  return run->values == NULL ? LT_STR_NULL : lt_stored_values_find(run->values, key);
}

/* --- What there is ------------------------------------------------------------------------------------------------ */
static bool typed(const lt_run *run) {
  return run->program.calls == LT_CALLS_RESULT;
}

/* As if it were not there (lt_caller.hidden). */
static const lt_tool *unless_hidden(const lt_run *run, const lt_tool *tool) {
  const lt_caller *caller = run->request->caller;
  bool hidden = tool != NULL && caller != NULL && caller->hidden.n > 0 && lt_str_eq(tool->id, caller->hidden);
  return hidden ? NULL : tool;
}

/* What calls it; a function of the same name is what that name means. */
static lt_str name_of(const lt_run *run, const lt_tool *tool) {
  lt_str name = typed(run) ? tool->ts_name : tool->js_name;
  bool taken = lt_run_request_find_function(run->request, name) < run->request->function_count;
  return name.n > 0 && !taken ? name : tool->id;
}

const lt_tool *lt_run_find_named(const lt_run *run, lt_str word) {
  return unless_hidden(run,
                       typed(run) ? lt_catalog_find_ts(run->catalog, word) : lt_catalog_find_js(run->catalog, word));
}

static const lt_tool *find(const lt_run *run, lt_str name) {
  const lt_tool *tool = unless_hidden(run, lt_catalog_find(run->catalog, name));
  return tool != NULL ? tool : lt_run_find_named(run, name);
}

/* The tool of a name in any language. */
static const lt_tool *find_any(const lt_run *run, lt_str name) {
  const lt_tool *tool = lt_catalog_find(run->catalog, name);
  tool = tool != NULL ? tool : lt_catalog_find_js(run->catalog, name);
  return tool != NULL ? tool : lt_catalog_find_ts(run->catalog, name);
}

lt_str lt_run_near(const lt_run *run, lt_str near) {
  const lt_tool *tool = find(run, near);
  tool = tool != NULL ? tool : find_any(run, near);
  return tool != NULL ? name_of(run, tool) : near;
}

size_t lt_run_suggest(const lt_run *run, lt_str name, lt_str ret[]) {
  lt_str near[LT_TOOL_SUGGESTIONS];
  size_t found = lt_catalog_suggest(run->catalog, name, near);
  size_t count = 0;
  for (size_t i = 0; i < found; i++) {
    if (unless_hidden(run, find_any(run, near[i])) != NULL) {
      ret[count++] = near[i];
    }
  }
  return count;
}

/* `Tool "x" not found. Did you mean: a, b?` */
static lt_str not_found(lt_run *run, lt_str name) {
  lt_str near[LT_TOOL_SUGGESTIONS];
  size_t count = lt_run_suggest(run, name, near);
  lt_buf_clear(&run->reply);
  if (lt_catalog_withholds(run->catalog, name)) {
    lt_buf_add(&run->reply, name);
    lt_buf_addc(&run->reply, " cannot be called from within a program: it is for models that call tools one by one");
    return lt_buf_view(&run->reply);
  }
  lt_buf_printf(&run->reply, "Tool \"%.*s\" not found", LT_STR_ARG(lt_str_sub(name, 0, 200)));
  for (size_t i = 0; i < count; i++) {
    lt_buf_addc(&run->reply, i == 0 ? ". Did you mean: " : ", ");
    bool is_id = lt_catalog_find(run->catalog, near[i]) != NULL; /* where a name is asked for, an id will do, too */
    lt_buf_add(&run->reply, is_id ? near[i] : lt_run_near(run, near[i]));
  }
  lt_buf_addc(&run->reply, count > 0 ? "?" : "; discoverTools() lists what there is");
  return lt_buf_view(&run->reply);
}

/* An id of a server that has told no tools: the door says why when it is called. */
static bool is_silent(const lt_run *run, lt_str id) {
  const lt_str *names;
  size_t count = lt_catalog_silent(run->catalog, &names);
  for (size_t i = 0; i < count; i++) {
    if (lt_str_starts(id, names[i]) && id.n > names[i].n + 1 && id.p[names[i].n] == '.') {
      return true;
    }
  }
  return false;
}

static bool on_resolve(void *arg, lt_str name, lt_outcome *ret) {
  lt_run *run = arg;
  const lt_tool *tool = find(run, name);
  bool silent = tool == NULL && is_silent(run, name);
  if (silent) {
    lt_buf_clear(&run->reply);
    lt_buf_add(&run->reply, name);
  }
  ret->text = tool != NULL ? tool->id : silent ? lt_buf_view(&run->reply) : not_found(run, name);
  return tool != NULL || silent;
}

static void put_tool(const lt_run *run, lt_json_writer *w, const lt_tool *tool) {
  lt_json_begin_object(w);
  lt_json_key(w, "id");
  lt_json_put_str(w, tool->id);
  lt_json_key(w, "name");
  lt_json_put_str(w, name_of(run, tool));
  lt_json_key(w, "description");
  lt_json_put_str(w, tool->description);
  lt_json_end_object(w);
}

static lt_outcome on_discover(void *arg, lt_str query) {
  lt_run *run = arg;
  size_t most = query.n == 0 ? lt_catalog_count(run->catalog) : DISCOVER_MAX;
  uint32_t *found = lt_mem_alloc((most + 1) * sizeof *found);
  if (found == NULL) {
    return (lt_outcome){.text = LT_STR("discoverTools(): out of memory")};
  }
  size_t count = lt_catalog_search(run->catalog, query, found, most);
  lt_buf_clear(&run->reply);
  lt_json_writer w = lt_json_writer_on(&run->reply);
  lt_json_begin_array(&w);
  for (size_t i = 0; i < count; i++) {
    const lt_tool *tool = unless_hidden(run, lt_catalog_at(run->catalog, found[i]));
    if (tool != NULL) {
      put_tool(run, &w, tool);
    }
  }
  lt_json_end_array(&w);
  lt_mem_free(found);
  return (lt_outcome){.ok = run->reply.status == LT_OK, .text = lt_buf_view(&run->reply)};
}

/* An unknown name is an answer, not a failure: whoever asks wants to know what there is. */
static lt_outcome on_schema(void *arg, lt_str name) {
  lt_run *run = arg;
  const lt_tool *tool = find(run, name);
  if (tool != NULL) {
    return (lt_outcome){.ok = true, .text = tool->input_schema};
  }
  lt_buf message;
  lt_buf_init(&message, LT_JSON_MAX_BYTES);
  lt_buf_add(&message, not_found(run, name));
  lt_buf_clear(&run->reply);
  lt_json_writer w = lt_json_writer_on(&run->reply);
  lt_json_begin_object(&w);
  lt_json_key(&w, "error");
  lt_json_put_str(&w, lt_buf_view(&message));
  lt_json_end_object(&w);
  lt_buf_release(&message);
  return (lt_outcome){.ok = true, .text = lt_buf_view(&run->reply)};
}

static bool on_module(void *arg, lt_str name, lt_str *ret_source) {
  lt_run *run = arg;
  const lt_run_request *request = run->request;
  if (run->tape != NULL && lt_tape_find_module(run->tape, name, ret_source)) {
    return true;
  }
  for (size_t i = 0; i < request->module_count; i++) {
    if (lt_str_eq(request->modules[i].name, name)) {
      *ret_source = request->modules[i].source;
      if (run->tape != NULL) {
        lt_tape_note_module(run, name, *ret_source);
      }
      return true;
    }
  }
  return false;
}

/* --- What it waits for -------------------------------------------------------------------------------------------- */
/* `Tool "x" failed: why`, unless the door said as much already (`Tool "x" is not allowed ...`), or it is no tool. */
static lt_str failed(lt_run *run, const lt_run_tool_call *call) {
  lt_str why = lt_buf_view(&call->out);
  if (call->function != NULL || lt_str_starts(why, LT_STR("Tool \""))) {
    return why;
  }
  lt_buf_clear(&run->reply);
  lt_buf_printf(&run->reply, "Tool \"%.*s\" failed: ", LT_STR_ARG(call->record.tool));
  lt_buf_add(&run->reply, why);
  return lt_buf_view(&run->reply);
}

static bool on_start(void *arg, lt_str tool, lt_str input, lt_outcome *ret) {
  ret->id = lt_run_open_call(arg, tool, input, ret);
  return ret->id != 0;
}

static bool on_function(void *arg, uint32_t index, lt_str args, lt_outcome *ret) {
  ret->id = lt_run_open_function(arg, index, args, ret);
  return ret->id != 0;
}

static bool on_wait(void *arg, uint32_t id, lt_outcome *ret) LT_YIELDS {
  lt_run *run = arg;
  if (!lt_run_wait_for(run, id, ret)) {
    return false;
  }
  if (!ret->ok) {
    ret->text = failed(run, run->last_taken);
  }
  return true;
}

static lt_outcome on_call(void *arg, lt_str tool, lt_str input) LT_YIELDS {
  lt_outcome outcome = {0};
  if (on_start(arg, tool, input, &outcome) && !on_wait(arg, outcome.id, &outcome)) {
    outcome.text = LT_STR("stopped");
  }
  return outcome;
}

static uint32_t on_timer(void *arg, uint64_t ms) {
  return lt_run_open_timer(arg, ms);
}

static void on_drop(void *arg, uint32_t id) {
  lt_run_drop_timer(arg, id);
}

static uint64_t on_now(void *arg) {
  return lt_tape_now_ns(((lt_run *)arg)->tape);
}

/* It is dropped, or does not do what is on record. */
static bool leaves_tape(lt_run *run) {
  if (!run->tape->begun) {
    return false;
  }
  lt_tape_poll(run);
  return run->tape->dropping || run->tape->fault.n > 0;
}

/* Gives way to others when the slice is used up, and says whether to end. */
static bool on_poll(void *arg) LT_YIELDS {
  lt_run *run = arg;
  if (lt_workers_task_should_stop(&run->task) || (run->tape != NULL && leaves_tape(run))) {
    return true;
  }
  if (lt_workers_task_should_yield(run->workers, &run->task)) {
    run->step = LT_STEP_AGAIN;
    lt_fiber_yield();
  }
  return lt_workers_task_should_stop(&run->task);
}

void lt_run_world(lt_run *run, lt_guest_host *host) {
  *host = (lt_guest_host){
      .arg = run,
      .call = on_call,
      .start = on_start,
      .function = on_function,
      .timer = on_timer,
      .drop = on_drop,
      .wait = on_wait,
      .output = on_output,
      .log = on_log,
      .done = on_done,
      .store = on_store,
      .recall = on_recall,
      .discover = on_discover,
      .schema = on_schema,
      .resolve = on_resolve,
      .module = on_module,
      .now = run->tape != NULL ? on_now : NULL,
      .poll = on_poll,
  };
}
