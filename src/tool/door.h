/* The door: every tool call goes through this one function.
 *
 * Its steps: resolve the name, check the input, ask the policy (and a person, if the policy says so), record, invoke
 * with a deadline and a cancel handle, record again (docs/internals/door.md). Loop thread only, except where the
 * catalog is read.
 */
#ifndef LT_TOOL_DOOR_H
#define LT_TOOL_DOOR_H

#include "base/buf.h"
#include "base/err.h"
#include "io/loop.h"
#include "text/secrets.h"
#include "tool/caller.h"
#include "tool/catalog.h"
#include "tool/exposure.h"
#include "tool/monitor.h"

typedef struct lt_door lt_door;

typedef struct lt_invoke_options {
  uint64_t timeout_ms;     /* 0: the provider's default */
  lt_cancel *cancel;       /* may be NULL */
  const lt_caller *caller; /* NULL: a call without policy and journal */
  uint64_t seq;            /* the call's number in the caller's run, the same when the run is repeated; 0: none */
  bool is_object;          /* the input is JSON of an object for certain. The door then reads it only for a schema or a
                              rule, and hides this from the provider */
  bool wants_whole;        /* the value is the whole answer, as tool/whole_answer.h says */
  size_t max_answer_bytes; /* a longer value becomes an artifact and a preview; 0: no limit */
  /* Called when the call begins to wait for an approval, and when this wait ends; may be NULL. Must not yield. */
  void (*on_approval)(void *arg, bool waiting);
  void *arg;
  /* Receives the progress of a long call, as far as the provider knows it; set by the door for a caller that wants it
   * (lt_caller.wants_progress). `total` is 0 when it is not known, `message` may be empty. Must not yield. */
  void (*on_progress)(void *progress_arg, double progress, double total, lt_str message);
  void *progress_arg;
  /* Set by the door: the call's span, for what the provider sends; may be not set. */
  const lt_trace_context *trace;
  lt_call_peer *ret_peer; /* set by the door; the provider may say who it is. NULL: nobody wants to know */
} lt_invoke_options;

/* A provider of tools: an MCP server, a plugin, a built-in. Catalogs point to it, also when it has left the door: it
 * lives as long as any of them. */
struct lt_provider {
  lt_str name; /* the namespace of its tools */
  /* Runs the tool `name` with a JSON object. LT_OK: `out` is the value as JSON text. LT_E_TOOL: the tool itself
   * reported an error, `out` is its text. Other errors: `err` says what happened. */
  lt_status (*invoke)(lt_provider *self, lt_str name, lt_str input, const lt_invoke_options *options, lt_buf *out,
                      lt_err *err) LT_YIELDS;
  /* The reason why the provider's tools cannot be called now, or empty. */
  lt_str (*down)(lt_provider *self);
  /* Makes the provider ready for a call that was let through: its server may not run yet, and may list other tools when
   * it does. A failure is told by `invoke`. May be NULL. LT_YIELDS. */
  void (*wake)(lt_provider *self, const lt_invoke_options *options) LT_YIELDS;
  /* Whether `wake` would start a provider again that is down; may be NULL. */
  bool (*may_retry)(const lt_provider *self);
  /* Somebody wants to know the provider's tools: one that could not give them may try again, in the background. May be
   * NULL. Must not yield. */
  void (*look)(lt_provider *self);
  /* Whether this call needs an approval although the tool's spec does not require one; may be NULL. LT_YIELDS.
   * True: a reason may be appended. */
  bool (*needs_approval)(lt_provider *self, lt_str name, lt_str input, const lt_invoke_options *options,
                         lt_buf *ret_reason) LT_YIELDS;
  bool keeps_lane;  /* `invoke` may be called on any lane of the loop (io/lane.h); the others only at home */
  bool has_whole;   /* `invoke` knows wants_whole; else the door makes whole answers of its values */
  bool keeps_tools; /* a tool that it does not list any more can be called by prompts that have it on record */
  bool of_caller;   /* belongs to one caller, whose catalog has its tools; it is not registered at the door */
};

