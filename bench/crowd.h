/* A model that costs nothing: a process of our own that answers every request of a completion with the same events, so
 * long after it came. What is measured against it is the asker. */
#ifndef LT_BENCH_CROWD_H
#define LT_BENCH_CROWD_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

typedef struct lt_crowd_model {
  pid_t pid;
  int port;
} lt_crowd_model;

/* Ends with the process that started it, too. False: it could not be started. */
bool lt_crowd_model_start(lt_crowd_model *model, uint64_t answer_ms);
void lt_crowd_model_stop(lt_crowd_model *model);

#endif
