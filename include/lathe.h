/* liblathe: code mode for language-model agents, inside your own program.
 *
 * A model writes a program, Lathe runs it in a sandbox, and the program calls your tools as plain functions:
 *
 *   lathe_options options = {.size = sizeof options};
 *   lathe_tool_options tool = {.size = sizeof tool, .name = "clock.now", .description = "The time, in seconds"};
 *   lathe_env *env;
 *   lathe_open(&options, &env, NULL);
 *   lathe_add_tool(env, &tool, NULL);
 *   lathe_start(env, &(lathe_run_options){.size = sizeof(lathe_run_options), .code = "clockNow() / 60"}, &run, NULL);
 *   while (lathe_next(env, -1, &event) == LATHE_OK) { ... lathe_answer(env, event->call, "86400", NULL); ... }
 *
 * examples/embed/c/ is a whole one to start from; docs/guide/embedding.md explains more.
 *
 * Environments. A lathe_env has one thread that waits for everything, and a few threads that run programs. It reads
 * the configuration that it is given, and nothing else. A process may have several, which know nothing of each other.
 *
 * Events. Nothing calls back. What comes out of an environment (calls of your tools, questions, output, ends) waits in
 * one queue until lathe_next takes it; lathe_fd is a descriptor for poll(2), epoll, asyncio and the like. A program
 * that waits for your tool costs no thread. lathe_run is for those who need no queue: it runs one program on the thread
 * that it is called on, without handing anything to another one, and its events go to a function that it calls there.
 * lathe_turn does the same from one event to the next.
 *
 * Threads. Every function may be called from any thread, and by several at once, except that lathe_close is called once
 * and last. lathe_open, lathe_next, lathe_run, lathe_turn, lathe_check and lathe_close wait for something; the others
 * return in microseconds (lathe_tools and lathe_declare in milliseconds where there are thousands of tools).
 *
 * Texts. All texts are UTF-8 that ends with a NUL. What is given to a function is copied before it returns. What a
 * function returns in a `char **` belongs to the caller, who frees it with lathe_free.
 *
 * Errors. A function that can fail returns LATHE_OK or why not, and writes a message for a person into `error`, which
 * may be NULL. A failure changes nothing else, and leaves what it would have returned NULL or 0.
 *
 * Versions. Structs begin with their size and only ever grow at their end; a member that is missing counts as 0. So a
 * program that was built with an older header works with a newer library as it is. One that was built with a newer
 * header works with an older library unless it sets a member that the library does not know: LATHE_E_UNSUPPORTED.
 *
 * fork. An environment does not live in a child of its process: there every function returns LATHE_E_FORKED, lathe_fd
 * returns -1, and lathe_close does nothing. A child may open environments of its own.
 *
 * What the library does to its process: the first run of a program takes SIGSEGV and SIGBUS, by which the sandbox ends
 * programs; faults that are not of a program go to the handlers that were there before. A handler that is installed
 * later must do likewise. No other signal is handled, and none is delivered to a thread of the library. The library
 * changes no limits, no folder, no variable and no terminal, and is not unloaded by dlclose. Descriptors 0, 1 and 2
 * must be open, if only on /dev/null.
 *
 * Children. MCP servers with a `command`, Python, Deno and the compiler that checks types are processes. They are
 * started through the program lathe-exec of this version: beside the library (liblathe.a: the program), in
 * libexec/lathe of a folder above it, or lathe_options.helper. A child has its own session. It gets no
 * descriptor of the host, and only the variables that docs/guide/embedding.md lists. It ends when its lathe_env is
 * closed, and when the host's process ends, in whatever way. There is no handler of SIGCHLD: a host's own is called for
 * these children, too, and should wait for those it knows. If it ignores SIGCHLD or waits for all, it takes their exit
 * codes: programs on Deno then fail, the others do not.
 *
 * Licence: MIT.
 */
#ifndef LATHE_H
#define LATHE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define LATHE_API __attribute__((visibility("default")))

/* --- Errors ------------------------------------------------------------------------------------------------------- */

