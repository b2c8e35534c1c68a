/* Everything a program needs to run, with tools that live in this process.
 *
 * The namespace is `bench`: benchEcho answers its input, benchSlow answers after 10 ms, benchWait answers when the gate
 * is opened, benchMegabyte answers 1 MB of JSON; further tools only make the list long.
 */
#ifndef LT_BENCH_RIG_H
#define LT_BENCH_RIG_H

#include "base/arena.h"
#include "bench/measure.h"
#include "io/loop.h"
#include "runner/quickjs/quickjs.h"
#include "tool/door.h"

#define LT_RIG_SLOW_MS 10

typedef struct lt_rig {
  lt_provider provider; /* first */
  lt_loop *loop;
  lt_door *door;
  lt_quickjs *runner;
  lt_cancel gate;
  size_t waiting;     /* calls of benchWait */
  lt_buf megabyte;    /* what benchMegabyte answers */
  lt_measure *stamps; /* when calls of benchEcho came; NULL: not noted */
  void (*body)(struct lt_rig *rig, void *arg);
  void *arg;
} lt_rig;

/* `count` tools, the first of them those above; at least 4. Owns: the arena. */
const lt_tool_spec *lt_rig_specs(lt_arena *arena, size_t count);

/* Calls `body` on a loop fiber, with a runner and `tools` tools, and takes everything down again. */
void lt_rig_run(size_t tools, void (*body)(lt_rig *rig, void *arg), void *arg);

/* Runs a program to its end and returns how long that took; `result` is initialised here and released by the caller. */
double lt_rig_program(lt_rig *rig, const lt_run_request *request, lt_run_result *result) LT_YIELDS;

/* The same where nothing but its time is wanted: the program must succeed, or the bench ends saying why. */
double lt_rig_time(lt_rig *rig, lt_str code, lt_lang lang) LT_YIELDS;

/* A file of bench/programs, from the source tree. Owns: the caller, lt_buf_release. */
void lt_rig_read(const char *name, lt_buf *out);

#endif
