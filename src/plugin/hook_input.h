/* The input of the ready and prepare hooks: the existing tools, functions and modules, as JSON. */
#ifndef LT_PLUGIN_HOOK_INPUT_H
#define LT_PLUGIN_HOOK_INPUT_H

#include "json/json.h"
#include "plugin/host.h"

/* Writes the ids of a catalog without `hidden` into an array. */
void lt_hook_input_put_tools(lt_json_writer *w, const lt_catalog *catalog, lt_str hidden);
/* Writes functions and modules for programs into an object, with the modules of `options`, which may be NULL. */
void lt_hook_input_put_programs(lt_json_writer *w, const lt_run_request *defaults, const lt_host_options *options);

#endif
