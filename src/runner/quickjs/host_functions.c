#include "runner/quickjs/host_functions.h"

#include "base/mem.h"
#include "json/json.h"
#include "runner/quickjs/call_opening.h"
#include "runner/quickjs/program_image.h"
#include "runner/quickjs/run.h"
#include "runner/quickjs/tool_names.h"
#include "tool/cell_name.h"
#include "tool/failure_message.h"

#define DISCOVER_MAX 200 /* tools in one answer of discoverTools */

/* --- What it says and keeps --------------------------------------------------------------------------------------- */
static void on_guest_output(void *arg, lt_str text) {
  lt_said_texts_output(arg, text);
}

static void on_guest_log(void *arg, lt_log_level level, lt_str text) {
  lt_said_texts_log(arg, level, text);
}

static void on_guest_done(void *arg) {
  ((lt_run *)arg)->result->done = true;
}

static bool on_guest_store(void *arg, lt_str key, lt_str json, lt_outcome *ret) {
  lt_run *run = arg;
  LT_ERR_VAR(err);
  if (lt_run_values_put(run, key, json, &err) == LT_OK) {
    return true;
  }
  lt_buf_clear(&run->reply);
  lt_buf_addc(&run->reply, lt_err_msg(&err));
  ret->text = lt_buf_view(&run->reply);
  return false;
}

static lt_str on_guest_recall(void *arg, lt_str key) {
  return lt_run_values_find(arg, key);
}

/* --- Tools and modules -------------------------------------------------------------------------------------------- */
/* `Tool "x" not found. Did you mean: a, b?` */
static lt_str host_not_found(lt_run *run, lt_str name) {
  lt_buf_clear(&run->reply);
  if (lt_catalog_withholds(run->catalog, name)) {
    lt_buf_add(&run->reply, name);
    lt_buf_addc(&run->reply, " cannot be called from within a program: it is for models that call tools one by one");
    return lt_buf_view(&run->reply);
  }
  lt_buf_printf(&run->reply, "Tool \"%.*s\" not found", LT_STR_ARG(lt_str_sub(name, 0, 200)));
  if (!lt_tool_names_suggest_ids(run, name, &run->reply)) {
    lt_buf_addc(&run->reply, "; discoverTools() lists what there is");
  }
  return lt_buf_view(&run->reply);
}

/* Whether the id belongs to a server whose tools are unknown: a call of it gets the reason from the door. */
static bool host_is_silent(const lt_run *run, lt_str id) {
  const lt_str *names;
  size_t count = lt_catalog_silent(run->catalog, &names);
  for (size_t i = 0; i < count; i++) {
    if (lt_str_starts(id, names[i]) && id.n > names[i].n + 1 && id.p[names[i].n] == '.') {
      return true;
    }
  }
  return false;
}

static bool on_guest_resolve(void *arg, lt_str name, lt_outcome *ret) {
  lt_run *run = arg;
  const lt_tool *tool = lt_tool_names_find(run, name);
  bool silent = tool == NULL && host_is_silent(run, name);
  if (silent) {
    lt_buf_clear(&run->reply);
    lt_buf_add(&run->reply, name);
  }
  ret->text = tool != NULL ? tool->id : silent ? lt_buf_view(&run->reply) : host_not_found(run, name);
  return tool != NULL || silent;
}

static void host_put_name(const lt_run *run, lt_json_writer *w, const lt_tool *tool) {
  LT_AUTO_BUF(name, LT_MIB);
  if (run->request->is_cell) {
    lt_cell_name_put(tool, &name);
  } else {
    lt_buf_add(&name, lt_tool_names_of(run, tool));
  }
  lt_json_put_str(w, lt_buf_view(&name));
}

static void host_put_tool(const lt_run *run, lt_json_writer *w, const lt_tool *tool) {
  lt_json_begin_object(w);
  lt_json_key(w, "id");
  lt_json_put_str(w, tool->id);
  lt_json_key(w, "name");
  host_put_name(run, w, tool);
  lt_json_key(w, "description");
  lt_json_put_str(w, tool->description);
  lt_json_end_object(w);
}

static lt_outcome on_guest_discover(void *arg, lt_str query) {
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
    const lt_tool *tool = lt_tool_names_unless_hidden(run, lt_catalog_at(run->catalog, found[i]));
    if (tool != NULL) {
      host_put_tool(run, &w, tool);
    }
  }
  lt_json_end_array(&w);
  lt_mem_free(found);
  return (lt_outcome){.ok = run->reply.status == LT_OK, .text = lt_buf_view(&run->reply)};
}

