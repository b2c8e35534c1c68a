/* lathe chat: a conversation with an agent that has the configured tools. */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/modes/mode_list.h"
#include "app/instructions.h"
#include "base/limits.h"
#include "cli/attach_files.h"
#include "cli/chat.h"
#include "cli/commands.h"
#include "cli/input_file.h"

typedef struct chat_job {
  lt_chat_options opt;
  lt_buf input;
  bool dialogue;
  lt_attach_files files;
  lt_chat chat;
} chat_job;

static const lt_option chat_option_rows[] = {
    {"--conversation", "-c", "ID", "go on with a conversation: its id, the beginning of that, or \"last\"",
     LT_OPTION_IS_TEXT(lt_chat_options, conversation)},
    {"--mode", "-m", "MODE",
     "how the model works:\n" LT_MODES_HELP
     "(default: as the conversation was held, else the model's own, else defaults.mode, else\n"
     "classic)",
     LT_OPTION_IS_TEXT(lt_chat_options, mode)},
    {"--model", NULL, "REF",
     "a model of the configuration (default: defaults.model, else normal), or PROVIDER/NAME:\n"
     "anthropic/claude-sonnet-4-6, ollama/qwen3, openrouter/meta-llama/llama-3.3-70b-instruct",
     LT_OPTION_IS_TEXT(lt_chat_options, model)},
    {"--system", NULL, "TEXT", "what the model is told beside its mode, or @FILE that has it (instructions)",
     LT_OPTION_IS_TEXT(lt_chat_options, system)},
    {"--attach", NULL, "FILE",
     "send a file with the message: an image (PNG, JPEG, GIF, WebP), a PDF or a text; may be given\n"
     "several times",
     LT_OPTION_IS_TEXTS(lt_chat_options, attach)},
    {"--yes", "-y", NULL, "approve calls that would be asked about (not those that are denied)",
     LT_OPTION_IS_FLAG(lt_chat_options, yes)},
    {"--no-check", NULL, NULL, "run TypeScript without a check of its types (typescript.check: false)",
     LT_OPTION_IS_FLAG(lt_chat_options, is_unchecked)},
    {"--verbose", NULL, NULL, "show long programs as a whole, also at a terminal",
     LT_OPTION_IS_FLAG(lt_chat_options, verbose)},
    {"--json", NULL, NULL, "events as they come, one JSON object a line; no dialogue",
     LT_OPTION_IS_FLAG(lt_chat_options, json)},
    {"--decisions", NULL, NULL,
     "with --json: decisions about calls that wait come on standard input, one JSON object a line\n"
     "(without it only from a socket)",
     LT_OPTION_IS_FLAG(lt_chat_options, decisions)},
    {"--list", NULL, NULL, "the conversations there are: id, last use, messages, title",
     LT_OPTION_IS_FLAG(lt_chat_options, list)},
    LT_OPTION_CONFIG(lt_chat_options, sources),
    LT_OPTION_MCP_CONFIG(lt_chat_options, sources),
};

#define EMPTY "lathe chat: the message is empty: lathe chat MESSAGE"

/* --- Options ------------------------------------------------------------------------------------------------------ */
static bool chat_is_input_empty(const chat_job *j) {
  return lt_str_trim(lt_buf_view(&j->input)).n == 0;
}

/* Whether standard input is a pipe or a file. A socket or a device may never end. */
static bool chat_has_standard_input(void) {
  struct stat about;
  return fstat(STDIN_FILENO, &about) == 0 && (S_ISFIFO(about.st_mode) || S_ISREG(about.st_mode));
}

/* A socket has never been read as text. A pipe is text unless the person says otherwise. */
static bool chat_has_decisions(const lt_chat_options *opt) {
  struct stat about;
  bool is_socket = fstat(STDIN_FILENO, &about) == 0 && S_ISSOCK(about.st_mode);
  bool is_given = opt->message != NULL && strcmp(opt->message, "-") != 0;
  return opt->json && (opt->decisions || (is_socket && is_given));
}

