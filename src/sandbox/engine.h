/* The engine: QuickJS in a box, one program at a time.
 *
 * lt_engine_run runs a program's text to its end on the calling fiber and reports the outcome. The program reaches the
 * outside only through the functions of its lt_guest_host; these may suspend the fiber, which the program cannot
 * observe. runner/ prepares the program's text; prelude.js defines the program's global functions.
 *
 * Threads: an engine belongs to one program; its fiber may continue on another thread after a suspension. Arguments of
 * the host functions are borrowed for the call.
 */
#ifndef LT_SANDBOX_ENGINE_H
#define LT_SANDBOX_ENGINE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/fiber.h"
#include "base/str.h"
#include "sandbox/box.h"

/* What a tool function gives the program (docs/internals/engine.md). */
typedef enum lt_call_style {
  LT_CALLS_PLAIN,   /* the value; the program is suspended meanwhile */
  LT_CALLS_PROMISE, /* a promise that also stands for its value */
  LT_CALLS_RESULT,  /* TypeScript: a promise of {success, value | error}; console.log is output */
} lt_call_style;

/* The last three are what a cell says (docs/internals/codex.md): an image's URL, notify()'s text, and nothing more for
 * now. */
typedef enum lt_log_level {
  LT_LOG_LOG,
  LT_LOG_WARN,
  LT_LOG_ERROR,
  LT_LOG_IMAGE,
  LT_LOG_NOTICE,
  LT_LOG_YIELD
} lt_log_level;

/* The outcome of a call, a timer or a query to the host. `text` is JSON on success (empty: undefined), a message on
 * failure. */
typedef struct lt_outcome {
  uint32_t id;
  bool ok;
  lt_str text;
} lt_outcome;

/* Everything outside the box, as the program's functions reach it. `arg` is handed to each. */
typedef struct lt_guest_host {
  void *arg;
  /* Starts a call. `wait` delivers its outcome. False with `ret->text` set: it could not be started. Borrows the texts
   * until it returns, without entering the guest. `is_object`: the host itself has written the input, as JSON of an
   * object; else it may be any text of the guest's. */
  bool (*start)(void *arg, lt_str tool, lt_str input, bool is_object, lt_outcome *ret);
  /* The same for a call of a function that the bindings know by its number; `args` is a JSON array. May be NULL. */
  bool (*function)(void *arg, uint32_t index, lt_str args, lt_outcome *ret);
  /* Starts a timer. `wait` delivers its outcome, too. 0: it could not be started. */
  uint32_t (*timer)(void *arg, uint64_t ms);
  /* Drops a timer: `wait` does not deliver its outcome. May be NULL: then it is still delivered. */
  void (*drop)(void *arg, uint32_t id);
  /* Waits for call `id`, or for any open call or timer when `id` is 0. False when nothing is open. LT_YIELDS. */
  bool (*wait)(void *arg, uint32_t id, lt_outcome *ret) LT_YIELDS;
  void (*output)(void *arg, lt_str text);
  void (*log)(void *arg, lt_log_level level, lt_str text);
  void (*done)(void *arg);
  /* store(key, value): `json` empty removes it. False with `ret->text` set when it does not fit. */
  bool (*store)(void *arg, lt_str key, lt_str json, lt_outcome *ret);
  /* recall(key): JSON text, or an empty string. */
  lt_str (*recall)(void *arg, lt_str key);
  /* discoverTools(query), toolSchema(name): JSON text. */
  lt_outcome (*discover)(void *arg, lt_str query);
  lt_outcome (*schema)(void *arg, lt_str tool);
  /* The id of the tool that `name` (id or function name) means; false with the message set when there is none. */
  bool (*resolve)(void *arg, lt_str name, lt_outcome *ret);
  /* Source of a registered module; false when there is none. */
  bool (*module)(void *arg, lt_str name, lt_str *ret_source);
  /* The time as the program sees it, nanoseconds since 1970; NULL: the real one. */
  uint64_t (*now)(void *arg);
  /* Called regularly while the program computes, and after every suspension. True stops the program. May yield. */
  bool (*poll)(void *arg) LT_YIELDS;
} lt_guest_host;

