/* The dialogue at the terminal. */
#include <signal.h>
#include <stdio.h>

#include "base/mem.h"
#include "base/nearest.h"
#include "types/typegen_text.h"
#include "agent/modes/mode_list.h"
#include "cli/chat.h"
#include "cli/chat_default.h"
#include "cli/commands.h"
#include "cli/history_file.h"
#include "cli/tool_lines.h"
#include "io/line_input.h"
#include "store/store.h"

#define TWICE_MS 1000 /* two Ctrl-C within this time at an empty prompt end the dialogue */
#define TITLE_MS 2000 /* the longest wait at the end for a title */

typedef struct repl {
  lt_chat *chat;
  lt_console *console;
  uint64_t interrupted_ms; /* when Ctrl-C was typed at an empty prompt; 0: it was not */
  bool ended;
  char titled_conversation[LT_STORE_ID_BYTES + 1];
} repl;

/* --- Commands ----------------------------------------------------------------------------------------------------- */
static void chat_repl_say_error(repl *r, const lt_err *err) {
  lt_console_line(r->console, "", lt_str_of(lt_err_msg(err)));
}

static void chat_repl_do_help(repl *r, lt_str rest) {
  (void)rest;
  lt_console_format(r->console,
                    "  /mode [MODE]     how the model works: %s\n"
                    "  /model [REF]     which model is asked\n"
                    "  /tools [QUERY]   the tools there are\n"
                    "  /program         the last program as a whole\n"
                    "  /usage           the tokens of this dialogue, and what they cost\n"
                    "  /new             a new conversation, in the default mode unless one was chosen\n"
                    "  /approve, /reject [REASON]   answers to a question about a call (so do y and n)\n"
                    "  /quit            leave (or Ctrl-D)\n"
                    "Ctrl-C ends an answer; \"\\\" at a line's end goes on with the next, as do pasted lines.",
                    LT_MODEL_MODE_IDS);
}

static void chat_repl_do_quit(repl *r, lt_str rest) {
  (void)rest;
  r->ended = true;
}

static void chat_repl_do_new(repl *r, lt_str rest) {
  (void)rest;
  lt_chat_leave(r->chat);
  lt_console_format(r->console, "The next message begins a new conversation.");
}

static void chat_repl_do_mode(repl *r, lt_str rest) {
  lt_err err = LT_ERR_INIT;
  if (rest.n > 0 && lt_chat_set_mode(r->chat, rest, &err) != LT_OK) {
    chat_repl_say_error(r, &err);
    return;
  }
  lt_str mode = lt_buf_view(&r->chat->mode);
  lt_str usual = r->chat->models.default_mode;
  if (mode.n > 0) {
    lt_console_format(r->console, "mode: %.*s", LT_STR_ARG(mode));
  } else {
    lt_console_format(r->console, "mode: the model's own, else %.*s", LT_STR_ARG(usual));
  }
}

static void chat_repl_do_model(repl *r, lt_str rest) {
  lt_err err = LT_ERR_INIT;
  const lt_chat *chat = r->chat;
  if (rest.n > 0 && lt_chat_set_model(r->chat, rest, &err) != LT_OK) {
    chat_repl_say_error(r, &err);
    return;
  }
  lt_str ref = chat->model.n > 0 ? lt_buf_view(&chat->model) : chat->models.default_ref;
  lt_console_format(r->console, "model: %.*s", LT_STR_ARG(ref));
  for (size_t i = 0; rest.n == 0 && i < chat->models.count; i++) {
    const lt_model *m = &chat->models.list[i];
    lt_console_format(r->console, "  %.*s: %.*s%s", LT_STR_ARG(m->ref), LT_STR_ARG(m->name),
                      chat->models.missing[i] != NULL ? " (no key)" : "");
  }
}

static void chat_repl_do_tools(repl *r, lt_str rest) {
  lt_tool_lines_print(r->console, r->chat->session->app.door, rest);
}

