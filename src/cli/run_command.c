/* lathe run: a program against the configured tools, no model. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "json/json.h"
#include "cli/approver.h"
#include "cli/args.h"
#include "cli/command.h"
#include "cli/input_file.h"
#include "app/modules.h"
#include "app/runners.h"
#include "cli/command_session.h"

typedef struct options {
  const char *code;
  const char *file;
  const char *lang;
  const char *runner;
  const char *input;
  const char *config;
  const char *mcp_config;
  int64_t timeout_ms; /* 0: the configuration's */
  int64_t memory_mb;
  bool json;
  bool yes;
  bool journal;
  bool help;
} options;

typedef struct job {
  options opt;
  lt_buf code;
  lt_lang lang;
  lt_modules modules;
  int exit_code;
} job;

static const char help[] =
    "Run a program; it calls the tools of the configured MCP servers as functions.\n"
    "\n"
    "  lathe run [FILE|-] [options]\n"
    "\n"
    "  FILE               the program; \"-\" or nothing reads standard input\n"
    "  -e, --eval CODE    the program itself\n"
    "  --lang js|ts|python\n"
    "                     its language (default: by the file's extension, else js)\n"
    "  --runner quickjs|deno|python\n"
    "                     what runs it (default: quickjs, in the sandbox built in, or as typescript.runner says;\n"
    "                     python for Python)\n"
    "  --input JSON       what the program finds in `input` (Python: `input_data`)\n"
    "  --timeout MS       wall clock, tool calls included (default 30000, at most 600000)\n"
    "  --memory MB        the program's memory (default 64, Python 512; at most 2048)\n"
    "  --config FILE      configuration (default: $LATHE_CONFIG, ./lathe.yaml, ~/.config/lathe/lathe.yaml)\n"
    "  --mcp-config FILE  servers in the form of other MCP clients (.mcp.json)\n"
    "  --json             one JSON object with result, outputs, logs, calls and error\n"
    "  -y, --yes          approve calls that would be asked about on the terminal (not those that are denied)\n"
    "  --journal          record the calls in the store (default: they are in the --json report only)\n"
    "  -h, --help         this\n"
    "\n"
    "Standard output: what the program output, then its result (strings as they are, everything else as JSON).\n"
    "Standard error: log() and console lines, warnings, errors.\n"
    "Exit code: 0 ok, 1 the program failed, 2 usage, 3 configuration, 124 timeout, 130 interrupted.\n"
    "\n"
    "  lathe run -e 'parallel([{tool: \"memory.read_graph\", input: {}}])' --mcp-config .mcp.json\n";

/* --- What is asked ------------------------------------------------------------------------------------------------ */
static bool read_options(options *opt, int argc, char **argv) {
  const lt_arg args[] = {
      {"--eval", "-e", LT_ARG_TEXT, &opt->code, 0, 0},
      {"--lang", NULL, LT_ARG_TEXT, &opt->lang, 0, 0},
      {"--runner", NULL, LT_ARG_TEXT, &opt->runner, 0, 0},
      {"--input", NULL, LT_ARG_TEXT, &opt->input, 0, 0},
      {"--timeout", NULL, LT_ARG_NUMBER, &opt->timeout_ms, 1, LT_RUN_TIMEOUT_MAX_MS},
      {"--memory", NULL, LT_ARG_NUMBER, &opt->memory_mb, LT_RUN_MEMORY_MIN_BYTES / LT_MIB,
       LT_RUN_MEMORY_MAX_BYTES / LT_MIB},
      {"--config", NULL, LT_ARG_TEXT, &opt->config, 0, 0},
      {"--mcp-config", NULL, LT_ARG_TEXT, &opt->mcp_config, 0, 0},
      {"--json", NULL, LT_ARG_FLAG, &opt->json, 0, 0},
      {"--yes", "-y", LT_ARG_FLAG, &opt->yes, 0, 0},
      {"--journal", NULL, LT_ARG_FLAG, &opt->journal, 0, 0},
      {"--help", "-h", LT_ARG_FLAG, &opt->help, 0, 0},
  };
  int operands = 0;
  if (!lt_args_read("run", argc, argv, args, sizeof args / sizeof args[0], &operands)) {
    return false;
  }
  if (operands > 1 || (operands == 1 && opt->code != NULL)) {
    fprintf(stderr, "lathe run: one program at a time: FILE, - or -e CODE\n");
    return false;
  }
  opt->file = operands == 1 ? argv[1] : NULL;
  return true;
}

