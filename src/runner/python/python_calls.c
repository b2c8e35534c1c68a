/* Tool calls of a Python program: each has a fiber of its own and goes through the door. */
#include <stdio.h>

#include "base/mem.h"
#include "replay/recorded_call.h"
#include "runner/python/python_calls.h"
#include "runner/python/python_output.h"
#include "runner/python/python_clock.h"
#include "runner/python/python_names.h"
#include "runner/python/python_run.h"
#include "runner/python/python_send.h"
#include "runner/python/python_state.h"
#include "tool/failure_message.h"

struct lt_python_call {
  lt_run_tool_call call; /* first: the result frees it */
  lt_python_run *run;
  uint32_t id; /* the program's own */
  lt_python_call *next_queued;
};

/* --- Outcomes ----------------------------------------------------------------------------------------------------- */

/* Sends `Tool 'x' failed: why`, unless the message names the tool already (`Tool "x" is not allowed ...`). */
static void python_calls_send_failure(lt_python_run *run, uint32_t id, lt_str tool, lt_str why) {
  if (lt_failure_message_names_tool(why)) {
    lt_python_send_message(run, LT_PY_FAILURE, id, why);
    return;
  }
  LT_AUTO_BUF(text, 2 * LT_JSON_MAX_BYTES);
  lt_buf_addc(&text, "Tool '");
  lt_buf_add(&text, tool);
  lt_buf_addc(&text, "' failed: ");
  lt_buf_add(&text, why);
  lt_python_send_message(run, LT_PY_FAILURE, id, lt_buf_view_or(&text, LT_STR("a tool call failed")));
}

static bool python_calls_keep(lt_python_run *run, size_t bytes) {
  bool fits = bytes <= LT_RUN_RECORD_BYTES && bytes <= LT_RUN_RECORDS_MAX_BYTES - run->calls.recorded_bytes;
  run->calls.recorded_bytes += fits ? bytes : 0;
  return fits;
}

static void python_calls_keep_input(lt_python_run *run, lt_run_tool_call *call) {
  run->calls.open_input_bytes -= call->record.input_bytes;
  if (!python_calls_keep(run, call->record.input_bytes)) {
    lt_run_tool_call_free_input(call);
  }
}

static void python_calls_keep_outcome(lt_python_run *run, lt_run_tool_call *call) {
  lt_run_call *record = &call->record;
  lt_str text = lt_buf_view(&call->out);
  bool kept = python_calls_keep(run, text.n);
  record->result_bytes = text.n;
  if (call->status == LT_OK) {
    record->result = kept ? text : LT_STR_NULL;
  } else {
    record->error = kept ? text : LT_STR("the tool failed with a message that was too long to keep");
  }
  if (!kept) {
    lt_buf_release(&call->out);
  }
}

/* A call that was cancelled because the program ended has no outcome. */
static bool python_calls_was_cut_short(const lt_python_run *run, lt_status status) {
  return run->cancel.why != LT_OK && status != LT_OK && status != LT_E_TOOL;
}

static void python_calls_answer(lt_python_run *run, const lt_python_call *c) {
  lt_str text = lt_buf_view(&c->call.out);
  if (run->link.has_reported_end || run->child->has_exited) {
    return;
  }
  if (c->call.status != LT_OK) {
    python_calls_send_failure(run, c->id, c->call.record.tool, text);
  } else if (text.n + run->link.unsent.n > LT_RUN_HELD_MAX_BYTES) {
    python_calls_send_failure(run, c->id, c->call.record.tool,
                              LT_STR("too many answers wait to be read by the program"));
  } else {
    lt_python_send_message(run, LT_PY_VALUE, c->id, text);
  }
}

static void python_calls_finish(lt_python_run *run, lt_python_call *c) {
  python_calls_answer(run, c);
  c->call.record.finished = !python_calls_was_cut_short(run, c->call.status);
  python_calls_keep_input(run, &c->call);
  python_calls_keep_outcome(run, &c->call);
}

/* --- Execution ---------------------------------------------------------------------------------------------------- */

static void python_calls_on_approval(void *arg, bool waiting) {
  lt_python_call *c = arg;
  bool waited = c->call.asking > 0;
  c->call.asking += waiting ? 1 : waited ? -1u : 0;
  if (waited != (c->call.asking > 0)) {
    c->run->calls.waiting_for_approval += waiting ? 1 : -1u;
    lt_python_clock_update(c->run);
  }
}

static void python_calls_carry_out(lt_python_run *run, lt_python_call *c) LT_YIELDS {
  lt_invoke_options options = {
      .cancel = &run->cancel, .caller = run->request->caller, .on_approval = python_calls_on_approval, .arg = c};
  lt_run_call *record = &c->call.record;
  if (!lt_call_matching_answer(&run->matching, record->tool, record->input, &options.seq, &c->call.status,
                               &c->call.out)) {
    c->call.status = lt_door_call(run->python->door, record->tool, record->input, &options, &c->call.out, NULL);
    lt_call_matching_note_failure(&run->matching, options.seq, c->call.status, lt_buf_view(&c->call.out));
  } else if (c->call.status == LT_E_DIVERGED) {
    lt_cancel_fire(&run->cancel, LT_E_CANCELLED);
  } else {
    const lt_call_event event = {.seq = options.seq,
                                 .tool = record->tool,
                                 .input = record->input,
                                 .status = c->call.status,
                                 .answer = lt_buf_view(&c->call.out)};
    lt_recorded_call_count(run->python->door, options.caller, event.tool, event.status);
    lt_recorded_call_report(run->python->door, options.caller, &event);
  }
  c->call.seq = options.seq;
}

