/* Checking one value: applying nodes to places in it. A run has a budget of steps and fails as a whole.
 */
#ifndef LT_JSON_SCHEMA_RUN_H
#define LT_JSON_SCHEMA_RUN_H

#include "json/schema_node.h"

typedef struct lt_schema_sink lt_schema_sink; /* schema_faults.h */

/* The evaluated members or items of one value: one bit each, in the order of the text. */
typedef struct lt_schema_marks {
  uint64_t *bits;
  uint32_t count;
} lt_schema_marks;

/* The dynamic scope: the resources passed on the way, the innermost first. */
typedef struct lt_schema_scope {
  const struct lt_schema_scope *up;
  uint32_t resource;
} lt_schema_scope;

struct lt_schema_place {
  lt_json value;
  lt_json key;               /* in an object */
  const lt_schema_place *up; /* the container's; NULL at the root */
  const lt_schema_scope *scope;
  lt_schema_marks *marks; /* NULL: not needed */
  uint32_t index;         /* in an array */
  uint32_t depth;         /* containers around */
  bool is_name;           /* the value is the key */
};

struct lt_schema_run {
  const lt_schema *schema;
  lt_str root_name;
  lt_arena arena;
  lt_regex_work work;
  lt_schema_sink *sink; /* NULL: no error text is wanted, the first fault ends the check */
  uint64_t steps;       /* left */
  uint32_t depth;
  lt_status status; /* why the run has failed: LT_E_LIMIT, LT_E_NOMEM */
};

/* Whether the value at `at` fits; false also when the run has failed. Adds to `at`'s marks. */
bool lt_schema_apply(lt_schema_run *run, const lt_schema_node *node, const lt_schema_place *at);
/* The same, without fault text and without changing the marks. */
bool lt_schema_fits(lt_schema_run *run, const lt_schema_node *node, const lt_schema_place *at);
/* The same, but adds to `at`'s marks when the value fits. */
bool lt_schema_try(lt_schema_run *run, const lt_schema_node *node, const lt_schema_place *at);
/* Subtracts steps from the budget. False: the budget is used up, or the run has failed before. */
static inline bool lt_schema_spend(lt_schema_run *run, uint64_t steps) {
  if (run->steps < steps && run->status == LT_OK) {
    run->status = LT_E_LIMIT;
  }
  if (run->status != LT_OK) {
    return false;
  }
  run->steps -= steps;
  return true;
}
/* Fails the run after a failed allocation: with LT_E_LIMIT if the run has used much memory, else with LT_E_NOMEM. */
void lt_schema_fail_run(lt_schema_run *run);
/* A string's characters. False: the run has failed. */
bool lt_schema_chars(lt_schema_run *run, lt_json string, lt_str *ret);
/* Whether `regex` matches; false also when the run has failed. */
bool lt_schema_matches(lt_schema_run *run, const lt_regex *regex, lt_str text);
/* The place of a member or item. */
lt_schema_place lt_schema_inside(const lt_schema_place *at, lt_json key, lt_json value, uint32_t index);

static inline void lt_schema_mark(const lt_schema_place *at, uint32_t i) {
  if (at->marks != NULL) {
    at->marks->bits[i / 64] |= UINT64_C(1) << (i % 64);
  }
}
static inline bool lt_schema_is_marked(const lt_schema_place *at, uint32_t i) {
  return at->marks->bits[i / 64] >> (i % 64) & 1;
}

#endif
