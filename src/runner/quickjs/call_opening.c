#include "runner/quickjs/call_opening.h"

#include "json/json.h"
#include "runner/quickjs/run.h"

static uint32_t opening_say_no(lt_run *run, lt_outcome *ret, const char *what, unsigned long count, const char *unit) {
  lt_buf_clear(&run->reply);
  lt_buf_printf(&run->reply, "%s %lu %s", what, count, unit);
  ret->text = lt_buf_view(&run->reply);
  return 0;
}

/* The program diverged: it is stopped at its next poll. */
static uint32_t opening_say_diverged(const lt_run *run, lt_outcome *ret) {
  ret->text = run->tape.fault;
  return 0;
}

/* What the program calls. */
typedef struct opening_call {
  lt_str tool;                     /* or function */
  const lt_run_function *function; /* NULL: a tool */
  lt_str input;
  bool is_object;
} opening_call;

/* Makes a new call with copies of both texts, and reserves memory for the input; NULL: `ret` says why. */
static lt_program_call *opening_new_call(lt_run *run, const opening_call *what, lt_outcome *ret) {
  lt_str input = what->input;
  if (!lt_program_call_hold(run, input.n)) {
    opening_say_no(run, ret, "too much at once: the inputs and answers of open tool calls may have",
                   LT_RUN_HELD_MAX_BYTES / LT_MIB, "MiB together; wait for some before starting more");
    return NULL;
  }
  lt_run_tool_call *made = lt_run_tool_call_new(sizeof(lt_program_call), what->tool, input);
  if (made == NULL) {
    lt_program_call_let_go(run, input.n);
    ret->text = LT_STR("no memory for another tool call");
    return NULL;
  }
  made->function = what->function;
  made->is_object = what->is_object;
  return lt_program_call_made(made);
}

/* Fills the call from the record. False: no memory. */
static bool opening_recall(lt_program_call *call, const lt_tape_answer *answer) {
  lt_run_tool_call *made = &call->made;
  call->hash = answer->hash;
  made->interrupted = answer->interrupted;
  if (!answer->is_recalled) {
    return true;
  }
  lt_buf_add(&made->out, answer->text);
  lt_str text = lt_buf_view(&made->out);
  made->status = answer->status;
  made->is_recalled = made->kept = made->record.finished = true;
  made->record.result_bytes = text.n;
  *(made->status == LT_OK ? &made->record.result : &made->record.error) = text;
  return made->out.status == LT_OK;
}

static void opening_link(lt_run *run, lt_program_call *call) {
  *run->calls.last = &call->made;
  run->calls.last = &call->made.next;
  run->calls.count++;
}

/* A call that the program opened before it was dropped. */
static uint32_t opening_reopen(lt_run *run, lt_program_call *call, const opening_call *what, lt_outcome *ret) {
  run->calls.next_known = call->made.next;
  run->calls.count++;
  if (!lt_tape_reopen_call(&run->tape, lt_run_opens_next(run), &call->made, call->hash, what->tool, what->input)) {
    return opening_say_diverged(run, ret);
  }
  lt_run_opens_add_known(run, &call->open, false, LT_TAPE_NOWHERE);
  return call->open.id;
}

static uint32_t opening_open(lt_run *run, const opening_call *what, lt_outcome *ret) {
  lt_tape_answer answer;
  if (run->calls.count >= LT_RUN_CALLS_MAX) {
    return opening_say_no(run, ret, "too many tool calls: a program may make", LT_RUN_CALLS_MAX, "of them");
  }
  if (run->calls.next_known != NULL && run->tape.fault.n == 0) {
    return opening_reopen(run, lt_program_call_made(run->calls.next_known), what, ret);
  }
  if (!lt_tape_open_call(&run->tape, lt_run_opens_next(run), what->tool, what->input, &answer)) {
    return opening_say_diverged(run, ret);
  }
  lt_program_call *call = opening_new_call(run, what, ret);
  if (call == NULL) {
    lt_tape_diverge(&run->tape, "no memory for call %u", lt_run_opens_next(run));
    return 0;
  }
  bool is_recalled = opening_recall(call, &answer);
  lt_tape_shown(&run->tape); /* a person may be asked about the call: its input is the same the next time */
  opening_link(run, call);
  if (!is_recalled) {
    lt_tape_diverge(&run->tape, "no memory for the answer of call %u that is on record", lt_run_opens_next(run));
    return opening_say_diverged(run, ret);
  }
  call->made.seq = lt_run_opens_next(run);
  if (call->made.is_recalled && answer.place != LT_TAPE_NOWHERE) {
    lt_program_call_let_go(run, call->made.record.input_bytes);
    lt_run_opens_add_known(run, &call->open, true, answer.place);
  } else {
    lt_run_opens_add(run, &call->open, lt_call_queue_start);
  }
  return call->open.id;
}

static void opening_warn(lt_run *run, lt_str tool, lt_str input) {
  LT_AUTO_BUF(text, LT_RUN_LOG_MAX_BYTES);
  lt_call_warnings_put(&run->warnings, lt_catalog_find(run->catalog, tool), input, &text);
  if (text.n > 0) {
    lt_said_texts_log(run, LT_LOG_WARN, lt_buf_view(&text));
  }
}

uint32_t lt_call_opening_tool(lt_run *run, lt_str tool, lt_str input, bool is_object, lt_outcome *ret) {
  opening_warn(run, tool, input);
  return opening_open(run, &(opening_call){.tool = tool, .input = input, .is_object = is_object}, ret);
}

/* The prelude only asks for bound functions and passes an array. A guest out of control may do otherwise, and so may a
 * program that defines Array.prototype.toJSON. */
uint32_t lt_call_opening_function(lt_run *run, uint32_t index, lt_str args, lt_outcome *ret) {
  if (index >= run->request->function_count || !lt_str_starts(args, LT_STR("[")) ||
      lt_json_check(args, NULL) != LT_OK) {
    ret->text = LT_STR("a function of the host takes arguments that JSON can hold");
    return 0;
  }
  const lt_run_function *function = &run->request->functions[index];
  return opening_open(run, &(opening_call){.tool = function->name, .function = function, .input = args}, ret);
}
