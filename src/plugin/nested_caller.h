/* A nested caller: the caller of everything that a plugin's call calls. */
#ifndef LT_PLUGIN_NESTED_CALLER_H
#define LT_PLUGIN_NESTED_CALLER_H

#include "plugin/plugin_call.h"

typedef struct lt_nested_caller {
  lt_caller caller;        /* its run has the call's name: "R/3" for the third call of the run R */
  lt_plugin_prompt prompt; /* the caller's `prompt` points here */
} lt_nested_caller;

/* Makes a caller below the plugin's own caller. The struct must not be moved. Errors: LT_E_DENIED (a hook without a
 * prompt, and the host was given no caller), LT_E_LIMIT (too deep). */
lt_status lt_nested_caller_init(lt_nested_caller *nested, lathe_call *call, lt_err *err);
/* lt_invoke_options.on_approval: stops the clock of the call (`arg`) while a person decides. */
void lt_nested_caller_on_approval(void *arg, bool waiting);
/* Reserves numbers for the next `count` nested calls and returns the first one. A repeated call gives the same numbers.
 * 0: no numbers, because the call cannot be repeated. */
uint64_t lt_nested_caller_number(const lt_nested_caller *nested, lathe_call *call, size_t count);
/* Calls a tool or takes its answer from the record; in a mode's call it uses the mode's actions. The call replaces the
 * caller and the cancel of `how` and, with a hard timeout, the time. LT_YIELDS. */
lt_status lt_nested_caller_call_tool(const lt_nested_caller *nested, lathe_call *call, lt_str id, lt_str input,
                                     const lt_invoke_options *how, lt_buf *out, lt_err *err) LT_YIELDS;

#endif
