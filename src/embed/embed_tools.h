/* The host's own tools: a provider at the door for each namespace that they have. */
#ifndef LT_EMBED_EMBED_TOOLS_H
#define LT_EMBED_EMBED_TOOLS_H

#include "embed/embed_env.h"

/* Removes and frees the tools; the loop's thread. Every run has ended. */
void lt_embed_tools_close(lathe_env *env);

#endif
