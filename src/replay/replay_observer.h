/* Observes a prompt that is carried out again. The agent reports each step here, and need not know whether a check
 * compares it.
 *
 * Two observers exist. lt_replay_observer_none, for prompts that continue, accepts every step. A check's observer
 * (lt_replay_check_observer) compares each step with the record, and refuses steps that are not on record. Each
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
  lt_str json; /* the stored JSON text */
} lt_replay_output;

typedef struct lt_replay_observer lt_replay_observer;
struct lt_replay_observer {
  /* The record has the next reply of the model. `is_same`: all requests so far were those on record; otherwise `number`
   * is the zero-based index of the first reply to another request. */
  lt_status (*on_reply)(lt_replay_observer *self, uint64_t number, bool is_same, lt_err *err);
  /* The record has no answer to the prompt's next step, which `what` describes. */
  lt_status (*on_record_end)(lt_replay_observer *self, const char *what, lt_err *err);
  /* The prompt puts out an output that is on record: a text, a call, or a call's end. */
  lt_status (*on_text)(lt_replay_observer *self, const lt_replay_output *stored, lt_str text, lt_err *err);
  lt_status (*on_call)(lt_replay_observer *self, const lt_replay_output *stored, lt_str function, lt_str input,
                       lt_err *err);
  lt_status (*on_result)(lt_replay_observer *self, const lt_replay_output *stored, lt_status status, lt_str answer,
                         lt_err *err);
  /* The prompt was not cancelled and has ended. `missing`: an output on record that it did not put out; NULL: none. */
  lt_status (*on_end)(lt_replay_observer *self, const char *missing, lt_err *err);
  /* The prompt diverged after `replies` replies. May append to the reason. */
  void (*on_divergence)(lt_replay_observer *self, uint64_t replies, lt_buf *reason);
};

extern lt_replay_observer lt_replay_observer_none;

#endif
