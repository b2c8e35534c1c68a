/* The built-in plugins: they come in through include/lathe_plugin.h like anybody's. */
#ifndef LT_PLUGINS_PLUGINS_H
#define LT_PLUGINS_PLUGINS_H

#include "lathe_plugin.h"

/* artifact.store, artifact.get, artifact.list; storeArtifact, getArtifact, listArtifacts in programs. */
lathe_plugin_entry_fn lathe_plugin_artifact;
/* interpreter.run-code: a program as a tool, with its caller's tools, itself excluded. */
lathe_plugin_entry_fn lathe_plugin_interpreter;

#endif
