/* The plugin host: the other side of include/lathe_plugin.h.
 *
 * Loads plugins, runs each on its thread or on the loop, registers their tools at the door, and runs the host
 * functions. Built-in plugins (builtin/) use the same interface. A plugin that cannot be used gives a warning with the
 * reason, and its tools fail with that reason; the other plugins work. Loop thread only.
 */
#ifndef LT_PLUGIN_HOST_H
#define LT_PLUGIN_HOST_H

#include "text/secrets.h"
#include "lathe_plugin.h"
#include "runner/runner.h"
#include "store/store.h"
#include "tool/door.h"

typedef struct lt_host lt_host;

typedef struct lt_host_options {
  lt_loop *loop;
  lt_door *door;
  lt_store *db;              /* for state, tables and artifacts */
  lt_artifacts *artifacts;   /* likewise, through the door's interface */
  const lt_secrets *secrets; /* may be NULL */
  /* Returns the runner of a language for run_program; makes it at the first use. NULL with `err`: no runner. */
  lt_runner *(*runner)(void *arg, lt_lang lang, lt_err *err);
  /* The caller for tools that plugins call outside of a prompt, as in ready: its policy and journal apply. NULL:
   * plugins cannot call tools there. */
  const lt_caller *caller;
  /* The name of the i-th module that programs may import besides those of plugins, for the input of ready. Returns NULL
   * after the last. May be NULL. */
  const char *(*module_at)(void *arg, size_t i);
  /* Whether a mode with this id exists without plugins; no plugin may register such an id. NULL: no mode exists. */
  bool (*is_mode_reserved)(lt_str id);
  /* The tools of a user beside those at the door, for what is prepared for that user; may be NULL. `ret_source` may
   * have none; its texts are in `arena`. LT_YIELDS. */
  lt_status (*user_tools)(void *arg, lt_str user, lt_arena *arena, lt_catalog_source *ret_source,
                          lt_err *err) LT_YIELDS;
  /* Shows a line to a person, as a warning or as information; secrets are masked already. Must not yield. */
  void (*on_line)(void *arg, bool warning, lt_str line);
  void *arg;
} lt_host_options;

/* Borrows everything in the options. Owns: the caller, lt_host_free. */
lt_status lt_host_new(const lt_host_options *options, lt_host **ret_host, lt_err *err);
/* Calls every teardown, waits at most LT_PLUGIN_END_MS for busy plugins, removes all tools from the door.
 * LT_YIELDS. NULL is allowed. */
void lt_host_free(lt_host *host) LT_YIELDS;

/* Loads a shared object and runs its setup. `config`: JSON text, or empty. Errors, with the file's name and what to do:
 * LT_E_NOTFOUND (no such file), LT_E_INVALID (no plugin, no entry, a struct of an impossible size, a config that does
 * not fit its schema), LT_E_UNSUPPORTED (it needs a newer Lathe), LT_E_TIMEOUT (setup takes longer than
 * LT_PLUGIN_SETUP_MS), or setup's own message. LT_YIELDS. */
lt_status lt_host_load(lt_host *host, const char *path, lt_str config, lt_err *err) LT_YIELDS;
/* The same for a plugin that is linked into the program. */
lt_status lt_host_add(lt_host *host, lathe_plugin_entry_fn *entry, lt_str config, lt_err *err) LT_YIELDS;
/* Calls every ready, after all servers and plugins have been started. A plugin that fails is disabled, with a warning.
 * LT_YIELDS. */
void lt_host_ready(lt_host *host) LT_YIELDS;

/* The registrations of plugins for programs. Borrows: until the next load. */
const lt_run_module *lt_host_modules(const lt_host *host, size_t *ret_count);
const lt_run_function *lt_host_functions(const lt_host *host, size_t *ret_count);

/* The namespace of the i-th plugin, if the plugin may have tools that are not at the door: those of a prompt, or those
 * of a plugin that is disabled. Otherwise `ret_ns` is NULL. False: there is no i-th plugin. Borrows. */