typedef struct lt_program {
  lt_str code;
  lt_str file;     /* name in stack traces: program.js */
  lt_str input;    /* JSON text of `input`, or empty */
  lt_str bindings; /* JSON object: a function's name -> a tool's id, the number of a function of the host's, or true:
                      one of the names of cells (docs/internals/codex.md); or empty */
  lt_call_style calls;
  bool module;           /* a real import or export statement is present */
  bool call_result;      /* the whole program is a function: call it */
  bool only_parses;      /* nothing of it runs: its value is undefined, or it is_unparsed */
  bool is_continued;     /* the box has the memory of an earlier program, whose variables are there */
  bool shows_value;      /* its value ends as LT_END_STRING, printed for a person to read */
  bool is_cell;          /* its globals are those of cells only; what it does not wait for is dropped at its end */
  bool without_output;   /* there is no output(), done() and complete(), and console.log is no output */
  uint64_t memory_bytes; /* 0: LT_RUN_MEMORY_BYTES */
  uint64_t seed;         /* of all that is random in it; 0: fresh */
  lt_str time_zone;      /* of its local time, a name that lt_time_zone_find knows; empty: UTC */
} lt_program;

typedef enum lt_ending {
  LT_END_VALUE,  /* `text` is the value as JSON */
  LT_END_STRING, /* `text` is the value, a string's characters as WTF-8 */
  LT_END_UNDEFINED,
  LT_END_ERROR,   /* the program failed: message, name, stack */
  LT_END_MEMORY,  /* it ran out of memory */
  LT_END_STOPPED, /* poll said so, or the box was revoked */
  LT_END_TRAP,    /* the engine trapped; message says how */
} lt_ending;

typedef struct lt_engine_result {
  lt_ending ending;
  lt_buf text; /* value, or the error's message */
  lt_buf name; /* the error's name: TypeError; empty for thrown values that are no errors */
  lt_buf stack;
  lt_buf unread;    /* of a program that ended by itself: its failed Results that it did not read, a line each */
  bool is_unparsed; /* LT_END_ERROR: the text is no valid program, and nothing of it has run */
} lt_engine_result;

void lt_engine_result_init(lt_engine_result *result);
void lt_engine_result_release(lt_engine_result *result);

/* Runs a program in `box`, made from an image for programs, to its end. LT_YIELDS whenever a host function does.
 * Must run on a fiber whose stack is the box's (lt_box.stack), on a thread with lt_box_thread_init.
 * The box is used up afterwards: clean or free it. */
void lt_engine_run(lt_box *box, const lt_program *program, const lt_guest_host *host,
                   lt_engine_result *result) LT_YIELDS;

/* TypeScript to JavaScript by taking the types off, line numbers kept, in a box made from LT_IMAGE_STRIP.
 * LT_END_STRING: the JavaScript. LT_END_ERROR: a syntax error. `poll` may be NULL. Same rules as lt_engine_run. */
void lt_engine_strip(lt_box *box, lt_str source, bool (*poll)(void *arg), void *arg,
                     lt_engine_result *result) LT_YIELDS;

/* A script that an image runs once before it is frozen. Its value may be a function, which is then called with
 * (H, roots, words): the host's functions; an object for what the engine calls by hand, which scripts may also use to
 * share things; the globals that the image does not have, as {name: kind of the image that has it}. */
typedef struct lt_engine_script {
  lt_str file; /* its name in errors */
  lt_str text;
  bool keeps_text; /* its functions know their text, each its own copy: console.log finds classes by it */
} lt_engine_script;

#define LT_ENGINE_BASE_SCRIPTS 2 /* inspect.js and prelude.js: every image begins with them */
#define LT_ENGINE_SCRIPTS_MAX  32

/* Builds an image from the base scripts and further ones, in this order: build time only (mkimage.c). `programs` are
 * usual ones, each after a line "//---": what they change of it lies together (block_order.h).
 * Appends header and bytes. Makes its own boxes and fibers. Errors: a script or a program that throws; no prelude;
 * LT_E_NOMEM. */
lt_status lt_engine_freeze(lt_image_kind kind, const lt_engine_script *scripts, size_t count, lt_str programs,
                           lt_buf *out, lt_err *err);

#endif
