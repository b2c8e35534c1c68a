/* lathe run: runs a program with the configured tools, without a model. */
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "json/json.h"
#include "runner/call_summary.h"
#include "cli/approver.h"
#include "cli/commands.h"
#include "cli/input_file.h"
#include "app/modules.h"
#include "app/run_llm.h"
#include "app/runners.h"
#include "cli/command_session.h"

typedef struct run_options {
  const char *code;
  const char *file;
  const char *lang;
  const char *runner;
  const char *input;
  lt_option_words words; /* the program's arguments */
  lt_config_sources sources;
  int64_t timeout_ms; /* 0: the configuration's */
  int64_t memory_mb;
  bool json;
  bool yes;
  bool journal;
  bool is_unchecked;
} run_options;

static const lt_option run_option_rows[] = {
    {"--eval", "-e", "CODE", "the program itself", LT_OPTION_IS_TEXT(run_options, code)},
    {"--lang", NULL, "js|ts|python", "its language (default: by the file's ending, else js)",
     LT_OPTION_IS_TEXT(run_options, lang)},
    {"--runner", NULL, LT_RUNNER_IDS,
     "what runs it (default: quickjs, in the sandbox built in, or as typescript.runner says;\n"
     "python for Python)",
     LT_OPTION_IS_TEXT(run_options, runner)},
    {"--input", NULL, "JSON|@FILE|-", "what the program finds in `input` (Python: `input_data`); - is standard input",
     LT_OPTION_IS_TEXT(run_options, input)},
    {"--timeout", NULL, "MS", "wall clock, tool calls included (default 30000, at most 600000)",
     LT_OPTION_IS_NUMBER(run_options, timeout_ms, 0, 1, LT_RUN_TIMEOUT_MAX_MS)},
    {"--memory", NULL, "MB", "the program's memory (default 64, Python 512; at most 2048)",
     LT_OPTION_IS_NUMBER(run_options, memory_mb, 0, LT_RUN_MEMORY_MIN_BYTES / LT_MIB,
                         LT_RUN_MEMORY_MAX_BYTES / LT_MIB)},
    LT_OPTION_CONFIG(run_options, sources),
    LT_OPTION_MCP_CONFIG(run_options, sources),
    {"--no-check", NULL, NULL, "run TypeScript without a check of its types (typescript.check: false)",
     LT_OPTION_IS_FLAG(run_options, is_unchecked)},
    {"--json", NULL, NULL, "one JSON object with result, outputs, logs, calls and error",
     LT_OPTION_IS_FLAG(run_options, json)},
    {"--yes", "-y", NULL, "approve calls that would be asked about on the terminal (not those that are denied)",
     LT_OPTION_IS_FLAG(run_options, yes)},
    {"--journal", NULL, NULL, "record the calls in the store (default: they are in the --json report only)",
     LT_OPTION_IS_FLAG(run_options, journal)},
};

#define ONE_PROGRAM "one program at a time: FILE, - or -e CODE; the program's own arguments stand after --"

typedef struct run_job {
  run_options opt;
  lt_buf code;
  lt_buf input; /* JSON, or empty */
  lt_lang lang;
  lt_modules modules;
  int exit_code;
} run_job;

/* --- Options ------------------------------------------------------------------------------------------------------ */
static const struct {
  const char *ending;
  lt_lang lang;
} run_endings[] = {{".js", LT_LANG_JAVASCRIPT}, {".mjs", LT_LANG_JAVASCRIPT}, {".cjs", LT_LANG_JAVASCRIPT},
                   {".ts", LT_LANG_TYPESCRIPT}, {".mts", LT_LANG_TYPESCRIPT}, {".cts", LT_LANG_TYPESCRIPT},
                   {".py", LT_LANG_PYTHON}};

static bool run_find_ending(const char *ending, lt_lang *ret_lang) {
  for (size_t i = 0; i < sizeof run_endings / sizeof run_endings[0]; i++) {
    if (strcasecmp(run_endings[i].ending, ending) == 0) {
      *ret_lang = run_endings[i].lang;
      return true;
    }
  }
  return false;
}

/* The ending of the file's name with its dot; empty: it has none, as "program", ".program" and "program." */
static const char *run_file_ending(const char *file) {
  const char *slash = strrchr(file, '/');
  const char *name = slash != NULL ? slash + 1 : file;
  const char *dot = strrchr(name, '.');
  return dot != NULL && dot != name && dot[1] != '\0' ? dot : "";
}

