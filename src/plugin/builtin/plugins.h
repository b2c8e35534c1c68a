/* The built-in plugins: they come in through include/lathe_plugin.h like anybody's. */
#ifndef LT_PLUGIN_BUILTIN_PLUGINS_H
#define LT_PLUGIN_BUILTIN_PLUGINS_H

#include "lathe_plugin.h"

/* artifact.store, artifact.get, artifact.list; storeArtifact, getArtifact, listArtifacts in programs. */
lathe_plugin_entry_fn lathe_plugin_artifact;
/* interpreter.run-code: a program as a tool, with its caller's tools, itself excluded. */
lathe_plugin_entry_fn lathe_plugin_interpreter;
/* execute_code: a Python program as a tool, for models; programs do not have it. */
lathe_plugin_entry_fn lathe_plugin_python;
/* execute_plan: several calls of tools as one, likewise. Its config: {maxSteps?, concurrency?}. */
lathe_plugin_entry_fn lathe_plugin_plan;

#endif
