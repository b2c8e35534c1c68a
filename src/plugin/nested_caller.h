/* A caller that works for a plugin's call: whatever the plugin calls, it calls in this caller's name. */
#ifndef LT_PLUGIN_NESTED_CALLER_H
#define LT_PLUGIN_NESTED_CALLER_H

#include "plugin/plugin_call.h"

typedef struct lt_nested_caller {
  lt_caller caller;        /* its run is named after the call: "R/3" for the third one of the run R */
  lt_plugin_prompt prompt; /* the caller's `prompt` points here */
} lt_nested_caller;

/* A caller below the one that called the plugin. The struct must not be moved. Errors: LT_E_DENIED (a hook without a
 * prompt, and the host was given no caller), LT_E_LIMIT (too deep). */
lt_status lt_nested_caller_init(lt_nested_caller *nested, lathe_call *call, lt_err *err);
/* lt_invoke_options.on_approval: stops the clock of the call (`arg`) while a person is asked. */
void lt_nested_caller_on_approval(void *arg, bool waiting);
/* Numbers the next `count` things that are done for the call: the same numbers when the call is made again. The first
 * of them; 0: they have no number, as the call cannot be made again. */
uint64_t lt_nested_caller_number(const lt_nested_caller *nested, lathe_call *call, size_t count);
/* Calls a tool, or finds its answer on record; in a mode's call the mode does it. Of `how` the caller, the cancel and,
 * where the call has a hard timeout, the time are the call's. LT_YIELDS. */
lt_status lt_nested_caller_call_tool(const lt_nested_caller *nested, lathe_call *call, lt_str id, lt_str input,
                                     const lt_invoke_options *how, lt_buf *out, lt_err *err) LT_YIELDS;

#endif
