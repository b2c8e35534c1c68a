/* Reports calls of a program that the record answers to the caller and its budgets. The door reports only the calls
 * that it makes. */
#ifndef LT_REPLAY_RECORDED_RUN_H
#define LT_REPLAY_RECORDED_RUN_H

#include "runner/run_request.h"

/* Counts the recorded calls in the caller's budgets. Call it before any call is made. */
void lt_recorded_run_count(const lt_door *door, const lt_run_request *request, const lt_record *record);
/* Reports the calls that the record answered as finished. Call it after the program's end. */
void lt_recorded_run_report(const lt_door *door, const lt_caller *caller, const lt_record *record,
                            const lt_run_result *result);

#endif
