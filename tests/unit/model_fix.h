/* What the tests of the completion service share: asking the fake server. */
#ifndef LT_TESTS_MODEL_FIX_H
#define LT_TESTS_MODEL_FIX_H

#include "model/model.h"
#include "unit/http_fix.h"

#define KEY "sk-test-0123456789"

/* One request to the fake, and all that came of it. */
typedef struct asked {
  char url[256];
  lt_model model;
  lt_completion_request request;
  lt_completion done;
  lt_buf shown; /* what on_text was told */
  size_t deltas;
  lt_status status;
  lt_err err;
} asked;

static inline void on_text(void *arg, lt_str delta) {
  asked *k = arg;
  lt_buf_add(&k->shown, delta);
  k->deltas++;
}

/* `behaviour` of the fake, under a name of its own. */
static inline void prepare(asked *k, const char *behaviour, const char *name) {
  *k = (asked){.err = LT_ERR_INIT};
  snprintf(k->url, sizeof k->url, "http://127.0.0.1:%d/%s/%s/v1/", server.port, behaviour, name);
  k->model = (lt_model){
      .ref = LT_STR("normal"), .name = LT_STR("fake-model"), .base_url = lt_str_of(k->url), .api_key = LT_STR(KEY)};
  k->request = (lt_completion_request){.model = &k->model,
                                       .messages = LT_STR("[{\"role\":\"user\",\"content\":\"hi there, model\"}]"),
                                       .on_text = on_text,
                                       .arg = k};
  lt_completion_init(&k->done);
  lt_buf_init(&k->shown, LT_GIB);
}

static inline void release(asked *k) {
  lt_completion_release(&k->done);
  lt_buf_release(&k->shown);
}

static inline void ask(asked *k) {
  k->status = lt_model_complete(http, &k->request, &k->done, &k->err);
  expect_not_in(k->err.msg, KEY);
}

static inline const char *text_of(const lt_buf *buf) {
  return buf->p != NULL ? buf->p : "";
}

static inline void expect_ok(const asked *k, const char *text, lt_finish finish) {
  if (k->status != LT_OK) {
    fail_msg("%s: %s: %s", k->url, lt_status_name(k->status), k->err.msg);
  }
  assert_string_equal(text_of(&k->done.text), text);
  assert_string_equal(text_of(&k->shown), text);
  assert_int_equal(k->done.finish, finish);
}

static inline void expect_failed(const asked *k, lt_status status, const char *part) {
  if (k->status != status) {
    fail_msg("%s: %s instead of %s: %s", k->url, lt_status_name(k->status), lt_status_name(status), k->err.msg);
  }
  assert_int_equal(k->err.status, status);
  expect_in(k->err.msg, part);
}

/* Asks once and expects this text. */
static inline void says(const char *behaviour, const char *text, lt_finish finish) {
  asked k;
  prepare(&k, behaviour, "says");
  ask(&k);
  expect_ok(&k, text, finish);
  release(&k);
}

static inline void fails(const char *behaviour, lt_status status, const char *part) {
  asked k;
  prepare(&k, behaviour, "fails");
  ask(&k);
  expect_failed(&k, status, part);
  release(&k);
}

/* What the server was asked under this name, as JSON text. Owns: the caller. */
static inline char *asked_under(const char *name) {
  char url[256];
  snprintf(url, sizeof url, "http://127.0.0.1:%d/asked/%s", server.port, name);
  lt_http_request request = {.url = lt_str_of(url)};
  lt_http_stream *stream = NULL;
  lt_buf out;
  lt_buf_init(&out, 64 * LT_MIB);
  assert_int_equal(lt_http_open(http, &request, &stream, NULL), LT_OK);
  for (lt_str piece = LT_STR("x"); piece.n > 0;) {
    assert_int_equal(lt_http_read(stream, &piece, NULL), LT_OK);
    lt_buf_add(&out, piece);
  }
  lt_http_close(stream);
  return lt_buf_take(&out, NULL);
}

static inline size_t count_in(const char *text, const char *part) {
  size_t n = 0;
  for (const char *at = strstr(text, part); at != NULL; at = strstr(at + 1, part)) {
    n++;
  }
  return n;
}

#endif
