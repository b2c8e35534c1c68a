#include "replay/recorded_run.h"

#include "replay/notes.h"
#include "replay/recorded_call.h"
#include "runner/run_tool_call.h"

/* A program repeats all recorded calls before its first new one, so the budget must have them by then. Calls of
 * functions are in the journal, too, but no budget counts them. */
void lt_recorded_run_count(const lt_door *door, const lt_run_request *request, const lt_record *record) {
  for (size_t i = 0; i < record->call_count; i++) {
    const lt_recorded_call *call = &record->calls[i];
    bool is_answered = call->finished || !call->repeatable;
    if (is_answered && lt_run_request_find_function(request, call->tool) >= request->function_count) {
      lt_recorded_call_count(door, request->caller, call->tool, call->finished ? call->status : LT_E_INTERRUPTED);
    }
  }
}

static void recorded_run_report_call(const lt_door *door, const lt_caller *caller, const lt_record *record,
                                     const lt_run_tool_call *call) {
  const lt_recorded_call *recorded = lt_notes_find_call(record, call->seq);
  lt_call_event event = {.seq = call->seq,
                         .tool = call->record.tool,
                         .input = call->record.input,
                         .status = call->status,
                         .answer = lt_buf_view(&call->out)};
  if (call->interrupted != 0) {
    event.status = LT_E_INTERRUPTED;
    event.answer = LT_STR(LT_JOURNAL_INTERRUPTED);
  } else if (recorded != NULL && recorded->finished) {
    event.status = recorded->status;
    event.answer = recorded->answer;
  }
  if (recorded == NULL) { /* a call that was denied, for example: only the program's tape has it */
    lt_recorded_call_count(door, caller, event.tool, event.status);
  }
  lt_recorded_call_report(door, caller, &event);
}

void lt_recorded_run_report(const lt_door *door, const lt_caller *caller, const lt_record *record,
                            const lt_run_result *result) {
  for (const lt_run_tool_call *call = result->owned; call != NULL; call = call->next) {
    if (call->function == NULL && call->seq != 0 && (call->is_recalled || call->interrupted != 0)) {
      recorded_run_report_call(door, caller, record, call);
    }
  }
}
