/* Programs from a person at a terminal, line by line, and from a pipe. */
#include <signal.h>
#include <string.h>
#include <strings.h>

#include "base/mem.h"
#include "base/nearest.h"
#include "cli/commands.h"
#include "cli/history_file.h"
#include "cli/piped_lines.h"
#include "cli/repl.h"
#include "cli/tool_lines.h"
#include "io/line_input.h"
#include "js/unfinished.h"
#include "plugin/program_head.h"
#include "types/typegen_text.h"

#define LINES_BYTES (64 * LT_KIB) /* of a program of several lines: each line is a look at all of it ... */
#define LOOKS_BYTES (8 * LT_KIB)  /* ... behind these only a line that closes something */
#define TWICE_MS    1000          /* two Ctrl-C within this time at an empty prompt end the dialogue */

/* --- Commands ----------------------------------------------------------------------------------------------------- */
static void repl_do_help(lt_repl *r, lt_str rest) {
  (void)rest;
  lt_console_format(
      &r->session->console,
      "  /tools [QUERY]   the tools there are: functions of every program\n"
      "  /save NAME       keeps the last program as the tool programs.NAME\n"
      "  /clear           forgets the variables\n"
      "  /quit            leave (or Ctrl-D)\n"
      "Everything else is a program. Its value is printed, and the next one finds it as `_`; variables stay.\n"
      "A program that is not finished goes on with the next line. Tab completes names, Ctrl-C stops a "
      "program.");
}

static void repl_do_quit(lt_repl *r, lt_str rest) {
  (void)rest;
  r->has_finished = true;
}

static void repl_do_tools(lt_repl *r, lt_str rest) {
  lt_tool_lines_print(&r->session->console, r->session->app.door, rest);
}

static void repl_do_clear(lt_repl *r, lt_str rest) LT_YIELDS {
  (void)rest;
  lt_repl_forget(r);
}

static lt_status repl_save(lt_repl *r, lt_str name, int64_t *ret_version, lt_err *err) LT_YIELDS {
  bool is_new = false;
  LT_AUTO_ARENA(arena, LT_MIB);
  lt_saved_program program = {.user = LT_STR(LT_SAVED_FOR_ALL), .name = name, .code = lt_buf_view(&r->last)};
  if (r->last.n == 0) {
    return lt_fail(err, LT_E_INVALID, "no program has run yet: /save keeps the last one");
  }
  LT_TRY(lt_program_head_complete(&program, r->is_typescript ? LT_LANG_TYPESCRIPT : LT_LANG_JAVASCRIPT, &arena, err));
  return lt_store_program_save(lt_toolbox_db(r->session->app.toolbox), &program, ret_version, &is_new, err);
}

static void repl_do_save(lt_repl *r, lt_str rest) LT_YIELDS {
  LT_ERR_VAR(err);
  int64_t version = 0;
  if (repl_save(r, rest, &version, &err) != LT_OK) {
    lt_console_line(&r->session->console, "", lt_str_of(lt_err_msg(&err)));
    r->has_failed = true;
  } else {
    lt_console_format(&r->session->console, "programs.%.*s is version %lld: a tool from the next start on",
                      LT_STR_ARG(rest), (long long)version);
  }
}

static const struct {
  const char *name;
  void (*act)(lt_repl *r, lt_str rest) LT_YIELDS;
} repl_commands[] = {{"/help", repl_do_help},   {"/tools", repl_do_tools}, {"/save", repl_do_save},
                     {"/clear", repl_do_clear}, {"/quit", repl_do_quit},   {"/exit", repl_do_quit}};

#define REPL_COMMANDS (sizeof repl_commands / sizeof repl_commands[0])

const char *lt_repl_command_name(size_t i) {
  return i < REPL_COMMANDS ? repl_commands[i].name : NULL;
}

/* A line such as "/word" or "/word rest" is a command, and never a program: a regular expression has a second slash. */
static bool repl_is_command(lt_str line) {
  size_t end = 1;
  while (end < line.n && line.p[end] >= 'a' && line.p[end] <= 'z') {
    end++;
  }
  bool is_word = line.n > 1 && line.p[0] == '/' && end > 1 && (end == line.n || line.p[end] == ' ');
  return is_word && memchr(line.p + 1, '/', line.n - 1) == NULL;
}

