/* lathe repl: a prompt for programs. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/commands.h"
#include "cli/repl.h"

static const lt_option repl_option_rows[] = {
    {"--continue", "-c", NULL, "go on with the last session: its variables, and a program that was cut short",
     LT_OPTION_IS_FLAG(lt_repl_options, goes_on)},
    {"--session", "-s", "NAME",
     "the session of that name, which begins with its first program (execute_code has them, too)",
     LT_OPTION_IS_TEXT(lt_repl_options, session)},
    {"--lang", NULL, "js|ts", "the programs' language (default: js, which may have types, too)",
     LT_OPTION_IS_TEXT(lt_repl_options, lang)},
    {"--timeout", NULL, "MS", "wall clock of a program, tool calls included (default 30000, at most 600000)",
     LT_OPTION_IS_NUMBER(lt_repl_options, timeout_ms, 0, 1, LT_RUN_TIMEOUT_MAX_MS)},
    LT_OPTION_CONFIG(lt_repl_options, sources),
    LT_OPTION_MCP_CONFIG(lt_repl_options, sources),
    {"--no-check", NULL, NULL, "run TypeScript without a check of its types (typescript.check: false)",
     LT_OPTION_IS_FLAG(lt_repl_options, is_unchecked)},
    {"--json", NULL, NULL, "one JSON object a program with result, outputs, logs and error; no dialogue",
     LT_OPTION_IS_FLAG(lt_repl_options, json)},
    {"--yes", "-y", NULL, "approve calls that would be asked about (not those that are denied)",
     LT_OPTION_IS_FLAG(lt_repl_options, yes)},
};

static lt_status repl_check(lt_command_session *s, void *arg, lt_err *err) {
  lt_repl *r = arg;
  if (r->options->is_unchecked) {
    s->app.config.typescript.check = 0;
  }
  return lt_models_fill(&s->app.config, &r->chat.models, err);
}

/* Ctrl-C stops a program as often as it takes. It is the end only where there is no dialogue. */
static bool repl_on_interrupt(lt_command_session *s, void *arg) {
  lt_repl *r = arg;
  (void)s;
  bool is_taken = lt_chat_interrupt(&r->chat);
  return r->is_dialogue && (is_taken || r->chat.busy);
}

static int repl_work(lt_command_session *s, void *arg) LT_YIELDS {
  lt_repl *r = arg;
  LT_ERR_VAR(err);
  r->session = s;
  int code = LT_EXIT_FAILED;
  lt_status status = lt_repl_open(r, &err);
  if (status != LT_OK) {
    lt_console_line(&s->console, "lathe repl: ", lt_str_of(lt_err_msg(&err)));
    code = status == LT_E_CONFIG ? LT_EXIT_CONFIG : status == LT_E_NOTFOUND ? LT_EXIT_USAGE : LT_EXIT_FAILED;
  } else {
    code = r->is_dialogue ? lt_repl_talk(r) : lt_repl_read_pipe(r);
  }
  lt_repl_close(r);
  return code;
}

static bool repl_check_name(const char *name) {
  size_t n = strlen(name);
  if (n > 0 && n <= LT_SESSION_NAME_BYTES) {
    return true;
  }
  fprintf(stderr, "lathe repl: a session's name has 1 to %d bytes\n", LT_SESSION_NAME_BYTES);
  return false;
}

static bool repl_read_options(lt_repl *r) {
  const lt_repl_options *opt = r->options;
  r->is_typescript = opt->lang != NULL && strcmp(opt->lang, "ts") == 0;
  r->is_dialogue = isatty(STDIN_FILENO);
  if (opt->lang != NULL && !r->is_typescript && strcmp(opt->lang, "js") != 0) {
    fprintf(stderr, "lathe repl: --lang is js or ts, not \"%s\": variables stay in the sandbox built in\n", opt->lang);
    return false;
  }
  if (r->is_dialogue && opt->json) {
    fprintf(stderr, "lathe repl: --json wants programs on standard input: lathe repl --json < FILE\n");
    return false;
  }
  return opt->session == NULL || repl_check_name(opt->session);
}

static int repl_command_run(void *arg) {
  lt_repl r = {.options = arg};
  if (!repl_read_options(&r)) {
    return LT_EXIT_USAGE;
  }
  return lt_command_session_run(&r.options->sources, &(lt_command_plan){
                                                         .work = repl_work,
                                                         .check = repl_check,
                                                         .on_interrupt = repl_on_interrupt,
                                                         .asks_for_servers = true,
                                                         .arg = &r,
                                                     });
}

const lt_command lt_repl_command = {
    .name = "repl",
    .summary = "Type programs that call the configured tools, and see their values",
    .about = "Type JavaScript that calls the configured tools, and see the value of each program. Variables stay.\n",
    .synopsis = "[options]",
    .operand = {.rule = "no word is wanted: programs are typed, or come on standard input"},
    .options = repl_option_rows,
    .option_count = sizeof repl_option_rows / sizeof repl_option_rows[0],
    .options_size = sizeof(lt_repl_options),
    .notes =
        "Where standard input is no terminal, programs are read from it. A program ends at the first line at which it "
        "can end.\n"
        "Standard output: what a program output, then its value. Standard error: log() and console lines, errors.\n"
        "Exit code: 0 ok, 1 a program from standard input failed, 2 usage, 3 configuration, 130 interrupted.\n",
    .run = repl_command_run,
};