static bool ends_with(const char *text, const char *suffix) {
  return text != NULL && lt_str_ends(lt_str_of(text), lt_str_of(suffix));
}

/* By the file's extension; where that says nothing, what the runner that was asked for speaks. */
static lt_lang guess_language(const options *opt) {
  static const struct {
    const char *extension;
    lt_lang lang;
  } known[] = {{".ts", LT_LANG_TYPESCRIPT},
               {".mts", LT_LANG_TYPESCRIPT},
               {".py", LT_LANG_PYTHON},
               {".js", LT_LANG_JAVASCRIPT},
               {".mjs", LT_LANG_JAVASCRIPT}};
  for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
    if (ends_with(opt->file, known[i].extension)) {
      return known[i].lang;
    }
  }
  return opt->runner != NULL && strcmp(opt->runner, "python") == 0 ? LT_LANG_PYTHON : LT_LANG_JAVASCRIPT;
}

static bool read_language(const char *text, lt_lang *ret_lang) {
  static const lt_lang langs[] = {LT_LANG_JAVASCRIPT, LT_LANG_TYPESCRIPT, LT_LANG_PYTHON};
  for (size_t i = 0; i < sizeof langs / sizeof langs[0]; i++) {
    if (strcmp(text, lt_runners_language(langs[i])) == 0) {
      *ret_lang = langs[i];
      return true;
    }
  }
  return false;
}

