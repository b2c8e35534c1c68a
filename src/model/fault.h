/* What a try that failed means: what is told, and whether another one could help. Private to model/. */
#ifndef LT_MODEL_FAULT_H
#define LT_MODEL_FAULT_H

#include "model/model.h"
#include "model/words.h"

typedef enum lt_again {
  LT_AGAIN_NEVER,
  LT_AGAIN_LATER,     /* after a wait */
  LT_AGAIN_CONNECT,   /* the same, but not for long: nobody is there */
  LT_AGAIN_OTHERWISE, /* at once, without what the server does not take */
} lt_again;

typedef struct lt_fault {
  lt_again again;
  uint64_t after_ms; /* what the provider asked for; UINT64_MAX: nothing */
  unsigned quirks;   /* LT_AGAIN_OTHERWISE: with these */
  bool too_long;     /* the model's context is too small for what it was sent */
} lt_fault;

/* What the provider asked for, from its headers; UINT64_MAX: nothing. `now` is the time of day in seconds. */
uint64_t lt_fault_wait_of(lt_str retry_after, lt_str retry_after_ms, int64_t now);

/* An answer with this status, or an error of this kind in the middle of a stream (200). Fills `fault->again` and
 * `fault->quirks`; returns what it is in the end. */
lt_status lt_fault_of_answer(const lt_completion_request *request, int status, const lt_model_words *words,
                             unsigned quirks, lt_fault *fault, lt_err *err);

/* No answer, or one that broke: `status` and `err`, which is not NULL, are of http.h. */
lt_status lt_fault_of_http(const lt_completion_request *request, lt_status status, lt_fault *fault, lt_err *err);

#endif