typedef enum lathe_status {
  LATHE_OK = 0,
  LATHE_E_NOMEM = 1,        /* there is no memory; of a run: the program needed more than it may */
  LATHE_E_LIMIT = 2,        /* a limit was reached */
  LATHE_E_INVALID = 3,      /* a bad argument */
  LATHE_E_SYNTAX = 4,       /* a text is not JSON */
  LATHE_E_NOTFOUND = 5,     /* there is no such thing, or not any more */
  LATHE_E_CONFIG = 6,       /* the configuration is wrong */
  LATHE_E_IO = 7,           /* the system failed */
  LATHE_E_CLOSED = 8,       /* the environment is being closed */
  LATHE_E_TIMEOUT = 10,     /* the time is over */
  LATHE_E_CANCELLED = 11,   /* lathe_cancel or lathe_close has ended it */
  LATHE_E_DENIED = 12,      /* it is not allowed */
  LATHE_E_PROGRAM = 14,     /* the program failed */
  LATHE_E_TRAP = 15,        /* the sandbox has ended the program */
  LATHE_E_UNSUPPORTED = 18, /* this library cannot do that */
  LATHE_E_INTERNAL = 19,    /* a fault of the library: please report it */
  LATHE_E_FORKED = 100,     /* the environment belongs to the parent process */
} lathe_status;

#define LATHE_MESSAGE_BYTES 1024

typedef struct lathe_error {
  size_t size; /* sizeof(lathe_error), set by the caller; with a smaller one nothing is written */
  lathe_status status;
  char message[LATHE_MESSAGE_BYTES]; /* of a failure; ends with a NUL */
} lathe_error;

/* "timed out". Never NULL. The text is constant. */
LATHE_API const char *lathe_status_text(lathe_status status);

/* Of the library, such as "0.1.0". The text is constant. */
LATHE_API const char *lathe_version(void);

/* Frees a text that a function has returned. NULL is allowed. */
LATHE_API void lathe_free(void *text);

/* --- Environments ------------------------------------------------------------------------------------------------- */

typedef struct lathe_env lathe_env;

typedef struct lathe_options {
  size_t size; /* sizeof(lathe_options) */
  /* The configuration: JSON, or YAML, with the keys of docs/guide/configuration.md. NULL: that of config_file, else the
   * defaults. Without `store` nothing is kept beyond the environment. */
  const char *config;
  const char *config_file; /* its path; NULL: none. Not both. */
  const char *folder;      /* where relative paths of `config` begin; NULL: the current folder */
  const char *helper;      /* the full path of lathe-exec, which starts children; NULL: see above, "Children" */
} lathe_options;

/* Opens an environment. `options` may be NULL: the defaults. Waits until each MCP server of the configuration has given
 * its tools, or has failed to: that is a LATHE_EVENT_WARNING, not an error. Errors: LATHE_E_CONFIG, with file, line and
 * key; LATHE_E_INVALID, LATHE_E_UNSUPPORTED, LATHE_E_NOMEM, LATHE_E_IO. The caller owns *ret_env: lathe_close. */
LATHE_API lathe_status lathe_open(const lathe_options *options, lathe_env **ret_env, lathe_error *error);

/* Cancels what runs, ends the threads and frees the environment, with the events that nobody has taken. Functions that
 * other threads are in return, LATHE_E_CLOSED where they wait; no thread may call another one afterwards. Not to be
 * called by an on_event function. NULL is allowed. */
LATHE_API void lathe_close(lathe_env *env);

/* --- Tools of your own -------------------------------------------------------------------------------------------- */

typedef struct lathe_tool_options {
  size_t size;               /* sizeof(lathe_tool_options) */
  const char *name;          /* its id, such as "clock" or, with a namespace, "clock.now" */
  const char *description;   /* for the model: what it does, when to use it. NULL: none */
  const char *input_schema;  /* JSON Schema of an object; NULL: anything. Inputs that do not fit are refused */
  const char *output_schema; /* JSON Schema of the answer; NULL: not known */
  const char *annotations;   /* hints as in MCP, such as {"readOnlyHint": true}; NULL: none */
  const char *approval;      /* not NULL: each call is a LATHE_EVENT_APPROVAL first, for this reason */
} lathe_tool_options;

