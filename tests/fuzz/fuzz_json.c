/* JSON: what holds for any bytes.
 *
 * Checking and parsing agree; what is accepted comes back the same from compact and pretty; every string and number
 * survives being read and written again; any bytes at all can be written as a string.
 */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "json/json.h"

#define FUZZ_BYTES (256 * LT_MIB)
#define MUST(cond) \
  do {             \
    if (!(cond)) { \
      abort();     \
    }              \
  } while (0)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What comes out is UTF-8: no encoded surrogates, which the parser itself lets pass. */
static void must_be_utf8(lt_str s) {
  for (size_t i = 0; i + 1 < s.n; i++) {
    MUST((unsigned char)s.p[i] != 0xED || (unsigned char)s.p[i + 1] < 0xA0);
  }
}

static lt_json must_parse(lt_arena *arena, lt_str text, lt_json_doc *doc) {
  MUST(lt_json_parse(arena, text, doc, NULL) == LT_OK);
  return lt_json_root(doc);
}

static void string_survives(lt_json v, lt_arena *arena) {
  lt_str s;
  MUST(lt_json_str(v, arena, &s) && lt_json_str_eq(v, s));
  lt_buf buf;
  lt_buf_init(&buf, FUZZ_BYTES);
  lt_json_writer w = lt_json_writer_on(&buf);
  lt_json_put_str(&w, s);
  MUST(buf.status == LT_OK);
  must_be_utf8(lt_buf_view(&buf));
  lt_json_doc doc;
  lt_json again = must_parse(arena, lt_buf_view(&buf), &doc);
  MUST(lt_json_str_eq(again, s));
  lt_buf_release(&buf);
}

static void number_survives(lt_json v, lt_arena *arena) {
  double n;
  int64_t i;
  MUST(lt_json_double(v, &n));
  MUST(!lt_json_int(v, &i) || (double)i == n);
  if (!isfinite(n)) {
    return;
  }
  lt_buf buf;
  lt_buf_init(&buf, FUZZ_BYTES);
  lt_json_writer w = lt_json_writer_on(&buf);
  lt_json_put_double(&w, n);
  lt_json_doc doc;
  double again;
  MUST(lt_json_double(must_parse(arena, lt_buf_view(&buf), &doc), &again));
  MUST(memcmp(&n, &again, sizeof(n)) == 0);
  lt_buf_release(&buf);
}

/* Every node, and that iterating meets as many as there are. */
static void walk(const lt_json_doc *doc, lt_arena *arena) {
  uint32_t met = 1;
  for (uint32_t at = 0; at < doc->count; at++) {
    lt_json v = {doc, at};
    lt_json_type type = lt_json_typeof(v);
    MUST(type != LT_JSON_NONE && doc->nodes[at].next > at && doc->nodes[at].next <= doc->count);
    if (type == LT_JSON_STRING) {
      string_survives(v, arena);
    } else if (type == LT_JSON_NUMBER) {
      number_survives(v, arena);
    }
    uint32_t count = 0;
    lt_json_iter it = lt_json_each(v);
    while (lt_json_next(&it)) {
      MUST(lt_json_exists(it.key) == (type == LT_JSON_OBJECT));
      met += 1 + (type == LT_JSON_OBJECT);
      count++;
    }
    MUST(count == lt_json_count(v));
  }
  MUST(met == doc->count);
}

static void layouts_agree(lt_json v, lt_arena *arena) {
  lt_buf compact;
  lt_buf pretty;
  lt_buf again;
  lt_buf_init(&compact, FUZZ_BYTES);
  lt_buf_init(&pretty, FUZZ_BYTES);
  lt_buf_init(&again, FUZZ_BYTES);
  lt_json_doc doc;
  lt_json_compact(v, &compact);
  MUST(compact.status == LT_OK && compact.n <= 2 * v.doc->text.n); /* an encoded surrogate: 3 bytes become 6 */
  must_be_utf8(lt_buf_view(&compact));
  lt_json_compact(must_parse(arena, lt_buf_view(&compact), &doc), &again);
  MUST(lt_str_eq(lt_buf_view(&compact), lt_buf_view(&again)) && doc.count == v.doc->count);
  lt_json_pretty(v, &pretty);
  lt_buf_clear(&again);
  lt_json_compact(must_parse(arena, lt_buf_view(&pretty), &doc), &again);
  MUST(lt_str_eq(lt_buf_view(&compact), lt_buf_view(&again)) && doc.count == v.doc->count);
  lt_buf_release(&again);
  lt_buf_release(&pretty);
  lt_buf_release(&compact);
}

static void any_bytes_can_be_written(lt_str bytes) {
  lt_buf buf;
  lt_buf_init(&buf, FUZZ_BYTES);
  lt_json_writer w = lt_json_writer_on(&buf);
  lt_json_put_str(&w, bytes);
  MUST(lt_json_check(lt_buf_view(&buf), NULL) == LT_OK);
  must_be_utf8(lt_buf_view(&buf));
  lt_buf_release(&buf);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  lt_str text = lt_str_from(data, size);
  lt_arena arena;
  lt_arena_init(&arena, FUZZ_BYTES);
  lt_json_doc doc;
  lt_err err = LT_ERR_INIT;
  lt_status checked = lt_json_check(text, &err);
  MUST(checked == lt_json_parse(&arena, text, &doc, NULL));
  if (checked == LT_OK) {
    walk(&doc, &arena);
    layouts_agree(lt_json_root(&doc), &arena);
  } else {
    any_bytes_can_be_written(lt_str_of(lt_err_msg(&err)));
  }
  any_bytes_can_be_written(text);
  lt_arena_release(&arena);
  return 0;
}
