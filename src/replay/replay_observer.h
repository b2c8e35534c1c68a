/* Watches a prompt that is carried out again by its record: whoever carries it out reports each step here and need not
 * know whether anybody compares.
 *
 * There are two: lt_replay_observer_none, for prompts that go on, lets everything pass. A check's
 * (lt_replay_check_observer) compares each step with the record, and lets nothing happen that is not on it. Each
 * function returns LT_OK, or LT_E_DIVERGED with the reason: then the prompt ends. Loop thread only. */
#ifndef LT_REPLAY_REPLAY_OBSERVER_H
#define LT_REPLAY_REPLAY_OBSERVER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"

/* An output that is on record. */
typedef struct lt_replay_output {
  lt_str id;
  lt_str json; /* as it is stored */
} lt_replay_output;

typedef struct lt_replay_observer lt_replay_observer;
struct lt_replay_observer {
  /* The record has the next reply of the model. `is_same`: so far each question was the one on record; otherwise
   * `number` is the zero-based index of the first reply whose question was not. */
  lt_status (*on_reply)(lt_replay_observer *self, uint64_t number, bool is_same, lt_err *err);
  /* The record has no answer to what the prompt does next, in words: it is about to be done. */
  lt_status (*on_record_end)(lt_replay_observer *self, const char *what, lt_err *err);
  /* The prompt puts out what is on record: a text, a call, or a call's end. */
  lt_status (*on_text)(lt_replay_observer *self, const lt_replay_output *stored, lt_str text, lt_err *err);
  lt_status (*on_call)(lt_replay_observer *self, const lt_replay_output *stored, lt_str function, lt_str input,
                       lt_err *err);
  lt_status (*on_result)(lt_replay_observer *self, const lt_replay_output *stored, lt_status status, lt_str answer,
                         lt_err *err);
  /* The prompt has ended by itself. `missing`: an output on record that it did not put out; NULL: there is none. */
  lt_status (*on_end)(lt_replay_observer *self, const char *missing, lt_err *err);
  /* The prompt has diverged after that many replies: appends to the reason. */
  void (*on_divergence)(lt_replay_observer *self, uint64_t replies, lt_buf *reason);
};

extern lt_replay_observer lt_replay_observer_none;

#endif