static void python_calls_perform(lt_python_run *run, lt_python_call *c) LT_YIELDS {
  python_calls_carry_out(run, c);
  if (c->call.asking > 0) { /* the call has ended: its approval is not awaited any more */
    c->call.asking = 1;
    python_calls_on_approval(c, false);
  }
  run->calls.running--;
  python_calls_finish(run, c);
  lt_python_clock_update(run);
}

static lt_python_call *python_calls_take_queued(lt_python_run *run) {
  lt_python_call *c = run->calls.queue;
  if (c != NULL && run->calls.running < LT_RUN_OPEN_CALLS_MAX) {
    run->calls.queue = c->next_queued;
    run->calls.queue_end = run->calls.queue == NULL ? &run->calls.queue : run->calls.queue_end;
    run->calls.running++;
    return c;
  }
  return NULL;
}

static void python_calls_on_call_fiber(void *arg) {
  lt_python_call *c = arg;
  lt_python_run *run = c->run;
  for (; c != NULL; c = python_calls_take_queued(run)) {
    python_calls_perform(run, c);
  }
  lt_wait_wake(&run->wait, LT_OK);
}

static void python_calls_refuse(lt_python_run *run, lt_python_call *c, lt_status status, const char *message) {
  c->call.status = status;
  lt_buf_addc(&c->call.out, message);
  python_calls_finish(run, c);
}

void lt_python_calls_drop_queued(lt_python_run *run) {
  while (run->calls.queue != NULL) {
    lt_python_call *c = run->calls.queue;
    run->calls.queue = c->next_queued;
    python_calls_refuse(run, c, run->cancel.why, "the program has ended");
  }
  run->calls.queue_end = &run->calls.queue;
}

/* --- New calls ---------------------------------------------------------------------------------------------------- */

/* Tools that run programs cannot be called from within a program. */
static bool python_calls_is_program_tool(lt_str name) {
  static const char *const names[] = {"execute_code", "execute_plan", "execute_typescript"};
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
    if (lt_str_eqc(name, names[i])) {
      return true;
    }
  }
  return false;
}

/* The tool's id. `name` is an id, or the tool's name in Python, in another language or for a model. */
static lt_str python_calls_resolve(lt_python_run *run, lt_str name) {
  const lt_tool *tool = lt_catalog_find(run->catalog, name);
  const lt_python_names *names = tool == NULL ? lt_python_names_of(run->python, run->catalog) : NULL;
  if (names != NULL) {
    tool = lt_python_names_find(names, name);
  }
  tool = tool != NULL ? tool : lt_catalog_find_any(run->catalog, name);
  return tool != NULL ? tool->id : name;
}

static lt_python_call *python_calls_new_call(lt_python_run *run, uint32_t id, lt_str tool, lt_str input) {
  lt_python_call *c = (lt_python_call *)(void *)lt_run_tool_call_new(sizeof *c, tool, input);
  if (c != NULL) {
    c->run = run;
    c->id = id;
  }
  return c;
}

static void python_calls_link_call(lt_python_run *run, lt_python_call *c) {
  *run->calls.list_end = &c->call;
  run->calls.list_end = &c->call.next;
  run->calls.count++;
  run->calls.open_input_bytes += c->call.record.input_bytes;
}

/* Why the call is refused; NULL: it is not. */
static const char *python_calls_refusal(const lt_python_run *run, lt_str name, lt_str input) {
  if (python_calls_is_program_tool(name)) {
    return "it cannot be called from within a program (no recursion)";
  }
  if (run->calls.count >= LT_RUN_CALLS_MAX) {
    return "too many tool calls: a program may make 100000 of them";
  }
  return input.n > LT_RUN_HELD_MAX_BYTES - run->calls.open_input_bytes
             ? "too much at once: the inputs of open tool calls may have 256 MiB together; wait for some first"
             : NULL;
}

static void python_calls_start(lt_python_run *run, lt_python_call *c) {
  *run->calls.queue_end = c;
  run->calls.queue_end = &c->next_queued;
  lt_python_call *first = python_calls_take_queued(run);
  if (first != NULL && lt_loop_spawn(run->python->loop, python_calls_on_call_fiber, first, NULL) != LT_OK) {
    run->calls.running--;
    python_calls_refuse(run, first, LT_E_NOMEM, "no memory for another tool call");
  }
}

static void python_calls_warn(lt_python_run *run, lt_str tool, lt_str input) {
  LT_AUTO_BUF(text, LT_RUN_LOG_MAX_BYTES);
  lt_call_warnings_put(&run->calls.warnings, lt_catalog_find(run->catalog, tool), input, &text);
  if (text.n > 0) {
    lt_python_output_warn(run, lt_buf_view(&text));
  }
}

void lt_python_calls_begin(lt_python_run *run, uint32_t id, lt_str name, lt_str input) {
  const char *why = python_calls_refusal(run, name, input);
  if (why != NULL) {
    python_calls_send_failure(run, id, lt_str_sub(name, 0, LT_RUN_CONTEXT_BYTES), lt_str_of(why));
    return;
  }
  lt_python_call *c = python_calls_new_call(run, id, python_calls_resolve(run, name), input);
  if (c == NULL) {
    python_calls_send_failure(run, id, lt_str_sub(name, 0, LT_RUN_CONTEXT_BYTES),
                              LT_STR("no memory for another tool call"));
    return;
  }
  python_calls_link_call(run, c);
  python_calls_warn(run, c->call.record.tool, input);
  if (run->cancel.why != LT_OK) {
    python_calls_refuse(run, c, run->cancel.why, "the program has ended");
    return;
  }
  python_calls_start(run, c);
  lt_python_clock_update(run);
}
