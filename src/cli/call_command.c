/* lathe call: calls one of the configured tools, as a program would. */
#include <stdio.h>

#include "cli/approver.h"
#include "cli/command_session.h"
#include "cli/commands.h"
#include "cli/input_file.h"
#include "json/json.h"

typedef struct call_options {
  const char *tool;
  const char *input; /* NULL: {} */
  lt_config_sources sources;
  int64_t timeout_ms; /* 0: the server's */
  bool json;
  bool yes;
  bool journal;
} call_options;

static const lt_option call_option_rows[] = {
    {"--timeout", NULL, "MS", "how long the tool may take (default: as the configuration says)",
     LT_OPTION_IS_NUMBER(call_options, timeout_ms, 0, 1, LT_RUN_TIMEOUT_MAX_MS)},
    {"--json", NULL, NULL, "print the value as JSON, a string, too", LT_OPTION_IS_FLAG(call_options, json)},
    LT_OPTION_CONFIG(call_options, sources),
    LT_OPTION_MCP_CONFIG(call_options, sources),
    {"--yes", "-y", NULL, "approve what would be asked about on the terminal (not what is denied)",
     LT_OPTION_IS_FLAG(call_options, yes)},
    {"--journal", NULL, NULL, "record the call in the store", LT_OPTION_IS_FLAG(call_options, journal)},
};

typedef struct call_job {
  call_options opt;
  lt_buf input;
  int exit_code;
} call_job;

/* A string is printed as it is, as the result of a program is. */
static lt_status call_print(const lt_command_session *s, const call_job *j, lt_str answer, lt_err *err) {
  LT_AUTO_ARENA(arena, 2 * LT_JSON_MAX_BYTES);
  lt_json_doc doc;
  lt_str text = answer;
  LT_TRY(lt_json_parse(&arena, answer, &doc, err));
  if (!j->opt.json && lt_json_typeof(lt_json_root(&doc)) == LT_JSON_STRING &&
      !lt_json_str(lt_json_root(&doc), &arena, &text)) {
    return lt_fail(err, LT_E_NOMEM, "no memory for the tool's answer");
  }
  lt_console_output(&s->console, text);
  return LT_OK;
}

static int call_exit_code(lt_status status) {
  return status == LT_OK            ? LT_EXIT_OK
         : status == LT_E_TIMEOUT   ? LT_EXIT_TIMEOUT
         : status == LT_E_CANCELLED ? LT_EXIT_INTERRUPTED
                                    : LT_EXIT_FAILED;
}

/* The tool's id by any of its names; a name of no tool is kept, and the door says what there is. */
static lt_status call_find_id(lt_command_session *s, const lt_caller *caller, const char *name, lt_buf *ret_id,
                              lt_err *err) {
  lt_catalog *catalog = NULL;
  LT_TRY(lt_door_catalog_of(s->app.door, caller, &catalog, err));
  const lt_tool *tool = lt_catalog_find_any(catalog, lt_str_of(name));
  lt_buf_add(ret_id, tool != NULL ? tool->id : lt_str_of(name));
  lt_catalog_unref(catalog);
  return lt_fail_if(err, ret_id->status, "the tool's name is too long");
}

static lt_status call_tool(lt_command_session *s, call_job *j, const lt_caller *caller, lt_err *err) LT_YIELDS {
  LT_AUTO_BUF(id, LT_MIB);
  LT_AUTO_BUF(answer, LT_JSON_MAX_BYTES);
  LT_TRY(call_find_id(s, caller, j->opt.tool, &id, err));
  const lt_invoke_options options = {
      .timeout_ms = (uint64_t)j->opt.timeout_ms,
      .cancel = &s->app.cancel,
      .caller = caller,
      .seq = 1,
  };
  lt_status status = lt_door_call(s->app.door, lt_buf_view(&id), lt_buf_view(&j->input), &options, &answer, err);
  j->exit_code = call_exit_code(status);
  if (status != LT_OK) {
    lt_console_line(&s->console, "error: ", lt_buf_view(&answer));
    return LT_OK;
  }
  return call_print(s, j, lt_buf_view(&answer), err);
}

static lt_status call_with_approver(lt_command_session *s, call_job *j, lt_approver *approver, lt_err *err) LT_YIELDS {
  lt_toolbox_run run;
  const lt_toolbox_run_options how = {.approver = approver, .journal = j->opt.journal};
  const lt_run_request defaults = {.timeout_ms = (uint64_t)s->app.config.timeout_ms,
                                   .memory_bytes = (uint64_t)s->app.config.memory_mb * LT_MIB,
                                   .cancel = &s->app.cancel};
  lt_approver_set_preview(approver, s->app.door, lt_toolbox_policy(s->app.toolbox));
  LT_TRY(lt_toolbox_begin(s->app.toolbox, &how, &defaults, &run, err));
  lt_activity_follow(s->activity, &run.caller);
  lt_status status = call_tool(s, j, &run.caller, err);
  lt_toolbox_end(&run);
  return status;
}

static int call_work(lt_command_session *s, void *arg) LT_YIELDS {
  call_job *j = arg;
  LT_ERR_VAR(err);
  lt_approver *approver = lt_approver_new(s->app.loop, &s->console, j->opt.yes);
  lt_status status =
      approver != NULL ? call_with_approver(s, j, approver, &err) : lt_fail(&err, LT_E_NOMEM, "out of memory");
  lt_approver_free(approver);
  if (status != LT_OK) {
    lt_console_format(&s->console, "lathe call: %s", lt_err_msg(&err));
    return status == LT_E_CONFIG ? LT_EXIT_CONFIG : LT_EXIT_FAILED;
  }
  return j->exit_code;
}

static int call_command(void *arg) {
  call_job j = {.opt = *(const call_options *)arg};
  LT_ERR_VAR(err);
  int code = LT_EXIT_USAGE;
  lt_buf_init(&j.input, LT_JSON_MAX_BYTES);
  if (j.opt.input != NULL && lt_input_file_read_json("the input", j.opt.input, &j.input, &err) != LT_OK) {
    fprintf(stderr, "lathe call: %s\n", lt_err_msg(&err));
  } else {
    code = lt_command_session_run(&j.opt.sources,
                                  &(lt_command_plan){.work = call_work, .arg = &j, .asks_for_servers = true});
  }
  lt_buf_release(&j.input);
  return code;
}

const lt_command lt_call_command = {
    .name = "call",
    .summary = "Call one tool and print its value",
    .about = "Call one tool, as a program would: the same rules, questions and budgets hold.\n",
    .synopsis = "TOOL [JSON|@FILE|-] [options]",
    .operand = {"TOOL", "its id, or its name in any language (lathe tools lists them)",
                "give a TOOL and at most one input, as one word of JSON, @FILE or -", true,
                LT_OPERAND_IS(call_options, tool)},
    .second = {"JSON", "its input: JSON, @FILE, or - for standard input (default {})", NULL, false,
               LT_OPERAND_IS(call_options, input)},
    .options = call_option_rows,
    .option_count = sizeof call_option_rows / sizeof call_option_rows[0],
    .options_size = sizeof(call_options),
    .notes =
        "Standard output: the tool's value (a string as it is, everything else as JSON).\n"
        "Exit code: 0 ok, 1 the call failed, 2 usage, 3 configuration, 124 timeout, 130 interrupted.\n"
        "\n"
        "  lathe call files.read_text_file '{\"path\": \"notes.md\"}'\n",
    .run = call_command,
};
