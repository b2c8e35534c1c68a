#include "plugin/program_head.h"

#include "base/limits.h"
#include "js/js_export.h"
#include "json/json.h"
#include "json/json_literal.h"
#include "json/schema.h"
#include "runner/run_request.h"

/* --- The comment at the beginning --------------------------------------------------------------------------------- */
/* The text of a comment's line: without the marks, which are those of all languages here. */
static lt_str head_comment_text(lt_str line) {
  lt_str text = lt_str_trim(line);
  while (text.n > 0 && strchr("/*#", text.p[0]) != NULL) {
    text = lt_str_sub(text, 1, text.n);
  }
  text = lt_str_ends(text, LT_STR("*/")) ? lt_str_sub(text, 0, text.n - 2) : text;
  return lt_str_trim(text);
}

static bool head_is_comment(lt_str line, bool is_python, bool *in_block) {
  bool begins = !is_python && lt_str_starts(line, LT_STR("/*"));
  bool is_comment = *in_block || begins || lt_str_starts(line, is_python ? LT_STR("#") : LT_STR("//"));
  if (begins || *in_block) {
    *in_block = lt_str_find(line, LT_STR("*/"), 0) == SIZE_MAX;
  }
  return is_comment;
}

/* The first comment, when nothing but a shebang stands before it. */
static void head_put_comment(lt_str code, bool is_python, lt_buf *out) {
  bool in_block = false;
  for (size_t at = 0; at < code.n;) {
    size_t end = lt_str_find(code, LT_STR("\n"), at);
    end = end < code.n ? end : code.n;
    lt_str line = lt_str_trim(lt_str_sub(code, at, end));
    bool is_shebang = at == 0 && lt_str_starts(line, LT_STR("#!"));
    at = end + 1;
    if (is_shebang || (line.n == 0 && out->n == 0)) {
      continue;
    }
    if (!head_is_comment(line, is_python, &in_block)) {
      return;
    }
    lt_str text = head_comment_text(line);
    lt_buf_addc(out, text.n > 0 && out->n > 0 ? "\n" : "");
    lt_buf_add(out, text);
  }
}

/* --- Exports ------------------------------------------------------------------------------------------------------ */
/* Whether the statement ends behind a value: `{...} as const`, for example, does not compute anything either. */
static bool head_is_end(lt_str rest) {
  size_t line = lt_str_find(rest, LT_STR("\n"), 0);
  lt_str same_line = lt_str_trim(lt_str_sub(rest, 0, line < rest.n ? line : rest.n));
  lt_str next = lt_str_trim(rest);
  bool goes_on = next.n > 0 && strchr(".+([?*&|=<", next.p[0]) != NULL;
  return !goes_on && (same_line.n == 0 || strchr(";/", same_line.p[0]) != NULL ||
                      lt_str_starts(same_line, LT_STR("as ")) || lt_str_starts(same_line, LT_STR("satisfies ")));
}

/* Appends the exported value as JSON; nothing where there is no such export. */
static lt_status head_read_export(const lt_saved_program *program, const char *name, lt_buf *json, lt_err *err) {
  size_t end = 0;
  LT_ERR_VAR(why);
  lt_str value = lt_js_export_find(program->code, name);
  if (value.p == NULL) {
    return LT_OK;
  }
  lt_status status = lt_json_literal_read(value, json, &end, &why);
  if (status == LT_OK && !head_is_end(lt_str_sub(value, end, value.n))) {
    status = lt_fail(&why, LT_E_SYNTAX, "the statement goes on behind the value");
  }
  unsigned line = 1;
  for (const char *at = program->code.p; at < value.p + (end < value.n ? end : value.n); at++) {
    line += *at == '\n';
  }
  return status == LT_OK
             ? LT_OK
             : lt_fail(err, status, "`export const %s` has to be written out, as JSON or JavaScript: %s (line %u)",
                       name, lt_err_msg(&why), line);
}

