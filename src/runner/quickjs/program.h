/* One program on its way through the QuickJS runner. Internal to runner/.
 *
 * Two threads look at it: the worker that runs the program's step, and the loop. What both touch is under `lock`;
 * everything else belongs to the worker while a step runs, and to the loop before the first and after the last.
 */
#ifndef LT_RUNNER_QUICKJS_PROGRAM_H
#define LT_RUNNER_QUICKJS_PROGRAM_H

#include <pthread.h>

#include "base/fiber.h"
#include "js/jsscan.h"
#include "runner/quickjs/quickjs.h"
#include "sandbox/engine.h"
#include "sandbox/pool.h"
#include "sandbox/workers.h"
#include "tool/catalog.h"

typedef struct lt_run lt_run;

/* What a program waits for: a call of a tool or a function, or a timer. Made by the worker, carried out on the loop,
 * taken by the worker. */
typedef struct lt_run_open {
  struct lt_run_open *next_ready;
  lt_run *run;
  uint32_t id;
  bool is_timer;
  bool dropped; /* the program does not want it any more; under the lock */
  lt_post post;
  /* Of runs with a tape, under the lock. */
  bool here;      /* the program has opened it since it was begun (again) */
  bool done;      /* it was there to be taken */
  uint32_t place; /* in that order; LT_TAPE_NOWHERE: it is in none */
} lt_run_open;

typedef struct lt_run_tool_call {
  lt_run_open open; /* first: an open that is no timer is one of these */
  struct lt_run_tool_call *next;
  struct lt_run_tool_call *next_queued;
  lt_run_call record; /* what the result will show */
  lt_buf out;         /* the value, or the message of a failure */
  lt_status status;
  bool kept;                       /* `out` stays for the report; otherwise it goes when the program has read it */
  bool preset;                     /* its outcome is there: it is on record */
  int64_t interrupted;             /* the journal's number of a call that was in flight; 0: none */
  uint64_t hash;                   /* of runs with a tape: lt_journal_hash */
  uint32_t asking;                 /* approvals it waits for, several when a plugin makes calls for it; the loop's */
  const lt_run_function *function; /* a call of it instead of a tool's; `record` has its name and arguments */
} lt_run_tool_call;

typedef struct lt_run_timer lt_run_timer; /* timers.c */

typedef enum lt_run_wait { LT_WAIT_NOTHING, LT_WAIT_ANY, LT_WAIT_ONE } lt_run_wait;

struct lt_run {
  lt_workers_task task; /* first: the workers hand it back as this */
  lt_quickjs *quickjs;
  lt_loop *loop;
  lt_door *door;
  lt_workers *workers;
  const lt_run_request *request;
  lt_run_result *result;
  lt_catalog *catalog;
  lt_stored_values *values;
  lt_stored_values *own_values; /* NULL when the request brought one */
  struct lt_tape *tape;         /* tape.h; NULL: it will not be run again */

  /* The step. */
  lt_fiber fiber;
  lt_box *box;
  lt_pool *pool;
  lt_workers_step step;
  void (*body)(lt_run *run) LT_YIELDS; /* what the fiber runs */
  lt_program program;
  lt_engine_result engine;

  /* What the program was before it was prepared. */
  lt_str source;          /* without fences */
  unsigned line_offset;   /* lines dropped before it */
  unsigned column_offset; /* characters put before its first line */
  lt_buf code;            /* what is run, when it is not `source` itself */
  lt_buf bindings;
  lt_buf reply; /* texts of the last outcome that had to be made up */

  /* What it said. */
  lt_run_text **last_text;
  size_t output_bytes;
  size_t log_bytes;

  /* Its calls and timers: the worker's side. */
  lt_run_tool_call *calls; /* all that were made, in order */
  lt_run_tool_call **last_call;
  lt_run_tool_call *last_taken;
  lt_run_timer *timers; /* those not taken */
  uint32_t last_id;
  uint32_t call_count;
  uint32_t timer_count;

