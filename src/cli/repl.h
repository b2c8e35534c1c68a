/* lathe repl: programs that a person types, or that come from a pipe, against the configured tools.
 *
 * Each program is a prompt of mode "program" in one conversation, and all of them have one session
 * (docs/internals/sessions.md). So approvals, Ctrl-C and a program that was cut short by a kill are a chat's
 * (cli/chat.h). repl.c runs programs, repl_dialogue.c reads them, repl_complete.c completes names.
 */
#ifndef LT_CLI_REPL_H
#define LT_CLI_REPL_H

#include "base/limits.h"
#include "cli/chat.h"

typedef struct lt_repl_options {
  const char *session; /* NULL: a new one, or with `goes_on` the last one */
  const char *lang;
  int64_t timeout_ms; /* 0: the configuration's */
  bool goes_on;
  bool yes;
  bool json;
  bool is_unchecked;
  lt_config_sources sources;
} lt_repl_options;

typedef struct lt_repl {
  const lt_repl_options *options;
  lt_command_session *session;
  lt_chat_options chat_options;
  lt_chat chat;
  char name[LT_SESSION_NAME_BYTES + 1]; /* of the session of programs */
  bool is_typescript;
  bool is_dialogue;  /* at a terminal; else standard input has programs */
  lt_buf source;     /* the program that is being read */
  lt_buf last;       /* the last program that ran */
  bool has_failed;   /* a program has */
  bool has_finished; /* nothing more is read */
  uint64_t interrupted_ms;
  /* Of the running program. */
  lt_buf answer, error, value; /* `value`: JSON, where only that is wanted */
  lt_buf outputs, logs;        /* items of JSON arrays, with --json */
  bool was_stopped;
} lt_repl;

/* Opens the chat and finds or names the session. LT_YIELDS. The caller calls lt_repl_close also after an error. Errors:
 * LT_E_NOTFOUND (there is no last session), those of lt_chat_open. */
lt_status lt_repl_open(lt_repl *repl, lt_err *err) LT_YIELDS;
void lt_repl_close(lt_repl *repl) LT_YIELDS;
/* Runs a program and prints what came of it. LT_YIELDS. */
void lt_repl_run(lt_repl *repl, lt_str code) LT_YIELDS;
/* Goes on with a program that was running when its process was killed. LT_YIELDS. */
void lt_repl_catch_up(lt_repl *repl) LT_YIELDS;
/* Forgets the variables: the next program begins with none. LT_YIELDS. */
void lt_repl_forget(lt_repl *repl) LT_YIELDS;

/* repl_dialogue.c: reads and runs programs until the end. Return exit codes. LT_YIELDS. */
int lt_repl_talk(lt_repl *repl) LT_YIELDS;
int lt_repl_read_pipe(lt_repl *repl) LT_YIELDS;

/* repl_complete.c: for lt_line_input_complete_by; `arg` is the lt_repl. LT_YIELDS. */
struct lt_line_completion;
void lt_repl_complete(void *arg, struct lt_line_completion *completion) LT_YIELDS;
/* repl_dialogue.c: the name of the i-th command, with its slash; NULL: there is none. */
const char *lt_repl_command_name(size_t i);

#endif
