/* lathe chat: a conversation with an agent that has the configured tools. */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/args.h"
#include "cli/chat.h"
#include "cli/command.h"
#include "cli/input_file.h"

static const char help[] =
    "Talk to an agent that has the configured tools.\n"
    "\n"
    "  lathe chat [MESSAGE] [options]\n"
    "\n"
    "  MESSAGE            one message, one answer; without it, a dialogue at the terminal, or the message is read "
    "from\n"
    "                     standard input when that is none; with it, what a pipe or a file on standard input has is\n"
    "                     put behind it, after a blank line\n"
    "  -c, --conversation ID   go on with a conversation: its id, the beginning of that, or \"last\"\n"
    "  -m, --mode MODE    how the model works: classic (calls tools one by one), code (writes JavaScript), typescript\n"
    "                     (default: as the conversation was held, else the model's own, else defaults.mode, else "
    "classic)\n"
    "  --model REF        a model of the configuration (default: defaults.model, else normal)\n"
    "  -y, --yes          approve calls that would be asked about (not those that are denied)\n"
    "  --json             events as they come, one JSON object a line; no dialogue\n"
    "  --list             the conversations there are: id, last use, messages, title\n"
    "  --config FILE      configuration (default: $LATHE_CONFIG, ./lathe.yaml, ~/.config/lathe/lathe.yaml)\n"
    "  --mcp-config FILE  servers in the form of other MCP clients (.mcp.json)\n"
    "  -h, --help         this\n"
    "\n"
    "Standard output: the answer and nothing else. Standard error: the conversation's id, programs and calls as they\n"
    "happen, warnings, errors. Ctrl-C ends the answer, in a dialogue not the program.\n"
    "An API key is enough: OPENAI_API_KEY. OPENAI_MODEL says which model; a local server needs OPENAI_BASE_URL "
    "instead\n"
    "of a key. More models: models[] in the configuration.\n"
    "A conversation goes on in the mode and with the model of its last prompt, and with that first if it was cut "
    "short.\n"
    "Exit code: 0 ok, 1 the prompt failed, 2 usage, 3 configuration, 130 interrupted.\n"
    "\n"
    "  lathe chat -m code \"Which of these files mention a licence?\" --mcp-config .mcp.json\n";

typedef struct job {
  lt_chat_options opt;
  const char *message; /* NULL: in `input`, or a dialogue */
  lt_buf input;
  bool dialogue;
  lt_chat chat;
} job;

#define EMPTY "lathe chat: the message is empty: lathe chat MESSAGE"

/* --- What is asked ------------------------------------------------------------------------------------------------ */
static bool read_options(job *j, int argc, char **argv) {
  lt_chat_options *opt = &j->opt;
  const lt_arg args[] = {
      {"--conversation", "-c", LT_ARG_TEXT, &opt->conversation, 0, 0},
      {"--mode", "-m", LT_ARG_TEXT, &opt->mode, 0, 0},
      {"--model", NULL, LT_ARG_TEXT, &opt->model, 0, 0},
      {"--config", NULL, LT_ARG_TEXT, &opt->config, 0, 0},
      {"--mcp-config", NULL, LT_ARG_TEXT, &opt->mcp_config, 0, 0},
      {"--yes", "-y", LT_ARG_FLAG, &opt->yes, 0, 0},
      {"--json", NULL, LT_ARG_FLAG, &opt->json, 0, 0},
      {"--list", NULL, LT_ARG_FLAG, &opt->list, 0, 0},
      {"--help", "-h", LT_ARG_FLAG, &opt->help, 0, 0},
  };
  int operands = 0;
  if (!lt_args_read("chat", argc, argv, args, sizeof args / sizeof args[0], &operands)) {
    return false;
  }
  if (operands > 1) {
    fprintf(stderr, "lathe chat: one message at a time: put it in quotes\n");
    return false;
  }
  j->message = operands == 1 ? argv[1] : NULL;
  return true;
}

static bool is_empty(const job *j) {
  return lt_str_trim(lt_buf_view(&j->input)).n == 0;
}

/* A pipe or a file; of a socket or a device nobody knows whether its end ever comes. */
static bool has_input(void) {
  struct stat about;
  return fstat(STDIN_FILENO, &about) == 0 && (S_ISFIFO(about.st_mode) || S_ISREG(about.st_mode));
}

/* Appends standard input without its last line's end; `before` goes ahead of it, unless it is blank. */
static lt_status read_input(job *j, const char *before, lt_err *err) {
  lt_buf *input = &j->input;
  size_t from = input->n;
  lt_buf_addc(input, before);
  size_t start = input->n;
  LT_TRY(lt_input_file_read("-", input, err));
  if (lt_str_ends(lt_buf_view(input), LT_STR("\n")) && input->n > start) {
    input->n -= lt_str_ends(lt_buf_view(input), LT_STR("\r\n")) && input->n > start + 1 ? 2 : 1;
  }
  if (lt_str_trim(lt_str_sub(lt_buf_view(input), start, input->n)).n == 0) {
    input->n = from;
  }
  return LT_OK;
}

