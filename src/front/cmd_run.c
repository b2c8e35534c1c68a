/* lathe run: a program against the configured tools, no model. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "codec/json.h"
#include "front/args.h"
#include "front/command.h"
#include "front/file.h"
#include "front/session.h"
#include "runner/quickjs.h"

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
  bool help;
} options;

typedef struct job {
  options opt;
  lt_buf code;
  lt_lang lang;
  lt_run_module *modules;
  lt_buf *sources;
  size_t module_count;
} job;

static const char help[] =
    "Run a program; it calls the tools of the configured MCP servers as functions.\n"
    "\n"
    "  lathe run [FILE|-] [options]\n"
    "\n"
    "  FILE               the program; \"-\" or nothing reads standard input\n"
    "  -e, --eval CODE    the program itself\n"
    "  --lang js|ts       its language (default: by the file's extension, else js)\n"
    "  --runner quickjs   what runs it\n"
    "  --input JSON       what the program finds in `input`\n"
    "  --timeout MS       wall clock, tool calls included (default 30000, at most 600000)\n"
    "  --memory MB        the program's memory (default 64, at most 2048)\n"
    "  --config FILE      configuration (default: $LATHE_CONFIG, ./lathe.yaml, ~/.config/lathe/lathe.yaml)\n"
    "  --mcp-config FILE  servers in the form of other MCP clients (.mcp.json)\n"
    "  --json             one JSON object with result, outputs, logs, calls and error\n"
    "  -h, --help         this\n"
    "\n"
    "Standard output: what the program output, then its result (strings as they are, everything else as JSON).\n"
    "Standard error: log() and console lines, warnings, errors.\n"
    "Exit code: 0 ok, 1 the program failed, 2 usage, 3 configuration, 124 timeout.\n"
    "\n"
    "  lathe run -e 'parallel([{tool: \"memory.read_graph\", input: {}}])' --mcp-config .mcp.json\n";

/* --- What is asked ---------------------------------------------------------------------------- */
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