/* Adds a tool, or replaces the one of that name. Programs that run already keep the tools they have. A call of it is a
 * LATHE_EVENT_CALL of the run that makes it. Errors: LATHE_E_INVALID: no name, a schema that is not JSON, a namespace
 * of the configuration; LATHE_E_LIMIT: 20,000 tools of all kinds, or 1,024 namespaces; LATHE_E_NOMEM. */
LATHE_API lathe_status lathe_add_tool(lathe_env *env, const lathe_tool_options *tool, lathe_error *error);
/* Removes it. A program that has it still can call it no more; calls under way go on. Errors: LATHE_E_NOTFOUND. */
LATHE_API lathe_status lathe_remove_tool(lathe_env *env, const char *name, lathe_error *error);

/* --- About all tools ---------------------------------------------------------------------------------------------- */

/* The tools for a query, best first; NULL or "": all of them, by id. `limit` 0: as many as there are. JSON: [{"id",
 * "jsName", "tsName", "description", "inputSchema", "outputSchema"?}]. Errors: LATHE_E_NOMEM, LATHE_E_LIMIT. */
LATHE_API lathe_status lathe_tools(lathe_env *env, const char *query, size_t limit, char **ret_json,
                                   lathe_error *error);

/* The tools as a model is told of them. `form`: "ts" or "python", declarations; "prompt", a short listing, which takes
 * about `max_tokens` (of the listing only; 0: no limit). Errors: LATHE_E_INVALID: another form; LATHE_E_NOMEM. */
LATHE_API lathe_status lathe_declare(lathe_env *env, const char *form, size_t max_tokens, char **ret_text,
                                     lathe_error *error);

/* --- Programs ----------------------------------------------------------------------------------------------------- */

typedef struct lathe_run_options {
  size_t size;           /* sizeof(lathe_run_options) */
  const char *code;      /* the program */
  const char *language;  /* "js", "ts" or "python"; NULL: "js" */
  const char *input;     /* JSON: what the program finds in `input`; NULL: nothing */
  uint64_t timeout_ms;   /* 0: what is configured. Time in which it only waits for an approval does not count. */
  uint64_t memory_bytes; /* 0: what is configured */
  void *data;            /* is in each event of the run */
  int can_snapshot;      /* not 0: it is recorded as it goes on, for lathe_snapshot */
  int by_turns;          /* of lathe_start, not 0: it goes on in lathe_turn only */
  int keeps_signals;     /* of lathe_run, not 0: on_event has no use for the thread's signal stack, see there */
} lathe_run_options;

/* What is wrong with a program, without running it; only code and language count. JSON: [{"line", "column", "endLine"?,
 * "endColumn"?, "severity": "error" or "warning", "message"}]. Errors: LATHE_E_INVALID, LATHE_E_UNSUPPORTED (a language
 * that is not in the library), LATHE_E_TIMEOUT, LATHE_E_CANCELLED (lathe_close), LATHE_E_NOMEM. */
LATHE_API lathe_status lathe_check(lathe_env *env, const lathe_run_options *options, char **ret_json,
                                   lathe_error *error);

/* Starts a program and returns at once; *ret_run is its number, never 0. Its events are in the queue, and the last one
 * is a LATHE_EVENT_END, also when it could not begin. Errors: LATHE_E_INVALID: no code, an unknown language;
 * LATHE_E_SYNTAX: the input is not JSON; LATHE_E_LIMIT: 10,000 runs of the environment whose LATHE_EVENT_END was not
 * taken; LATHE_E_NOMEM. What a program puts out while it computes comes a moment later, when the engine looks for it.
 */
LATHE_API lathe_status lathe_start(lathe_env *env, const lathe_run_options *options, uint64_t *ret_run,
                                   lathe_error *error);

/* Asks a run to end; LATHE_EVENT_END follows, with LATHE_E_CANCELLED unless it ended before. Errors: LATHE_E_NOTFOUND:
 * there is no such run, or it has ended. */
LATHE_API lathe_status lathe_cancel(lathe_env *env, uint64_t run, lathe_error *error);

/* --- Events ------------------------------------------------------------------------------------------------------- */

