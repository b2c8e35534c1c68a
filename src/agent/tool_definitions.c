#include "agent/tool_definitions.h"

#include <stdio.h>

#include "base/limits.h"
#include "tool/failure_message.h"

#define SUFFIX_CHARS 9 /* "_" and eight digits of a hash */

struct lt_tool_definitions {
  const lt_catalog *catalog;
  lt_str *names;   /* in the catalog's order */
  uint32_t *slots; /* index + 1, or 0; by the name's hash */
  uint32_t mask;
};

/* --- Names -------------------------------------------------------------------------------------------------------- */
static bool tool_definitions_is_allowed(unsigned char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
}

/* Each character becomes one byte of the name. Returns the number of characters, also when they do not fit. */
static size_t tool_definitions_put_plain(lt_str id, char ret[LT_TOOL_NAME_CHARS + 1]) {
  size_t n = 0;
  for (size_t i = 0; i < id.n; i++) {
    unsigned char c = (unsigned char)id.p[i];
    if (i > 0 && (c & 0xC0) == 0x80) {
      continue;
    }
    if (n < LT_TOOL_NAME_CHARS) {
      ret[n] = (char)(tool_definitions_is_allowed(c) ? c : '_');
    }
    n++;
  }
  if (n == 0) {
    ret[n++] = '_';
  }
  ret[n < LT_TOOL_NAME_CHARS ? n : LT_TOOL_NAME_CHARS] = '\0';
  return n;
}

void lt_tool_definitions_plain_name(lt_str id, char ret[LT_TOOL_NAME_CHARS + 1]) {
  tool_definitions_put_plain(id, ret);
}

static void tool_definitions_put_hashed(lt_str id, uint32_t salt, char ret[LT_TOOL_NAME_CHARS + 1]) {
  size_t n = tool_definitions_put_plain(id, ret);
  size_t most = LT_TOOL_NAME_CHARS - SUFFIX_CHARS;
  uint64_t hash = lt_str_hash(id);
  uint32_t folded = (uint32_t)(hash ^ (hash >> 32)) + salt;
  snprintf(ret + (n < most ? n : most), SUFFIX_CHARS + 1, "_%08x", folded);
}

/* --- The table ---------------------------------------------------------------------------------------------------- */
static uint32_t *tool_definitions_slot_of(const lt_tool_definitions *definitions, lt_str name) {
  uint32_t at = (uint32_t)lt_str_hash(name) & definitions->mask;
  while (definitions->slots[at] != 0 && !lt_str_eq(definitions->names[definitions->slots[at] - 1], name)) {
    at = (at + 1) & definitions->mask;
  }
  return &definitions->slots[at];
}

/* LT_E_INVALID: another tool has the name. */
static lt_status tool_definitions_enter(lt_tool_definitions *definitions, lt_arena *arena, size_t i, const char *name) {
  lt_str text = lt_str_of(name);
  uint32_t *slot = tool_definitions_slot_of(definitions, text);
  if (*slot != 0) {
    return LT_E_INVALID;
  }
  definitions->names[i] = lt_arena_dup(arena, text);
  if (definitions->names[i].p == NULL) {
    return LT_E_NOMEM;
  }
  *slot = (uint32_t)i + 1;
  return LT_OK;
}

/* Assigns plain names first: a name with a hash must not equal the plain name of another tool. */
static lt_status tool_definitions_enter_all(lt_tool_definitions *definitions, lt_arena *arena) {
  char name[LT_TOOL_NAME_CHARS + 1];
  size_t count = lt_catalog_count(definitions->catalog);
  for (size_t i = 0; i < count; i++) {
    if (tool_definitions_put_plain(lt_catalog_at(definitions->catalog, i)->id, name) <= LT_TOOL_NAME_CHARS &&
        tool_definitions_enter(definitions, arena, i, name) == LT_E_NOMEM) {
      return LT_E_NOMEM;
    }
  }
  for (size_t i = 0; i < count; i++) {
    lt_status status = definitions->names[i].n > 0 ? LT_OK : LT_E_INVALID;
    for (uint32_t salt = 0; status == LT_E_INVALID; salt++) {
      tool_definitions_put_hashed(lt_catalog_at(definitions->catalog, i)->id, salt, name);
      status = tool_definitions_enter(definitions, arena, i, name);
    }
    LT_TRY(status);
  }
  return LT_OK;
}