/* False: it has been said why not. Without a message -c may still have something to go on with. */
static bool read_message(job *j) {
  lt_err err = LT_ERR_INIT;
  lt_status status = LT_OK;
  bool given = j->message != NULL && strcmp(j->message, "-") != 0;
  lt_buf_addc(&j->input, given ? j->message : "");
  if (j->message == NULL && isatty(STDIN_FILENO)) {
    j->dialogue = true;
  } else if (!given || (!is_empty(j) && has_input())) {
    status = read_input(j, given ? "\n\n" : "", &err);
  }
  if (status != LT_OK) {
    fprintf(stderr, "lathe chat: %s\n", lt_err_msg(&err));
    return false;
  }
  if (j->dialogue && j->opt.json) {
    fprintf(stderr, "lathe chat: --json wants a message: lathe chat --json MESSAGE\n");
    return false;
  }
  if (!j->dialogue && is_empty(j) && (j->opt.conversation == NULL || j->message != NULL)) {
    fputs(EMPTY "\n", stderr);
    return false;
  }
  return true;
}

/* --- The work ----------------------------------------------------------------------------------------------------- */
static lt_status check_modes(lt_command_session *s, void *arg, lt_err *err) {
  const job *j = arg;
  if (j->opt.mode != NULL) {
    LT_TRY(lt_chat_check_mode(s, lt_str_of(j->opt.mode), err));
  }
  return lt_chat_check_default(s, &j->chat.models, err);
}

/* The conversation's own model may have a key where the default one has none; lt_chat_open sees. */
static bool may_have_another(const job *j) {
  const lt_models *models = &j->chat.models;
  bool has_key = false;
  for (size_t i = 0; i < models->count; i++) {
    has_key = has_key || models->missing[i] == NULL;
  }
  return has_key && j->opt.conversation != NULL && j->opt.model == NULL;
}

static lt_status check(lt_command_session *s, void *arg, lt_err *err) {
  job *j = arg;
  const lt_model *model;
  LT_TRY(lt_models_fill(&s->app.config, &j->chat.models, err));
  lt_status status = lt_models_find(&j->chat.models, lt_str_of(j->opt.model), &model, err);
  if (status == LT_E_CONFIG && may_have_another(j)) {
    return check_modes(s, arg, err);
  }
  if (status != LT_E_NOTFOUND || j->opt.model != NULL) {
    return status == LT_OK ? check_modes(s, arg, err) : status;
  }
  lt_err_prefix(err, "%s: defaults.model", s->app.config.path);
  return LT_E_CONFIG;
}

static bool on_interrupt(lt_command_session *s, void *arg) {
  (void)s;
  return lt_chat_interrupt(&((job *)arg)->chat);
}

/* An empty message: only what was cut short is gone on with. */
static int say_one(lt_chat *chat, lt_str message) LT_YIELDS {
  lt_err err = LT_ERR_INIT;
  lt_status status = lt_chat_catch_up(chat, &err);
  bool empty = lt_str_trim(message).n == 0;
  if (status == LT_OK && empty && chat->view.end == LT_CHAT_UNFINISHED) {
    lt_console_format(&chat->session->console, EMPTY);
    return LT_EXIT_USAGE;
  }
  if (status == LT_OK && !empty && !chat->interrupted) { /* that would have ended this one, too */
    status = lt_chat_say(chat, message, &err);
  }
  if (status != LT_OK && chat->session->app.cancel.why == LT_OK) {
    lt_console_line(&chat->session->console, "lathe chat: ", lt_str_of(lt_err_msg(&err)));
    return LT_EXIT_FAILED;
  }
  bool interrupted = chat->interrupted || chat->session->app.cancel.why != LT_OK;
  return chat->view.end == LT_CHAT_COMPLETED ? LT_EXIT_OK : interrupted ? LT_EXIT_INTERRUPTED : LT_EXIT_FAILED;
}

static int exit_code_of(lt_status status) {
  return status == LT_E_CONFIG                               ? LT_EXIT_CONFIG
         : status == LT_E_INVALID || status == LT_E_NOTFOUND ? LT_EXIT_USAGE
                                                             : LT_EXIT_FAILED;
}

static int work(lt_command_session *s, void *arg) LT_YIELDS {
  job *j = arg;
  lt_err err = LT_ERR_INIT;
  int code;
  j->chat.options = &j->opt;
  j->chat.session = s;
  lt_status status = lt_chat_open(&j->chat, &err);
  if (status != LT_OK) {
    lt_console_line(&s->console, "lathe chat: ", lt_str_of(lt_err_msg(&err)));
    code = exit_code_of(status);
  } else {
    code = j->dialogue ? lt_chat_repl(&j->chat) : say_one(&j->chat, lt_buf_view(&j->input));
  }
  lt_chat_close(&j->chat);
  return code;
}

static int run(int argc, char **argv) {
  job j = {0};
  if (!read_options(&j, argc, argv)) {
    return LT_EXIT_USAGE;
  }
  if (j.opt.help) {
    fputs(help, stdout);
    return LT_EXIT_OK;
  }
  if (j.opt.list) {
    return lt_chat_list(&j.opt);
  }
  int code = LT_EXIT_USAGE;
  lt_buf_init(&j.input, LT_PROMPT_INPUT_BYTES + 64 * LT_KIB);
  if (read_message(&j)) {
    const lt_config_sources sources = {.config_file = j.opt.config, .mcp_config_file = j.opt.mcp_config};
    const lt_command_plan plan = {
        .work = work, .check = check, .loaded = check_modes, .on_interrupt = on_interrupt, .arg = &j};
    code = lt_command_session_run(&sources, &plan);
  }
  lt_buf_release(&j.input);
  return code;
}

const lt_command lt_chat_command = {"chat", "Talk to an agent that has the configured tools", help, run};