typedef struct lt_door_options {
  const lt_secrets *secrets;         /* masked in records, approvals, events, warnings and errors; may be NULL */
  const lt_exposure_rule *exposures; /* say which tools are hidden, or not for programs; may be NULL. Borrows */
  size_t exposure_count;
  const lt_monitor *monitor; /* is told of all calls; may be NULL */
  /* Receives warnings for a person: unusable schemas, answers that do not fit their schema, failed records; each once
   * per tool. May be NULL. Must not yield. */
  void (*on_warning)(void *arg, lt_str message);
  void *arg;
} lt_door_options;

/* `options` may be NULL. */
lt_status lt_door_new(lt_loop *loop, const lt_door_options *options, lt_door **ret_door, lt_err *err);
void lt_door_free(lt_door *door); /* NULL is allowed; all providers must have been removed, and all calls ended */

/* The secrets that the door masks; may be NULL. Borrows. */
const lt_secrets *lt_door_secrets(const lt_door *door);
/* Who is told of all calls; may be NULL. Borrows. */
const lt_monitor *lt_door_monitor(const lt_door *door);
lt_loop *lt_door_loop(const lt_door *door);
/* Gives a warning (on_warning) once, even if it is repeated; formatted as by printf. */
void lt_door_warn(lt_door *door, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Whether a new provider may have this name. A namespace belongs to one provider: another one in it could offer the
 * first one's tools. Names that differ only by case are one name to a reader. LT_E_INVALID: it is taken. */
lt_status lt_door_check_namespace(const lt_door *door, lt_str name, lt_err *err);
/* Adds a provider without tools, or replaces the tools it has; the next catalog contains them. Copies the specs.
 * Errors: LT_E_INVALID: another provider has the name, or one that differs only by case; LT_E_LIMIT; LT_E_NOMEM. */
lt_status lt_door_set_tools(lt_door *door, lt_provider *provider, const lt_tool_spec *tools, size_t count, lt_err *err);
/* Adds one tool, of a name that the provider's others do not have, at the end of those. Errors: likewise. */
lt_status lt_door_add_tool(lt_door *door, lt_provider *provider, const lt_tool_spec *tool, lt_err *err);
void lt_door_remove(lt_door *door, lt_provider *provider);
/* Puts `to`, which has the same name and is not at the door, in the place of `from`, with its tools. False: `from` is
 * not at the door, and nothing has changed. */
bool lt_door_replace(lt_door *door, const lt_provider *from, lt_provider *to);
/* Replaces the rules of lt_door_options.exposures: the next catalog follows them. Borrows. */
void lt_door_set_exposures(lt_door *door, const lt_exposure_rule *rules, size_t count);
/* The door's providers by index, in no particular order; NULL after the last one. Borrows. */
lt_provider *lt_door_provider(const lt_door *door, size_t i);

/* The current snapshot; it is rebuilt after a change. Owns: the caller, lt_catalog_unref. */
lt_status lt_door_catalog(lt_door *door, lt_catalog **ret_catalog, lt_err *err);
/* The catalog that a caller sees: its own, or the door's. `caller` may be NULL. Owns: the caller, lt_catalog_unref. */
lt_status lt_door_catalog_of(lt_door *door, const lt_caller *caller, lt_catalog **ret_catalog, lt_err *err);
/* The door's catalog and the tools of providers that belong to one caller. Each call builds a new catalog. */
lt_status lt_door_catalog_with(lt_door *door, const lt_catalog_source *extra, size_t count, lt_catalog **ret_catalog,
                               lt_err *err);

/* The next number of a call at this door. */
uint64_t lt_door_number_call(lt_door *door);
/* Calls a tool by id, LT_YIELDS until it has answered. `input` is JSON text; "", null and white space count as {}.
 * LT_OK: `out` holds the value, JSON text. Otherwise `out` holds the whole message for the program, never empty, and
 * `err` (which may be NULL) the same, cut. When the caller's runs are recorded for replay, the value is the recorded
 * one, with secrets masked. Errors: LT_E_NOTFOUND: unknown id, with similar names and the existing tools; LT_E_INVALID:
 * bad input, with a path; LT_E_DENIED: the policy or a person refused it; LT_E_LIMIT: a budget is used up; LT_E_IO: the
 * call could not be recorded and was not made. */
lt_status lt_door_call(lt_door *door, lt_str id, lt_str input, const lt_invoke_options *options, lt_buf *out,
                       lt_err *err) LT_YIELDS;

#endif
