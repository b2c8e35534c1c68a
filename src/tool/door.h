/* The door: the one function through which every tool call goes, whoever makes it.
 *
 * Resolve, check the input, (policy and journal: the toolbox issue), invoke with a deadline and a cancel handle, and
 * turn the provider's answer into a value (DESIGN.md section 4). Loop thread only, except where the catalog is read.
 */
#ifndef LT_TOOL_DOOR_H
#define LT_TOOL_DOOR_H

#include "base/buf.h"
#include "base/err.h"
#include "io/loop.h"
#include "tool/catalog.h"

typedef struct lt_door lt_door;

typedef struct lt_invoke_options {
  uint64_t timeout_ms; /* 0: the provider's own */
  lt_cancel *cancel;   /* may be NULL */
} lt_invoke_options;

/* A provider of tools: an MCP server, a plugin, a built-in. */
struct lt_provider {
  lt_str name; /* the namespace of its tools */
  /* Runs the tool `name` with a JSON object. LT_OK: `out` is the value as JSON text. LT_E_TOOL: the tool itself
   * reported an error, `out` is its text. Anything else: `err` says what happened. */
  lt_status (*invoke)(lt_provider *self, lt_str name, lt_str input, const lt_invoke_options *options, lt_buf *out,
                      lt_err *err) LT_YIELDS;
  /* Why its tools cannot be called at the moment, or empty. */
  lt_str (*down)(lt_provider *self);
};

lt_status lt_door_new(lt_loop *loop, lt_door **ret_door, lt_err *err);
void lt_door_free(lt_door *door); /* NULL is allowed; providers must have been removed or be gone with their calls */

/* Adds a provider without tools, or replaces the tools it has; the next catalog contains them. Copies the specs. */
lt_status lt_door_set_tools(lt_door *door, lt_provider *provider, const lt_tool_spec *tools, size_t count, lt_err *err);
void lt_door_remove(lt_door *door, lt_provider *provider);

/* The current snapshot, built when something changed since. Owns: the caller, lt_catalog_unref. */
lt_status lt_door_catalog(lt_door *door, lt_catalog **ret_catalog, lt_err *err);

/* Calls a tool by id, LT_YIELDS until it has answered. `input` is JSON text; "", null and white space count as {}.
 * LT_OK: `out` holds the value, JSON text. Otherwise `out` holds the message for the program: whole, however long, and
 * never empty; `err` (which may be NULL) the same, cut.
 * Unknown id: LT_E_NOTFOUND, with close matches and what exists; bad input: LT_E_INVALID, with a path. */
lt_status lt_door_call(lt_door *door, lt_str id, lt_str input, const lt_invoke_options *options, lt_buf *out,
                       lt_err *err) LT_YIELDS;

#endif