static void chat_repl_do_usage(repl *r, lt_str rest) {
  const lt_chat_usage *usage = &r->chat->view.usage;
  LT_AUTO_BUF(line, LT_KIB);
  (void)rest;
  lt_buf_printf(&line,
                "%lld messages, %lld requests: %lld tokens in (%lld from the provider's cache, %lld written to it), "
                "%lld out",
                (long long)usage->prompts, (long long)usage->requests, (long long)usage->input_tokens,
                (long long)usage->cached_input_tokens, (long long)usage->cache_write_tokens,
                (long long)usage->output_tokens);
  if (usage->has_cost) {
    lt_buf_printf(&line, ": $%.4f", usage->cost);
  } else {
    lt_buf_addc(&line, "; no price is configured (models[].price)");
  }
  lt_console_line(r->console, "", lt_buf_view(&line));
}

static void chat_repl_do_decide(repl *r, lt_str rest) {
  (void)rest;
  lt_console_format(r->console, "Nothing waits for approval.");
}

static void chat_repl_do_program(repl *r, lt_str rest) {
  (void)rest;
  if (!lt_program_view_show_last(&r->chat->view.program)) {
    lt_console_format(r->console, "No program has run yet.");
  }
}

static const struct {
  const char *name;
  void (*act)(repl *r, lt_str rest);
} commands[] = {{"/help", chat_repl_do_help},      {"/quit", chat_repl_do_quit},    {"/exit", chat_repl_do_quit},
                {"/new", chat_repl_do_new},        {"/mode", chat_repl_do_mode},    {"/model", chat_repl_do_model},
                {"/tools", chat_repl_do_tools},    {"/usage", chat_repl_do_usage},  {"/program", chat_repl_do_program},
                {"/approve", chat_repl_do_decide}, {"/reject", chat_repl_do_decide}};

static void chat_repl_command(repl *r, lt_str line) {
  size_t end = 0;
  while (end < line.n && line.p[end] != ' ' && line.p[end] != '\t') {
    end++;
  }
  lt_str name = lt_str_sub(line, 0, end), rest = lt_str_trim(lt_str_sub(line, end, line.n));
  lt_nearest nearest = lt_nearest_to(name, 2);
  for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++) {
    if (lt_str_eqc(name, commands[i].name)) {
      commands[i].act(r, rest);
      return;
    }
    lt_nearest_offer(&nearest, lt_str_of(commands[i].name));
  }
  LT_AUTO_BUF(shown, LT_KIB);
  lt_typegen_put_line(&shown, name, 60);
  lt_console_format(r->console, "There is no command %.*s: %s%s", LT_STR_ARG(lt_buf_view(&shown)),
                    nearest.name.p != NULL ? "did you mean " : "see ",
                    nearest.name.p != NULL ? nearest.name.p : "/help");
}

/* --- Titles ------------------------------------------------------------------------------------------------------- */
static void chat_repl_on_title_fiber(void *arg) {
  lt_chat *chat = arg;
  lt_agent_title(chat->agent, LT_CHAT_USER, lt_str_of(chat->conversation));
  if (--chat->titles == 0) {
    lt_wait_wake(&chat->titled, LT_OK);
  }
}

/* Makes a title after a conversation's first answer, in the background. */
static void chat_repl_make_title(repl *r) {
  lt_chat *chat = r->chat;
  if (chat->view.end != LT_CHAT_COMPLETED || strcmp(r->titled_conversation, chat->conversation) == 0) {
    return;
  }
  memcpy(r->titled_conversation, chat->conversation, sizeof r->titled_conversation);
  if (lt_loop_spawn(chat->session->app.loop, chat_repl_on_title_fiber, chat, NULL) == LT_OK) {
    chat->titles++;
  }
}

/* --- Input lines -------------------------------------------------------------------------------------------------- */
/* Reads a line and its continuation lines. */
static lt_status chat_repl_read_message(repl *r, lt_cancel *cancel, lt_buf *out, lt_err *err) LT_YIELDS {
  LT_TRY(lt_line_input_read(r->chat->input, "> ", cancel, out, err));
  while (out->n > 0 && out->p[out->n - 1] == '\\') {
    out->p[out->n - 1] = '\n';
    LT_TRY(lt_line_input_read(r->chat->input, ". ", cancel, out, err));
  }
  return LT_OK;
}

