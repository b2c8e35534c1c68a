/* lathe run: runs a program with the configured tools, without a model. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "json/json.h"
#include "cli/approver.h"
#include "cli/commands.h"
#include "cli/input_file.h"
#include "app/modules.h"
#include "app/runners.h"
#include "cli/command_session.h"

typedef struct run_options {
  const char *code;
  const char *file;
  const char *lang;
  const char *runner;
  const char *input;
  lt_config_sources sources;
  int64_t timeout_ms; /* 0: the configuration's */
  int64_t memory_mb;
  bool json;
  bool yes;
  bool journal;
} run_options;

static const lt_option run_option_rows[] = {
    {"--eval", "-e", "CODE", "the program itself", LT_OPTION_IS_TEXT(run_options, code)},
    {"--lang", NULL, "js|ts|python", "its language (default: by the file's extension, else js)",
     LT_OPTION_IS_TEXT(run_options, lang)},
    {"--runner", NULL, LT_RUNNER_IDS,
     "what runs it (default: quickjs, in the sandbox built in, or as typescript.runner says;\n"
     "python for Python)",
     LT_OPTION_IS_TEXT(run_options, runner)},
    {"--input", NULL, "JSON", "what the program finds in `input` (Python: `input_data`)",
     LT_OPTION_IS_TEXT(run_options, input)},
    {"--timeout", NULL, "MS", "wall clock, tool calls included (default 30000, at most 600000)",
     LT_OPTION_IS_NUMBER(run_options, timeout_ms, 0, 1, LT_RUN_TIMEOUT_MAX_MS)},
    {"--memory", NULL, "MB", "the program's memory (default 64, Python 512; at most 2048)",
     LT_OPTION_IS_NUMBER(run_options, memory_mb, 0, LT_RUN_MEMORY_MIN_BYTES / LT_MIB,
                         LT_RUN_MEMORY_MAX_BYTES / LT_MIB)},
    LT_OPTION_CONFIG(run_options, sources),
    LT_OPTION_MCP_CONFIG(run_options, sources),
    {"--json", NULL, NULL, "one JSON object with result, outputs, logs, calls and error",
     LT_OPTION_IS_FLAG(run_options, json)},
    {"--yes", "-y", NULL, "approve calls that would be asked about on the terminal (not those that are denied)",
     LT_OPTION_IS_FLAG(run_options, yes)},
    {"--journal", NULL, NULL, "record the calls in the store (default: they are in the --json report only)",
     LT_OPTION_IS_FLAG(run_options, journal)},
};

#define ONE_PROGRAM "one program at a time: FILE, - or -e CODE"

typedef struct run_job {
  run_options opt;
  lt_buf code;
  lt_lang lang;
  lt_modules modules;
  int exit_code;
} run_job;

/* --- Options ------------------------------------------------------------------------------------------------------ */
static bool run_has_suffix(const char *text, const char *suffix) {
  return text != NULL && lt_str_ends(lt_str_of(text), lt_str_of(suffix));
}

/* Guesses the language by the file's extension, or else by the chosen runner. */
static lt_lang run_guess_language(const run_options *opt) {
  static const struct {
    const char *extension;
    lt_lang lang;
  } known[] = {{".ts", LT_LANG_TYPESCRIPT},
               {".mts", LT_LANG_TYPESCRIPT},
               {".py", LT_LANG_PYTHON},
               {".js", LT_LANG_JAVASCRIPT},
               {".mjs", LT_LANG_JAVASCRIPT}};
  for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
    if (run_has_suffix(opt->file, known[i].extension)) {
      return known[i].lang;
    }
  }
  return opt->runner != NULL && strcmp(opt->runner, "python") == 0 ? LT_LANG_PYTHON : LT_LANG_JAVASCRIPT;
}

static bool run_find_language(const char *text, lt_lang *ret_lang) {
  static const lt_lang langs[] = {LT_LANG_JAVASCRIPT, LT_LANG_TYPESCRIPT, LT_LANG_PYTHON};
  for (size_t i = 0; i < sizeof langs / sizeof langs[0]; i++) {
    if (strcmp(text, lt_runners_language(langs[i])) == 0) {
      *ret_lang = langs[i];
      return true;
    }
  }
  return false;
}

