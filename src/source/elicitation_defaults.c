#include "source/elicitation_defaults.h"

#include "base/limits.h"

static bool elicitation_defaults_are_enough(lt_json schema, lt_arena *arena) {
  lt_json properties = lt_json_get(schema, "properties");
  for (lt_json_iter it = lt_json_each(lt_json_get(schema, "required")); lt_json_next(&it);) {
    lt_str name;
    if (!lt_json_str(it.value, arena, &name) ||
        !lt_json_exists(lt_json_get(lt_json_get_str(properties, name), "default"))) {
      return false;
    }
  }
  return lt_json_typeof(properties) == LT_JSON_OBJECT;
}

static void elicitation_defaults_put_content(lt_json_writer *w, lt_json schema, lt_arena *arena) {
  lt_json_key(w, "content");
  lt_json_begin_object(w);
  for (lt_json_iter it = lt_json_each(lt_json_get(schema, "properties")); lt_json_next(&it);) {
    lt_json value = lt_json_get(it.value, "default");
    lt_str name;
    if (lt_json_exists(value) && lt_json_str(it.key, arena, &name)) {
      lt_json_key_str(w, name);
      lt_json_put_raw(w, lt_json_text(value));
    }
  }
  lt_json_end_object(w);
}

bool lt_elicitation_defaults_suffice(lt_json params) {
  LT_AUTO_ARENA(arena, LT_MIB);
  lt_json mode = lt_json_get(params, "mode");
  bool is_form = !lt_json_exists(mode) || lt_json_str_eq(mode, LT_STR("form"));
  return is_form && elicitation_defaults_are_enough(lt_json_get(params, "requestedSchema"), &arena);
}

void lt_elicitation_defaults_put(lt_json params, lt_buf *out) {
  LT_AUTO_ARENA(arena, LT_MIB);
  lt_json schema = lt_json_get(params, "requestedSchema");
  bool is_enough = lt_elicitation_defaults_suffice(params);
  lt_json_writer w = lt_json_writer_on(out);
  lt_json_begin_object(&w);
  lt_json_key(&w, "action");
  lt_json_put_cstr(&w, is_enough ? "accept" : "decline");
  if (is_enough) {
    elicitation_defaults_put_content(&w, schema, &arena);
  }
  lt_json_end_object(&w);
}
