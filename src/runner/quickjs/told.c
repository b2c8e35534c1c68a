/* What a caller is told of calls that were answered by the record: that they have finished; and what they count. The
 * door, which tells of all others, has not seen them. */
#include "runner/quickjs/tape.h"
#include "tool/again.h"

static const lt_recorded_call *find(const lt_record *record, uint64_t seq) {
  size_t low = 0, high = record->call_count;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (record->calls[middle].seq < seq) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low < record->call_count && record->calls[low].seq == seq ? &record->calls[low] : NULL;
}

static bool is_answered(const lt_recorded_call *call) {
  return call->finished || !call->repeatable;
}

/* Whatever comes after them is made when the budget knows of them: a program makes all calls that are on record before
 * its first new one. Functions are in the journal, too, but in no budget. */
void lt_recorded_run_count(const lt_door *door, const lt_run_request *request, const lt_record *record) {
  for (size_t i = 0; i < record->call_count; i++) {
    const lt_recorded_call *call = &record->calls[i];
    if (is_answered(call) && lt_run_request_find_function(request, call->tool) >= request->function_count) {
      lt_recorded_call_count(door, request->caller, call->tool, call->finished ? call->status : LT_E_INTERRUPTED);
    }
  }
}

static void tell(const lt_door *door, const lt_caller *caller, const lt_record *record, const lt_run_tool_call *call) {
  const lt_recorded_call *recorded = find(record, call->open.id / 2);
  bool finished = recorded != NULL && recorded->finished;
  const lt_call_event event = {
      .seq = call->open.id / 2,
      .tool = call->record.tool,
      .input = call->record.input,
      .status = call->interrupted != 0 ? LT_E_INTERRUPTED
                : finished             ? recorded->status
                                       : call->status,
      .answer = call->interrupted != 0 ? LT_STR(LT_JOURNAL_INTERRUPTED)
                : finished             ? recorded->answer
                                       : lt_buf_view(&call->out),
  };
  if (recorded == NULL) { /* denied, say: only the program's tape has it */
    lt_recorded_call_count(door, caller, event.tool, event.status);
  }
  lt_recorded_call_report(door, caller, &event);
}

void lt_recorded_run_report(const lt_door *door, const lt_caller *caller, const lt_record *record,
                            const lt_run_result *result) {
  for (const lt_run_tool_call *call = result->owned; call != NULL; call = call->next) {
    if (call->function == NULL && call->open.id != 0 && (call->preset || call->interrupted != 0)) {
      tell(door, caller, record, call);
    }
  }
}

void lt_run_tell_recalled(const lt_run *run) {
  const lt_caller *caller = run->request->caller;
  if (run->tape != NULL && caller != NULL && caller->recalled) {
    lt_recorded_run_report(run->door, caller, &run->tape->record, run->result);
  }
}
