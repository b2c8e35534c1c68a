/* What the tests of conversations and prompts share: ids made from numbers, short forms of the store's functions, and
 * checks of what these answer. */
#ifndef LT_TEST_PROMPT_FIX_H
#define LT_TEST_PROMPT_FIX_H

#include "unit/db_fix.h"

#include "base/limits.h"
#include "store/store_prompts.h"

/* The id of a kind ('a' for conversations, 'b' for prompts) and a number. */
static inline lt_str id_of(char kind, unsigned n) {
  static char ids[64][LT_STORE_ID_BYTES + 1];
  static size_t next;
  char *id = ids[next++ % 64];
  snprintf(id, sizeof ids[0], "%c%031u", kind, n);
  return lt_str_of(id);
}

static inline lt_str conversation(unsigned n) {
  return id_of('a', n);
}

static inline lt_str prompt(unsigned n) {
  return id_of('b', n);
}

static inline lt_prompt_row row_of(unsigned number, unsigned in_conversation) {
  return (lt_prompt_row){.id = prompt(number),
                         .user = LT_STR("ann"),
                         .conversation = conversation(in_conversation),
                         .model = LT_STR("normal"),
                         .mode = LT_STR("code"),
                         .input = LT_STR("hello"),
                         .visible = true};
}

static inline lt_status create(db_fix *fix, unsigned number, unsigned in_conversation) {
  lt_prompt_row row = row_of(number, in_conversation);
  fix->err = LT_ERR_INIT;
  return lt_store_prompt_create(fix->db, &row, &fix->err);
}

static inline lt_status set(db_fix *fix, unsigned number, lt_prompt_state state) {
  fix->err = LT_ERR_INIT;
  return lt_store_prompt_set_state(fix->db, prompt(number), state, LT_STR_NULL, LT_STR_NULL, &fix->err);
}

static inline void create_ended(db_fix *fix, unsigned number, unsigned in_conversation) {
  DB_OK(create(fix, number, in_conversation));
  DB_OK(set(fix, number, LT_PROMPT_COMPLETED));
}

/* What was appended to the buffer, which is empty afterwards; checked to be JSON. */
static inline const char *text_of(lt_buf *out) {
  static char text[1 << 16];
  lt_err err = LT_ERR_INIT;
  if (lt_json_check(lt_buf_view(out), &err) != LT_OK) {
    fail_msg("%s: %.*s", lt_err_msg(&err), LT_STR_ARG(lt_buf_view(out)));
  }
  snprintf(text, sizeof text, "%s", out->p);
  lt_buf_release(out);
  return text;
}

static inline const char *get(db_fix *fix, unsigned number) {
  lt_buf out;
  lt_buf_init(&out, LT_MIB);
  DB_OK(lt_store_prompt_get(fix->db, LT_STR("ann"), prompt(number), &out, &fix->err));
  return text_of(&out);
}

/* The numbers of the ids ("...id":"b000...42") in a text, as " 1 2 3". */
static inline const char *numbers_in(const char *text, const char *before) {
  static char numbers[4096];
  size_t n = 0;
  numbers[0] = '\0';
  for (const char *at = strstr(text, before); at != NULL; at = strstr(at, before)) {
    at += strlen(before);
    n += (size_t)snprintf(numbers + n, sizeof numbers - n, " %lu", strtoul(at, NULL, 10));
  }
  return numbers;
}

static inline const char *history(db_fix *fix, lt_str user, unsigned of, size_t max) {
  lt_buf out;
  lt_buf_init(&out, LT_MIB);
  DB_OK(lt_store_history(fix->db, user, conversation(of), max, &out, &fix->err));
  return text_of(&out);
}

static inline const char *history_numbers(db_fix *fix, const char *user, unsigned of, size_t max) {
  return numbers_in(history(fix, lt_str_of(user), of, max), "{\"id\":\"b");
}

static inline void expect(lt_status status, lt_status wanted, const db_fix *fix, const char *words) {
  if (status != wanted || strstr(fix->err.msg, words) == NULL) {
    fail_msg("%s: %s", lt_status_name(status), fix->err.msg);
  }
}

static inline void expect_part(const char *text, const char *part) {
  if (strstr(text, part) == NULL) {
    fail_msg("no %s in %s", part, text);
  }
}

#endif