/* --- Completing --------------------------------------------------------------------------------------------------- */
static lt_status head_describe(lt_saved_program *program, lt_lang lang, lt_arena *arena, lt_err *err) {
  LT_AUTO_BUF(json, LT_SAVED_SCHEMA_BYTES);
  LT_AUTO_BUF(text, LT_SAVED_DESCRIPTION_BYTES);
  lt_json_doc doc;
  if (program->description.p != NULL) {
    return LT_OK;
  }
  if (lang != LT_LANG_PYTHON) {
    LT_TRY(head_read_export(program, "description", &json, err));
  }
  if (json.n == 0) {
    head_put_comment(program->code, lang == LT_LANG_PYTHON, &text);
    LT_TRY(lt_buf_check(&text, err, "its description, the comment at its beginning, is too long"));
    program->description = text.n > 0 ? lt_arena_dup_buf(arena, &text) : LT_STR("");
    return program->description.p != NULL ? LT_OK : lt_fail(err, LT_E_NOMEM, "no memory for a description");
  }
  lt_str exported = lt_arena_dup_buf(arena, &json);
  LT_TRY(lt_json_parse(arena, exported, &doc, err));
  return lt_json_str(lt_json_root(&doc), arena, &program->description)
             ? LT_OK
             : lt_fail(err, LT_E_INVALID, "`export const description` has to be a string");
}

static lt_status head_check_schema(lt_str text, lt_err *err) {
  LT_AUTO_ARENA(arena, LT_CALL_INDEX_MAX_BYTES);
  lt_json_doc doc;
  LT_TRY(lt_json_parse(&arena, text, &doc, err));
  lt_json type = lt_json_get(lt_json_root(&doc), "type");
  if (lt_json_typeof(lt_json_root(&doc)) != LT_JSON_OBJECT ||
      (lt_json_exists(type) && !lt_json_str_eq(type, LT_STR("object")))) {
    return lt_fail(err, LT_E_INVALID, "a tool's input is an object: {\"type\": \"object\", \"properties\": ...}");
  }
  lt_schema *schema = NULL;
  lt_status status = lt_schema_new(text, &schema, err);
  lt_schema_free(schema);
  return status;
}

static lt_status head_take_schema(lt_saved_program *program, lt_lang lang, lt_arena *arena, lt_err *err) {
  LT_AUTO_BUF(json, LT_SAVED_SCHEMA_BYTES);
  if (program->schema.p == NULL && lang != LT_LANG_PYTHON) {
    LT_TRY(head_read_export(program, "input", &json, err));
  }
  if (program->schema.p == NULL) {
    program->schema = json.n > 0 ? lt_arena_dup_buf(arena, &json) : LT_STR("{\"type\":\"object\"}");
  }
  return head_check_schema(program->schema, err) == LT_OK ? LT_OK : lt_err_prefix(err, "the schema of its input");
}

lt_status lt_program_head_complete(lt_saved_program *program, lt_lang lang, lt_arena *arena, lt_err *err) {
  static const char *const languages[] = {
      [LT_LANG_JAVASCRIPT] = "js", [LT_LANG_TYPESCRIPT] = "ts", [LT_LANG_PYTHON] = "python"};
  const lt_run_request request = {.code = program->code};
  LT_TRY(lt_store_program_check_name(program->name, err));
  if (program->code.n > LT_SAVED_CODE_BYTES) {
    return lt_fail(err, LT_E_LIMIT, "a saved program has at most %lu KiB", LT_SAVED_CODE_BYTES / LT_KIB);
  }
  if (lt_str_trim(program->code).n == 0 || lt_run_request_find_bad_byte(&request) != SIZE_MAX) {
    return lt_fail(err, LT_E_INVALID, "a program is UTF-8 text, and not empty");
  }
  program->language = lt_str_of(languages[lang]);
  LT_TRY(head_describe(program, lang, arena, err));
  return head_take_schema(program, lang, arena, err);
}
