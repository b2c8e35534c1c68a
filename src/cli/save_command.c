/* lathe save: keeps a program under a name. From then on it is a tool and a module. */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/limits.h"
#include "cli/commands.h"
#include "cli/input_file.h"
#include "cli/store_session.h"
#include "json/json.h"
#include "json/schema.h"
#include "runner/run_request.h"
#include "store/store_programs.h"

typedef struct save_options {
  const char *name;
  const char *file;
  const char *schema;
  const char *description; /* NULL: the comment at the program's beginning */
  lt_config_sources sources;
} save_options;

static const lt_option save_option_rows[] = {
    {"--schema", NULL, "JSON|@FILE", "the JSON Schema of its input, an object (default: any object)",
     LT_OPTION_IS_TEXT(save_options, schema)},
    {"--description", NULL, "TEXT", "what it does, for models (default: the comment at its beginning)",
     LT_OPTION_IS_TEXT(save_options, description)},
    LT_OPTION_CONFIG(save_options, sources),
    LT_OPTION_STORE(save_options, sources),
};

typedef struct save_job {
  const save_options *opt;
  lt_buf code, schema, description;
  const char *language;
} save_job;

/* --- The comment at the beginning --------------------------------------------------------------------------------- */
/* The text of a comment's line: without the marks, which are those of all languages here. */
static lt_str save_comment_text(lt_str line) {
  lt_str text = lt_str_trim(line);
  while (text.n > 0 && strchr("/*#", text.p[0]) != NULL) {
    text = lt_str_sub(text, 1, text.n);
  }
  text = lt_str_ends(text, LT_STR("*/")) ? lt_str_sub(text, 0, text.n - 2) : text;
  return lt_str_trim(text);
}

static bool save_is_comment(lt_str line, bool is_python, bool *in_block) {
  bool begins = !is_python && lt_str_starts(line, LT_STR("/*"));
  bool is_comment = *in_block || begins || lt_str_starts(line, is_python ? LT_STR("#") : LT_STR("//"));
  if (begins || *in_block) {
    *in_block = lt_str_find(line, LT_STR("*/"), 0) == SIZE_MAX;
  }
  return is_comment;
}

/* The first comment, when nothing but a shebang stands before it. */
static void save_put_comment(lt_str code, bool is_python, lt_buf *out) {
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
    if (!save_is_comment(line, is_python, &in_block)) {
      return;
    }
    lt_str text = save_comment_text(line);
    lt_buf_addc(out, text.n > 0 && out->n > 0 ? "\n" : "");
    lt_buf_add(out, text);
  }
}

/* --- What is saved ------------------------------------------------------------------------------------------------ */
static const char *save_language_of(const char *file) {
  static const char *const endings[][2] = {{".ts", "ts"}, {".mts", "ts"}, {".cts", "ts"}, {".py", "python"}};
  const char *dot = strrchr(file, '.');
  for (size_t i = 0; dot != NULL && i < sizeof endings / sizeof endings[0]; i++) {
    if (strcasecmp(dot, endings[i][0]) == 0) {
      return endings[i][1];
    }
  }
  return "js";
}

static lt_status save_read_schema(save_job *j, lt_err *err) {
  LT_AUTO_ARENA(arena, LT_CALL_INDEX_MAX_BYTES);
  lt_json_doc doc;
  if (j->opt->schema == NULL) {
    lt_buf_addc(&j->schema, "{\"type\":\"object\"}");
    return LT_OK;
  }
  LT_TRY(lt_input_file_read_json("--schema", j->opt->schema, &j->schema, err));
  LT_TRY(lt_json_parse(&arena, lt_buf_view(&j->schema), &doc, err));
  lt_json type = lt_json_get(lt_json_root(&doc), "type");
  if (lt_json_typeof(lt_json_root(&doc)) != LT_JSON_OBJECT ||
      (lt_json_exists(type) && !lt_json_str_eq(type, LT_STR("object")))) {
    return lt_fail(err, LT_E_INVALID,
                   "--schema: a tool's input is an object: {\"type\": \"object\", \"properties\": ...}");
  }
  lt_schema *schema = NULL;
  lt_status status = lt_schema_new(lt_buf_view(&j->schema), &schema, err);
  lt_schema_free(schema);
  return status == LT_OK ? LT_OK : lt_err_prefix(err, "--schema");
}

