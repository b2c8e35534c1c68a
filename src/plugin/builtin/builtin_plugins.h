/* The built-in plugins. They use include/lathe_plugin.h, as other plugins do. */
#ifndef LT_PLUGIN_BUILTIN_BUILTIN_PLUGINS_H
#define LT_PLUGIN_BUILTIN_BUILTIN_PLUGINS_H

#include "lathe_plugin.h"

/* artifact.store, artifact.get, artifact.list; storeArtifact, getArtifact, listArtifacts in programs. */
lathe_plugin_entry_fn lt_builtin_artifact;
/* interpreter.run-code: a program as a tool, with its caller's tools but not itself. */
lathe_plugin_entry_fn lt_builtin_interpreter;
/* execute_code: a Python program as a tool, for models only. */
lathe_plugin_entry_fn lt_builtin_python;
/* execute_plan: several calls of tools as one tool, for models only. Its config: {maxSteps?, concurrency?}. */
lathe_plugin_entry_fn lt_builtin_plan;

#endif
