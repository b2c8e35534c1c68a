/* The Deno runner's inside, shared by the files beside it. Everything here belongs to the loop's thread. */
#ifndef LT_RUNNER_DENO_IMPL_H
#define LT_RUNNER_DENO_IMPL_H

#include "io/http_server.h"
#include "io/process.h"
#include "js/jsscan.h"
#include "runner/deno/deno.h"
#include "replay/call_matching.h"
#include "runner/runner.h"
#include "runner/run_tool_call.h"
#include "sandbox/workers.h"
#include "tool/catalog.h"

/* How Deno is asked to allow the bridge: what it understands depends on its version, so that one after the other is
 * tried, once. */
typedef enum lt_deno_way {
  LT_DENO_UNIX,       /* --allow-net=unix:PATH: Deno 2.6 */
  LT_DENO_UNIX_PLAIN, /* the rights to the socket's file are enough: Deno 2.0 */
  LT_DENO_TCP,        /* a loopback port, and a secret in a header */
  LT_DENO_WAYS
} lt_deno_way;

/* What is fixed when Deno starts. */
typedef struct lt_deno_limits {
  uint64_t memory_bytes;
  unsigned long cpu_seconds;
} lt_deno_limits;

/* A private folder, and a Deno in it that waits for the word that its program is there. One program is all it runs. */
typedef struct lt_deno_room {
  char folder[96]; /* empty: none yet */
  int lock;        /* the folder, open: whoever holds it is alive; -1 */
  char secret[40]; /* of the bridge */
  lt_deno_limits limits;
  lt_deno_way way;
  unsigned port;    /* of the bridge, over TCP */
  bool has_modules; /* imports.json is there, and what it names */
  bool ahead;       /* nobody waits for it yet */
  lt_process *process;
} lt_deno_room;

struct lt_deno {
  lt_runner runner; /* first */
  lt_loop *loop;
  lt_door *door;
  char *path;            /* as configured; or NULL */
  char *typescript_path; /* likewise */
  char *helper;
  lt_deno_check check;
  bool without_walls;
  bool tcp;
  lt_deno_way way; /* that worked last, or is to be tried first */
  char *exe;       /* Deno itself, when it has been found */
  char *tsc;       /* TypeScript's compiler, likewise */
  bool no_tsc;     /* it was looked for in vain */
  bool swept;

  /* What is kept for the next program (spare.c). */
  uint64_t ahead_ms;     /* 0: nothing */
  lt_deno_room spare;    /* without a process: there is none */
  lt_deno_limits wanted; /* of the next one */
  bool due;              /* a program has ended since it was looked at */
  uint64_t used_ms;      /* when one did last */
  bool keeping;          /* a fiber looks after it ... */
  lt_wait *keeper;       /* ... and waits here */
  lt_wait *closer;       /* who waits for the end of that */
};

/* What a process said of a failure of the program. */
typedef struct lt_deno_failure {
  bool there;
  lt_buf name;
  lt_buf message;
  lt_buf stack;
} lt_deno_failure;

typedef struct lt_deno_run {
  lt_deno *deno;
  lt_loop *loop;
  const lt_run_request *request;
  lt_run_result *result;
  lt_catalog *catalog;
  lt_stored_values *values;
  lt_stored_values *own_values; /* NULL when the request brought one */
  bool typed;

  /* The program, and the folder it is in. */
  lt_str source;          /* without fences */
  unsigned line_offset;   /* lines dropped before it */
  unsigned column_offset; /* bytes put before its first line */
  lt_deno_room room;

  /* Its processes, one of them the room's. Each has a fiber that reads. */
  lt_process *checker;
  lt_http_server *server;
  unsigned readers;
  bool ran;          /* there was a Deno for it */
  bool ended;        /* Deno has */
  bool checking;     /* the compiler has not ended */
  bool check_failed; /* and said so */
  bool hello;        /* Deno has run our own code, and begins the program */
  lt_buf faults;     /* what the compiler said */
  lt_wait wait;      /* of the run's own fiber */
  lt_cancel cancel;  /* of its calls */
  lt_status stopped; /* why it was ended from here; LT_OK: it was not */

  /* What it said (read.c). */
  lt_run_text **last_text;
  size_t output_bytes;
  size_t log_bytes;
  lt_deno_failure failure;
  bool has_value;

  /* Its calls (bridge.c). */
  lt_run_tool_call *calls;
  lt_run_tool_call **last_call;
  lt_call_matching matching; /* calls that are on record, when it is run again */
  bool recalled;             /* its end is on record */
  uint32_t call_count;
  uint32_t in_flight;
  uint32_t asking;
  size_t kept_bytes;

  /* Its clock (clock.c). */
  uint64_t deadline_ns;
  uint64_t stands_since_ns; /* 0: it runs */
} lt_deno_run;

#define LT_DENO_PROGRAM(run) ((run)->typed ? "program.ts" : "program.js")