/* A file in a language that is not spoken here would fail with an error that says something else. */
static bool run_find_language_of_file(const char *file, lt_lang *ret_lang) {
  const char *ending = run_file_ending(file);
  if (*ending == '\0' || run_find_ending(ending, ret_lang)) {
    return true;
  }
  fprintf(stderr,
          "lathe run: %s: programs are JavaScript (.js, .mjs, .cjs), TypeScript (.ts, .mts, .cts) or Python (.py), not "
          "%s; --lang js|ts|python says it for another ending\n",
          file, ending);
  return false;
}

/* Finds the language, given or by the file's ending or the runner, and checks that the chosen runner speaks it. */
static bool run_choose_language(const run_options *opt, lt_lang *ret_lang) {
  LT_ERR_VAR(err);
  bool is_python = opt->runner != NULL && strcmp(opt->runner, "python") == 0;
  lt_lang lang = is_python ? LT_LANG_PYTHON : LT_LANG_JAVASCRIPT;
  if (opt->lang == NULL && opt->file != NULL && !run_find_language_of_file(opt->file, &lang)) {
    return false;
  }
  if (opt->lang != NULL && !lt_lang_find(opt->lang, &lang)) {
    fprintf(stderr, "lathe run: --lang is js, ts or python, not \"%s\"\n", opt->lang);
    return false;
  }
  if (lt_runners_check(opt->runner, lang, &err) != LT_OK) {
    fprintf(stderr, "lathe run: %s\n", lt_err_msg(&err));
    return false;
  }
  *ret_lang = lang;
  return true;
}

/* A shebang line is no JavaScript once there is text before it; as a comment it keeps its line. */
static void run_comment_out_shebang(run_job *j) {
  if (j->lang != LT_LANG_PYTHON && lt_str_starts(lt_buf_view(&j->code), LT_STR("#!"))) {
    memcpy(j->code.p, "//", 2);
  }
}

static bool run_read_code(run_job *j) {
  const run_options *opt = &j->opt;
  LT_ERR_VAR(err);
  if (opt->code != NULL) {
    lt_buf_addc(&j->code, opt->code);
    return true;
  }
  if (opt->file == NULL && isatty(STDIN_FILENO)) {
    fprintf(stderr, "lathe run: no program: give a FILE, - for standard input, or -e CODE; see lathe run --help\n");
    return false;
  }
  if (lt_input_file_read(opt->file != NULL ? opt->file : "-", &j->code, &err) != LT_OK) {
    fprintf(stderr, "lathe run: %s\n", lt_err_msg(&err));
    return false;
  }
  run_comment_out_shebang(j);
  return true;
}

/* Writes the input with its member `args`: the words after `--`. */
static lt_status run_write_input_with_words(lt_json input, const lt_option_words *words, lt_arena *arena, lt_buf *out) {
  bool is_read = true;
  lt_json_writer w = lt_json_writer_on(out);
  lt_json_begin_object(&w);
  for (lt_json_iter it = lt_json_each(input); lt_json_next(&it);) {
    lt_str key = LT_STR_NULL;
    is_read = lt_json_str(it.key, arena, &key) && is_read;
    lt_json_key_str(&w, key);
    lt_json_put_raw(&w, lt_json_text(it.value));
  }
  lt_json_key(&w, "args");
  lt_json_begin_array(&w);
  for (int i = 0; i < words->count; i++) {
    lt_json_put_cstr(&w, words->at[i]);
  }
  lt_json_end_array(&w);
  lt_json_end_object(&w);
  return is_read ? out->status : LT_E_NOMEM;
}