/* The language as said, or guessed; and whether the runner that was asked for speaks it. */
static bool choose_language(const options *opt, lt_lang *ret_lang) {
  lt_err err = LT_ERR_INIT;
  lt_lang lang = guess_language(opt);
  if (opt->lang != NULL && !read_language(opt->lang, &lang)) {
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

static bool read_code(job *j) {
  const options *opt = &j->opt;
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

static bool check_input(const options *opt) {
  lt_err err = LT_ERR_INIT;
  if (opt->input != NULL && lt_json_check(lt_str_of(opt->input), &err) != LT_OK) {
    fprintf(stderr, "lathe run: --input is not JSON: %s\n", lt_err_msg(&err));
    return false;
  }
  return true;
}

/* --- What comes out ----------------------------------------------------------------------------------------------- */
static void on_text(void *arg, lt_said said, lt_str text) {
  static const char *const prefixes[] = {
      [LT_SAID_LOG] = "[log] ", [LT_SAID_WARNING] = "[warn] ", [LT_SAID_ERROR] = "[error] "};
  const lt_console *console = &((lt_command_session *)arg)->console;
  if (said == LT_SAID_OUTPUT) {
    lt_console_output(console, text);
  } else {
    lt_console_line(console, prefixes[said], text);
  }
}

/* What has happened already must not be repeated by whoever tries again. */
static void print_calls(const lt_console *console, const lt_run_result *result) {
  lt_buf line;
  lt_buf_init(&line, LT_MIB);
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
  lt_buf_release(&line);
}

static void print_failure(const lt_console *console, const lt_run_result *result) {
  lt_console_line(console, "error: ", lt_buf_view(&result->error));
  if (result->line > 0) {
    char place[48];
    snprintf(place, sizeof place, "  at %u:%u%s", result->line, result->column, result->context.n > 0 ? ": " : "");
    lt_console_line(console, place, lt_buf_view(&result->context));
  }
  print_calls(console, result);
}

static void print_cuts(const lt_console *console, const lt_run_result *result) {
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

static void print_result(const lt_command_session *s, const job *j, const lt_run_result *result) {
  if (j->opt.json) {
    lt_buf json;
    lt_buf_init(&json, 4 * LT_JSON_MAX_BYTES);
    lt_run_result_json(result, s->app.secrets, &json);
    lt_console_output(&s->console, lt_buf_view(&json));
    lt_buf_release(&json);
    return;
  }
  print_cuts(&s->console, result);
  if (result->kind != LT_VALUE_UNDEFINED) { /* a Python program may have set one before it failed */
    lt_console_output(&s->console, lt_buf_view(&result->value));
  }
  if (result->status != LT_OK) {
    print_failure(&s->console, result);
  }
}

static int exit_code_of(lt_status status) {
  return status == LT_OK            ? LT_EXIT_OK
         : status == LT_E_TIMEOUT   ? LT_EXIT_TIMEOUT
         : status == LT_E_CANCELLED ? LT_EXIT_INTERRUPTED
                                    : LT_EXIT_FAILED;
}

/* --- The work ----------------------------------------------------------------------------------------------------- */
/* What the program has, but for its caller. */
static lt_run_request request_of(lt_command_session *s, const job *j) {
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
      .on_text = j->opt.json ? NULL : on_text,
      .arg = s,
  };
  request.functions = lt_host_functions(lt_toolbox_host(s->app.toolbox), &request.function_count);
  return request;
}

static lt_status run_as(lt_command_session *s, job *j, const lt_run_request *request, lt_err *err) LT_YIELDS {
  lt_runner *runner = lt_toolbox_runner(s->app.toolbox, j->opt.runner, j->lang, err);
  if (runner == NULL) {
    return err->status;
  }
  lt_run_result result;
  lt_run_result_init(&result);
  lt_status status = runner->run(runner, request, &result, err);
  if (status == LT_OK) {
    print_result(s, j, &result);
    j->exit_code = exit_code_of(result.status);
  }
  lt_run_result_release(&result);
  return status;
}

static lt_status run_program(lt_command_session *s, job *j, lt_err *err) LT_YIELDS {
  lt_run_request request = request_of(s, j);
  const lt_toolbox_run_options how = {
      .approver = lt_approver_new(s->app.loop, &s->console, j->opt.yes),
      .journal = j->opt.journal,
  };
  if (how.approver == NULL) {
    return lt_fail(err, LT_E_NOMEM, "out of memory");
  }
  lt_toolbox_run run;
  lt_status status = lt_toolbox_begin(s->app.toolbox, &how, &request, &run, err);
  if (status == LT_OK) {
    request.caller = &run.caller;
    status = run_as(s, j, &request, err);
    lt_toolbox_end(s->app.toolbox, &run);
  }
  lt_approver_free(how.approver);
  return status;
}

static int work(lt_command_session *s, void *arg) LT_YIELDS {
  job *j = arg;
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

static int run(int argc, char **argv) {
  job j = {0};
  if (!read_options(&j.opt, argc, argv)) {
    return LT_EXIT_USAGE;
  }
  if (j.opt.help) {
    fputs(help, stdout);
    return LT_EXIT_OK;
  }
  lt_buf_init(&j.code, 2 * LT_RUN_CODE_MAX_BYTES);
  int code = LT_EXIT_USAGE;
  if (choose_language(&j.opt, &j.lang) && check_input(&j.opt) && read_code(&j)) {
    lt_config_sources sources = {.config_file = j.opt.config, .mcp_config_file = j.opt.mcp_config};
    code = lt_command_session_run(&sources, &(lt_command_plan){.work = work, .arg = &j});
  }
  lt_buf_release(&j.code);
  return code;
}

const lt_command lt_run_command = {"run", "Run a program against the configured tools", help, run};