/* Others may follow: leave alone what you do not know. */
typedef enum lathe_event_type {
  LATHE_EVENT_CALL = 1,      /* a program calls a tool of yours: lathe_answer or lathe_fail. tool, json: its input */
  LATHE_EVENT_APPROVAL = 2,  /* a call needs an approval: lathe_approve or lathe_reject. tool, json, text: why */
  LATHE_EVENT_CANCELLED = 3, /* no answer to `call` is wanted any more, such as after a timeout. tool */
  LATHE_EVENT_OUTPUT = 4,    /* the program has put out a text */
  LATHE_EVENT_LOG = 5,       /* the program has logged a text */
  LATHE_EVENT_END = 6,       /* the run has ended. status; text: the message of a failure; json: its report */
  LATHE_EVENT_WARNING = 7,   /* for the person who runs this. text; of the environment, not of a run */
  LATHE_EVENT_PROMPT = 8,    /* a step of a prompt. text: its name, such as "prompt.output"; json: its data */
} lathe_event_type;

/* Texts that a type does not use are "". */
typedef struct lathe_event {
  size_t size;         /* of the library's own struct: members beyond it do not exist */
  int type;            /* lathe_event_type */
  lathe_status status; /* END: how the run ended */
  uint64_t run;        /* 0: the environment itself */
  uint64_t call;       /* CALL, APPROVAL, CANCELLED: the number to answer with; never used twice */
  const char *tool;    /* the id of the tool */
  const char *text;
  /* END: {"result"?, "outputs": [...], "logs": [...], "calls": [...], "error"?, "line"?, "column"?, "context"?,
   * "stack"?, "timeout"?, "durationMs"}, as `lathe run --json` prints it; of a prompt {"id", "mode", "state", "input",
   * "output": [...], "usage", "error"?, ...}, as `GET /prompts/ID` of `lathe serve` has them. */
  const char *json;
  void *data; /* of the run's options */
  /* CALL, APPROVAL of a run that was restored: the number under which the earlier process was told of it. 0: it was
   * not. */
  uint64_t earlier_call;
} lathe_event;

/* Takes the next event from the queue; waits for it `timeout_ms` (-1: for ever; 0: not at all). Each event goes to one
 * thread. Errors: LATHE_E_TIMEOUT: there is none; LATHE_E_CLOSED. The caller owns *ret_event: lathe_event_free, also
 * after lathe_close.
 *
 * A thread that waits for ever for the only run may run a part of it, which saves waking others. Then what is said of
 * lathe_run about the stack, signals and handlers holds here, too. */
LATHE_API lathe_status lathe_next(lathe_env *env, int timeout_ms, const lathe_event **ret_event);
/* NULL is allowed. */
LATHE_API void lathe_event_free(const lathe_event *event);

/* A descriptor that is readable while the queue has events: poll it, but do not read it, and call lathe_next with a
 * timeout of 0 until it says LATHE_E_TIMEOUT. It belongs to the environment. */
LATHE_API int lathe_fd(const lathe_env *env);

/* --- Answering. The number is that of an event; each is answered once, from any thread. --------------------------- */
/* All of them: LATHE_E_NOTFOUND: it was answered, or no answer is wanted any more; LATHE_E_INVALID: the number is of
 * the other type of event; LATHE_E_NOMEM. After LATHE_E_SYNTAX, LATHE_E_LIMIT, LATHE_E_NOMEM and LATHE_E_IO it can
 * still be answered. */

/* The tool's answer, JSON: the program gets the value. NULL: null. Errors: LATHE_E_SYNTAX; LATHE_E_LIMIT: over 64 MiB.
 */
LATHE_API lathe_status lathe_answer(lathe_env *env, uint64_t call, const char *json, lathe_error *error);
/* The tool has failed: the program gets the message, in JavaScript as an exception. */
LATHE_API lathe_status lathe_fail(lathe_env *env, uint64_t call, const char *message, lathe_error *error);
/* The call may be made. `input`: a JSON object that replaces the input of the call; NULL: the input stays. If it does
 * not fit the tool, another LATHE_EVENT_APPROVAL follows. A decision about a call of a prompt is in the store when this
 * returns, which takes a millisecond or more; LATHE_E_IO: it could not be stored. */