static lt_status run_add_words(run_job *j, lt_err *err) {
  LT_AUTO_ARENA(arena, 2 * LT_JSON_MAX_BYTES);
  lt_json_doc doc;
  lt_str given = lt_buf_view(&j->input);
  LT_TRY(lt_json_parse(&arena, given.n > 0 ? given : LT_STR("{}"), &doc, err));
  lt_json input = lt_json_root(&doc);
  if (lt_json_typeof(input) != LT_JSON_OBJECT) {
    return lt_fail(err, LT_E_INVALID,
                   "--input is no object: arguments after -- become its member \"args\"; put them into the input");
  }
  if (lt_json_exists(lt_json_get(input, "args"))) {
    return lt_fail(err, LT_E_INVALID, "--input has \"args\" already: leave it out, or the arguments after --");
  }
  lt_buf whole;
  lt_buf_init(&whole, LT_JSON_MAX_BYTES);
  lt_status status = run_write_input_with_words(input, &j->opt.words, &arena, &whole);
  lt_buf_release(&j->input);
  j->input = whole;
  return lt_fail_if(err, status, "the arguments after -- are too long");
}

static bool run_read_input(run_job *j) {
  const run_options *opt = &j->opt;
  LT_ERR_VAR(err);
  bool is_program_stdin = opt->code == NULL && (opt->file == NULL || strcmp(opt->file, "-") == 0);
  lt_status status = LT_OK;
  if (lt_input_file_is_stdin(opt->input) && is_program_stdin) {
    status = lt_fail(&err, LT_E_INVALID,
                     "standard input is either the program or its --input: give the program as FILE or -e CODE");
  }
  if (status == LT_OK && opt->input != NULL) {
    status = lt_input_file_read_json("--input", opt->input, &j->input, &err);
  }
  if (status == LT_OK && opt->words.is_given) {
    status = run_add_words(j, &err);
  }
  if (status != LT_OK) {
    fprintf(stderr, "lathe run: %s\n", lt_err_msg(&err));
  }
  return status == LT_OK;
}

/* --- Output ------------------------------------------------------------------------------------------------------- */
static void run_on_text(void *arg, lt_said said, lt_str text) {
  static const char *const prefixes[] = {
      [LT_SAID_LOG] = "[log] ", [LT_SAID_WARNING] = "[warn] ", [LT_SAID_ERROR] = "[error] "};
  const lt_console *console = &((lt_command_session *)arg)->console;
  if (said == LT_SAID_OUTPUT) {
    lt_console_output(console, text);
  } else {
    lt_console_lines(console, prefixes[said], text);
  }
}

/* Names the calls that were made, so that a second try does not repeat them. */
static void run_print_calls(const lt_console *console, const lt_run_result *result) {
  LT_AUTO_BUF(line, LT_MIB);
  const lt_call_summary summary = lt_call_summary_read(result, " (cut short)");
  lt_call_summary_put(&line, &summary);
  if (line.n > 0) {
    lt_console_line(console, "  tools called before: ", lt_buf_view(&line));
  }
}

static void run_print_failure(const lt_console *console, const lt_run_result *result) {
  lt_console_line(console, "error: ", lt_buf_view(&result->error));
  if (result->line > 0) {
    char place[48];
    snprintf(place, sizeof place, "  at %u:%u%s", result->line, result->column, result->context.n > 0 ? ": " : "");
    lt_console_line(console, place, lt_buf_view(&result->context));
  }
  run_print_calls(console, result);
}

/* Output and log lines of a program that has no configured limit: a file or a pipe gets all, a terminal what a person
 * may read. What Python prints is its log. 0: the runner's own limit. */
static size_t run_stream_max_bytes(const run_job *j, int fd) {
  return isatty(j->opt.json ? STDOUT_FILENO : fd) ? 0 : LT_RUN_PIPED_MAX_BYTES;
}

static size_t run_output_max_bytes(const run_job *j, const lt_config *config) {
  int fd = j->lang == LT_LANG_PYTHON ? STDERR_FILENO : STDOUT_FILENO;
  return config->max_output_bytes != 0 ? (size_t)config->max_output_bytes : run_stream_max_bytes(j, fd);
}

static void run_print_cuts(const lt_console *console, const lt_run_request *request, const lt_run_result *result) {
  if (result->output_cut) {
    lt_console_format(console,
                      "warning: the program output more than its limit: the rest was dropped "
                      "(sandbox.maxOutputBytes; a result is not cut%s)",
                      isatty(STDOUT_FILENO) ? "; a file or a pipe gets up to 64 MiB" : "");
  }
  if (result->log_cut) {
    size_t max =
        request->lang == LT_LANG_PYTHON ? lt_run_request_output_bytes(request) : lt_run_request_log_bytes(request);
    lt_console_format(console, "warning: the program logged more than %zu KiB: the rest was dropped", max / LT_KIB);
  }
}

