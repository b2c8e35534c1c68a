/* Calls of a program that the record answers: how its caller and the caller's budgets learn of them. The door, which
 * reports all other calls, does not see these. */
#ifndef LT_REPLAY_RECORDED_RUN_H
#define LT_REPLAY_RECORDED_RUN_H

#include "runner/run_request.h"

/* Before any call is made: counts the calls on record in the caller's budgets. */
void lt_recorded_run_count(const lt_door *door, const lt_run_request *request, const lt_record *record);
/* After the program's end: reports the calls of the result that the record answered as finished. */
void lt_recorded_run_report(const lt_door *door, const lt_caller *caller, const lt_record *record,
                            const lt_run_result *result);

#endif
