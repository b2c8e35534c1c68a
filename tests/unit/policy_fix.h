/* What the tests of policies share: a call with its input and annotations, rules compiled into a policy, and texts that
 * end where their memory ends. */
#ifndef LT_TESTS_POLICY_FIX_H
#define LT_TESTS_POLICY_FIX_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>
#include <string.h>

#include "base/arena.h"
#include "base/limits.h"
#include "base/mem.h"
#include "tool/policy/policy.h"

/* The text ends where its memory ends, so that a read past it is seen. */
static inline lt_str tight(lt_str s) {
  char *copy = malloc(s.n > 0 ? s.n : 1);
  assert_non_null(copy);
  if (s.n > 0) {
    memcpy(copy, s.p, s.n);
  }
  return (lt_str){copy, s.n};
}

static inline void drop(lt_str s) {
  free((void *)(uintptr_t)s.p);
}

typedef struct world {
  lt_arena arena;
  lt_json_doc input;
  lt_json_doc annotations;
  lt_policy_call call;
} world;

static inline void parse(lt_arena *arena, lt_str text, lt_json_doc *doc) {
  lt_err err = LT_ERR_INIT;
  if (lt_json_parse(arena, text, doc, &err) != LT_OK) {
    fail_msg("%.*s: %s", LT_STR_ARG(text), err.msg);
  }
}

/* `annotations` may be NULL. */
static inline void world_init(world *w, const char *tool, lt_str input, const char *annotations) {
  memset(w, 0, sizeof(*w));
  lt_arena_init(&w->arena, 256 * LT_MIB);
  parse(&w->arena, input, &w->input);
  w->call = (lt_policy_call){.tool = lt_str_of(tool), .input = lt_json_root(&w->input)};
  if (annotations != NULL) {
    parse(&w->arena, lt_str_of(annotations), &w->annotations);
    w->call.annotations = lt_json_root(&w->annotations);
  }
}

static inline void world_release(world *w) {
  lt_arena_release(&w->arena);
}

static inline lt_policy *policy_of(const lt_policy_rule *rules, size_t count) {
  lt_policy *policy = NULL;
  lt_err err = LT_ERR_INIT;
  if (lt_policy_new(rules, count, NULL, 0, &policy, &err) != LT_OK) {
    fail_msg("%s", err.msg);
  }
  return policy;
}

static inline char *repeat(const char *first, const char *each, size_t count, const char *last) {
  lt_buf buf;
  lt_buf_init(&buf, 128 * LT_MIB);
  lt_buf_addc(&buf, first);
  for (size_t i = 0; i < count; i++) {
    lt_buf_addc(&buf, each);
  }
  lt_buf_addc(&buf, last);
  char *text = lt_buf_take(&buf, NULL);
  assert_non_null(text);
  return text;
}

#endif