/* Whether the compiler looks at the program before it begins. */
static inline bool lt_deno_is_checked(const lt_deno_run *run) {
  return run->typed && run->deno->check != LT_DENO_CHECK_NEVER && run->deno->tsc != NULL;
}

/* find.c: the programs that are needed. Errors: LT_E_NOTFOUND, with what to do. */
lt_status lt_deno_find(lt_deno *deno, lt_err *err);
/* The compiler, where it is wanted: NULL in deno->tsc is none. */
lt_status lt_deno_find_tsc(lt_deno *deno, lt_err *err);
/* Why Deno did not begin: too old, or no Deno at all, or what it said. LT_YIELDS. */
lt_status lt_deno_explain(lt_deno *deno, lt_process *process, lt_err *err) LT_YIELDS;

/* prepare.c: what was written, made ready. False: `result` says why it cannot be run. */
bool lt_deno_prepare(lt_deno_run *run);
/* source.c: what every request has to show: another run's program, which may be the same user's, has another one. */
lt_status lt_deno_make_secret(lt_deno_room *room, lt_err *err);
/* What Deno runs first, whatever the program. */
lt_status lt_deno_write_boot(const lt_deno *deno, const lt_deno_room *room, lt_err *err);
/* The request's modules, which must be there when Deno starts. */
lt_status lt_deno_write_modules(const lt_deno_run *run, lt_err *err);
/* The program, and what is said of it. */
lt_status lt_deno_write_files(lt_deno_run *run, lt_err *err);
/* What the program's text may mean by a word; NULL: none that this run may see. */
const lt_tool *lt_deno_find_named(const lt_deno_run *run, lt_str word);
/* What a program calls the tool of this id, or of this name in any language; empty: nothing. */
lt_str lt_deno_name_of(const lt_deno_run *run, lt_str near);

/* folder.c */
lt_status lt_deno_make_folder(lt_deno_room *room, lt_err *err);
lt_status lt_deno_write_file(const lt_deno_room *room, const char *name, lt_str bytes, lt_err *err);
/* What Deno is told of where the bridge's socket is. Behind the walls it is all the same (jail/jail.h, --socket), so
 * it is where nobody can make anything: a connection takes the right to write to the socket's path, and that would be
 * the right to put a folder in its place. */
void lt_deno_bridge_path(const lt_deno *deno, const lt_deno_room *room, char *ret_path, size_t size);
/* Whoever runs the program may use it. */
void lt_deno_hand_over(const lt_deno_room *room, const char *name);
void lt_deno_remove_folder(lt_loop *loop, lt_deno_room *room) LT_YIELDS;
/* Removes what others have left that were killed. */
void lt_deno_sweep(lt_loop *loop) LT_YIELDS;

/* start.c: the processes, behind their walls. */
lt_deno_limits lt_deno_limits_of(const lt_run_request *request);
lt_status lt_deno_start(lt_deno *deno, lt_deno_room *room, lt_err *err);
lt_status lt_deno_start_checker(lt_deno_run *run, lt_err *err);

/* bridge.c */
lt_status lt_deno_open_bridge(lt_deno_run *run, lt_deno_way way, lt_err *err);

/* read.c: fibers that read what the two processes write, and end with them. */
void lt_deno_read(void *run);
void lt_deno_read_checker(void *run);
/* Text that was not said to us, such as what Deno itself writes to its standard error. */
void lt_deno_say(lt_deno_run *run, lt_said said, lt_str text);

/* spare.c: one that waits, if there is one that will do; whether it still lives shows when it is given the word. Owns:
 * the caller, lt_deno_leave_room. */
bool lt_deno_take_spare(lt_deno *deno, const lt_run_request *request, lt_deno_room *ret_room);
/* A program with these limits has ended: there may be another one soon. Does not yield. */
void lt_deno_keep_spare(lt_deno *deno, const lt_deno_limits *limits);
void lt_deno_end_spare(lt_deno *deno) LT_YIELDS;
/* In the room's folder, for its way: Deno, which waits for the word. */
lt_status lt_deno_fill_room(lt_deno *deno, lt_deno_room *room, lt_err *err);
/* Ends what is in it, and removes it. */
void lt_deno_leave_room(lt_deno *deno, lt_deno_room *room) LT_YIELDS;

/* clock.c */
void lt_deno_set_clock(lt_deno_run *run);
/* Until the deadline; UINT64_MAX while the clock stands still. */
uint64_t lt_deno_left_ms(const lt_deno_run *run);

/* deno.c: the program may begin. */
void lt_deno_give_word(lt_deno_run *run) LT_YIELDS;
/* Ends the program; what it began is cancelled. */
void lt_deno_stop(lt_deno_run *run, lt_status why);

/* judge.c: whether the compiler, which was not content, has found anything that keeps the program from being run. */
bool lt_deno_has_faults(const lt_deno_run *run);
/* How it ended, into the result. */
void lt_deno_judge(lt_deno_run *run);

#endif
