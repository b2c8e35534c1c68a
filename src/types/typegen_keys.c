#include "types/typegen_keys.h"

#define MASK_KNOWN 0x80000000u

_Static_assert(LT_KEY_COUNT <= 31, "a bit for each keyword and one for itself");

#define KEY_TEXT(name, text) {text, sizeof(text) - 1},
static const lt_str texts[LT_KEY_COUNT] = {LT_TYPEGEN_KEYS(KEY_TEXT)};

const char *lt_typegen_key_text(lt_typegen_keyword key) {
  return texts[key].p; /* literals: a NUL follows */
}

lt_status lt_typegen_parse(lt_arena *arena, lt_str text, lt_typegen_doc *doc, lt_err *err) {
  LT_TRY(lt_json_parse(arena, text, &doc->json, err));
  doc->masks = lt_arena_zalloc(arena, doc->json.count, sizeof(*doc->masks));
  return doc->masks != NULL ? LT_OK : lt_fail(err, LT_E_NOMEM, "no memory for a schema of %zu bytes", text.n);
}

/* The keyword's bit. A key with escapes may be any keyword: all bits. */
static uint32_t schema_key_bit_of(lt_str quoted) {
  lt_str key = lt_str_sub(quoted, 1, quoted.n - 1);
  if (key.n > 0 && memchr(key.p, '\\', key.n) != NULL) {
    return ~0u;
  }
  for (unsigned i = 0; i < LT_KEY_COUNT && texts[i].n <= key.n; i++) {
    if (texts[i].n == key.n && memcmp(texts[i].p, key.p, key.n) == 0) {
      return 1u << i;
    }
  }
  return 0;
}

static uint32_t schema_key_find_mask(lt_json schema) {
  uint32_t mask = MASK_KNOWN;
  lt_json_iter it = lt_json_each(schema);
  while (lt_json_next(&it)) {
    mask |= schema_key_bit_of(lt_json_text(it.key));
  }
  return mask;
}

lt_json lt_typegen_key(lt_json schema, lt_typegen_keyword key) {
  if (lt_json_typeof(schema) != LT_JSON_OBJECT) {
    return (lt_json){NULL, 0};
  }
  uint32_t *mask = &((const lt_typegen_doc *)schema.doc)->masks[schema.at];
  if (*mask == 0) {
    *mask = schema_key_find_mask(schema);
  }
  return (*mask & 1u << key) != 0 ? lt_json_get_str(schema, texts[key]) : (lt_json){NULL, 0};
}
