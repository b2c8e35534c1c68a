#include "runner/call_warnings.h"

#include "base/arena.h"
#include "base/nearest.h"
#include "json/json.h"

/* Whether this argument of this tool was not warned about before, and there is room to remember it. */
static bool warnings_is_new(lt_call_warnings *w, lt_str tool, lt_str key) {
  uint64_t hash = lt_str_hash(tool) * 31 + lt_str_hash(key);
  for (size_t i = 0; i < w->count; i++) {
    if (w->said[i] == hash) {
      return false;
    }
  }
  if (w->count == LT_CALL_WARNINGS_MAX) {
    return false;
  }
  w->said[w->count++] = hash;
  return true;
}

static bool warnings_is_required(lt_json schema, lt_str name) {
  lt_json_iter it = lt_json_each(lt_json_get(schema, "required"));
  while (lt_json_next(&it)) {
    lt_str text = lt_json_text(it.value);
    if (text.n == name.n + 2 && lt_str_eq(lt_str_sub(text, 1, text.n - 1), name)) {
      return true;
    }
  }
  return false;
}

/* The declared argument that was meant: near, not given, and not required, as the door then names it itself. */
static lt_str warnings_find_meant(lt_json schema, lt_json input, lt_str key, lt_arena *arena) {
  lt_nearest nearest = lt_nearest_to(key, key.n > 8 ? 3 : key.n > 4 ? 2 : key.n > 2 ? 1 : 0);
  lt_json_iter it = lt_json_each(lt_json_get(schema, "properties"));
  while (lt_json_next(&it)) {
    lt_str name;
    if (lt_json_str(it.key, arena, &name) && !lt_json_exists(lt_json_get_str(input, name)) &&
        !warnings_is_required(schema, name)) {
      lt_nearest_offer(&nearest, name);
    }
  }
  return nearest.name;
}

static void warnings_put_key(lt_call_warnings *w, const lt_tool *tool, lt_json schema, lt_json input, lt_str key,
                             lt_arena *arena, lt_buf *out) {
  if (lt_json_exists(lt_json_get_str(lt_json_get(schema, "properties"), key))) {
    return;
  }
  lt_str meant = warnings_find_meant(schema, input, key, arena);
  if (meant.n > 0 && warnings_is_new(w, tool->id, key)) {
    lt_buf_printf(out, "%s%.*s does not declare the argument \"%.*s\": did you mean \"%.*s\"?", out->n > 0 ? "\n" : "",
                  LT_STR_ARG(tool->id), LT_STR_ARG(key), LT_STR_ARG(meant));
  }
}

/* Whether the schema's text has the key as a string: then it is most likely declared. */
static bool warnings_is_in_text(const lt_tool *tool, lt_json key) {
  return lt_str_find(tool->input_schema, lt_json_text(key), 0) != SIZE_MAX;
}

static void warnings_read(lt_call_warnings *w, const lt_tool *tool, lt_json input, lt_arena *arena, lt_buf *out) {
  lt_json_doc schema;
  bool is_read = false;
  lt_json_iter it = lt_json_each(input);
  while (lt_json_next(&it)) {
    lt_str key;
    if (warnings_is_in_text(tool, it.key)) {
      continue;
    }
    if (!is_read && lt_json_parse(arena, tool->input_schema, &schema, NULL) != LT_OK) {
      return;
    }
    is_read = true;
    lt_json root = lt_json_root(&schema);
    if (!lt_json_bool(lt_json_get(root, "additionalProperties"), true)) {
      return; /* the door refuses the call */
    }
    if (lt_json_str(it.key, arena, &key)) {
      warnings_put_key(w, tool, root, input, key, arena, out);
    }
  }
}

/* A schema without that word declares no argument that could have been meant. */
static bool warnings_can_declare(const lt_tool *tool) {
  return tool->input_schema.n <= LT_CALL_WARNINGS_SCHEMA_BYTES &&
         lt_str_find(tool->input_schema, LT_STR("properties"), 0) != SIZE_MAX;
}

void lt_call_warnings_put(lt_call_warnings *warnings, const lt_tool *tool, lt_str input, lt_buf *out) {
  bool is_short = input.n > 2 && input.n <= 64 * LT_KIB;
  if (tool == NULL || !is_short || !warnings_can_declare(tool)) {
    return;
  }
  lt_json_doc doc;
  LT_AUTO_ARENA(arena, LT_CALL_INDEX_MAX_BYTES);
  if (lt_json_parse(&arena, input, &doc, NULL) == LT_OK && lt_json_typeof(lt_json_root(&doc)) == LT_JSON_OBJECT) {
    warnings_read(warnings, tool, lt_json_root(&doc), &arena, out);
  }
}