lt_status lt_tool_definitions_new(lt_arena *arena, const lt_catalog *catalog, lt_tool_definitions **ret_wire,
                                  lt_err *err) {
  uint32_t size = 8;
  while (size < 2 * lt_catalog_count(catalog)) {
    size *= 2;
  }
  lt_tool_definitions *definitions = lt_arena_zalloc(arena, 1, sizeof *definitions);
  if (definitions != NULL) {
    *definitions = (lt_tool_definitions){
        .catalog = catalog,
        .names = lt_arena_zalloc(arena, lt_catalog_count(catalog), sizeof *definitions->names),
        .slots = lt_arena_zalloc(arena, size, sizeof *definitions->slots),
        .mask = size - 1,
    };
  }
  if (definitions == NULL || definitions->names == NULL || definitions->slots == NULL ||
      tool_definitions_enter_all(definitions, arena) != LT_OK) {
    return lt_fail(err, LT_E_NOMEM, "no memory for the names of %zu tools", lt_catalog_count(catalog));
  }
  *ret_wire = definitions;
  return LT_OK;
}

/* The catalog is sorted by id. */
lt_str lt_tool_definitions_name(const lt_tool_definitions *definitions, lt_str id) {
  size_t low = 0, high = definitions != NULL ? lt_catalog_count(definitions->catalog) : 0;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    int order = lt_str_cmp(lt_catalog_at(definitions->catalog, middle)->id, id);
    if (order == 0) {
      return definitions->names[middle];
    }
    *(order < 0 ? &low : &high) = order < 0 ? middle + 1 : middle;
  }
  return LT_STR_NULL;
}

const lt_tool *lt_tool_definitions_find(const lt_tool_definitions *definitions, lt_str name) {
  uint32_t slot = *tool_definitions_slot_of(definitions, name);
  return slot != 0 ? lt_catalog_at(definitions->catalog, slot - 1) : lt_catalog_find(definitions->catalog, name);
}

/* --- Definitions -------------------------------------------------------------------------------------------------- */
/* Keywords that providers refuse or ignore at the top of a tool's parameters. One such tool would make the whole
 * request fail. */
static bool tool_definitions_is_left_out(lt_json key) {
  static const char *const keys[] = {"type", "$schema", "oneOf", "anyOf", "allOf", "not", "enum"};
  for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
    if (lt_json_str_eq(key, lt_str_of(keys[i]))) {
      return true;
    }
  }
  return false;
}

/* Whether the schema is an object's, or has no type. */
static bool tool_definitions_is_of_object(lt_json schema) {
  lt_json type = lt_json_get(schema, "type");
  return lt_json_typeof(schema) == LT_JSON_OBJECT && (!lt_json_exists(type) || lt_json_str_eq(type, LT_STR("object")));
}

static void tool_definitions_put_members(lt_json_writer *w, lt_json schema) {
  lt_json_iter it = lt_json_each(schema);
  while (lt_json_next(&it)) {
    if (!tool_definitions_is_left_out(it.key)) {
      lt_buf_addc(w->buf, ",");
      lt_json_compact(it.key, w->buf);
      lt_buf_addc(w->buf, ":");
      lt_json_compact(it.value, w->buf);
    }
  }
}

static void tool_definitions_put_parameters(lt_json_writer *w, lt_str text) {
  lt_json_doc doc;
  LT_AUTO_ARENA(arena, LT_SCHEMA_MEMORY_BYTES);
  lt_json schema = {0};
  lt_status status = text.n <= LT_SCHEMA_MAX_BYTES ? lt_json_parse(&arena, text, &doc, NULL) : LT_E_LIMIT;
  if (status == LT_OK && tool_definitions_is_of_object(lt_json_root(&doc))) {
    schema = lt_json_root(&doc);
  } else if (status == LT_E_NOMEM) {
    w->buf->status = status;
  }
  lt_json_put_raw(w, LT_STR("{\"type\":\"object\""));
  if (lt_json_typeof(lt_json_get(schema, "properties")) != LT_JSON_OBJECT) {
    lt_buf_addc(w->buf, ",\"properties\":{}");
    schema = lt_json_exists(lt_json_get(schema, "properties")) ? (lt_json){0} : schema;
  }
  tool_definitions_put_members(w, schema);
  lt_buf_addc(w->buf, "}");
}