  /* Under the lock. */
  pthread_mutex_t lock;
  lt_run_open *ready;
  lt_run_open **last_ready;
  uint32_t open_count;      /* started and not taken */
  uint32_t ready_count;     /* of these, in the ready list */
  uint32_t ticking_count;   /* of these, timers that are not ready */
  uint32_t asking;          /* of these, calls that wait for approval */
  uint64_t stands_since_ns; /* when the clock began to stand still; 0: it runs */
  bool standing_posted;     /* the loop will look at that */
  size_t held_bytes;        /* inputs of calls not carried out, answers not taken that are not kept */
  lt_run_wait waiting;
  uint32_t waiting_id;
  bool parked;

  /* The loop's side. */
  lt_wait wait;
  lt_cancel cancel;
  lt_post done_post;
  lt_post standing_post;
  bool told_standing; /* what the request's on_standing was last told */
  lt_timer *deadline; /* while the run's own fiber is busy with a call */
  bool finished;
  bool idle;             /* the run's own fiber waits and could carry out a call */
  uint32_t in_flight;    /* tool calls */
  lt_run_tool_call *own; /* what it was woken to carry out: calls that come right behind must not overtake it */
  lt_run_tool_call *queued;
  lt_run_tool_call **last_queued;
  lt_run_timer *ticking;
  size_t kept_bytes; /* of inputs, results and messages in the records */
};

/* The request's limits, or what holds without one. */
uint64_t lt_run_request_timeout_ms(const lt_run_request *request);
uint64_t lt_run_request_memory_bytes(const lt_run_request *request);

/* prepare.c: from what was written to what is run. False: `result` says why it cannot be. */
bool lt_run_prepare(lt_run *run);
/* The same for the JavaScript itself, also what came out of TypeScript. Errors: LT_E_NOMEM. */
lt_status lt_run_prepare_code(lt_run *run, lt_str code, lt_err *err);

/* prepare.c: the place of the request's function of that name; request->function_count: there is none. */
size_t lt_run_request_find_function(const lt_run_request *request, lt_str name);

/* calls.c: on the worker. 0: it cannot be started, `ret` says why. */
uint32_t lt_run_open_call(lt_run *run, lt_str tool, lt_str input, lt_outcome *ret);
/* The same for the request's function at `index`. */
uint32_t lt_run_open_function(lt_run *run, uint32_t index, lt_str args, lt_outcome *ret);
bool lt_run_wait_for(lt_run *run, uint32_t id, lt_outcome *ret) LT_YIELDS;
/* After a step that parked: goes on at once when its answer came meanwhile. */
void lt_run_parked(lt_run *run);
/* calls.c: on the loop. Carries out the next queued call on this fiber; false when there is none. LT_YIELDS. */
bool lt_run_perform_queued(lt_run *run) LT_YIELDS;
/* Calls that have not begun never will: they fail so. */
void lt_run_drop_queued(lt_run *run, lt_status why, const char *message);
/* Ends the program: its open calls are cancelled, it is woken if it waits. */
void lt_run_stop(lt_run *run, lt_stop why);
/* again.c: opens a call of a program with a tape; as lt_run_open_call. */
uint32_t lt_run_open_again(lt_run *run, lt_str tool, const lt_run_function *function, lt_str input, lt_outcome *ret);
/* calls.c, on the worker: a new call whose input has room, with copies; NULL: `ret` says why not. */
lt_run_tool_call *lt_run_make_call(lt_run *run, lt_str tool, lt_str input, lt_outcome *ret);
/* calls.c, on the worker: a call's input has room, or has it no more; it is among the run's calls; `start` of a call.
 */
bool lt_run_hold(lt_run *run, size_t bytes);
void lt_run_let_go(lt_run *run, size_t bytes);
void lt_run_link_call(lt_run *run, lt_run_tool_call *call);
void lt_run_start_call(void *call);
/* A call with copies of these; NULL: no memory. */
lt_run_tool_call *lt_run_tool_call_new(lt_str tool, lt_str input);
/* quickjs.c: the program goes on; any thread. */
void lt_run_submit(lt_run *run);
/* Of a name as in base/status.h; LT_E_TOOL when there is none of it. */
lt_status lt_run_status_of(lt_str name);
/* The calls as the result shows them, linked in the order they were made. */
const lt_run_call *lt_run_tool_call_link(lt_run_tool_call *calls);
void lt_run_tool_call_free_all(lt_run_tool_call *calls);

