#include "app/write_preview.h"

#include "base/limits.h"
#include "text/line_diff.h"

typedef lt_write_change file_write;

/* --- The shape of the call ---------------------------------------------------------------------------------------- */
static const char *const write_preview_path_names[] = {"path", "file_path", "filePath", "filename", "file", "filepath"};
static const char *const write_preview_text_names[] = {"content",     "contents",  "text",
                                                       "new_content", "file_text", "data"};
#define COUNT(list) (sizeof(list) / sizeof(list)[0])

/* The first of these members that is a string. */
static const char *write_preview_member(lt_json object, const char *const *names, size_t count) {
  for (size_t i = 0; i < count; i++) {
    if (lt_json_typeof(lt_json_get(object, names[i])) == LT_JSON_STRING) {
      return names[i];
    }
  }
  return NULL;
}

static bool write_preview_parse(file_write *w, lt_str text, lt_json *ret) {
  lt_json_doc *doc = lt_arena_zalloc(&w->arena, 1, sizeof *doc);
  if (doc == NULL || text.n == 0 || lt_json_parse(&w->arena, text, doc, NULL) != LT_OK) {
    return false;
  }
  *ret = lt_json_root(doc);
  return true;
}

static bool write_preview_read_input(file_write *w, lt_str input) {
  if (!write_preview_parse(w, input, &w->input)) {
    return false;
  }
  const char *path = write_preview_member(w->input, write_preview_path_names, COUNT(write_preview_path_names));
  const char *text = write_preview_member(w->input, write_preview_text_names, COUNT(write_preview_text_names));
  w->text = text != NULL ? lt_json_get(w->input, text) : (lt_json){0};
  w->edits = lt_json_get(w->input, "edits");
  w->own_path = path;
  w->own_text = text != NULL ? text : "edits";
  return path != NULL && lt_json_str(lt_json_get(w->input, path), &w->arena, &w->path) &&
         (text != NULL || lt_json_typeof(w->edits) == LT_JSON_ARRAY);
}

/* --- The tool that reads ------------------------------------------------------------------------------------------ */
/* The member that takes the path; NULL: it needs another one, or has none for a path. */
static const char *write_preview_reader_path(file_write *w, const lt_tool *tool) {
  lt_json schema;
  if (!write_preview_parse(w, tool->input_schema, &schema)) {
    return NULL;
  }
  lt_json properties = lt_json_get(schema, "properties"), required = lt_json_get(schema, "required");
  const char *path = NULL;
  for (size_t i = 0; i < COUNT(write_preview_path_names) && path == NULL; i++) {
    path = lt_json_exists(lt_json_get(properties, write_preview_path_names[i])) ? write_preview_path_names[i] : NULL;
  }
  for (lt_json_iter it = lt_json_each(required); path != NULL && lt_json_next(&it);) {
    path = lt_json_str_eq(it.value, lt_str_of(path)) ? path : NULL;
  }
  return path;
}

static bool write_preview_is_read_only(file_write *w, const lt_tool *tool) {
  lt_json annotations;
  return write_preview_parse(w, tool->annotations, &annotations) &&
         lt_json_bool(lt_json_get(annotations, "readOnlyHint"), false);
}

static bool write_preview_has_word(lt_str name, const char *word) {
  return lt_str_find(name, lt_str_of(word), 0) != SIZE_MAX;
}

/* 0: it does not read a text; the larger the better. */
static unsigned write_preview_rank(lt_str name) {
  static const char *const others[] = {"media", "image", "multiple", "info", "dir", "list", "binary", "files"};
  bool reads = write_preview_has_word(name, "read") || write_preview_has_word(name, "view");
  for (size_t i = 0; i < COUNT(others); i++) {
    reads = reads && !write_preview_has_word(name, others[i]);
  }
  return !reads ? 0 : write_preview_has_word(name, "text") ? 2 : 1;
}

static bool write_preview_find_reader(file_write *w) {
  unsigned best = 0;
  for (size_t i = 0; i < lt_catalog_count(w->catalog); i++) {
    const lt_tool *tool = lt_catalog_at(w->catalog, i);
    unsigned rank = tool != w->tool && tool->provider == w->tool->provider ? write_preview_rank(tool->name) : 0;
    const char *path = rank > best && write_preview_is_read_only(w, tool) ? write_preview_reader_path(w, tool) : NULL;
    if (path != NULL) {
      best = rank;
      w->reader = tool;
      w->path_name = path;
    }
  }
  return best > 0;
}

/* --- Both texts --------------------------------------------------------------------------------------------------- */
/* A structured answer has the text as its member, a plain one is the text: as it arrived where it looks like JSON. */
static bool write_preview_take_text(file_write *w, const lt_buf *answer) {
  lt_json value;
  lt_str copy = lt_arena_dup(&w->arena, lt_buf_view(answer)), text;
  if (!write_preview_parse(w, copy, &value)) {
    return false;
  }
  lt_json content = w->reader->output_schema.n > 0 ? lt_json_get(value, "content") : (lt_json){0};
  if (lt_json_typeof(content) == LT_JSON_STRING || lt_json_typeof(value) == LT_JSON_STRING) {
    bool has = lt_json_str(lt_json_exists(content) ? content : value, &w->arena, &text);
    lt_buf_add(&w->before, has ? text : LT_STR_NULL);
    return has;
  }
  lt_buf_add(&w->before, copy);
  return true;
}