/* Appends standard input without its last line break. `before` comes first, unless standard input is blank. */
static lt_status chat_append_standard_input(chat_job *j, const char *before, lt_err *err) {
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

/* False: the reason has been printed. Without a message -c may still resume a prompt. */
static bool chat_read_message(chat_job *j) {
  LT_ERR_VAR(err);
  lt_status status = LT_OK;
  bool given = j->opt.message != NULL && strcmp(j->opt.message, "-") != 0;
  lt_buf_addc(&j->input, given ? j->opt.message : "");
  if (j->opt.decisions && (!j->opt.json || (j->opt.message != NULL && !given))) {
    fprintf(stderr, "lathe chat: --decisions goes with --json and MESSAGE: standard input has one thing only\n");
    return false;
  }
  j->opt.decisions = chat_has_decisions(&j->opt);
  if (j->opt.message == NULL && isatty(STDIN_FILENO)) {
    j->dialogue = true;
  } else if (!j->opt.decisions && (!given || (!chat_is_input_empty(j) && chat_has_standard_input()))) {
    status = chat_append_standard_input(j, given ? "\n\n" : "", &err);
  }
  if (status != LT_OK) {
    fprintf(stderr, "lathe chat: %s\n", lt_err_msg(&err));
    return false;
  }
  if (j->dialogue && j->opt.json) {
    fprintf(stderr, "lathe chat: --json wants a message: lathe chat --json MESSAGE\n");
    return false;
  }
  if (!j->dialogue && chat_is_input_empty(j) && (j->opt.conversation == NULL || j->opt.message != NULL)) {
    fputs(EMPTY "\n", stderr);
    return false;
  }
  return true;
}

/* False: the reason has been printed. */
static bool chat_read_files(chat_job *j) {
  LT_ERR_VAR(err);
  lt_status status = j->dialogue && j->opt.attach.count > 0
                         ? lt_fail(&err, LT_E_INVALID, "--attach goes with a message: write @FILE in the dialogue")
                         : LT_OK;
  for (int i = 0; i < j->opt.attach.count && status == LT_OK; i++) {
    status = lt_attach_files_add(&j->files, j->opt.attach.at[i], &err);
  }
  if (status != LT_OK) {
    fprintf(stderr, "lathe chat: %s\n", lt_err_msg(&err));
  }
  return status == LT_OK;
}

/* --- The command -------------------------------------------------------------------------------------------------- */
static lt_status chat_check_modes(lt_command_session *s, void *arg, lt_err *err) {
  const chat_job *j = arg;
  if (j->opt.mode != NULL) {
    LT_TRY(lt_chat_check_mode(s, lt_str_of(j->opt.mode), err));
  }
  return lt_chat_check_default(s, &j->chat.models, err);
}

/* The conversation's own model may have a key when the default model has none; lt_chat_open checks that. */
static bool chat_may_use_other_model(const chat_job *j) {
  const lt_models *models = &j->chat.models;
  bool has_key = false;
  for (size_t i = 0; i < models->count; i++) {
    has_key = has_key || models->missing[i] == NULL;
  }
  return has_key && j->opt.conversation != NULL && j->opt.model == NULL;
}

static lt_status chat_read_instructions(lt_command_session *s, chat_job *j, lt_err *err) {
  LT_AUTO_BUF(system, LT_INSTRUCTIONS_BYTES);
  const char *given = j->opt.system != NULL ? j->opt.system : "";
  if (given[0] == '@') {
    LT_TRY(lt_input_file_read(given + 1, &system, err));
  } else {
    lt_buf_addc(&system, given);
  }
  lt_buf_init(&j->chat.instructions, LT_MIB);
  return lt_instructions_put(&s->app.config, lt_buf_view(&system), &s->app.report, &j->chat.instructions, err);
}

static lt_status chat_check(lt_command_session *s, void *arg, lt_err *err) {
  chat_job *j = arg;
  const lt_model *model;
  LT_TRY(chat_read_instructions(s, j, err));
  if (j->opt.is_unchecked) {
    s->app.config.typescript.check = 0;
  }
  LT_TRY(lt_models_fill(&s->app.config, &j->chat.models, err));
  lt_status status = lt_models_find(&j->chat.models, lt_str_of(j->opt.model), &model, err);
  if (status == LT_E_CONFIG && chat_may_use_other_model(j)) {
    return chat_check_modes(s, arg, err);
  }
  if (status != LT_E_NOTFOUND || j->opt.model != NULL) {
    return status == LT_OK ? chat_check_modes(s, arg, err) : status;
  }
  lt_err_prefix(err, "%s: defaults.model", s->app.config.defaults.model_file);
  return LT_E_CONFIG;
}

static bool chat_on_interrupt(lt_command_session *s, void *arg) {
  (void)s;
  return lt_chat_interrupt(&((chat_job *)arg)->chat);
}

/* With an empty message only an unfinished prompt is resumed. */
static int chat_say_one_message(lt_chat *chat, lt_str message) LT_YIELDS {
  LT_ERR_VAR(err);
  lt_status status = lt_chat_catch_up(chat, &err);
  bool empty = lt_str_trim(message).n == 0;
  if (status == LT_OK && empty && chat->view.end == LT_CHAT_UNFINISHED) {
    lt_console_format(&chat->session->console, EMPTY);
    return LT_EXIT_USAGE;
  }
  if (status == LT_OK && !empty && !chat->interrupted) { /* Ctrl-C also ends this message */
    status = lt_chat_say(chat, message, &err);
  }
  if (status != LT_OK && chat->session->app.cancel.why == LT_OK) {
    lt_console_line(&chat->session->console, "lathe chat: ", lt_str_of(lt_err_msg(&err)));
    return status == LT_E_CONFIG ? LT_EXIT_CONFIG : LT_EXIT_FAILED;
  }
  bool interrupted = chat->interrupted || chat->session->app.cancel.why != LT_OK;
  return chat->view.end == LT_CHAT_COMPLETED ? LT_EXIT_OK : interrupted ? LT_EXIT_INTERRUPTED : LT_EXIT_FAILED;
}

static int chat_exit_code(lt_status status) {
  return status == LT_E_CONFIG                               ? LT_EXIT_CONFIG
         : status == LT_E_INVALID || status == LT_E_NOTFOUND ? LT_EXIT_USAGE
                                                             : LT_EXIT_FAILED;
}

static int chat_work(lt_command_session *s, void *arg) LT_YIELDS {
  chat_job *j = arg;
  LT_ERR_VAR(err);
  int code;
  j->chat.options = &j->opt;
  j->chat.session = s;
  lt_status status = lt_chat_open(&j->chat, &err);
  if (status != LT_OK) {
    lt_console_line(&s->console, "lathe chat: ", lt_str_of(lt_err_msg(&err)));
    code = chat_exit_code(status);
  } else {
    code = j->dialogue ? lt_chat_repl(&j->chat) : chat_say_one_message(&j->chat, lt_buf_view(&j->input));
  }
  lt_chat_close(&j->chat);
  return code;
}

static int chat_command(void *arg) {
  chat_job j = {.opt = *(const lt_chat_options *)arg};
  if (j.opt.list) {
    return lt_chat_list(&j.opt);
  }
  int code = LT_EXIT_USAGE;
  lt_buf_init(&j.input, LT_PROMPT_INPUT_BYTES + 64 * LT_KIB);
  lt_attach_files_init(&j.files);
  j.chat.attached = &j.files;
  if (chat_read_message(&j) && chat_read_files(&j)) {
    const lt_command_plan plan = {.work = chat_work,
                                  .check = chat_check,
                                  .loaded = chat_check_modes,
                                  .on_interrupt = chat_on_interrupt,
                                  .asks_for_servers = true,
                                  .arg = &j};
    code = lt_command_session_run(&j.opt.sources, &plan);
  }
  lt_buf_release(&j.chat.instructions);
  lt_buf_release(&j.input);
  lt_attach_files_release(&j.files);
  return code;
}

const lt_command lt_chat_command = {
    .name = "chat",
    .summary = "Talk to an agent that has the configured tools",
    .about = "Talk to an agent that has the configured tools.\n",
    .synopsis = "[MESSAGE] [options]",
    .operand = {"MESSAGE",
                "one message, one answer; without it, a dialogue at the terminal, or the message is read from\n"
                "standard input when that is none; with it, what a pipe or a file on standard input has is\n"
                "put behind it, after a blank line",
                "one message at a time: put it in quotes", false, LT_OPERAND_IS(lt_chat_options, message)},
    .options = chat_option_rows,
    .option_count = sizeof chat_option_rows / sizeof chat_option_rows[0],
    .options_size = sizeof(lt_chat_options),
    .notes =
        "Standard output: the answer and nothing else. Standard error: the conversation's id, programs and calls as "
        "they\n"
        "happen, warnings, errors, and why there is no answer. Ctrl-C ends the answer, in a dialogue not the program.\n"
        "An API key is enough: OPENAI_API_KEY or ANTHROPIC_API_KEY. OPENAI_MODEL or ANTHROPIC_MODEL says which model; "
        "a\n"
        "local server needs no key: --model ollama/NAME, or OPENAI_BASE_URL. More models: models[] in the "
        "configuration.\n"
        "A conversation goes on in the mode and with the model of its last prompt, and with that first if it was cut\n"
        "short.\n"
        "Exit code: 0 ok, 1 the prompt failed, or has no whole answer, 2 usage, 3 configuration, 130 interrupted.\n"
        "\n"
        "  lathe chat -m code \"Which of these files mention a licence?\" --mcp-config .mcp.json\n",
    .run = chat_command,
};
