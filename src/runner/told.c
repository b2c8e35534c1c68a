/* What a caller is told of calls that were answered by the record: that they have finished. The door, which tells of
 * all others, has not seen them. */
#include "runner/tape.h"
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

static void tell(const lt_run *run, const lt_run_tool_call *call, lt_status status, lt_str answer) {
  const lt_call_event event = {
      .seq = call->open.id / 2,
      .tool = call->record.tool,
      .input = call->record.input,
      .status = status,
      .answer = answer,
  };
  lt_call_tell_recalled(run->door, run->request->caller, &event);
}

void lt_run_tell_recalled(const lt_run *run) {
  const lt_caller *caller = run->request->caller;
  if (run->tape == NULL || caller == NULL || !caller->recalled) {
    return;
  }
  for (const lt_run_tool_call *call = run->result->owned; call != NULL; call = call->next) {
    if (call->function == NULL && call->preset) {
      const lt_recorded_call *recorded = find(&run->tape->record, call->open.id / 2);
      bool finished = recorded != NULL && recorded->finished;
      tell(run, call, finished ? recorded->status : call->status,
           finished ? recorded->answer : lt_buf_view(&call->out));
    } else if (call->function == NULL && call->interrupted != 0) {
      tell(run, call, LT_E_INTERRUPTED, LT_STR(LT_JOURNAL_INTERRUPTED));
    }
  }
}