LATHE_API lathe_status lathe_approve(lathe_env *env, uint64_t call, const char *input, lathe_error *error);
/* The call is not made: it fails, for this reason. NULL: for none. */
LATHE_API lathe_status lathe_reject(lathe_env *env, uint64_t call, const char *reason, lathe_error *error);

/* --- One program, without the queue ------------------------------------------------------------------------------- */

/* Is given the events of lathe_run but END, on the thread that called it. It may call every function but lathe_close;
 * a call may also be answered later, by another thread. The event lives until it returns; no
 * exception and no longjmp may leave it. */
typedef void lathe_event_fn(lathe_env *env, const lathe_event *event, void *arg);

/* Runs a program to its end. Its events go to `on_event`, not to the queue. `on_event` NULL: calls of your tools fail,
 * and what needs an approval is refused. *ret_json is the report, as in LATHE_EVENT_END, also of a program that failed;
 * NULL: it has not begun. `ret_json` may be NULL. Errors: those of lathe_start, and how the run ended, with its
 * message: LATHE_E_PROGRAM, LATHE_E_TIMEOUT, LATHE_E_NOMEM, LATHE_E_TRAP, LATHE_E_CANCELLED ...
 *
 * A program in JavaScript or TypeScript runs on this thread; only what concerns processes and connections is left to
 * the environment's. So what a program puts out while it computes comes a moment later, when the engine looks for it.
 * 32 KiB of stack must be left, and what on_event needs. The thread's signal stack and mask are as they were while
 * on_event runs, and afterwards. While the program runs SIGSEGV and SIGBUS are not blocked, and a handler of the host
 * without SA_ONSTACK may run on a stack of the sandbox. Not to be called in a handler.
 *
 * Each event takes three system calls for that. With keeps_signals it takes none: on_event runs with the library's
 * signal stack and with SIGSEGV and SIGBUS not blocked, and must return with both as it has found them, or a program
 * may end the process. Afterwards the thread has its own again. */
LATHE_API lathe_status lathe_run(lathe_env *env, const lathe_run_options *options, lathe_event_fn *on_event, void *arg,
                                 char **ret_json, lathe_error *error);

/* --- One program, turn by turn ------------------------------------------------------------------------------------ */

/* Carries on a run that was started with by_turns, on this thread, as lathe_run does, until there is an event of it:
 * *ret_event, as from lathe_next. Between its events your thread is free, and the program stands still.
 *
 * Limits: LATHE_E_TIMEOUT after about `work_ms` of work (-1: no limit), or when it only waits, for you or for anything
 * else, and nothing came in `wait_ms` (0: at once; -1: no limit). Such a wait with a limit also ends when a signal was
 * handled. Call it again, or lathe_detach. One thread at a time turns a run; it need not be the same one each time.
 * Errors: LATHE_E_NOTFOUND: there is no such run, its LATHE_EVENT_END was taken, or it is not to be turned;
 * LATHE_E_INVALID: another thread turns it; LATHE_E_CLOSED. */
LATHE_API lathe_status lathe_turn(lathe_env *env, uint64_t run, int work_ms, int wait_ms,
                                  const lathe_event **ret_event);
/* The run goes on by itself from now on, as after lathe_start without by_turns: lathe_next has its events, also those
 * that were not taken. Errors: as lathe_turn. */
LATHE_API lathe_status lathe_detach(lathe_env *env, uint64_t run, lathe_error *error);

/* --- Runs that go on in another process --------------------------------------------------------------------------- */

/* Writes down a run that waits for you (for an answer or a decision) and was started with can_snapshot. It goes on as
 * before: end it with lathe_cancel when another process is to continue it. *ret_json has its program and its input as
 * you gave them, and its calls with their answers, secrets of the configuration masked. It also says what was approved:
 * who can change it can approve. Not for prompts, which a `store` keeps. Errors: LATHE_E_NOTFOUND: there is no such
 * run, or it has ended; LATHE_E_INVALID: it does not wait, or was started without can_snapshot; LATHE_E_UNSUPPORTED: it
 * is a prompt; LATHE_E_LIMIT: it has over 64 MiB; LATHE_E_NOMEM: also when there was none to record the run. */
