/* Checks a recorded prompt: a journal around another one that has its programs run again and compares how they end, a
 * runner that gives each program to the runner that it was run by, and an observer that compares the prompt itself.
 *
 * A program runs by its record without the note of its end; that is compared with the new end. Nothing is written and
 * no call is made: a call that is not on record is a divergence. The record answers for a program that ended because
 * its time or its memory was used up, and for one that cannot be run here because its interpreter is missing.
 *
 * Calls of tools that only run programs are made again, outside of programs: the journal has them begun, and compares
 * their answers. Loop thread only.
 */
#ifndef LT_REPLAY_REPLAY_CHECK_H
#define LT_REPLAY_REPLAY_CHECK_H

#include "replay/replay_observer.h"
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
/* Runs every program of the prompt, and of its tools. */
lt_runner *lt_replay_check_runner(lt_replay_check *check);
/* Compares the prompt itself. */
lt_replay_observer *lt_replay_check_observer(lt_replay_check *check);
/* A call of a tool that cannot be carried out here comes after the end of the record. LT_E_DIVERGED. */
lt_status lt_replay_check_refuse(lt_replay_check *check, lt_str provider, lt_str tool, lt_err *err);

lt_replay_check_counts lt_replay_check_count(const lt_replay_check *check);
/* A program does not run again, for that reason: the record answers for the tool that ran it. */
void lt_replay_check_skip(lt_replay_check *check, lt_str why);
/* Why programs were answered by the record, each reason once; empty: none was. */
lt_str lt_replay_check_reasons(const lt_replay_check *check);
/* The first difference from the record, with the name of its run; empty: there is none. */
lt_str lt_replay_check_fault(const lt_replay_check *check);
/* Whether something was to happen that comes after the end of the record. */
bool lt_replay_check_is_beyond(const lt_replay_check *check);

#endif
