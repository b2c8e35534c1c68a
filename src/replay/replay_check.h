/* Checks a recorded prompt with three parts. A journal wraps the recorded one, so that programs run again and their
 * ends are compared. A runner hands each program to the runner on record. An observer compares the prompt itself.
 *
 * A program runs by its record without the note of its end, and its new end is compared with that note. Nothing is
 * written and no call is made: a call that is not on record is a divergence. A program does not run again, and gets its
 * recorded result, when its time or memory was used up or its interpreter is missing here.
 *
 * A call outside of programs is made again when its tool only runs programs; the journal compares the answer. Loop
 * thread only.
 */
#ifndef LT_REPLAY_REPLAY_CHECK_H
#define LT_REPLAY_REPLAY_CHECK_H

#include "replay/replay_observer.h"
#include "runner/runner.h"

typedef struct lt_replay_check lt_replay_check;

typedef struct lt_replay_check_counts {
  unsigned programs; /* programs that ran again */
  unsigned skipped;  /* programs that the record answered: lt_replay_check_reasons */
  size_t calls;      /* recorded calls of the loaded runs */
} lt_replay_check_counts;

typedef struct lt_replay_check_options {
  lt_journal *records;
  /* Whether a tool exists and only makes calls (lt_tool.only_calls); NULL: no tool does. */
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
/* The prompt calls a tool after the end of the record. Returns LT_E_DIVERGED. */
lt_status lt_replay_check_refuse(lt_replay_check *check, lt_str provider, lt_str tool, lt_err *err);

lt_replay_check_counts lt_replay_check_count(const lt_replay_check *check);
/* Notes why a program does not run again: the record answers the call of the tool that ran it. */
void lt_replay_check_skip(lt_replay_check *check, lt_str why);
/* Why the record answered programs, each reason once; empty: all programs ran. */
lt_str lt_replay_check_reasons(const lt_replay_check *check);
/* The first difference from the record, with the name of its run; empty: none. */
lt_str lt_replay_check_fault(const lt_replay_check *check);
/* Whether the prompt tried to continue after the end of the record. */
bool lt_replay_check_is_beyond(const lt_replay_check *check);

#endif