/* An unknown name is an answer, not a failure: the program asks which tools exist. */
static lt_outcome on_guest_schema(void *arg, lt_str name) {
  lt_run *run = arg;
  const lt_tool *tool = lt_tool_names_find(run, name);
  if (tool != NULL) {
    return (lt_outcome){.ok = true, .text = tool->input_schema};
  }
  LT_AUTO_BUF(message, LT_JSON_MAX_BYTES);
  lt_buf_add(&message, host_not_found(run, name));
  lt_buf_clear(&run->reply);
  lt_json_writer w = lt_json_writer_on(&run->reply);
  lt_json_begin_object(&w);
  lt_json_key(&w, "error");
  lt_json_put_str(&w, lt_buf_view(&message));
  lt_json_end_object(&w);
  return (lt_outcome){.ok = true, .text = lt_buf_view(&run->reply)};
}

static bool on_guest_module(void *arg, lt_str name, lt_str *ret_source) {
  lt_run *run = arg;
  if (lt_tape_find_module(&run->tape, name, ret_source)) {
    return true;
  }
  if (!lt_program_image_find_module(run, name, ret_source)) {
    return false;
  }
  lt_tape_note_module(&run->tape, name, *ret_source);
  return true;
}

/* --- What it waits for -------------------------------------------------------------------------------------------- */
/* The message of a failed call, which names the tool; a function's message stays as it is. */
static lt_str host_failed(lt_run *run, const lt_run_tool_call *call) {
  lt_str why = lt_buf_view(&call->out);
  if (call->function != NULL) {
    return why;
  }
  lt_buf_clear(&run->reply);
  lt_failure_message_put(&run->reply, call->record.tool, why);
  return lt_buf_view(&run->reply);
}

static bool on_guest_start(void *arg, lt_str tool, lt_str input, bool is_object, lt_outcome *ret) {
  ret->id = lt_call_opening_tool(arg, tool, input, is_object, ret);
  return ret->id != 0;
}

static bool on_guest_function(void *arg, uint32_t index, lt_str args, lt_outcome *ret) {
  ret->id = lt_call_opening_function(arg, index, args, ret);
  return ret->id != 0;
}

static bool on_guest_wait(void *arg, uint32_t id, lt_outcome *ret) LT_YIELDS {
  lt_run *run = arg;
  lt_program_call_forget_taken(run);
  lt_run_open *open = lt_run_opens_wait(run, id);
  if (open == NULL) {
    return false;
  }
  ret->id = open->id;
  if (open->is_timer) {
    ret->ok = true;
    ret->text = LT_STR("null");
    lt_guest_timers_taken(run, open);
    return true;
  }
  lt_program_call *call = lt_program_call_of(open);
  lt_program_call_give(run, call, ret);
  if (!ret->ok) {
    ret->text = host_failed(run, &call->made);
  }
  return true;
}

static uint32_t on_guest_timer(void *arg, uint64_t ms) {
  return lt_guest_timers_open(arg, ms);
}

static void on_guest_drop(void *arg, uint32_t id) {
  lt_guest_timers_drop(arg, id);
}

static uint64_t on_guest_now(void *arg) {
  return lt_tape_now_ns(&((lt_run *)arg)->tape);
}

/* To other programs, or on a lane to what has come for this one. */
static bool host_should_give_way(const lt_run *run) {
  bool is_wanted = lt_pool_wants(run->box.box);
  bool has_news = !lt_lane_is_home(run->lane) && (is_wanted || lt_lane_has_news(run->lane));
  return has_news || lt_workers_task_should_yield(run->workers, &run->task, is_wanted);
}

/* Yields when it is the turn of others. Returns whether the program must end. */
static bool on_guest_poll(void *arg) LT_YIELDS {
  lt_run *run = arg;
  if (lt_workers_task_should_stop(&run->task)) {
    return true;
  }
  lt_tape_poll(&run->tape);
  if (run->box.is_dropping || run->tape.fault.n > 0) {
    return true;
  }
  if (host_should_give_way(run)) {
    run->box.step = LT_STEP_AGAIN;
    lt_fiber_yield();
    return lt_workers_task_should_stop(&run->task);
  }
  return false;
}

void lt_host_functions_fill(lt_run *run, lt_guest_host *host) {
  *host = (lt_guest_host){
      .arg = run,
      .start = on_guest_start,
      .function = on_guest_function,
      .timer = on_guest_timer,
      .drop = on_guest_drop,
      .wait = on_guest_wait,
      .output = on_guest_output,
      .log = on_guest_log,
      .done = on_guest_done,
      .store = on_guest_store,
      .recall = on_guest_recall,
      .discover = on_guest_discover,
      .schema = on_guest_schema,
      .resolve = on_guest_resolve,
      .module = on_guest_module,
      .now = run->tape.is_on ? on_guest_now : NULL,
      .poll = on_guest_poll,
  };
}