static void repl_do(lt_repl *r, lt_str line) LT_YIELDS {
  size_t end = lt_str_find(line, LT_STR(" "), 0);
  lt_str name = lt_str_sub(line, 0, end), rest = lt_str_trim(lt_str_sub(line, name.n, line.n));
  lt_nearest nearest = lt_nearest_to(name, 2);
  for (size_t i = 0; i < REPL_COMMANDS; i++) {
    if (lt_str_eqc(name, repl_commands[i].name)) {
      repl_commands[i].act(r, rest);
      return;
    }
    lt_nearest_offer(&nearest, lt_str_of(repl_commands[i].name));
  }
  lt_console_format(&r->session->console, "There is no command %.*s: %s%.*s", LT_STR_ARG(lt_str_sub(name, 0, 60)),
                    nearest.name.p != NULL ? "did you mean " : "see /help", LT_STR_ARG(nearest.name));
  r->has_failed = true;
}

/* --- Lines -------------------------------------------------------------------------------------------------------- */
static void repl_check_length(lt_repl *r) {
  if (r->source.n > LINES_BYTES) {
    lt_console_format(&r->session->console,
                      "error: a program of %zu bytes that is not finished: lathe run FILE takes long ones",
                      r->source.n);
    r->has_failed = true;
    lt_buf_clear(&r->source);
  }
}

static bool repl_may_end(const lt_repl *r, lt_str line) {
  bool closes = r->source.n <= LOOKS_BYTES;
  for (size_t i = 0; !closes && i < line.n; i++) {
    closes = line.p[i] != '\0' && strchr(")]}`;/", line.p[i]) != NULL;
  }
  return closes;
}

/* Runs what has been read as soon as it is whole. */
static void repl_take_line(lt_repl *r, lt_str line) LT_YIELDS {
  lt_str text = lt_str_trim(line);
  if (r->source.n == 0 && repl_is_command(text)) {
    repl_do(r, text);
    return;
  }
  lt_buf_addc(&r->source, r->source.n > 0 ? "\n" : "");
  lt_buf_add(&r->source, line);
  lt_str code = lt_buf_view(&r->source);
  if (lt_str_trim(code).n > 0 && (!repl_may_end(r, line) || lt_unfinished_program(code))) {
    repl_check_length(r);
    return;
  }
  if (lt_str_trim(code).n > 0) {
    lt_repl_run(r, code);
  }
  lt_buf_clear(&r->source);
}

/* The rest of a program that did not end. */
static void repl_take_rest(lt_repl *r) LT_YIELDS {
  if (lt_str_trim(lt_buf_view(&r->source)).n > 0 && r->session->app.cancel.why == LT_OK) {
    lt_repl_run(r, lt_buf_view(&r->source));
  }
  lt_buf_clear(&r->source);
}

static void repl_say_error(lt_repl *r, const lt_err *err) {
  lt_console_line(&r->session->console, "error: ", lt_str_of(lt_err_msg(err)));
  r->has_failed = true;
  lt_buf_clear(&r->source);
}

/* --- At a terminal ------------------------------------------------------------------------------------------------ */
/* A secret of the configuration is not written into the history. */
static void repl_keep_line(lt_repl *r, lt_str line) {
  if (lt_str_trim(line).n > 0 && !lt_secrets_in(r->session->app.secrets, line)) {
    lt_line_input_keep(r->chat.input, line);
  }
}

/* Ctrl-C drops an unfinished program first. */
static void repl_interrupted(lt_repl *r) {
  uint64_t now = lt_loop_now_ms(r->session->app.loop);
  bool has_text = r->source.n > 0 || lt_line_input_had_text(r->chat.input);
  lt_buf_clear(&r->source);
  if (r->session->app.cancel.why != LT_OK || (r->interrupted_ms > 0 && now - r->interrupted_ms <= TWICE_MS)) {
    r->has_finished = true;
  } else if (!has_text) {
    r->interrupted_ms = now;
    lt_console_format(&r->session->console, "(Ctrl-C once more, or Ctrl-D, leaves)");
  }
}