static bool write_preview_read_old(file_write *w, const lt_write_preview *preview, lt_cancel *cancel) LT_YIELDS {
  LT_AUTO_BUF(input, LT_MIB);
  LT_AUTO_BUF(answer, LT_PREVIEW_BYTES);
  const lt_caller caller = {.user = preview->user, .run = LT_STR("question"), .policy = preview->policy};
  const lt_invoke_options options = {.timeout_ms = LT_PREVIEW_MS, .cancel = cancel, .caller = &caller};
  lt_json_writer writer = lt_json_writer_on(&input);
  lt_json_begin_object(&writer);
  lt_json_key(&writer, w->path_name);
  lt_json_put_str(&writer, w->path);
  lt_json_end_object(&writer);
  return lt_door_call(preview->door, w->reader->id, lt_buf_view(&input), &options, &answer, NULL) == LT_OK &&
         answer.status == LT_OK && write_preview_take_text(w, &answer);
}

/* A member of an edit under either of its names. */
static bool write_preview_edit_text(file_write *w, lt_json edit, const char *name, const char *other, lt_str *ret) {
  lt_json member = lt_json_get(edit, name);
  return lt_json_str(lt_json_exists(member) ? member : lt_json_get(edit, other), &w->arena, ret);
}

/* False: it is not there, or more than once: then the server alone knows what will be replaced. */
static bool write_preview_replace(lt_buf *text, lt_str old_text, lt_str new_text) {
  LT_AUTO_BUF(next, LT_PREVIEW_BYTES * 2);
  lt_str all = lt_buf_view(text);
  size_t at = old_text.n > 0 ? lt_str_find(all, old_text, 0) : SIZE_MAX;
  if (at == SIZE_MAX || lt_str_find(all, old_text, at + 1) != SIZE_MAX) {
    return false;
  }
  lt_buf_add(&next, lt_str_sub(all, 0, at));
  lt_buf_add(&next, new_text);
  lt_buf_add(&next, lt_str_sub(all, at + old_text.n, all.n));
  lt_buf_clear(text);
  lt_buf_add(text, lt_buf_view(&next));
  return next.status == LT_OK && text->status == LT_OK;
}

static bool write_preview_make_new(file_write *w) {
  lt_str text;
  if (lt_json_typeof(w->text) == LT_JSON_STRING) {
    bool has = lt_json_str(w->text, &w->arena, &text);
    lt_buf_add(&w->after, has ? text : LT_STR_NULL);
    return has && w->after.status == LT_OK;
  }
  lt_buf_add(&w->after, lt_buf_view(&w->before));
  for (lt_json_iter it = lt_json_each(w->edits); lt_json_next(&it);) {
    lt_str old_text, new_text;
    if (!write_preview_edit_text(w, it.value, "oldText", "old_text", &old_text) ||
        !write_preview_edit_text(w, it.value, "newText", "new_text", &new_text) ||
        !write_preview_replace(&w->after, old_text, new_text)) {
      return false;
    }
  }
  return w->after.status == LT_OK;
}

static bool write_preview_of(file_write *w, const lt_write_preview *preview, lt_str tool, lt_str input,
                             lt_cancel *cancel) LT_YIELDS {
  if (lt_door_catalog(preview->door, &w->catalog, NULL) != LT_OK) {
    return false;
  }
  w->tool = lt_catalog_find(w->catalog, tool);
  if (w->tool == NULL || write_preview_is_read_only(w, w->tool) || !write_preview_read_input(w, input) ||
      !write_preview_find_reader(w) || !write_preview_read_old(w, preview, cancel) || !write_preview_make_new(w)) {
    return false;
  }
  lt_secrets_mask_buf(lt_door_secrets(preview->door), &w->before);
  lt_secrets_mask_buf(lt_door_secrets(preview->door), &w->after);
  return w->before.status == LT_OK && w->after.status == LT_OK;
}

bool lt_write_preview_read(const lt_write_preview *preview, lt_str tool, lt_str input, lt_cancel *cancel,
                           lt_write_change *ret) {
  *ret = (lt_write_change){.catalog = NULL};
  lt_arena_init(&ret->arena, 16 * LT_PREVIEW_BYTES);
  lt_buf_init(&ret->before, LT_PREVIEW_BYTES);
  lt_buf_init(&ret->after, 2 * LT_PREVIEW_BYTES);
  return preview->door != NULL && input.n <= LT_PREVIEW_BYTES && write_preview_of(ret, preview, tool, input, cancel);
}

void lt_write_preview_release(lt_write_change *change) {
  lt_catalog_unref(change->catalog);
  lt_buf_release(&change->before);
  lt_buf_release(&change->after);
  lt_arena_release(&change->arena);
}

/* --- The lines ---------------------------------------------------------------------------------------------------- */
static void write_preview_on_step(void *arg, const lt_line_diff_step *step) {
  lt_buf *out = arg;
  static const char marks[] = {[LT_DIFF_SAME] = ' ', [LT_DIFF_REMOVED] = '-', [LT_DIFF_ADDED] = '+'};
  if (step->mark == LT_DIFF_SKIPPED) {
    lt_buf_printf(out, "@@ %zu lines stay as they are @@\n", step->count);
  } else if (step->mark == LT_DIFF_NO_END) {
    lt_buf_addc(out, "\\ No newline at end of file\n");
  } else {
    lt_buf_byte(out, marks[step->mark]);
    lt_buf_add(out, step->line);
    lt_buf_byte(out, '\n');
  }
}

bool lt_write_preview_put_diff(const lt_write_change *change, lt_buf *out) {
  lt_buf_printf(out, "--- %.*s\n+++ %.*s\n", LT_STR_ARG(change->path), LT_STR_ARG(change->path));
  return lt_line_diff(lt_buf_view(&change->before), lt_buf_view(&change->after), LT_WRITE_PREVIEW_CONTEXT,
                      write_preview_on_step, out, NULL) == LT_OK &&
         out->status == LT_OK;
}
