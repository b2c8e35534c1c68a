/* A model that costs nothing: a process of our own that answers every request of a completion with the same events, so
 * long after it came. What is measured against it is the asker. */
#ifndef LT_BENCH_CROWD_H
#define LT_BENCH_CROWD_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* What the model has seen; shared with its process. */
typedef struct lt_crowd_seen {
  double last_at; /* lt_measure_now() when the last request was there, whole */
  uint64_t count;
  uint64_t bytes; /* of the last one's body */
} lt_crowd_seen;

typedef struct lt_crowd_model {
  pid_t pid;
  int port;
  lt_crowd_seen *seen;
} lt_crowd_model;

/* `text` is what it says, as it stands inside a JSON string, below 2 KB. Ends with the process that started it, too.
 * False: it could not be started. */
bool lt_crowd_model_start(lt_crowd_model *model, uint64_t answer_ms, const char *text);
/* Processor time that its process has used so far, in nanoseconds. */
double lt_crowd_model_cpu(const lt_crowd_model *model);
void lt_crowd_model_stop(lt_crowd_model *model);

#endif