static void chat_repl_interrupted(repl *r) {
  uint64_t now = lt_loop_now_ms(r->chat->session->app.loop);
  if (r->chat->session->app.cancel.why != LT_OK || (r->interrupted_ms > 0 && now - r->interrupted_ms <= TWICE_MS)) {
    r->ended = true;
  } else if (!lt_line_input_had_text(r->chat->input)) {
    r->interrupted_ms = now;
    lt_console_format(r->console, "(Ctrl-C once more, or Ctrl-D, leaves)");
  }
}

/* "/etc/hosts is what?" is a message, and so is a text of several lines. */
static bool chat_repl_is_command(lt_str line) {
  lt_str name = lt_str_sub(line, 1, line.n);
  size_t end = 0;
  while (end < name.n && strchr(" \t/", name.p[end]) == NULL) {
    end++;
  }
  bool path = end < name.n && name.p[end] == '/';
  return line.p[0] == '/' && !path && lt_str_find(line, LT_STR("\n"), 0) == SIZE_MAX;
}

static void chat_repl_answer(repl *r, lt_str line) LT_YIELDS {
  lt_err err = LT_ERR_INIT;
  lt_line_input_keep(r->chat->input, line);
  if (chat_repl_is_command(line)) {
    chat_repl_command(r, line);
    return;
  }
  if (lt_chat_say(r->chat, line, &err) != LT_OK) {
    chat_repl_say_error(r, &err);
  } else {
    chat_repl_make_title(r);
  }
  r->ended = r->ended || r->chat->session->app.cancel.why != LT_OK;
}

static void chat_repl_turn(repl *r) LT_YIELDS {
  lt_err err = LT_ERR_INIT;
  lt_cancel cancel;
  lt_cancel_node node;
  LT_AUTO_BUF(line, LT_INPUT_LINE_BYTES);
  lt_cancel_init(&cancel);
  lt_cancel_follow(&r->chat->session->app.cancel, &node, &cancel);
  r->chat->reading = &cancel;
  lt_status status = chat_repl_read_message(r, &cancel, &line, &err);
  r->chat->reading = NULL;
  lt_cancel_remove(&r->chat->session->app.cancel, &node);
  if (status == LT_E_CANCELLED) {
    chat_repl_interrupted(r);
  } else if (status == LT_E_LIMIT) {
    chat_repl_say_error(r, &err);
  } else if (status != LT_OK) {
    r->ended = true;
  } else {
    r->interrupted_ms = 0;
    lt_str text = lt_str_trim(lt_buf_view(&line));
    if (text.n > 0) {
      chat_repl_answer(r, text);
    }
  }
}

/* --- The dialogue ------------------------------------------------------------------------------------------------- */
static void chat_repl_on_resize(void *arg, int signum) {
  (void)signum;
  const lt_chat *chat = arg;
  if (chat->input != NULL) {
    lt_line_input_resized(chat->input);
  }
}

static void chat_repl_greet(repl *r) {
  LT_AUTO_BUF(text, LT_KIB);
  lt_chat_default_greet(r->chat, &text);
  lt_console_line(r->console, "", lt_buf_view(&text));
}

int lt_chat_repl(lt_chat *chat) {
  repl r = {.chat = chat, .console = &chat->session->console};
  lt_err err = LT_ERR_INIT;
  char *path = lt_history_file_path("history");
  lt_status status = lt_line_input_open(chat->session->app.loop, path, &chat->input, &err);
  lt_mem_free(path);
  if (status != LT_OK) {
    lt_console_format(r.console, "lathe chat: %s", lt_err_msg(&err));
    return LT_EXIT_FAILED;
  }
  lt_wait_init(&chat->titled, chat->session->app.loop);
  (void)lt_loop_on_signal(chat->session->app.loop, SIGWINCH, chat_repl_on_resize, chat, NULL);
  chat_repl_greet(&r);
  if (lt_chat_catch_up(chat, &err) != LT_OK) {
    chat_repl_say_error(&r, &err);
  }
  r.ended = chat->session->app.cancel.why != LT_OK;
  while (!r.ended) {
    chat_repl_turn(&r);
  }
  if (chat->titles > 0 && chat->session->app.cancel.why == LT_OK) {
    lt_wait_on(&chat->titled, TITLE_MS);
  }
  lt_line_input_close(chat->input);
  chat->input = NULL;
  return chat->session->app.cancel.why == LT_OK ? LT_EXIT_OK : LT_EXIT_INTERRUPTED;
}
