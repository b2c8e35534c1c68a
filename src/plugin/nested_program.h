/* The host function run_program. 0, or -1 with the call's error set. */
#ifndef LT_PLUGIN_NESTED_PROGRAM_H
#define LT_PLUGIN_NESTED_PROGRAM_H

#include "plugin/plugin_call.h"

int lt_nested_program_run(lathe_call *call, const lathe_program *program, lathe_text *ret_result) LT_YIELDS;

#endif