/* The language as said, or by the file's extension. */
static bool choose_language(const options *opt, lt_lang *ret_lang) {
  const char *lang = opt->lang;
  if (lang == NULL) {
    lang = ends_with(opt->file, ".ts") || ends_with(opt->file, ".mts") ? "ts"
           : ends_with(opt->file, ".py")                               ? "python"
                                                                       : "js";
  }
  if (strcmp(lang, "python") == 0 || (opt->runner != NULL && strcmp(opt->runner, "quickjs") != 0)) {
    fprintf(stderr, "lathe run: only the quickjs runner is built so far: use --lang js or --lang ts\n");
    return false;
  }
  if (strcmp(lang, "js") != 0 && strcmp(lang, "ts") != 0) {
    fprintf(stderr, "lathe run: --lang is js or ts, not \"%s\"\n", lang);
    return false;
  }
  *ret_lang = strcmp(lang, "ts") == 0 ? LT_LANG_TYPESCRIPT : LT_LANG_JAVASCRIPT;
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
  if (lt_file_read(opt->file != NULL ? opt->file : "-", &j->code, &err) != LT_OK) {
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

/* --- What comes out --------------------------------------------------------------------------- */
static void print_line(FILE *to, lt_str text) {
  fwrite(text.p != NULL ? text.p : "", 1, text.n, to);
  if (text.n == 0 || text.p[text.n - 1] != '\n') {
    fputc('\n', to);
  }
}

/* A string of the program as UTF-8: half a surrogate pair, which JavaScript allows, becomes U+FFFD. */
static void print_string(FILE *to, lt_str text) {
  size_t from = 0;
  for (size_t i = 0; i + 2 < text.n; i++) {
    if ((unsigned char)text.p[i] == 0xed && (unsigned char)text.p[i + 1] >= 0xa0) {
      fwrite(text.p + from, 1, i - from, to);
      fputs("\xef\xbf\xbd", to);
      i += 2;
      from = i + 1;
    }
  }
  print_line(to, lt_str_sub(text, from, text.n));
}

static void on_text(void *arg, lt_said said, lt_str text) {
  (void)arg;
  static const char *const prefixes[] = {
      [LT_SAID_LOG] = "[log] ", [LT_SAID_WARNING] = "[warn] ", [LT_SAID_ERROR] = "[error] "};
  if (said == LT_SAID_OUTPUT) {
    print_string(stdout, text);
    fflush(stdout);
  } else {
    fputs(prefixes[said], stderr);
    print_string(stderr, text);
  }
}

/* What has happened already must not be repeated by whoever tries again. */
static void print_calls(const lt_run_result *result) {
  if (result->calls == NULL) {
    return;
  }
  fputs("  tools called before:", stderr);
  unsigned shown = 0, more = 0;
  for (const lt_run_call *call = result->calls; call != NULL; call = call->next) {
    if (shown == 20) {
      more++;
      continue;
    }
    const char *how = !call->finished ? " (cut short)" : call->error.n > 0 ? " (failed)" : "";
    fprintf(stderr, "%s %.*s%s", shown++ > 0 ? "," : "", LT_STR_ARG(call->tool), how);
  }
  if (more > 0) {
    fprintf(stderr, " and %u more", more);
  }
  fputc('\n', stderr);
}

static void print_failure(const lt_run_result *result) {
  fputs("error: ", stderr);
  print_line(stderr, lt_buf_view(&result->error));
  if (result->line > 0 && result->context.n > 0) {
    fprintf(stderr, "  at %u:%u: %.*s\n", result->line, result->column, LT_STR_ARG(lt_buf_view(&result->context)));
  } else if (result->line > 0) {
    fprintf(stderr, "  at %u:%u\n", result->line, result->column);
  }
  print_calls(result);
}

static void print_cuts(const lt_run_result *result) {
  if (result->output_cut) {
    fprintf(stderr,
            "warning: the program output more than its limit: the rest was dropped "
            "(sandbox.maxOutputBytes; a result is not cut)\n");
  }
  if (result->log_cut) {
    fprintf(stderr, "warning: the program logged more than %lu KiB: the rest was dropped\n",
            LT_RUN_LOG_MAX_BYTES / LT_KIB);
  }
}

static void print_result(const job *j, const lt_run_result *result) {
  if (j->opt.json) {
    lt_buf json;
    lt_buf_init(&json, 4 * LT_JSON_MAX_BYTES);
    lt_run_result_json(result, NULL, &json);
    print_line(stdout, lt_buf_view(&json));
    lt_buf_release(&json);
    fflush(stdout);
    return;
  }
  print_cuts(result);
  if (result->status != LT_OK) {
    print_failure(result);
  } else if (result->kind != LT_VALUE_UNDEFINED) {
    print_string(stdout, lt_buf_view(&result->value));
  }
  fflush(stdout); /* servers may take their time to end */
}

static int exit_code_of(lt_status status) {
  return status == LT_OK            ? LT_EXIT_OK
         : status == LT_E_TIMEOUT   ? LT_EXIT_TIMEOUT
         : status == LT_E_CANCELLED ? LT_EXIT_INTERRUPTED
                                    : LT_EXIT_FAILED;
}

/* --- The work --------------------------------------------------------------------------------- */
static bool load_modules(job *j, const lt_config *config) {
  size_t count = config->module_count;
  j->modules = lt_mem_zalloc(count + 1, sizeof *j->modules);
  j->sources = lt_mem_zalloc(count + 1, sizeof *j->sources);
  if (j->modules == NULL || j->sources == NULL) {
    fprintf(stderr, "lathe run: out of memory\n");
    return false;
  }
  for (size_t i = 0; i < count; i++) {
    lt_err err = LT_ERR_INIT;
    lt_buf_init(&j->sources[i], LT_RUN_CODE_MAX_BYTES);
    j->module_count = i + 1;
    if (lt_file_read(config->modules[i].path, &j->sources[i], &err) != LT_OK) {
      fprintf(stderr, "lathe run: module \"%s\": %s\n", config->modules[i].name, lt_err_msg(&err));
      return false;
    }
    j->modules[i] = (lt_run_module){.name = lt_str_of(config->modules[i].name), .source = lt_buf_view(&j->sources[i])};
  }
  return true;
}

static void release_modules(job *j) {
  for (size_t i = 0; i < j->module_count; i++) {
    lt_buf_release(&j->sources[i]);
  }
  lt_mem_free(j->modules);
  lt_mem_free(j->sources);
}

static int run_program(lt_session *s, job *j, lt_quickjs *engine) {
  const lt_config *config = &s->config;
  lt_run_request request = {
      .code = lt_buf_view(&j->code),
      .lang = j->lang,
      .input = lt_str_of(j->opt.input),
      .timeout_ms = (uint64_t)(j->opt.timeout_ms > 0 ? j->opt.timeout_ms : config->timeout_ms),
      .memory_bytes = j->opt.memory_mb > 0 ? (uint64_t)j->opt.memory_mb * LT_MIB : (uint64_t)config->memory_bytes,
      .max_output_bytes = (size_t)config->max_output_bytes,
      .modules = j->modules,
      .module_count = j->module_count,
      .cancel = &s->cancel,
      .on_text = j->opt.json ? NULL : on_text,
  };
  lt_err err = LT_ERR_INIT;
  lt_run_result result;
  lt_run_result_init(&result);
  int code = LT_EXIT_FAILED;
  if (lt_quickjs_run(engine, &request, &result, &err) != LT_OK) {
    fprintf(stderr, "lathe run: %s\n", lt_err_msg(&err));
  } else {
    print_result(j, &result);
    code = exit_code_of(result.status);
  }
  lt_run_result_release(&result);
  return code;
}

static int work(lt_session *s, void *arg) {
  job *j = arg;
  lt_err err = LT_ERR_INIT;
  lt_quickjs *engine = NULL;
  int code = LT_EXIT_CONFIG;
  if (load_modules(j, &s->config)) {
    code = LT_EXIT_FAILED;
    if (lt_quickjs_new(s->loop, s->door, 0, &engine, &err) != LT_OK) {
      fprintf(stderr, "lathe run: %s\n", lt_err_msg(&err));
    } else {
      code = run_program(s, j, engine);
    }
  }
  lt_quickjs_free(engine);
  release_modules(j);
  return code;
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
    code = lt_session_main(&sources, work, &j);
  }
  lt_buf_release(&j.code);
  return code;
}

const lt_command lt_command_run = {"run", "Run a program against the configured tools", help, run};
