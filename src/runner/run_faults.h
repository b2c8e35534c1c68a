/* What is wrong with a program that is checked and not run (lt_run_request.faults). */
#ifndef LT_RUNNER_RUN_FAULTS_H
#define LT_RUNNER_RUN_FAULTS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/str.h"

/* Lines and columns as in lt_run_place; the end is behind the last character. */
typedef struct lt_run_fault {
  uint32_t line, column;
  uint32_t end_line, end_column; /* 0: unknown */
  bool is_warning;               /* the program can be run, and may fail there */
  lt_str message;
} lt_run_fault;

typedef struct lt_run_faults {
  lt_arena arena;
  lt_run_fault *list;
  size_t count;
} lt_run_faults;

void lt_run_faults_init(lt_run_faults *faults);
void lt_run_faults_release(lt_run_faults *faults);
/* Copies the fault. Drops it beyond LT_RUN_FAULTS_MAX, and when there is no memory. */
void lt_run_faults_add(lt_run_faults *faults, const lt_run_fault *fault);

#endif
