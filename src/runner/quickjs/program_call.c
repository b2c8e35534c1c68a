#include "runner/quickjs/program_call.h"

#include "base/mem.h"
#include "runner/quickjs/run.h"
#include "tool/whole_answer.h"

void lt_program_calls_init(lt_program_calls *calls) {
  *calls = (lt_program_calls){.last = &calls->first};
}

lt_program_call *lt_program_call_of(lt_run_open *open) {
  return (lt_program_call *)(void *)((char *)open - offsetof(lt_program_call, open));
}

lt_program_call *lt_program_call_made(lt_run_tool_call *made) {
  return (lt_program_call *)(void *)made;
}

/* --- Memory ------------------------------------------------------------------------------------------------------- */
/* In the program many calls may share one string; here every call has a copy. */
bool lt_program_call_hold(lt_run *run, size_t bytes) {
  size_t held = atomic_load_explicit(&run->calls.held_bytes, memory_order_relaxed);
  do {
    if (bytes > LT_RUN_HELD_MAX_BYTES - held) {
      return false;
    }
  } while (!atomic_compare_exchange_weak(&run->calls.held_bytes, &held, held + bytes));
  return true;
}

void lt_program_call_let_go(lt_run *run, size_t bytes) {
  atomic_fetch_sub(&run->calls.held_bytes, bytes);
}

static bool program_call_keep(lt_run *run, size_t bytes) {
  bool fits = bytes <= LT_RUN_RECORD_BYTES && bytes <= LT_RUN_RECORDS_MAX_BYTES - run->calls.kept_bytes;
  run->calls.kept_bytes += fits ? bytes : 0;
  return fits;
}

/* --- Taking, on the worker ---------------------------------------------------------------------------------------- */
void lt_program_call_forget_taken(lt_run *run) {
  lt_program_call *call = run->calls.last_taken;
  if (call != NULL && !call->made.kept && !run->tape.options.drops) {
    lt_program_call_let_go(run, call->made.out.n);
    lt_buf_release(&call->made.out);
  }
  run->calls.last_taken = NULL;
}

/* To a cell the whole answer of a tool that failed is a value, too: `isError` is in it. */
static bool program_call_is_whole_failure(const lt_run *run, const lt_run_tool_call *made) {
  lt_json_doc doc;
  lt_str text = lt_buf_view(&made->out);
  if (!run->request->is_cell || made->status != LT_E_TOOL || !lt_str_starts(text, LT_STR("{"))) {
    return false;
  }
  LT_AUTO_ARENA(arena, LT_CALL_INDEX_MAX_BYTES);
  return lt_json_parse(&arena, text, &doc, NULL) == LT_OK && lt_whole_answer_is(lt_json_root(&doc));
}

void lt_program_call_give(lt_run *run, lt_program_call *call, lt_outcome *ret) {
  run->calls.last_taken = call;
  ret->ok = call->made.status == LT_OK || program_call_is_whole_failure(run, &call->made);
  ret->text = lt_buf_view(&call->made.out);
}

void lt_program_calls_rewind(lt_run *run) {
  for (lt_run_tool_call *made = run->calls.first; made != NULL; made = made->next) {
    lt_program_call_made(made)->open.is_opened = false;
  }
  run->calls.next_known = run->calls.first;
  run->calls.last_taken = NULL;
  run->calls.count = 0;
}

/* --- Ending, on the loop ------------------------------------------------------------------------------------------ */
/* The report does not contain calls of functions. */
static void program_call_keep_input(lt_run *run, lt_run_tool_call *made) {
  lt_program_call_let_go(run, made->record.input_bytes);
  if (made->function != NULL || !program_call_keep(run, made->record.input_bytes)) {
    lt_run_tool_call_free_input(made);
  }
}

/* Fails a call whose answer has no room, with a short message. */
static void program_call_keep_outcome(lt_run *run, lt_run_tool_call *made) {
  lt_run_call *record = &made->record;
  record->result_bytes = made->out.n;
  made->kept = made->function == NULL && program_call_keep(run, made->out.n);
  if (!made->kept && !lt_program_call_hold(run, made->out.n)) {
    made->status = LT_E_LIMIT;
    lt_buf_release(&made->out);
    lt_buf_printf(&made->out, "the inputs and answers of open tool calls have more than %lu MiB together",
                  LT_RUN_HELD_MAX_BYTES / LT_MIB);
    made->kept = true;
  }
  lt_str text = lt_buf_view(&made->out);
  record->is_input_json = made->status == LT_OK && made->function == NULL; /* the door has read it */
  if (made->status == LT_OK) {
    record->result = made->kept ? text : LT_STR_NULL;
  } else {
    record->error = made->kept ? text : LT_STR("the tool failed with a message that was too long to keep");
  }
}

/* A call that the program's end cancelled has no outcome. */
static bool program_call_was_cut_short(const lt_run *run, lt_status status) {
  return run->cancel.why != LT_OK && status != LT_OK && status != LT_E_TOOL;
}

void lt_program_call_end(lt_run *run, lt_program_call *call) {
  lt_run_tool_call *made = &call->made;
  if (made->is_recalled) {
    lt_program_call_let_go(run, made->record.input_bytes);
  } else {
    made->record.finished = !program_call_was_cut_short(run, made->status);
    program_call_keep_input(run, made);
    program_call_keep_outcome(run, made);
  }
  lt_run_opens_ready(run, &call->open, made->status, lt_buf_view(&made->out));
}