/* calls.c, for timers.c: on the worker, counts and starts what was made; on the loop, hands over what is done. */
void lt_run_add_open(lt_run *run, lt_run_open *open, void (*start_on_loop)(void *arg));
void lt_run_ready(lt_run *run, lt_run_open *open);
/* The same for what the tape knows: it is there already (`place`), or under way. */
void lt_run_add_known(lt_run *run, lt_run_open *open, bool done, uint32_t place);
/* Under the lock: puts what is done into the list of what is there, by its place on the tape. */
void lt_run_list(lt_run *run, lt_run_open *open);
/* On the worker: takes it off the list of what is done; false: it is not there and will not get there any more. */
bool lt_run_drop_open(lt_run *run, lt_run_open *open);

/* clock.c. Under the lock, whenever what the program waits for has changed: lets the clock stand still or go on. True:
 * the deadline has moved, and lt_run_follow_clock is to be called without the lock. The clock may begin to stand on any
 * thread; it goes on only on the loop. */
bool lt_run_set_clock(lt_run *run);
/* On the loop: who waits for the deadline waits for the one that holds now, and who is told of the clock is. */
void lt_run_follow_clock(lt_run *run);
/* On the loop: until the deadline; UINT64_MAX while the clock stands still. */
uint64_t lt_run_left_ms(lt_run *run);
/* While the run's own fiber is busy with a call, somebody else has to look at the clock. False: nobody does. */
bool lt_run_watch_deadline(lt_run *run);
/* lt_invoke_options.on_approval of a call (lt_run_tool_call). */
void lt_run_on_approval(void *call, bool waiting);

/* Timers have odd ids, calls even ones. */
static inline bool lt_run_is_timer(uint32_t id) {
  return id % 2 == 1;
}

/* timers.c. 0: there are too many, or there is no memory. */
uint32_t lt_run_open_timer(lt_run *run, uint64_t ms);
/* The program does not want it any more; nothing happens when it has been taken. */
void lt_run_drop_timer(lt_run *run, uint32_t id);
/* The program has its outcome. */
void lt_run_timer_taken(lt_run *run, lt_run_open *open);
/* Under the lock: none is open any more; those that tick go on, for a program that is begun again. */
void lt_run_timers_forget(lt_run *run);
/* Under the lock, on the worker, when the program has parked: where it is run again by its record and waits for nothing
 * but timers, those go off after what remained of them when it was killed. */
void lt_run_timers_catch_up(lt_run *run);
/* On the loop, after the program's end. */
void lt_run_timers_release(lt_run *run);

/* world.c: the tool that a word in the program's text means by itself; NULL: none. */
const lt_tool *lt_run_find_named(const lt_run *run, lt_str word);
/* What is answered on the worker. */
void lt_run_world(lt_run *run, lt_guest_host *host);
/* Names near `name` among the tools this program may see, best first; at most LT_TOOL_SUGGESTIONS. */
size_t lt_run_suggest(const lt_run *run, lt_str name, lt_str ret[]);
/* A name the catalog suggests, as this program can write it: its language's function name. */
lt_str lt_run_near(const lt_run *run, lt_str near);

/* place.c: where something is in what was written. Columns count characters from 1. */
typedef struct lt_run_place {
  uint32_t line;
  uint32_t column; /* 0: unknown */
  size_t at;       /* the column as bytes from 0 */
} lt_run_place;
/* From the engine's line and column (which counts bytes) to those that were written. */
void lt_run_place_engine(const lt_run *run, lt_run_place *place);
/* These set line, column and context of the result. */
void lt_run_place_set(lt_run *run, const lt_run_place *place);
void lt_run_place_written(lt_run *run, uint32_t line, uint32_t column); /* of `source`, in characters */
void lt_run_place_source(lt_run *run, size_t at);                       /* a byte of `source` */

/* Of a line what is shown: of a long one the part round byte `at`. */
void lt_run_result_put_context(lt_buf *out, lt_str line, size_t at);

/* failure.c: fills result from how the engine ended. */
void lt_run_judge(lt_run *run);
/* The same for TypeScript whose types could not be taken off. */
void lt_run_judge_syntax(lt_run *run);
/* When there was no memory for the words: the status's own. */
void lt_run_result_ensure_error(lt_run_result *result);
void lt_run_result_fail(lt_run_result *result, lt_status status, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

#endif