LATHE_API lathe_status lathe_snapshot(lathe_env *env, uint64_t run, char **ret_json, lathe_error *error);

/* Starts a run from a snapshot: the program runs again from its beginning, gets the answers that it had, and goes on
 * where it was. Calls and questions that you had not answered come again, with a new number (earlier_call has the old
 * one). A call of a server that was under way is made again if its tool is read-only or idempotent, and has failed if
 * not. Add your tools first. The run's time begins anew, and it can be written down again; all else is as after
 * lathe_start. `data` is in its events. Errors: LATHE_E_SYNTAX, LATHE_E_INVALID: this is no snapshot;
 * LATHE_E_UNSUPPORTED: another version of the library has made it; LATHE_E_NOTFOUND: there is no tool for a call that
 * waits for you; LATHE_E_LIMIT and LATHE_E_NOMEM as lathe_start. A program that does something else than before, such
 * as with other tools, ends with LATHE_E_INTERNAL and a message that says what. */
LATHE_API lathe_status lathe_restore(lathe_env *env, const char *snapshot, void *data, uint64_t *ret_run,
                                     lathe_error *error);

/* --- Prompts of the agent ----------------------------------------------------------------------------------------- */

typedef struct lathe_prompt_options {
  size_t size;              /* sizeof(lathe_prompt_options) */
  const char *input;        /* what is asked for */
  const char *model;        /* the `ref` of one of the configuration's `models`; NULL: the default */
  const char *mode;         /* "code", "typescript", "classic" ...; NULL: the default */
  const char *conversation; /* the id of the one that it goes on with; NULL: a new one */
  const char *user;         /* whose conversation and prompt it is; NULL: "local" */
  const char *prompt;       /* NULL; or, instead of all but `user`, the id of a prompt that goes on (see below) */
  void *data;               /* is in each event of the prompt */
  /* Images, PDFs and texts that go with the input, as JSON: [{"name", "data": base64, "mimeType"?} or {"name",
   * "text"}]; NULL: none. The content decides what a file is: an image with the media type of another one is sent as
   * what it is.
   */
  const char *attachments;
} lathe_prompt_options;

/* Has a model carry out a prompt, which may call all tools, and returns at once. To lathe_cancel and in events *ret_run
 * is the number of a run. What happens is a LATHE_EVENT_PROMPT each, with the names and data of the events of `lathe
 * serve` (docs/guide/serve.md): the first is "prompt.created", of a prompt that goes on "prompt.resumed", which has the
 * ids of prompt and conversation. Calls of your tools and questions are events as in a run of a program. The last
 * event is a LATHE_EVENT_END, also of a prompt that could not begin: LATHE_OK, LATHE_E_CANCELLED, LATHE_E_PROGRAM when
 * the prompt failed, LATHE_E_CONFIG without `models` in the configuration or without the model's key, LATHE_E_INVALID
 * (no such mode or model, the conversation is busy, an attachment that models cannot take), LATHE_E_NOTFOUND (no such
 * conversation or prompt), LATHE_E_LIMIT (the input or an attachment is too long), LATHE_E_SYNTAX (the attachments are
 * no JSON).
 *
 * While a queue is full (see LATHE_E_LIMIT of lathe_start) events of prompts are left out, and a prompt is cancelled
 * whose question finds no room; the report of the end has all outputs.
 *
 * With a `store` in the configuration that is a file, a prompt survives its process: lathe_close leaves it as it is,
 * and `prompt` with its id goes on with it in another process, with the same configuration and tools. What it has put
 * out comes again, with the same ids; calls that were under way are made again if their tool is read-only or
 * idempotent, and have failed if not; what waited for an approval is asked about again.
 *
 * Errors: LATHE_E_INVALID: neither input nor prompt, or more than `user` with a prompt, or what no id or user is;
 * LATHE_E_LIMIT, LATHE_E_NOMEM as lathe_start. */
LATHE_API lathe_status lathe_prompt(lathe_env *env, const lathe_prompt_options *options, uint64_t *ret_run,
                                    lathe_error *error);

#ifdef __cplusplus
}
#endif

#endif