static void run_print_result(const lt_command_session *s, const run_job *j, const lt_run_request *request,
                             const lt_run_result *result) {
  if (j->opt.json) {
    LT_AUTO_BUF(json, 4 * LT_JSON_MAX_BYTES);
    lt_run_result_json(result, s->app.secrets, &json);
    lt_console_output(&s->console, lt_buf_view(&json));
    return;
  }
  run_print_cuts(&s->console, request, result);
  if (result->kind != LT_VALUE_UNDEFINED) { /* a Python program may have set one before it failed */
    lt_console_output(&s->console, lt_buf_view(&result->value));
  }
  if (result->unread.n > 0 && result->status == LT_OK) {
    lt_console_lines(&s->console, "error: ", lt_buf_view(&result->unread));
  }
  if (result->status != LT_OK) {
    run_print_failure(&s->console, result);
  }
}

/* Who reads output that was cut must not take it for all. */
static int run_exit_code(const lt_run_result *result) {
  bool is_incomplete = result->unread.n > 0 || result->output_cut;
  lt_status status = result->status == LT_OK && is_incomplete ? LT_E_PROGRAM : result->status;
  return status == LT_OK            ? LT_EXIT_OK
         : status == LT_E_TIMEOUT   ? LT_EXIT_TIMEOUT
         : status == LT_E_CANCELLED ? LT_EXIT_INTERRUPTED
                                    : LT_EXIT_FAILED;
}

/* --- The command -------------------------------------------------------------------------------------------------- */
/* The settings of the program, without its caller. */
static lt_run_request run_request(lt_command_session *s, const run_job *j) {
  const lt_config *config = &s->app.config;
  lt_run_request request = {
      .code = lt_buf_view(&j->code),
      .lang = j->lang,
      .input = lt_buf_view(&j->input),
      .timeout_ms = (uint64_t)(j->opt.timeout_ms > 0 ? j->opt.timeout_ms : config->timeout_ms),
      .has_fixed_timeout = j->opt.timeout_ms > 0,
      .memory_bytes = (uint64_t)(j->opt.memory_mb > 0 ? j->opt.memory_mb : config->memory_mb) * LT_MIB,
      .max_output_bytes = run_output_max_bytes(j, config),
      .max_log_bytes = run_stream_max_bytes(j, STDERR_FILENO),
      .modules = j->modules.list,
      .module_count = j->modules.count,
      .cancel = &s->app.cancel,
      .on_text = j->opt.json ? NULL : run_on_text,
      .arg = s,
  };
  request.functions = lt_host_functions(lt_toolbox_host(s->app.toolbox), &request.function_count);
  return request;
}

static lt_status run_with_runner(lt_command_session *s, run_job *j, const lt_run_request *request,
                                 lt_err *err) LT_YIELDS {
  lt_runner *runner = lt_toolbox_runner(s->app.toolbox, j->opt.runner, j->lang, err);
  if (runner == NULL) {
    return err->status;
  }
  lt_run_result result;
  lt_run_result_init(&result);
  lt_status status = lt_runner_run(runner, request, &result, err);
  if (status == LT_OK) {
    run_print_result(s, j, request, &result);
    j->exit_code = run_exit_code(&result);
  }
  lt_run_result_release(&result);
  return status;
}

static lt_status run_program(lt_command_session *s, run_job *j, lt_err *err) LT_YIELDS {
  lt_run_request request = run_request(s, j);
  const lt_toolbox_run_options how = {
      .approver = lt_approver_new(s->app.loop, &s->console, j->opt.yes),
      .journal = j->opt.journal,
  };
  if (how.approver == NULL) {
    return lt_fail(err, LT_E_NOMEM, "out of memory");
  }
  lt_approver_set_preview(how.approver, s->app.door, lt_toolbox_policy(s->app.toolbox));
  lt_toolbox_run run;
  lt_run_llm llm;
  lt_status status = lt_run_llm_init(&llm, &s->app, &request, err);
  status = status == LT_OK ? lt_toolbox_begin(s->app.toolbox, &how, &request, &run, err) : status;
  if (status == LT_OK) {
    request.caller = &run.caller;
    lt_activity_follow(s->activity, &run.caller);
    lt_activity_say(s->activity, LT_STR("running the program"), false);
    status = run_with_runner(s, j, &request, err);
    lt_activity_say(s->activity, LT_STR(""), false);
    lt_toolbox_end(&run);
  }
  lt_run_llm_release(&llm);
  lt_approver_free(how.approver);
  return status;
}

