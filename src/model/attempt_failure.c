#include "model/attempt_failure.h"

#include <stdio.h>
#include <time.h>

#include "model/dialect.h"

/* --- How long ----------------------------------------------------------------------------------------------------- */

/* Reads digits up to a point or the end. */
static bool attempt_failure_read_number(lt_str s, uint64_t *ret) {
  uint64_t n = 0;
  size_t i = 0;
  for (; i < s.n && s.p[i] >= '0' && s.p[i] <= '9' && n < UINT64_MAX / 10000; i++) {
    n = n * 10 + (uint64_t)(s.p[i] - '0');
  }
  *ret = n;
  return i > 0 && (i == s.n || s.p[i] == '.');
}

/* "Retry-After = HTTP-date / delay-seconds" (RFC 9110, section 10.2.3). */
static bool attempt_failure_read_date(lt_str s, int64_t now, uint64_t *ret_seconds) {
  char text[64];
  struct tm tm = {0};
  if (s.n >= sizeof text || s.n == 0) {
    return false;
  }
  memcpy(text, s.p, s.n);
  text[s.n] = '\0';
  if (strptime(text, "%a, %d %b %Y %H:%M:%S", &tm) == NULL) {
    return false;
  }
  int64_t at = timegm(&tm);
  *ret_seconds = at > now ? (uint64_t)(at - now) : 0;
  return true;
}

uint64_t lt_attempt_failure_wait_ms(lt_str retry_after, lt_str retry_after_ms, int64_t now) {
  uint64_t n;
  if (attempt_failure_read_number(retry_after_ms, &n)) {
    return n;
  }
  if (attempt_failure_read_number(retry_after, &n)) {
    bool more = memchr(retry_after.p, '.', retry_after.n) != NULL; /* a fraction counts as one more second */
    return (n + (more ? 1 : 0)) * 1000;
  }
  return attempt_failure_read_date(retry_after, now, &n) ? n * 1000 : UINT64_MAX;
}

/* --- An answer that says no --------------------------------------------------------------------------------------- */

typedef struct failed_answer {
  const lt_completion_request *request;
  lt_str host;
  lt_str words;
  int status;
  bool in_stream; /* an error that arrived as an event: `status` is an equivalent, not a real one */
} failed_answer;

static lt_status attempt_failure_fail_with(const failed_answer *a, lt_status status, const char *advice, lt_err *err) {
  lt_str name = a->request->model->name;
  char what[32];
  if (a->in_stream) {
    snprintf(what, sizeof what, "reported an error");
  } else {
    snprintf(what, sizeof what, "answered %d", a->status);
  }
  return lt_fail(err, status, "model \"%.*s\": %.*s %s%s%.*s%s%s", LT_STR_ARG(lt_str_sub(name, 0, 100)),
                 LT_STR_ARG(a->host), what, a->words.n > 0 ? ": " : "", LT_STR_ARG(a->words),
                 advice[0] != '\0' ? "; " : "", advice);
}

static bool attempt_failure_is_too_long(const failed_answer *a, const lt_provider_error *words) {
  return a->status == 413 || lt_provider_error_mentions(words->code, "context_length") ||
         (a->status < 429 &&
          (lt_provider_error_mentions(a->words, "context length") ||
           lt_provider_error_mentions(a->words, "context window") ||
           lt_provider_error_mentions(a->words, "context size") || lt_provider_error_mentions(a->words, "too long") ||
           lt_provider_error_mentions(a->words, "context limit")));
}

static lt_status attempt_failure_refused_key(const failed_answer *a, lt_err *err) {
  const lt_model *model = a->request->model;
  lt_str name = lt_str_sub(model->name, 0, 100), variable = model->key_name;
  if (model->api_key.n == 0) {
    return lt_fail(err, LT_E_CONFIG, "model \"%.*s\": %.*s wants an API key (%d), and none is configured: set %.*s",
                   LT_STR_ARG(name), LT_STR_ARG(a->host), a->status,
                   LT_STR_ARG(variable.n > 0 ? variable : LT_STR("a variable, and models[].apiKeyEnv to its name")));
  }
  return lt_fail(err, LT_E_CONFIG,
                 "model \"%.*s\": the API key%s%.*s was not accepted by %.*s (%d)%s%.*s; check the key, and whether it "
                 "may use this model",
                 LT_STR_ARG(name), variable.n > 0 ? " in " : "", LT_STR_ARG(variable), LT_STR_ARG(a->host), a->status,
                 a->words.n > 0 ? ": " : "", LT_STR_ARG(a->words));
}