static lt_status repl_read_line(lt_repl *r, lt_buf *out, lt_err *err) LT_YIELDS {
  lt_cancel cancel;
  lt_cancel_node node;
  lt_cancel_init(&cancel);
  lt_cancel_follow(&r->session->app.cancel, &node, &cancel);
  r->chat.reading = &cancel;
  lt_status status = lt_line_input_read(r->chat.input, r->source.n > 0 ? "... " : "> ", &cancel, out, err);
  r->chat.reading = NULL;
  lt_cancel_remove(&r->session->app.cancel, &node);
  return status;
}

static void repl_turn(lt_repl *r) LT_YIELDS {
  LT_ERR_VAR(err);
  LT_AUTO_BUF(line, LT_INPUT_LINE_BYTES);
  lt_status status = repl_read_line(r, &line, &err);
  if (status == LT_E_CANCELLED) {
    repl_interrupted(r);
  } else if (status == LT_E_LIMIT) {
    repl_say_error(r, &err);
  } else if (status != LT_OK) {
    r->has_finished = true;
  } else {
    r->interrupted_ms = 0;
    repl_keep_line(r, lt_buf_view(&line));
    repl_take_line(r, lt_buf_view(&line));
  }
}

static void repl_on_resize(void *arg, int signum) {
  (void)signum;
  const lt_repl *r = arg;
  if (r->chat.input != NULL) {
    lt_line_input_resized(r->chat.input);
  }
}

int lt_repl_talk(lt_repl *r) {
  LT_ERR_VAR(err);
  const lt_console *console = &r->session->console;
  char *path = lt_history_file_path("repl-history");
  lt_status status = lt_line_input_open(r->session->app.loop, path, &r->chat.input, &err);
  lt_mem_free(path);
  if (status != LT_OK) {
    lt_console_format(console, "lathe repl: %s", lt_err_msg(&err));
    return LT_EXIT_FAILED;
  }
  lt_line_input_complete_by(r->chat.input, lt_repl_complete, r);
  (void)lt_loop_on_signal(r->session->app.loop, SIGWINCH, repl_on_resize, r, NULL);
  lt_console_format(console, "Session %s. /help says what there is, Ctrl-D leaves.", r->name);
  lt_repl_catch_up(r);
  while (!r->has_finished && r->session->app.cancel.why == LT_OK) {
    repl_turn(r);
  }
  lt_line_input_close(r->chat.input);
  r->chat.input = NULL;
  return r->session->app.cancel.why == LT_OK ? LT_EXIT_OK : LT_EXIT_INTERRUPTED;
}

/* --- From a pipe -------------------------------------------------------------------------------------------------- */
static void repl_read_lines(lt_repl *r, lt_piped_lines *lines) LT_YIELDS {
  while (!r->has_finished && r->session->app.cancel.why == LT_OK) {
    LT_ERR_VAR(err);
    LT_AUTO_BUF(line, LT_INPUT_LINE_BYTES);
    lt_status status = lt_piped_lines_read(lines, &r->session->app.cancel, &line, &err);
    if (status == LT_OK) {
      repl_take_line(r, lt_buf_view(&line));
    } else if (status == LT_E_LIMIT) {
      repl_say_error(r, &err);
    } else {
      r->has_finished = true;
    }
  }
  repl_take_rest(r);
}

int lt_repl_read_pipe(lt_repl *r) {
  LT_ERR_VAR(err);
  lt_piped_lines *lines;
  if (lt_piped_lines_open(r->session->app.loop, &lines, &err) != LT_OK) {
    lt_console_format(&r->session->console, "lathe repl: %s", lt_err_msg(&err));
    return LT_EXIT_FAILED;
  }
  lt_repl_catch_up(r);
  repl_read_lines(r, lines);
  lt_piped_lines_close(lines);
  return r->session->app.cancel.why != LT_OK ? LT_EXIT_INTERRUPTED : r->has_failed ? LT_EXIT_FAILED : LT_EXIT_OK;
}