static lt_status save_read(save_job *j, lt_err *err) {
  const save_options *opt = j->opt;
  LT_TRY(lt_store_program_check_name(lt_str_of(opt->name), err));
  LT_TRY(lt_input_file_read(opt->file, &j->code, err));
  lt_str code = lt_buf_view(&j->code);
  const lt_run_request request = {.code = code};
  if (lt_str_trim(code).n == 0 || lt_run_request_find_bad_byte(&request) != SIZE_MAX) {
    return lt_fail(err, LT_E_INVALID, "%s: a program is UTF-8 text, and not empty", opt->file);
  }
  j->language = save_language_of(opt->file);
  if (opt->description != NULL) {
    lt_buf_addc(&j->description, opt->description);
  } else {
    save_put_comment(code, strcmp(j->language, "python") == 0, &j->description);
  }
  LT_TRY(lt_buf_check(&j->description, err, "its description is too long: --description TEXT"));
  return save_read_schema(j, err);
}

/* --- The command -------------------------------------------------------------------------------------------------- */
static lt_status save_work(lt_store_session *s, void *arg, lt_err *err) LT_YIELDS {
  const save_job *j = arg;
  int64_t version = 0;
  const lt_saved_program program = {.name = lt_str_of(j->opt->name),
                                    .language = lt_str_of(j->language),
                                    .description = lt_buf_view_or(&j->description, LT_STR("")),
                                    .schema = lt_buf_view(&j->schema),
                                    .code = lt_buf_view(&j->code)};
  LT_TRY(lt_store_program_save(s->db, &program, &version, err));
  LT_AUTO_BUF(line, LT_KIB);
  lt_buf_printf(&line, "programs.%s version %lld\n", j->opt->name, (long long)version);
  return lt_console_report(&s->console, &line);
}

static int save_run(void *options) {
  save_job j = {.opt = options};
  lt_err err = LT_ERR_INIT;
  lt_buf_init(&j.code, LT_SAVED_CODE_BYTES + 1);
  lt_buf_init(&j.schema, LT_SAVED_SCHEMA_BYTES + 1);
  lt_buf_init(&j.description, LT_SAVED_DESCRIPTION_BYTES);
  int code = save_read(&j, &err) == LT_OK ? lt_store_session_run_new("save", &j.opt->sources, save_work, &j)
                                          : lt_store_session_refuse("save", "%s", lt_err_msg(&err));
  lt_buf_release(&j.code);
  lt_buf_release(&j.schema);
  lt_buf_release(&j.description);
  return code;
}

const lt_command lt_save_command = {
    .name = "save",
    .summary = "Keep a program: from then on it is a tool and a module",
    .about =
        "Keep a program under a name, as a new version where it is there already. From then on it is the tool\n"
        "programs.NAME of every prompt and program, and the module \"programs/NAME\".\n",
    .synopsis = "NAME FILE|- [options]",
    .operand = {"NAME", "a letter, then letters, digits, \"_\" and \"-\"",
                "a name and a file are wanted: lathe save NAME FILE", true, LT_OPERAND_IS(save_options, name)},
    .second = {"FILE", "the program; \"-\" reads standard input; .ts and .py as for lathe run", "", true,
               LT_OPERAND_IS(save_options, file)},
    .options = save_option_rows,
    .option_count = sizeof save_option_rows / sizeof save_option_rows[0],
    .options_size = sizeof(save_options),
    .notes =
        "The program finds its input in `input` (Python: `input_data`); its value is the tool's answer. Policy rules "
        "for\n"
        "programs.NAME apply to the call, and those of other tools to what the program calls.\n"
        "\n"
        "  lathe save longest longest.js --schema '{\"type\": \"object\", \"properties\": {\"path\": {\"type\": "
        "\"string\"}}}'\n"
        "\n"
        "Exit code: 0 ok, 1 failed, 2 usage, 3 configuration.\n",
    .run = save_run,
};
