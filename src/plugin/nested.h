/* A caller that works for a plugin's call: what the plugin does through others is done with it; internal to host/. */
#ifndef LT_PLUGIN_NESTED_H
#define LT_PLUGIN_NESTED_H

#include "plugin/host_impl.h"

typedef struct lt_nested {
  lt_caller caller; /* its run is named after the call: "R/3" for the third one of the run R */
  lt_prompt prompt; /* the caller's points here */
} lt_nested;

/* For whoever called the plugin. Not to be moved. Errors: LT_E_DENIED (nobody has asked for anything), LT_E_LIMIT (too
 * deep). */
lt_status lt_nested_init(lt_nested *nested, lathe_call *call, lt_err *err);
/* Who waits for the call (`arg`) waits for a person now, or does no longer: lt_invoke_options.on_approval. */
void lt_nested_on_approval(void *arg, bool waiting);
/* Numbers what is done next for the call, the same when the call is made again; the first of `count`. 0: nobody will
 * ask for it again. */
uint64_t lt_nested_count(const lt_nested *nested, lathe_call *call, size_t count);
/* Calls a tool, or finds its answer on record, as the mode's own where the call is a mode's. Of `how`, caller, cancel
 * and, where the call has a hard one, the time come from the call. LT_YIELDS. */
lt_status lt_nested_call(const lt_nested *nested, lathe_call *call, lt_str id, lt_str input,
                         const lt_invoke_options *how, lt_buf *out, lt_err *err) LT_YIELDS;

#endif
