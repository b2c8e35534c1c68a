/* The host functions of the engine's guest. Those that need no other thread answer on the worker at once. */
#ifndef LT_RUNNER_QUICKJS_HOST_FUNCTIONS_H
#define LT_RUNNER_QUICKJS_HOST_FUNCTIONS_H

#include "sandbox/engine.h"

typedef struct lt_run lt_run;

void lt_host_functions_fill(lt_run *run, lt_guest_host *host);

#endif