/* Finds the language, given or guessed, and checks that the chosen runner speaks it. */
static bool run_choose_language(const run_options *opt, lt_lang *ret_lang) {
  lt_err err = LT_ERR_INIT;
  lt_lang lang = run_guess_language(opt);
  if (opt->lang != NULL && !run_find_language(opt->lang, &lang)) {
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

static bool run_read_code(run_job *j) {
  const run_options *opt = &j->opt;
  lt_err err = LT_ERR_INIT;
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
  return true;
}

static bool run_check_input(const run_options *opt) {
  lt_err err = LT_ERR_INIT;
  if (opt->input != NULL && lt_json_check(lt_str_of(opt->input), &err) != LT_OK) {
    fprintf(stderr, "lathe run: --input is not JSON: %s\n", lt_err_msg(&err));
    return false;
  }
  return true;
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

/* Lists the calls that were made, so that a second try does not repeat them. */
static void run_print_calls(const lt_console *console, const lt_run_result *result) {
  LT_AUTO_BUF(line, LT_MIB);
  unsigned shown = 0, more = 0;
  for (const lt_run_call *call = result->calls; call != NULL; call = call->next) {
    if (shown == 20) {
      more++;
      continue;
    }
    lt_buf_addc(&line, shown++ > 0 ? ", " : "");
    lt_buf_add(&line, call->tool);
    lt_buf_addc(&line, !call->finished ? " (cut short)" : call->error.n > 0 ? " (failed)" : "");
  }
  if (more > 0) {
    lt_buf_printf(&line, " and %u more", more);
  }
  if (shown > 0) {
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

static void run_print_cuts(const lt_console *console, const lt_run_result *result) {
  if (result->output_cut) {
    lt_console_format(console,
                      "warning: the program output more than its limit: the rest was dropped "
                      "(sandbox.maxOutputBytes; a result is not cut)");
  }
  if (result->log_cut) {
    lt_console_format(console, "warning: the program logged more than %lu KiB: the rest was dropped",
                      LT_RUN_LOG_MAX_BYTES / LT_KIB);
  }
}

static void run_print_result(const lt_command_session *s, const run_job *j, const lt_run_result *result) {
  if (j->opt.json) {
    LT_AUTO_BUF(json, 4 * LT_JSON_MAX_BYTES);
    lt_run_result_json(result, s->app.secrets, &json);
    lt_console_output(&s->console, lt_buf_view(&json));
    return;
  }
  run_print_cuts(&s->console, result);
  if (result->kind != LT_VALUE_UNDEFINED) { /* a Python program may have set one before it failed */
    lt_console_output(&s->console, lt_buf_view(&result->value));
  }
  if (result->status != LT_OK) {
    run_print_failure(&s->console, result);
  }
}

static int run_exit_code(lt_status status) {
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
      .input = lt_str_of(j->opt.input),
      .timeout_ms = (uint64_t)(j->opt.timeout_ms > 0 ? j->opt.timeout_ms : config->timeout_ms),
      .memory_bytes = (uint64_t)(j->opt.memory_mb > 0 ? j->opt.memory_mb : config->memory_mb) * LT_MIB,
      .max_output_bytes = (size_t)config->max_output_bytes,
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
  lt_status status = runner->run(runner, request, &result, err);
  if (status == LT_OK) {
    run_print_result(s, j, &result);
    j->exit_code = run_exit_code(result.status);
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
  lt_status status = lt_toolbox_begin(s->app.toolbox, &how, &request, &run, err);
  if (status == LT_OK) {
    request.caller = &run.caller;
    status = run_with_runner(s, j, &request, err);
    lt_toolbox_end(&run);
  }
  lt_approver_free(how.approver);
  return status;
}

static int run_work(lt_command_session *s, void *arg) LT_YIELDS {
  run_job *j = arg;
  lt_err err = LT_ERR_INIT;
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

static int run_command(void *arg) {
  run_job j = {.opt = *(const run_options *)arg};
  if (j.opt.file != NULL && j.opt.code != NULL) {
    fprintf(stderr, "lathe run: " ONE_PROGRAM "\n");
    return LT_EXIT_USAGE;
  }
  lt_buf_init(&j.code, 2 * LT_RUN_CODE_MAX_BYTES);
  int code = LT_EXIT_USAGE;
  if (run_choose_language(&j.opt, &j.lang) && run_check_input(&j.opt) && run_read_code(&j)) {
    code = lt_command_session_run(&j.opt.sources, &(lt_command_plan){.work = run_work, .arg = &j});
  }
  lt_buf_release(&j.code);
  return code;
}

const lt_command lt_run_command = {
    .name = "run",
    .summary = "Run a program against the configured tools",
    .about = "Run a program; it calls the tools of the configured MCP servers as functions.\n",
    .synopsis = "[FILE|-] [options]",
    .operand = {"FILE", "the program; \"-\" or nothing reads standard input", ONE_PROGRAM, false,
                LT_OPERAND_IS(run_options, file)},
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
