/* Classifies a failed attempt: its message, and whether to try again. Private to model/. */
#ifndef LT_MODEL_ATTEMPT_FAILURE_H
#define LT_MODEL_ATTEMPT_FAILURE_H

#include "model/model.h"
#include "model/provider_error.h"

typedef enum lt_attempt_retry {
  LT_RETRY_NEVER,
  LT_RETRY_LATER,     /* after a wait */
  LT_RETRY_CONNECT,   /* after a wait, with fewer tries: no server answers */
  LT_RETRY_OTHERWISE, /* at once, without the parameter that the server refuses */
} lt_attempt_retry;

typedef struct lt_attempt_failure {
  lt_attempt_retry retry;
  uint64_t after_ms;     /* the wait that the provider requested; UINT64_MAX: none */
  unsigned quirks;       /* LT_RETRY_OTHERWISE: the quirks of the next attempt */
  bool too_long;         /* the messages are too long for the model's context */
  bool no_media;         /* the provider refuses images or documents of the messages */
  bool is_unknown_model; /* the provider has no model of this name, or nothing at this address */
  const char *why;       /* LATER, CONNECT: a few words for who waits */
} lt_attempt_failure;

/* The wait that the provider's headers request; UINT64_MAX: none. `now` is the time of day in seconds. */
uint64_t lt_attempt_failure_wait_ms(lt_str retry_after, lt_str retry_after_ms, int64_t now);

/* Classifies an HTTP status, or an error inside a stream (200). Fills `fault->retry` and `fault->quirks`; returns the
 * final status. */
lt_status lt_attempt_failure_of_answer(const lt_completion_request *request, int status, const lt_provider_error *words,
                                       unsigned quirks, lt_attempt_failure *fault, lt_err *err);

/* Classifies a missing or broken answer: `status` and `err`, which is not NULL, are those of http.h. */
lt_status lt_attempt_failure_of_http(const lt_completion_request *request, lt_status status, lt_attempt_failure *fault,
                                     lt_err *err);

#endif