bool lt_host_open_namespace(const lt_host *host, size_t i, lt_str *ret_ns);

/* --- Modes -------------------------------------------------------------------------------------------------------- */
/* An execution mode that a plugin has registered. Its texts live as long as the host, and end with a NUL. */
typedef struct lt_host_mode {
  lt_str id, name;
  uint32_t rounds; /* 0: the default */
} lt_host_mode;

/* Sorted by id. Borrows: until the next load. */
const lt_host_mode *lt_host_modes(const lt_host *host, size_t *ret_count);

/* The actions of a mode's call on its prompt. The agent, which runs the mode, implements them. */
typedef struct lt_mode_actions {
  /* Both texts are JSON (`tools` may be empty); appends the reply of lathe_plugin.h. LT_YIELDS. */
  lt_status (*ask_model)(void *arg, lt_str messages, lt_str tools, lt_buf *reply, lt_err *err) LT_YIELDS;
  lt_status (*put_text)(void *arg, lt_str text, lt_err *err) LT_YIELDS;
  /* Like lt_door_call, and recorded. LT_YIELDS. */
  lt_status (*call_tool)(void *arg, lt_str tool, lt_str input, const lt_invoke_options *options, lt_buf *answer,
                         lt_err *err) LT_YIELDS;
  void *arg;
} lt_mode_actions;

/* Runs a mode with `in` until it returns. Errors: LT_E_NOTFOUND (the plugin is not available any more), LT_E_TOOL (the
 * mode failed, with its own message), the status of the cancel, LT_E_TIMEOUT (no request from the mode for
 * LT_PLUGIN_CALL_MS), and those of any plugin call. LT_YIELDS. */
lt_status lt_host_run_mode(lt_host *host, lt_str id, lt_str in, const lt_mode_actions *actions, const lt_caller *caller,
                           lt_cancel *cancel, lt_err *err) LT_YIELDS;

/* --- A prompt ----------------------------------------------------------------------------------------------------- */
/* The additions of the prepare hooks for one prompt or run. */
typedef struct lt_prepared_prompt {
  lt_str user;
  lt_str conversation; /* may be empty */
  lt_catalog *catalog; /* the door's tools and the added ones; a reference */
  lt_buf context;      /* a JSON array of context items */
  /* Limits, modules and functions for programs that plugins run; code and input are not used. */
  lt_run_request defaults;
  void *owned; /* used by the host only */
} lt_prepared_prompt;

/* The mode in the input of prepare hooks when a program runs without a prompt. */
#define LT_HOST_RUN_MODE "run"

/* Calls every prepare for `mode`, a mode's id or LT_HOST_RUN_MODE, in the order of loading. `for_programs`: all calls
 * come from programs, so tools that are not for programs are left out. A plugin that fails gives a warning. Afterwards
 * `caller->catalog` and `caller->prompt` are set; `user` and `conversation` are copied. LT_YIELDS. Errors: LT_E_NOMEM,
 * LT_E_LIMIT. Owns: the caller, lt_host_prepared_release, after its last call. */
lt_status lt_host_prepare(lt_host *host, lt_str mode, bool for_programs, lt_str conversation,
                          const lt_run_request *defaults, lt_caller *caller, lt_prepared_prompt *ret_prepared,
                          lt_err *err) LT_YIELDS;
/* Takes the tools that there are by now into `prepared` and `caller`, without asking the plugins again. Calls under way
 * keep the catalog they have, which lives as long as the preparation. LT_YIELDS. Errors: LT_E_NOMEM, LT_E_LIMIT. */
lt_status lt_host_prepare_again(lt_host *host, lt_caller *caller, lt_prepared_prompt *prepared, lt_err *err) LT_YIELDS;
void lt_host_prepared_release(lt_prepared_prompt *prepared);

/* The tools that a user sees outside of a prompt: the door's and the user's own. LT_YIELDS. Owns: the caller,
 * lt_catalog_unref. */
lt_status lt_host_catalog_of_user(lt_host *host, lt_str user, lt_catalog **ret_catalog, lt_err *err) LT_YIELDS;

#endif
