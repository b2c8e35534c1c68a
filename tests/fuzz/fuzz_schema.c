/* Any bytes as a schema, a newline, and a value: no crash, an end, and faults that a person can read. */
#include <stdlib.h>

#include "base/limits.h"
#include "json/schema.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Printable UTF-8 in one line, as the text of errors is to be. */
static void check_text(lt_str text) {
  lt_buf json;
  lt_buf_init(&json, 16 * LT_MIB);
  lt_buf_byte(&json, '"');
  for (size_t i = 0; i < text.n; i++) {
    unsigned char c = (unsigned char)text.p[i];
    if (c < 0x20 || c == 0x7F) {
      abort();
    }
    if (c == '"' || c == '\\') {
      lt_buf_byte(&json, '\\');
    }
    lt_buf_byte(&json, (char)c);
  }
  lt_buf_byte(&json, '"');
  if (lt_json_check(lt_buf_view(&json), NULL) != LT_OK) {
    abort();
  }
  lt_buf_release(&json);
}

static void check_value(const lt_schema *schema, lt_json value) {
  lt_buf faults;
  lt_buf_init(&faults, LT_MIB);
  lt_status status = lt_schema_check(schema, value, LT_STR("input"), &faults, NULL);
  if ((status == LT_E_INVALID) != (faults.n > 0) || status != lt_schema_check(schema, value, LT_STR("x"), NULL, NULL)) {
    abort();
  }
  check_text(lt_buf_view(&faults));
  lt_buf_release(&faults);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  const uint8_t *newline = size > 0 && size < 64 * LT_KIB ? memchr(data, '\n', size) : NULL;
  if (newline == NULL) {
    return 0;
  }
  size_t n = (size_t)(newline - data);
  lt_schema *schema = NULL;
  lt_err err = LT_ERR_INIT;
  if (lt_schema_new(lt_str_from(data, n), &schema, &err) != LT_OK) {
    check_text(lt_str_of(lt_err_msg(&err)));
    return 0;
  }
  check_text(lt_schema_notes(schema));
  lt_arena arena;
  lt_json_doc doc;
  lt_arena_init(&arena, 64 * LT_MIB);
  if (lt_json_parse(&arena, lt_str_from(newline + 1, size - n - 1), &doc, NULL) == LT_OK) {
    check_value(schema, lt_json_root(&doc));
  }
  lt_arena_release(&arena);
  lt_schema_free(schema);
  return 0;
}
