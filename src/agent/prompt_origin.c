#include "agent/prompt_origin.h"

#include "base/arena.h"
#include "base/limits.h"
#include "json/json.h"

typedef struct prompt_origins {
  lt_arena arena;
  lt_json_doc recorded_doc, own_doc;
  lt_json recorded, own;
} prompt_origins;

static lt_str origin_str(prompt_origins *o, lt_json object, const char *key) {
  lt_str text = LT_STR("");
  (void)lt_json_str(lt_json_get(object, key), &o->arena, &text);
  return text;
}

/* --- Comparing ---------------------------------------------------------------------------------------------------- */
/* The file of `origin` with that path, or, for the user's layer, its file at all. */
static lt_json origin_find_file(prompt_origins *o, lt_json origin, lt_str path, bool is_user) {
  lt_json_iter it = lt_json_each(lt_json_get(origin, "files"));
  while (lt_json_next(&it)) {
    bool is_same =
        is_user ? lt_json_bool(lt_json_get(it.value, "user"), false) : lt_str_eq(origin_str(o, it.value, "path"), path);
    if (is_same) {
      return it.value;
    }
  }
  return (lt_json){0};
}

static void origin_add_changed(lt_buf *changed, lt_str path) {
  lt_buf_addc(changed, changed->n > 0 ? ", " : "");
  lt_buf_add(changed, path);
}

/* Whether `other` has all files of `origin`. The user's own layer goes with the person: a file that came or went there
 * is a change, another person's file is another configuration. */
static bool origin_has_files_of(prompt_origins *o, lt_json origin, lt_json other, lt_buf *missing) {
  lt_json_iter it = lt_json_each(lt_json_get(origin, "files"));
  while (lt_json_next(&it)) {
    bool is_user = lt_json_bool(lt_json_get(it.value, "user"), false);
    lt_str path = origin_str(o, it.value, "path");
    lt_json file = origin_find_file(o, other, path, is_user);
    if (!lt_json_exists(file) && !is_user) {
      return false;
    }
    if (!lt_json_exists(file)) {
      origin_add_changed(missing, path);
    } else if (is_user && !lt_str_eq(origin_str(o, file, "path"), path)) {
      return false;
    }
  }
  return true;
}

static void origin_add_edited(prompt_origins *o, lt_buf *changed) {
  lt_json_iter it = lt_json_each(lt_json_get(o->recorded, "files"));
  while (lt_json_next(&it)) {
    lt_str path = origin_str(o, it.value, "path");
    lt_json file = origin_find_file(o, o->own, path, lt_json_bool(lt_json_get(it.value, "user"), false));
    if (lt_json_exists(file) && !lt_str_eq(origin_str(o, file, "hash"), origin_str(o, it.value, "hash"))) {
      origin_add_changed(changed, path);
    }
  }
}

/* --- Where the prompt goes on ------------------------------------------------------------------------------------- */
/* As a shell reads it back. */
static void origin_put_quoted(lt_buf *out, lt_str word) {
  static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-./:@%+,=";
  bool is_plain = word.n > 0;
  for (size_t i = 0; i < word.n; i++) {
    is_plain = is_plain && word.p[i] != '\0' && strchr(plain, word.p[i]) != NULL;
  }
  if (is_plain) {
    lt_buf_add(out, word);
    return;
  }
  lt_buf_byte(out, '\'');
  for (size_t i = 0; i < word.n; i++) {
    lt_buf_addc(out, word.p[i] == '\'' ? "'\\'" : "");
    lt_buf_byte(out, word.p[i]);
  }
  lt_buf_byte(out, '\'');
}

/* The options that name the project's files; a file that is found in the folder needs none. */
static void origin_put_options(prompt_origins *o, lt_buf *out) {
  lt_json_iter it = lt_json_each(lt_json_get(o->recorded, "files"));
  while (lt_json_next(&it)) {
    lt_str why = origin_str(o, it.value, "why");
    bool is_found = lt_str_starts(why, LT_STR("./"));
    if (!is_found && !lt_json_bool(lt_json_get(it.value, "user"), false)) {
      lt_buf_addc(out, lt_str_eqc(why, "--mcp-config") ? " --mcp-config " : " --config ");
      origin_put_quoted(out, origin_str(o, it.value, "path"));
    }
  }
}

static bool origin_has_project(const prompt_origins *o) {
  lt_json_iter it = lt_json_each(lt_json_get(o->recorded, "files"));
  while (lt_json_next(&it)) {
    if (!lt_json_bool(lt_json_get(it.value, "user"), false)) {
      return true;
    }
  }
  return false;
}

static lt_status origin_fail(prompt_origins *o, lt_str conversation, lt_err *err) {
  LT_AUTO_BUF(command, LT_ERR_MSG_MAX);
  lt_buf_addc(&command, "cd ");
  origin_put_quoted(&command, origin_str(o, o->recorded, "folder"));
  lt_buf_addc(&command, " && lathe chat -c ");
  lt_buf_add(&command, conversation);
  origin_put_options(o, &command);
  if (!origin_has_project(o)) {
    return lt_fail(err, LT_E_CONFIG,
                   "the prompt began without a configuration file, and goes on without one (no lathe.yaml in the "
                   "folder, no --config, no --mcp-config, no $LATHE_CONFIG): %.*s",
                   LT_STR_ARG(lt_buf_view(&command)));
  }
  return lt_fail(err, LT_E_CONFIG, "the prompt belongs to another configuration, and goes on with that: %.*s",
                 LT_STR_ARG(lt_buf_view(&command)));
}

/* --- The check ---------------------------------------------------------------------------------------------------- */
static lt_status origin_compare(prompt_origins *o, lt_str recorded, lt_str own, lt_str conversation, lt_buf *changed,
                                lt_err *err) {
  LT_TRY(lt_json_parse(&o->arena, recorded, &o->recorded_doc, err));
  LT_TRY(lt_json_parse(&o->arena, own, &o->own_doc, err));
  o->recorded = lt_json_root(&o->recorded_doc);
  o->own = lt_json_root(&o->own_doc);
  if (!origin_has_files_of(o, o->recorded, o->own, changed) || !origin_has_files_of(o, o->own, o->recorded, changed)) {
    lt_buf_clear(changed);
    return origin_fail(o, conversation, err);
  }
  origin_add_edited(o, changed);
  return LT_OK;
}

lt_status lt_prompt_origin_check(lt_str recorded, lt_str own, lt_str conversation, lt_buf *changed, lt_err *err) {
  prompt_origins o = {.recorded = {0}};
  if (recorded.n == 0 || own.n == 0) {
    return LT_OK;
  }
  lt_arena_init(&o.arena, LT_MIB);
  lt_status status = origin_compare(&o, recorded, own, conversation, changed, err);
  lt_arena_release(&o.arena);
  return status;
}