static bool attempt_failure_is_busy(int status) {
  return status == 408 || status == 409 || status == 425 || status == 429 ||
         (status >= 500 && status != 501 && status != 505);
}

/* A provider that takes no images, or not these. Some say so with a 404 ("no endpoints found that support image input")
 * or a 500 (llama.cpp). What it never takes is remembered for the next request. */
static bool attempt_failure_is_about_media(const failed_answer *a, const lt_provider_error *words) {
  unsigned quirk = 0;
  bool may_be = a->request->media_bytes > 0 && a->status >= 400 && a->status != 401 && a->status != 403 &&
                a->status != 413 && a->status != 429;
  bool is = may_be && lt_dialect_is_about_media(words->all, &quirk);
  if (is && quirk != 0) {
    lt_dialect_learn(a->request->model, lt_dialect_quirks(a->request->model) | quirk);
  }
  return is;
}

/* Providers use 429 also for an account without credit. Then waiting does not help. */
static bool attempt_failure_is_out_of_money(const lt_provider_error *words) {
  return lt_provider_error_mentions(words->code, "insufficient_quota") ||
         lt_provider_error_mentions(words->code, "billing");
}

static const char *attempt_failure_busy_why(int status) {
  return status == 429                    ? "rate limited"
         : status == 529 || status == 503 ? "the provider is overloaded"
         : status >= 500                  ? "the provider has failed"
                                          : "the provider is busy";
}

/* A model that a provider does not have is a 404, or a 400 with a code of its own. */
static bool attempt_failure_is_unknown_model(const failed_answer *a, const lt_provider_error *words) {
  return a->status == 404 || lt_provider_error_mentions(words->code, "model_not_found") ||
         (a->status == 400 && lt_provider_error_mentions(a->words, "not a valid model"));
}

/* Azure and others answer with an error where the filter does not like the messages. */
static bool attempt_failure_is_filtered(const lt_provider_error *words) {
  return lt_provider_error_mentions(words->code, "content_filter") ||
         lt_provider_error_mentions(words->code, "content_policy");
}

static lt_status attempt_failure_fault_of_no(const failed_answer *a, const lt_provider_error *words, unsigned quirks,
                                             lt_attempt_failure *fault, lt_err *err) {
  unsigned quirk = a->status == 400 || a->status == 422 ? lt_dialect_quirk_in(words->all, a->request, quirks) : 0;
  if (quirk != 0) {
    fault->retry = LT_RETRY_OTHERWISE;
    fault->quirks = quirks | quirk;
  }
  if (attempt_failure_is_too_long(a, words)) {
    fault->retry = LT_RETRY_NEVER;
    fault->too_long = true;
    return attempt_failure_fail_with(a, LT_E_LIMIT, "the conversation is too long for this model", err);
  } else if (attempt_failure_is_about_media(a, words)) {
    fault->retry = LT_RETRY_NEVER;
    fault->no_media = true;
    return attempt_failure_fail_with(a, LT_E_INVALID, "the model does not take this image or document", err);
  } else if (a->status == 401 || a->status == 403) {
    return attempt_failure_refused_key(a, err);
  } else if (attempt_failure_is_filtered(words)) {
    return attempt_failure_fail_with(a, LT_E_INVALID, "the provider's filter refuses these messages: say it otherwise",
                                     err);
  } else if (a->status == 405 || attempt_failure_is_unknown_model(a, words)) {
    fault->is_unknown_model = a->status != 405;
    return attempt_failure_fail_with(a, LT_E_CONFIG, "check the model's name and the base URL (most end in /v1)", err);
  } else if (a->status >= 300 && a->status < 400) {
    return attempt_failure_fail_with(a, LT_E_CONFIG, "a redirect: check the base URL (https? a path such as /v1?)",
                                     err);
  } else if (a->status == 402 || attempt_failure_is_out_of_money(words)) {
    return attempt_failure_fail_with(a, LT_E_LIMIT, "check the account's credit", err);
  } else if (attempt_failure_is_busy(a->status)) {
    fault->retry = LT_RETRY_LATER;
    fault->why = attempt_failure_busy_why(a->status);
    return attempt_failure_fail_with(a, LT_E_LIMIT,
                                     a->status == 429 ? "wait a while, or use another model" : "try again later", err);
  } else if (a->status < 300) {
    return attempt_failure_fail_with(a, LT_E_PROTOCOL, "check the base URL", err);
  }
  return attempt_failure_fail_with(a, LT_E_INVALID, "", err);
}

