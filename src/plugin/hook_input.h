/* The input of ready and prepare: tools, functions and modules that there are, as JSON. */
#ifndef LT_PLUGIN_HOOK_INPUT_H
#define LT_PLUGIN_HOOK_INPUT_H

#include "json/json.h"
#include "plugin/host.h"

/* The ids of a catalog but `hidden`, into an array. */
void lt_hook_input_put_tools(lt_json_writer *w, const lt_catalog *catalog, lt_str hidden);
/* Functions and modules for programs, into an object. `options`: its module_at counts, too; may be NULL. */
void lt_hook_input_put_programs(lt_json_writer *w, const lt_run_request *defaults, const lt_host_options *options);

#endif
