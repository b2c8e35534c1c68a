#include "runner/run_faults.h"

#include "base/limits.h"
#include "base/utf8.h"

void lt_run_faults_init(lt_run_faults *faults) {
  *faults = (lt_run_faults){.list = NULL};
  lt_arena_init(&faults->arena, LT_RUN_FAULTS_BYTES);
}

void lt_run_faults_release(lt_run_faults *faults) {
  lt_arena_release(&faults->arena);
  *faults = (lt_run_faults){.list = NULL};
}

void lt_run_faults_add(lt_run_faults *faults, const lt_run_fault *fault) {
  if (faults->list == NULL) {
    faults->list = lt_arena_zalloc(&faults->arena, LT_RUN_FAULTS_MAX, sizeof *faults->list);
  }
  if (faults->list == NULL || faults->count == LT_RUN_FAULTS_MAX) {
    return;
  }
  lt_str message = lt_arena_dup(&faults->arena, lt_utf8_cut(fault->message, LT_RUN_FAULT_BYTES));
  if (message.p != NULL) {
    faults->list[faults->count] = *fault;
    faults->list[faults->count++].message = message;
  }
}