static int run_work(lt_command_session *s, void *arg) LT_YIELDS {
  run_job *j = arg;
  LT_ERR_VAR(err);
  j->exit_code = LT_EXIT_FAILED;
  lt_status status = lt_modules_load(&s->app, &j->modules, &err);
  if (status == LT_OK) {
    status = run_program(s, j, &err);
  }
  if (status != LT_OK) {
    lt_console_format(&s->console, "lathe run: %s", lt_err_msg(&err));
  }
  lt_modules_release(&j->modules);
  return status == LT_E_CONFIG ? LT_EXIT_CONFIG : j->exit_code;
}

/* Without a program before `--` the first word after it is the FILE: its name may begin with "-". */
static void run_take_file_of_words(run_options *opt) {
  if (opt->file == NULL && opt->code == NULL && opt->words.count > 0) {
    opt->file = opt->words.at[0];
    opt->words.at++;
    opt->words.is_given = --opt->words.count > 0;
  }
}

static lt_status run_configure(lt_command_session *s, void *arg, lt_err *err) {
  const run_job *j = arg;
  (void)err;
  if (j->opt.is_unchecked) {
    s->app.config.typescript.check = 0;
  }
  return LT_OK;
}

/* The compiler starts beside the servers. */
static lt_status run_prepare(lt_command_session *s, void *arg, lt_err *err) LT_YIELDS {
  const run_job *j = arg;
  (void)err;
  bool is_embedded = j->opt.runner == NULL || strcmp(j->opt.runner, "quickjs") == 0;
  if (j->lang == LT_LANG_TYPESCRIPT && is_embedded) {
    lt_toolbox_warm_types(s->app.toolbox);
  }
  return LT_OK;
}

static int run_command(void *arg) {
  run_job j = {.opt = *(const run_options *)arg};
  run_take_file_of_words(&j.opt);
  if (j.opt.file != NULL && j.opt.code != NULL) {
    fprintf(stderr, "lathe run: " ONE_PROGRAM "\n");
    return LT_EXIT_USAGE;
  }
  lt_buf_init(&j.code, 2 * LT_RUN_CODE_MAX_BYTES);
  lt_buf_init(&j.input, LT_JSON_MAX_BYTES);
  int code = LT_EXIT_USAGE;
  if (run_choose_language(&j.opt, &j.lang) && run_read_input(&j) && run_read_code(&j)) {
    code = lt_command_session_run(&j.opt.sources, &(lt_command_plan){
                                                      .work = run_work,
                                                      .check = run_configure,
                                                      .loaded = run_prepare,
                                                      .asks_for_servers = true,
                                                      .arg = &j,
                                                  });
  }
  lt_buf_release(&j.code);
  lt_buf_release(&j.input);
  return code;
}

const lt_command lt_run_command = {
    .name = "run",
    .summary = "Run a program against the configured tools",
    .about = "Run a program; it calls the tools of the configured MCP servers as functions.\n",
    .synopsis = "[FILE|-] [options] [-- ARGUMENTS]",
    .operand = {"FILE", "the program; \"-\" or nothing reads standard input", ONE_PROGRAM, false,
                LT_OPERAND_IS(run_options, file)},
    .rest = {.name = "-- ARGUMENTS",
             .help = "the program finds them in `input.args` (Python: `input_data[\"args\"]`); without FILE or\n-e "
                     "CODE the first one is the FILE",
             LT_OPERAND_IS_REST(run_options, words)},
    .options = run_option_rows,
    .option_count = sizeof run_option_rows / sizeof run_option_rows[0],
    .options_size = sizeof(run_options),
    .notes =
        "Standard output: what the program output, then its result (strings as they are, everything else as JSON).\n"
        "Standard error: log() and console lines, warnings, errors.\n"
        "Exit code: 0 ok, 1 the program failed, 2 usage, 3 configuration, 124 timeout, 130 interrupted.\n"
        "\n"
        "  lathe run -e 'parallel([{tool: \"memory.read_graph\", input: {}}])' --mcp-config .mcp.json\n",
    .run = run_command,
};
