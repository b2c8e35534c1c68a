/* lathe save: keeps a program under a name. From then on it is a tool and a module. */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/limits.h"
#include "cli/commands.h"
#include "cli/input_file.h"
#include "cli/store_session.h"
#include "plugin/program_head.h"

typedef struct save_options {
  const char *name; /* or the file, if that is NULL */
  const char *file;
  const char *schema;
  const char *description; /* NULL: what the program says of itself */
  lt_config_sources sources;
} save_options;

static const lt_option save_option_rows[] = {
    {"--schema", NULL, "JSON|@FILE",
     "the JSON Schema of its input (default: what it exports as `input`, else any object)",
     LT_OPTION_IS_TEXT(save_options, schema)},
    {"--description", NULL, "TEXT",
     "what it does, for models (default: what it exports, else the comment at its beginning)",
     LT_OPTION_IS_TEXT(save_options, description)},
    LT_OPTION_CONFIG(save_options, sources),
    LT_OPTION_STORE(save_options, sources),
};

typedef struct save_job {
  const save_options *opt;
  lt_buf code, schema;
  lt_arena arena;
  lt_saved_program program;
} save_job;

/* --- What is saved ------------------------------------------------------------------------------------------------ */
static lt_lang save_language_of(const char *file) {
  static const struct {
    const char *ending;
    lt_lang lang;
  } endings[] = {
      {".ts", LT_LANG_TYPESCRIPT}, {".mts", LT_LANG_TYPESCRIPT}, {".cts", LT_LANG_TYPESCRIPT}, {".py", LT_LANG_PYTHON}};
  const char *dot = strrchr(file, '.');
  for (size_t i = 0; dot != NULL && i < sizeof endings / sizeof endings[0]; i++) {
    if (strcasecmp(dot, endings[i].ending) == 0) {
      return endings[i].lang;
    }
  }
  return LT_LANG_JAVASCRIPT;
}

/* `lathe save FILE`: the file's name without folders and ending. */
static lt_str save_name_of(const char *file) {
  const char *slash = strrchr(file, '/');
  lt_str name = lt_str_of(slash != NULL ? slash + 1 : file);
  return lt_str_sub(name, 0, lt_str_find(name, LT_STR("."), 0));
}

static lt_status save_read(save_job *j, lt_err *err) {
  const save_options *opt = j->opt;
  bool has_name = opt->file != NULL;
  const char *file = has_name ? opt->file : opt->name;
  if (!has_name && strcmp(file, "-") == 0) {
    return lt_fail(err, LT_E_INVALID, "a name is wanted for a program from standard input: lathe save NAME -");
  }
  lt_str name = has_name ? lt_str_of(opt->name) : save_name_of(file);
  LT_TRY(lt_store_program_check_name(name, err));
  LT_TRY(lt_input_file_read(file, &j->code, err));
  j->program = (lt_saved_program){.user = LT_STR(LT_SAVED_FOR_ALL),
                                  .name = name,
                                  .code = lt_buf_view(&j->code),
                                  .description = lt_str_of(opt->description)};
  if (opt->schema != NULL) {
    LT_TRY(lt_input_file_read_json("--schema", opt->schema, &j->schema, err));
    j->program.schema = lt_buf_view(&j->schema);
  }
  return lt_program_head_complete(&j->program, save_language_of(file), &j->arena, err) == LT_OK
             ? LT_OK
             : lt_err_prefix(err, "%s", file);
}

/* --- The command -------------------------------------------------------------------------------------------------- */
static lt_status save_work(lt_store_session *s, void *arg, lt_err *err) LT_YIELDS {
  const save_job *j = arg;
  int64_t version = 0;
  bool is_new = false;
  LT_TRY(lt_store_program_save(s->db, &j->program, &version, &is_new, err));
  LT_AUTO_BUF(line, LT_KIB);
  lt_buf_printf(&line, "programs.%.*s version %lld%s\n", LT_STR_ARG(j->program.name), (long long)version,
                is_new ? "" : ", which is the same");
  return lt_console_report(&s->console, &line);
}

static int save_run(void *options) {
  save_job j = {.opt = options};
  LT_ERR_VAR(err);
  lt_buf_init(&j.code, LT_SAVED_CODE_BYTES + 1);
  lt_buf_init(&j.schema, LT_SAVED_SCHEMA_BYTES + 1);
  lt_arena_init(&j.arena, LT_MIB);
  int code = save_read(&j, &err) == LT_OK ? lt_store_session_run_new("save", &j.opt->sources, save_work, &j)
                                          : lt_store_session_refuse("save", "%s", lt_err_msg(&err));
  lt_buf_release(&j.code);
  lt_buf_release(&j.schema);
  lt_arena_release(&j.arena);
  return code;
}

const lt_command lt_save_command = {
    .name = "save",
    .summary = "Keep a program: from then on it is a tool and a module",
    .about =
        "Keep a program under a name, as a new version where it is there already. From then on it is the tool\n"
        "programs.NAME of every prompt and program, and the module \"programs/NAME\".\n",
    .synopsis = "[NAME] FILE|- [options]",
    .operand = {"NAME", "a letter, then letters, digits, \"_\" and \"-\" (default: the file's name)",
                "a file is wanted: lathe save [NAME] FILE", true, LT_OPERAND_IS(save_options, name)},
    .second = {"FILE", "the program; \"-\" reads standard input; .ts and .py as for lathe run", "", false,
               LT_OPERAND_IS(save_options, file)},
    .options = save_option_rows,
    .option_count = sizeof save_option_rows / sizeof save_option_rows[0],
    .options_size = sizeof(save_options),
    .notes =
        "The program finds its input in `input` (Python: `input_data`); its value is the tool's answer. In JavaScript "
        "and\n"
        "TypeScript it may say itself what it does and takes; the options count before that:\n"
        "\n"
        "  export const description = 'The longest file of a folder'\n"
        "  export const input = { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] }\n"
        "  export default ({ path }) => filesListDirectory({ path }).entries.toSorted((a, b) => b.size - a.size)[0]\n"
        "\n"
        "Policy rules for programs.NAME apply to the call, and those of other tools to what the program calls.\n"
        "\n"
        "Exit code: 0 ok, 1 failed, 2 usage, 3 configuration.\n",
    .run = save_run,
};