void lt_tool_definitions_put_one(lt_json_writer *w, lt_str name, lt_str description, lt_str input_schema) {
  lt_json_begin_object(w);
  lt_json_key(w, "type");
  lt_json_put_cstr(w, "function");
  lt_json_key(w, "function");
  lt_json_begin_object(w);
  lt_json_key(w, "name");
  lt_json_put_str(w, name);
  if (description.n > 0) {
    lt_json_key(w, "description");
    lt_json_put_str(w, description);
  }
  lt_json_key(w, "parameters");
  tool_definitions_put_parameters(w, input_schema);
  lt_json_end_object(w);
  lt_json_end_object(w);
}

lt_status lt_tool_definitions_put_all(const lt_tool_definitions *definitions, lt_buf *out, lt_err *err) {
  lt_json_writer w = lt_json_writer_on(out);
  lt_json_begin_array(&w);
  for (size_t i = 0; i < lt_catalog_count(definitions->catalog); i++) {
    const lt_tool *tool = lt_catalog_at(definitions->catalog, i);
    lt_tool_definitions_put_one(&w, definitions->names[i], tool->description, tool->input_schema);
  }
  lt_json_end_array(&w);
  return lt_buf_check(out, err, "no room for the definitions of the tools");
}

bool lt_tool_text_is_of(const lt_tool_text *kept, const lt_catalog *catalog) {
  return kept->catalog == lt_catalog_number(catalog);
}

void lt_tool_text_keep(lt_tool_text *kept, const lt_catalog *catalog, lt_str text) {
  lt_tool_text_release(kept);
  lt_buf_init(&kept->text, LT_PROMPT_MESSAGES_BYTES);
  lt_buf_add(&kept->text, text);
  kept->catalog = kept->text.status == LT_OK ? lt_catalog_number(catalog) : 0;
}

void lt_tool_text_release(lt_tool_text *kept) {
  kept->catalog = 0;
  lt_buf_release(&kept->text);
}

/* --- Answers ------------------------------------------------------------------------------------------------------ */
/* Appends the characters of a JSON string. False: the text begins like a string but is invalid. */
static bool tool_definitions_put_characters(lt_json_writer *w, lt_str json) {
  lt_json_doc doc;
  lt_str characters;
  LT_AUTO_ARENA(arena, LT_CALL_INDEX_MAX_BYTES);
  lt_status status = lt_json_parse(&arena, json, &doc, NULL);
  bool is = status == LT_OK && lt_json_str(lt_json_root(&doc), &arena, &characters);
  if (status == LT_E_NOMEM || (status == LT_OK && !is)) {
    w->buf->status = LT_E_NOMEM;
  } else if (is) {
    lt_json_put_str(w, characters);
  }
  return is;
}

void lt_tool_answer_put(lt_json_writer *w, lt_str json) {
  json = lt_str_trim(json);
  if (json.n == 0 || lt_str_eqc(json, "null") || lt_str_eqc(json, "\"\"")) {
    lt_json_put_cstr(w, LT_TOOL_ANSWER_NOTHING);
  } else if (json.p[0] != '"' || !tool_definitions_put_characters(w, json)) {
    lt_json_put_str(w, json);
  }
}

void lt_tool_answer_put_failure(lt_buf *out, lt_str tool, lt_str message) {
  if (!lt_failure_message_names_tool(message) && !lt_str_starts(message, LT_STR(LT_TOOL_ANSWER_BROKEN))) {
    lt_buf_addc(out, "Error in tool \"");
    lt_buf_add(out, tool);
    lt_buf_addc(out, "\": ");
  }
  lt_buf_add(out, message);
}
