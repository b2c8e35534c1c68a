/* A world for programs in tests: an lt_guest_host that does what it is told and remembers what was asked.
 *
 * Time is the host's own: it jumps to whatever is due next, so nothing ever sleeps. A tool without a rule answers
 * {"tool": id, "input": ...}.
 */
#ifndef FAKES_FAKE_HOST_H
#define FAKES_FAKE_HOST_H

#include "sandbox/engine.h"
#include "sandbox/pool.h"

/* How a tool behaves. */
typedef struct fake_tool {
  const char *id;
  const char *text; /* the answer's JSON, or the message of a failure; NULL: the echo above */
  bool fails;
  bool refused;    /* cannot even be started */
  unsigned yields; /* the program is suspended so often before the outcome is there */
  uint64_t ms;     /* an outcome of start() is due so much later */
  lt_str bytes;    /* instead of `text` where it has a NUL or is long */
} fake_tool;

typedef struct fake_module {
  const char *name;
  const char *source;
} fake_module;

enum { FAKE_OPEN_MAX = 512, FAKE_STORED_MAX = 16, FAKE_KEY_MAX = 64 };

typedef struct fake_open {
  uint32_t id;
  uint64_t due_ms;
  const fake_tool *rule; /* NULL for a timer */
  char tool[FAKE_KEY_MAX];
  lt_buf input;
} fake_open;

typedef struct fake_stored {
  char key[FAKE_KEY_MAX];
  lt_buf json;
} fake_stored;

typedef struct fake_host {
  lt_guest_host host;
  const fake_tool *tools; /* up to one without an id; may be NULL */
  const fake_module *modules;
  bool last_first;   /* of outcomes that are due at the same time, the last one started comes first */
  long stop_at_poll; /* the n-th poll says stop; -1: never */
  bool poll_yields;  /* every poll suspends the program */

  lt_buf calls;   /* a line for each call: id and input */
  lt_buf logs;    /* a line for each: level, blank, text */
  lt_buf outputs; /* their texts, each with a newline */
  lt_buf asked;   /* a line for each discover, schema and resolve */
  unsigned done;
  unsigned suspended; /* how often the program was */
  unsigned most_open; /* calls and timers in flight at once */
  long polls;
  uint64_t now_ms;

  fake_open open[FAKE_OPEN_MAX];
  unsigned open_count;
  uint32_t last_id;
  fake_stored stored[FAKE_STORED_MAX];
  lt_buf answer; /* what the last host function handed to the program */
} fake_host;

void fake_host_init(fake_host *fake);
void fake_host_release(fake_host *fake);
/* Forgets what was asked, not what it was told. */
void fake_host_clear(fake_host *fake);

/* Runs a program in `box` on a fiber of its own, to its end. Returns how often the fiber was resumed. */
unsigned fake_run(fake_host *fake, lt_box *box, const lt_program *program, lt_engine_result *result);

/* How it ended, in one line: JSON; 'a string'; undefined; Name: message; memory; stopped; trap: why. */
void fake_text(const lt_engine_result *result, lt_buf *out);

#endif
