/* The dialogue at the terminal. */
#include <signal.h>
#include <stdio.h>

#include "base/mem.h"
#include "cli/attach_files.h"
#include "cli/chat.h"
#include "cli/chat_commands.h"
#include "cli/chat_default.h"
#include "cli/commands.h"
#include "cli/history_file.h"
#include "cli/pasted_paths.h"
#include "cli/type_ahead.h"
#include "io/line_input.h"
#include "store/store.h"

#define TWICE_MS         1000 /* two Ctrl-C within this time at an empty prompt end the dialogue */
#define HISTORY_AT_START 3    /* messages of a conversation that is continued */
#define TITLE_MS         2000 /* the longest wait at the end for a title */

typedef struct repl {
  lt_chat *chat;
  lt_console *console;
  uint64_t interrupted_ms; /* when Ctrl-C was typed at an empty prompt; 0: it was not */
  bool ended;
  char titled_conversation[LT_STORE_ID_BYTES + 1];
} repl;

static void chat_repl_say_error(repl *r, const lt_err *err) {
  lt_console_line(r->console, "", lt_str_of(lt_err_msg(err)));
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

/* A message with the files that it names. */
static lt_status chat_repl_say(repl *r, lt_str line, lt_err *err) LT_YIELDS {
  lt_attach_files files;
  lt_attach_files_init(&files);
  r->chat->attached = &files;
  lt_status status = lt_attach_files_add_named(&files, line, r->console, err);
  if (status == LT_OK) {
    status = lt_chat_say(r->chat, line, err);
  }
  r->chat->attached = NULL;
  lt_attach_files_release(&files);
  return status;
}

static void chat_repl_answer(repl *r, lt_str line) LT_YIELDS {
  LT_ERR_VAR(err);
  lt_line_input_keep(r->chat->input, line);
  if (lt_chat_commands_is_one(line)) {
    lt_chat_commands_run(r->chat, line, &r->ended);
    return;
  }
  if (chat_repl_say(r, line, &err) != LT_OK) {
    chat_repl_say_error(r, &err);
  } else {
    chat_repl_make_title(r);
  }
  r->ended = r->ended || r->chat->session->app.cancel.why != LT_OK;
}

/* Sends the next message that was typed while the last answer ran. After an interrupt it is not sent, but shown. An
 * unfinished line goes into the next one. False: there is none. */
static bool chat_repl_send_waiting(repl *r) LT_YIELDS {
  LT_AUTO_BUF(text, LT_INPUT_LINE_BYTES);
  LT_AUTO_BUF(shown, 2 * LT_INPUT_LINE_BYTES);
  bool is_whole = false;
  if (!lt_type_ahead_take(r->chat->ahead, &text, &is_whole)) {
    return false;
  }
  lt_str line = lt_str_trim(lt_buf_view(&text));
  if (!is_whole) {
    lt_buf_byte(&text, '\0');
    lt_line_input_offer(r->chat->input, text.status == LT_OK ? text.p : "");
    return false;
  }
  lt_buf_addc(&shown, r->chat->interrupted ? "not sent: " : "> ");
  lt_buf_add(&shown, line);
  lt_console_line(r->console, "", lt_buf_view(&shown));
  if (!r->chat->interrupted && line.n > 0) {
    chat_repl_answer(r, line);
  }
  return true;
}

static void chat_repl_turn(repl *r) LT_YIELDS {
  LT_ERR_VAR(err);
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
static void chat_repl_complete(void *arg, lt_line_completion *completion) {
  lt_chat_commands_complete(arg, completion);
}

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
  LT_ERR_VAR(err);
  char *path = lt_history_file_path("history");
  lt_status status = lt_line_input_open(chat->session->app.loop, path, &chat->input, &err);
  lt_mem_free(path);
  if (status != LT_OK) {
    lt_console_format(r.console, "lathe chat: %s", lt_err_msg(&err));
    return LT_EXIT_FAILED;
  }
  lt_line_input_complete_by(chat->input, chat_repl_complete, chat);
  lt_line_input_change_pastes_by(chat->input, lt_pasted_paths_attach);
  lt_wait_init(&chat->titled, chat->session->app.loop);
  (void)lt_loop_on_signal(chat->session->app.loop, SIGWINCH, chat_repl_on_resize, chat, NULL);
  chat->ahead = lt_type_ahead_new(chat->session->app.loop, r.console, chat->session->activity);
  chat_repl_greet(&r);
  (void)lt_chat_commands_show_history(chat, HISTORY_AT_START);
  if (lt_chat_catch_up(chat, &err) != LT_OK) {
    chat_repl_say_error(&r, &err);
  }
  r.ended = chat->session->app.cancel.why != LT_OK;
  while (!r.ended) {
    if (chat_repl_send_waiting(&r)) {
      continue;
    }
    if (lt_type_ahead_has_left(chat->ahead)) {
      break;
    }
    chat_repl_turn(&r);
  }
  if (chat->titles > 0 && chat->session->app.cancel.why == LT_OK) {
    lt_wait_on(&chat->titled, TITLE_MS);
  }
  lt_type_ahead_free(chat->ahead);
  chat->ahead = NULL;
  lt_line_input_close(chat->input);
  chat->input = NULL;
  return chat->session->app.cancel.why == LT_OK ? LT_EXIT_OK : LT_EXIT_INTERRUPTED;
}
