#include "tool/masked_edit.h"

#include "json/json.h"

#define MASK "***"

/* One value in the three texts. */
typedef struct masked_value {
  lt_json shown, input, edited;
} masked_value;

typedef struct masked_edit {
  lt_arena *arena;
  lt_json_writer w;
  bool has_stray_mask; /* a mask where the shown text has none, or where its value was changed */
  bool out_of_memory;
} masked_edit;

static bool masked_edit_has_mask(lt_str text) {
  return lt_str_find(text, LT_STR(MASK), 0) < text.n;
}

static void masked_edit_put(masked_edit *m, const masked_value *value);

static void masked_edit_put_members(masked_edit *m, const masked_value *value) {
  lt_json_iter it = lt_json_each(value->edited);
  lt_json_begin_object(&m->w);
  while (lt_json_next(&it)) {
    lt_str key;
    if (!lt_json_str(it.key, m->arena, &key)) {
      m->out_of_memory = true;
      break;
    }
    lt_json_key_str(&m->w, key);
    const masked_value member = {
        .shown = lt_json_get_str(value->shown, key), .input = lt_json_get_str(value->input, key), .edited = it.value};
    m->has_stray_mask = m->has_stray_mask || (!lt_json_exists(member.input) && masked_edit_has_mask(key));
    masked_edit_put(m, &member);
  }
  lt_json_end_object(&m->w);
}

static void masked_edit_put_items(masked_edit *m, const masked_value *value) {
  lt_json_iter it = lt_json_each(value->edited);
  lt_json_iter shown = lt_json_each(value->shown), input = lt_json_each(value->input);
  lt_json_begin_array(&m->w);
  while (lt_json_next(&it)) {
    bool has_old = lt_json_next(&shown) && lt_json_next(&input);
    masked_value item = {.edited = it.value};
    if (has_old) {
      item.shown = shown.value;
      item.input = input.value;
    }
    masked_edit_put(m, &item);
  }
  lt_json_end_array(&m->w);
}

static void masked_edit_put(masked_edit *m, const masked_value *value) {
  lt_json_type type = lt_json_typeof(value->edited);
  lt_str text = lt_json_text(value->edited);
  if (lt_json_exists(value->input) && lt_str_eq(text, lt_json_text(value->shown))) {
    lt_json_put_raw(&m->w, lt_json_text(value->input));
  } else if (type == LT_JSON_OBJECT) {
    masked_edit_put_members(m, value);
  } else if (type == LT_JSON_ARRAY) {
    masked_edit_put_items(m, value);
  } else {
    m->has_stray_mask = m->has_stray_mask || masked_edit_has_mask(text);
    lt_json_put_raw(&m->w, text);
  }
}

lt_status lt_masked_edit_restore(lt_arena *arena, lt_str shown, lt_str input, lt_str edited, lt_str *ret_text,
                                 lt_err *err) {
  LT_AUTO_BUF(text, LT_JSON_MAX_BYTES);
  lt_json_doc docs[3];
  if (lt_str_eq(shown, input)) { /* nothing is masked */
    *ret_text = lt_arena_dup(arena, edited);
    return ret_text->p != NULL ? LT_OK : lt_fail(err, LT_E_NOMEM, "no memory for an edited input");
  }
  lt_status status = lt_json_parse(arena, edited, &docs[0], err);
  if (status != LT_OK) {
    lt_err_prefix(err, status == LT_E_SYNTAX ? "input: not JSON" : "input");
    return status == LT_E_SYNTAX ? LT_E_INVALID : status;
  }
  LT_TRY(lt_json_parse(arena, shown, &docs[1], err));
  LT_TRY(lt_json_parse(arena, input, &docs[2], err));
  masked_edit m = {.arena = arena, .w = lt_json_writer_on(&text)};
  const masked_value root = {
      .edited = lt_json_root(&docs[0]), .shown = lt_json_root(&docs[1]), .input = lt_json_root(&docs[2])};
  masked_edit_put(&m, &root);
  if (m.has_stray_mask) {
    return lt_fail(err, LT_E_INVALID, "input: \"" MASK "\" stands for a secret, and can only stay where it was");
  }
  *ret_text = m.out_of_memory || text.status != LT_OK ? LT_STR_NULL : lt_arena_dup(arena, lt_buf_view(&text));
  return ret_text->p != NULL ? LT_OK : lt_fail(err, LT_E_NOMEM, "no memory for an edited input");
}
