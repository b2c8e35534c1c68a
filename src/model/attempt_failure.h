/* What a failed attempt means: its message, and whether another attempt could help. Private to model/. */
#ifndef LT_MODEL_ATTEMPT_FAILURE_H
#define LT_MODEL_ATTEMPT_FAILURE_H

#include "model/model.h"
#include "model/provider_error.h"

typedef enum lt_attempt_retry {
  LT_RETRY_NEVER,
  LT_RETRY_LATER,     /* after a wait */
  LT_RETRY_CONNECT,   /* the same, but not for long: no server answers */
  LT_RETRY_OTHERWISE, /* at once, without what the server does not take */
} lt_attempt_retry;

typedef struct lt_attempt_failure {
  lt_attempt_retry again;
  uint64_t after_ms; /* what the provider asked for; UINT64_MAX: nothing */
  unsigned quirks;   /* LT_RETRY_OTHERWISE: with these */
  bool too_long;     /* the model's context is too small for what it was sent */
} lt_attempt_failure;

/* What the provider asked for, from its headers; UINT64_MAX: nothing. `now` is the time of day in seconds. */
uint64_t lt_attempt_failure_wait_ms(lt_str retry_after, lt_str retry_after_ms, int64_t now);

/* An answer with this status, or an error of this kind in the middle of a stream (200). Fills `fault->again` and
 * `fault->quirks`; returns what it is in the end. */
lt_status lt_attempt_failure_of_answer(const lt_completion_request *request, int status, const lt_provider_error *words,
                                       unsigned quirks, lt_attempt_failure *fault, lt_err *err);

/* No answer, or one that broke: `status` and `err`, which is not NULL, are of http.h. */
lt_status lt_attempt_failure_of_http(const lt_completion_request *request, lt_status status, lt_attempt_failure *fault,
                                     lt_err *err);

#endif
