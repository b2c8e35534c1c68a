/* Checking recorded programs: a journal around another that has them run again and compares what comes of it, and a
 * runner that has each run by whom it was run.
 *
 * Programs run by their record, without the note of their end; that is compared with the new one. Nothing is written,
 * no call is made: one that is not on record is a divergence. What ended because its time or its memory was used up is
 * answered by the record, and so is what cannot be run here: its interpreter is missing.
 *
 * Calls of tools that only run programs are made again, outside of programs: the journal has them begun, and compares
 * their answers. Loop thread only.
 */
#ifndef LT_REPLAY_REPLAY_CHECK_H
#define LT_REPLAY_REPLAY_CHECK_H

#include "runner/runner.h"

typedef struct lt_replay_check lt_replay_check;

typedef struct lt_replay_check_counts {
  unsigned programs; /* that ran again */
  unsigned skipped;  /* that were answered by the record: lt_replay_check_reasons */
  size_t calls;      /* on record of runs that were asked for */
} lt_replay_check_counts;

typedef struct lt_replay_check_options {
  lt_journal *records;
  /* Whether a tool that is there does nothing but make calls (lt_tool.only_calls); NULL: none does. */
  bool (*only_calls)(void *arg, lt_str tool);
  /* The runner of that id: "quickjs", "python", "deno". NULL: `err` says why there is none. */
  lt_runner *(*runner)(void *arg, const char *id, lt_lang lang, lt_err *err);
  void *arg;
} lt_replay_check_options;

/* Borrows the journal. NULL: no memory. Owns: the caller, lt_replay_check_free. */
lt_replay_check *lt_replay_check_new(const lt_replay_check_options *options);
void lt_replay_check_free(lt_replay_check *check); /* NULL is allowed */
lt_journal *lt_replay_check_journal(lt_replay_check *check);
/* Runs every program of the prompt's, and of its tools. */
lt_runner *lt_replay_check_runner(lt_replay_check *check);

lt_replay_check_counts lt_replay_check_count(const lt_replay_check *check);
/* A program was not even asked for: the record answered for what would have run it, because of that. */
void lt_replay_check_skip(lt_replay_check *check, lt_str why);
/* Why programs were answered by the record, each reason once; empty: none was. */
lt_str lt_replay_check_reasons(const lt_replay_check *check);
/* The first thing that was another than on record, with the name of its run; empty: nothing was. */
lt_str lt_replay_check_fault(const lt_replay_check *check);
/* Whether something was asked for that comes after the end of the record. */
bool lt_replay_check_is_beyond(const lt_replay_check *check);

#endif