/* An error inside a stream has no status. Its code gives one; without a known code it counts as a server error. */
static int attempt_failure_status_in_stream(const lt_provider_error *words) {
  if (words->status != 0) {
    return words->status;
  } else if (lt_provider_error_mentions(words->code, "rate_limit")) {
    return 429;
  } else if (lt_provider_error_mentions(words->code, "overloaded")) {
    return 529;
  } else if (lt_provider_error_mentions(words->code, "not_found")) {
    return 404;
  } else if (lt_provider_error_mentions(words->code, "permission")) {
    return 403;
  } else if (lt_provider_error_mentions(words->code, "request_too_large")) {
    return 413;
  } else if (lt_provider_error_mentions(words->code, "invalid_request") ||
             lt_provider_error_mentions(words->code, "invalid_prompt") ||
             lt_provider_error_mentions(words->code, "content_") ||
             lt_provider_error_mentions(words->code, "context_length") ||
             lt_provider_error_mentions(words->code, "BadRequest")) {
    return 400;
  } else if (lt_provider_error_mentions(words->code, "authentication") ||
             lt_provider_error_mentions(words->code, "invalid_api_key")) {
    return 401;
  }
  return 500;
}

lt_status lt_attempt_failure_of_answer(const lt_completion_request *request, int status, const lt_provider_error *words,
                                       unsigned quirks, lt_attempt_failure *fault, lt_err *err) {
  failed_answer a = {.request = request,
                     .host = lt_provider_error_host(request->model->base_url),
                     .words = words->text,
                     .status = status == 200 ? attempt_failure_status_in_stream(words) : status,
                     .in_stream = status == 200};
  fault->retry = LT_RETRY_NEVER;
  return attempt_failure_fault_of_no(&a, words, quirks, fault, err);
}

/* --- No answer ---------------------------------------------------------------------------------------------------- */

lt_status lt_attempt_failure_of_http(const lt_completion_request *request, lt_status status, lt_attempt_failure *fault,
                                     lt_err *err) {
  fault->retry = status == LT_E_CLOSED                          ? LT_RETRY_LATER
                 : status == LT_E_IO || status == LT_E_NOTFOUND ? LT_RETRY_CONNECT
                                                                : LT_RETRY_NEVER;
  fault->why = status == LT_E_CLOSED ? "the connection broke" : "no connection";
  if (status == LT_E_INVALID) { /* the request is made here, so only its address can be invalid */
    status = LT_E_CONFIG;
  }
  lt_str start = request->model->start;
  if (status == LT_E_IO && start.n > 0) {
    return lt_fail(err, status, "model \"%.*s\": %s; start the server: %.*s",
                   LT_STR_ARG(lt_str_sub(request->model->name, 0, 100)), err->msg, LT_STR_ARG(start));
  }
  const char *advice = status == LT_E_IO         ? "; is it running, and is the base URL right?"
                       : status == LT_E_CONFIG   ? "; check the base URL"
                       : status == LT_E_NOTFOUND ? "; check the base URL and the network"
                                                 : "";
  lt_str name = lt_str_sub(request->model->name, 0, 100);
  return lt_fail(err, status, "model \"%.*s\": %s%s", LT_STR_ARG(name), err->msg, advice);
}
