/* The plugin host's inside, shared by the files of host/ and by nobody else (docs/internals/host.md).
 *
 * Two threads look at a plugin: its own, which runs its code, and the loop. What both touch is under the thread's lock
 * or atomic; of the rest each part says whose it is. A plugin's thread never touches the lt_host: it may outlive it.
 */
#ifndef LT_PLUGIN_HOST_IMPL_H
#define LT_PLUGIN_HOST_IMPL_H

#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>

#include "base/arena.h"
#include "json/schema.h"
#include "plugin/host.h"

typedef struct lt_plugin lt_plugin;

/* --- What plugins register: copies, in an arena each -------------------------------------------------------------- */
typedef struct lt_plugin_tool {
  struct lt_plugin_tool *next;
  lt_tool_spec spec;
  lathe_function_fn *invoke;
  void *arg;
  lathe_function_fn *needs_approval; /* may be NULL */
} lt_plugin_tool;

typedef struct lt_plugin_function {
  struct lt_plugin_function *next;
  lt_plugin *plugin;
  lt_str name, signature, description;
  lathe_function_fn *invoke;
  void *arg;
} lt_plugin_function;

typedef struct lt_plugin_module {
  struct lt_plugin_module *next;
  lt_str name, source;
} lt_plugin_module;

typedef struct lt_plugin_mode {
  struct lt_plugin_mode *next;
  lt_host_mode is;
  lathe_function_fn *invoke;
  void *arg;
} lt_plugin_mode;

typedef struct lt_plugin_item {
  struct lt_plugin_item *next;
  lt_str json;
} lt_plugin_item;

/* What one call registered. Belongs to the call and its thread until the call has returned; then to the plugin (setup
 * and ready) or to the prompt (prepare), or it goes with a call that failed. */
typedef struct lt_registry {
  struct lt_registry *next;
  lt_arena arena;
  lt_plugin_tool *tools, **last_tool;
  lt_plugin_function *functions, **last_function;
  lt_plugin_module *modules, **last_module;
  lt_plugin_item *items, **last_item;
  lt_plugin_mode *modes, **last_mode;
  size_t tool_count, function_count, module_count, mode_count;
  size_t item_bytes;
} lt_registry;

lt_registry *lt_registry_new(void);
/* Where a call registers, or NULL with its error set. */
lt_registry *lt_registry_of(lathe_call *call, bool for_good_only);
void lt_registry_free(lt_registry *list); /* and all that follow it; NULL is allowed */

/* A plugin's tools as a provider: for good, or for one prompt. */
typedef struct lt_plugin_tools {
  lt_provider base; /* first: the door's pointer is ours */
  lt_plugin *plugin;
  lt_registry *registered;
} lt_plugin_tools;

void lt_plugin_tools_init(lt_plugin_tools *tools, lt_plugin *plugin, bool of_caller);
/* Their specs in one array, which borrows from them. Owns: the caller, lt_mem_free. NULL: no memory. */
lt_tool_spec *lt_plugin_tools_specs(const lt_plugin_tools *tools, size_t *ret_count);

/* --- Plugins ------------------------------------------------------------------------------------------------------ */
typedef struct lt_plugin_thread {
  bool started; /* the loop's */
  bool ended;   /* the loop's */
  pthread_t id;
  lt_wait ending_wait; /* the loop's: woken when the thread has ended, and after each ask */
  lt_post ended_post;

  pthread_mutex_t lock;
  pthread_cond_t changed; /* only the plugin's thread waits on it */
  /* Under the lock. */
  lt_loop *loop; /* NULL: Lathe has left, the thread is on its own */
  bool ending;
  lathe_call *queue, **last;
  unsigned queued;
  lathe_call *running;
  uint64_t running_since_ms;
} lt_plugin_thread;

struct lt_plugin {
  atomic_uint refs; /* the host's and the thread's */
  lt_host *host;    /* the loop's */
  lt_arena arena;   /* texts */
  void *library;    /* of dlopen; NULL: linked in */
  lathe_plugin is;  /* what it said of itself, as this Lathe knows it; its texts are copies */
  lt_str id;
  lt_str config;
  lt_schema *config_schema; /* NULL: anything */
  lt_schema *state_schema;
  lt_plugin_tools tools;
  lt_buf why_out; /* why it has been taken out; empty: it has not */
  bool in_door;
  bool is_set_up;
  bool closing; /* nothing is done for it any more */
  unsigned asks;
  unsigned open;         /* calls that somebody waits for */
  lt_cancel ending;      /* all of them go by it */
  uint64_t last_warning; /* hash: prepare fails the same way each time */
  lt_plugin_thread thread;
};

struct lt_host {
  lt_host_options options;
  lt_plugin **plugins;
  size_t plugin_count;
  lt_run_module *modules;
  size_t module_count;
  lt_run_function *functions;
  size_t function_count;
  lt_host_mode *modes;
  size_t mode_count;
  lathe_call *open_calls;
  uint64_t looks;  /* at them, numbered */
  unsigned ending; /* plugins that are being ended */
  lt_wait ended;
};

static inline bool lt_plugin_on_loop(const lt_plugin *plugin) {
  return (plugin->is.flags & LATHE_ON_LOOP) != 0;
}

/* What its tools' ids begin with; empty: they are their names alone. */
static inline lt_str lt_plugin_namespace(const lt_plugin *plugin) {
  return (plugin->is.flags & LATHE_NO_NAMESPACE) != 0 ? LT_STR("") : plugin->id;
}
/* Appends the id of a tool of its. */
void lt_plugin_tool_id(const lt_plugin *plugin, lt_str name, lt_buf *out);

/* host.c */
void lt_plugin_unref(lt_plugin *plugin);
/* A warning about a plugin. */
void lt_host_warn(lt_host *host, const lt_plugin *plugin, lt_str text);
/* Makes the arrays for programs anew. */
lt_status lt_host_collect(lt_host *host, lt_err *err);
/* Hands the plugin's tools to the door. */
lt_status lt_host_show_tools(lt_plugin *plugin, lt_err *err);
/* Takes the plugin out: nothing of it is called any more, its tools fail with `why`. */
void lt_host_take_out(lt_plugin *plugin, lt_str why);

/* load.c: our copy of a struct that says its own size. False: `size` makes no sense. */
bool lt_struct_read(void *ret, size_t size, size_t least, const void *theirs);
/* A C string of a plugin's as a view, at most `max` bytes of it; a longer one and NULL give {NULL, 0}. */
lt_str lt_plugin_text(const char *text, size_t max);

/* --- Calls (call.c) ----------------------------------------------------------------------------------------------- */
typedef enum lt_call_kind {
  LT_CALL_SETUP,
  LT_CALL_READY,
  LT_CALL_PREPARE,
  LT_CALL_TEARDOWN,
  LT_CALL_TOOL,
  LT_CALL_FUNCTION,
  LT_CALL_MODE,
} lt_call_kind;

/* What a caller's `prompt` points to: of a prompt, and of each caller that works for a plugin's call. */
typedef struct lt_prompt {
  const lathe_call *by; /* NULL: the prompt itself */
  lt_str conversation;
  lt_run_request defaults;
} lt_prompt;

/* A call of a plugin's function. Two hold it: whoever waits for it, and the thread that runs it. */
struct lathe_call {
  atomic_uint refs;
  lt_plugin *plugin;
  lt_call_kind kind;
  lathe_function_fn *fn;
  void *arg;
  lt_arena arena; /* the plugin's thread's while it runs, but the loop's while it carries out an ask */
  lt_str name;    /* for messages: "todo.add", "setup" */
  lt_str in;
  lt_str user;
  lt_str conversation;

  /* The plugin's thread's until it has returned. */
  lt_buf answer;
  bool answered;
  bool failed;
  lt_status failed_as;
  lt_buf failure;
  lt_buf error;            /* of the last host function that failed */
  lt_registry *registered; /* NULL: there is nothing to register here */

  atomic_bool unwanted; /* nobody waits for it any more */
  lathe_call *next;     /* in the queue; under the thread's lock */
  lt_post returned_post;

  /* The loop's. */
  bool returned;
  bool left; /* whoever waited is gone: the two below, too */
  const lt_caller *caller;
  const lt_invoke_options *options;
  const lt_mode_world *world; /* of a mode; NULL: it is none */
  bool asks;                  /* whether another call needs approval: what it makes is not that one's */
  uint64_t made;              /* tools that it has called and programs that it has run */
  lt_str divergence;          /* how one of them, run again, went another way than on record; empty: none did */
  lt_wait wait;
  lt_cancel cancel;
  unsigned borrowers; /* asks that use caller or options */
  lathe_call *next_open, *previous_open;
  uint64_t seen; /* by this look of the host's */
  uint64_t timeout_ms;
  uint64_t deadline_ms;
  bool hard_timeout; /* asked for: it goes on while the plugin waits for others */
  unsigned paused;
  uint64_t paused_at_ms;
};

typedef struct lt_call_how {
  lt_call_kind kind;
  lt_str name;
  lathe_function_fn *fn;
  void *arg;
  lt_str in;
  const lt_caller *caller;          /* may be NULL */
  const lt_invoke_options *options; /* may be NULL */
  const lt_mode_world *world;       /* of a mode */
  bool asks;                        /* whether another call needs approval */
  uint64_t timeout_ms;              /* unless the options say otherwise */
} lt_call_how;

/* Copies the texts. Owns: the caller, lt_call_unref. */
lt_status lt_call_new(lt_plugin *plugin, const lt_call_how *how, lathe_call **ret_call, lt_err *err);
lathe_call *lt_call_ref(lathe_call *call);
void lt_call_unref(lathe_call *call); /* any thread; NULL is allowed */
/* Has the plugin run it. LT_OK: it has returned, lt_call_outcome says how. Anything else: nobody waits for it any more.
 * Afterwards nothing of the caller and the options is used. LT_YIELDS. */
lt_status lt_call_run(lathe_call *call, lt_err *err) LT_YIELDS;
/* What a returned call came to: its answer is appended, nothing when there was none. LT_E_TOOL: it said that it has
 * failed, its words are appended; LT_E_PROTOCOL and the like: `err`. */
lt_status lt_call_outcome(const lathe_call *call, lt_buf *out, lt_err *err);
/* Records why a host function failed: always -1, which is what those return. */
int lt_call_error(lathe_call *call, lt_str why);
/* Whether a text is JSON; a long one must not hold the loop up. LT_YIELDS. */
lt_status lt_call_check_json(const lathe_call *call, lt_str json, lt_err *err) LT_YIELDS;
/* A copy in the call's arena. False: there is no room, which is recorded. */
bool lt_call_keep(lathe_call *call, lt_str text, lathe_text *ret);

/* The clock stands still while somebody else has the time: a person who is asked, a tool, a program. The loop's. */
void lt_call_pause(lathe_call *call);
void lt_call_resume(lathe_call *call);
/* What is left of the call's time; UINT64_MAX while the clock stands still. */
uint64_t lt_call_left_ms(const lathe_call *call);
uint64_t lt_host_now_ms(void);

/* --- The plugin's thread, and asking the loop (thread.c) ---------------------------------------------------------- */
lt_status lt_thread_start(lt_plugin *plugin, lt_err *err);
/* Puts a call at the end of the queue; the thread has a reference until it has returned. */
lt_status lt_thread_submit(lathe_call *call, lt_err *err);
/* Takes a call out of the queue again. False: it has begun. */
bool lt_thread_drop(lathe_call *call);
/* What the thread is at, for messages: false when at nothing. `name` is in the arena. */
bool lt_thread_busy(lt_plugin *plugin, lt_arena *arena, lt_str *ret_name, uint64_t *ret_since_ms, bool *ret_unwanted);
/* The call that the thread is at, or will be next, or NULL. Borrows: it is there until the loop has heard of its end.
 */
lathe_call *lt_thread_running(lt_plugin *plugin);
/* Ends the thread when it has nothing to do any more; after `timeout_ms` leaves it to itself. LT_YIELDS. */
void lt_thread_end(lt_plugin *plugin, uint64_t timeout_ms) LT_YIELDS;

typedef struct lt_ask {
  lt_status (*fn)(lathe_call *call, void *arg, lt_err *err) LT_YIELDS;
  void *arg;
  bool at_once; /* `fn` does not yield: no fiber is needed */
  bool borrows; /* it uses the call's caller and options: somebody must still be waiting */
  /* thread.c's */
  lathe_call *call;
  lt_post post;
  lt_wait *waiter; /* a fiber, else the plugin's thread */
  bool done;       /* under the lock when it is the thread */
  lt_status status;
  lt_err err;
} lt_ask;

/* Has the loop carry out what a host function was asked for, and waits for that. 0, or -1 with the call's error set. */
int lt_ask_loop(lathe_call *call, lt_ask *ask) LT_YIELDS;

/* --- The host's functions (api.c, and those that have a file of their own) ---------------------------------------- */
extern const lathe_host lt_host_api;

static inline lt_str lt_of_text(lathe_text text) {
  return (lt_str){text.p, text.n};
}
static inline lathe_text lt_to_text(lt_str s) {
  return (lathe_text){s.p != NULL ? s.p : "", s.n};
}

/* registry.c */
int lt_api_add_tool(lathe_call *call, const lathe_tool *tool);
int lt_api_add_function(lathe_call *call, const lathe_function *function);
int lt_api_add_module(lathe_call *call, const char *name, lathe_text source);
int lt_api_add_context(lathe_call *call, lathe_text item);
/* mode.c */
int lt_api_add_mode(lathe_call *call, const lathe_mode *mode) LT_YIELDS;
int lt_api_ask_model(lathe_call *call, lathe_text messages, lathe_text tools, lathe_text *ret_reply) LT_YIELDS;
int lt_api_put_text(lathe_call *call, lathe_text text) LT_YIELDS;
/* The list of all plugins' modes anew. */
lt_status lt_host_collect_modes(lt_host *host, lt_err *err);
/* keep.c */
int lt_api_state(lathe_call *call, lathe_text *ret_json) LT_YIELDS;
int lt_api_set_state(lathe_call *call, lathe_text json) LT_YIELDS;
int lt_api_migrate(lathe_call *call, const char *const *scripts, size_t count) LT_YIELDS;
int lt_api_sql(lathe_call *call, lathe_text statement, lathe_text params, lathe_text *ret_rows) LT_YIELDS;
int lt_api_artifact_put(lathe_call *call, const char *type, lathe_text description, lathe_text json,
                        lathe_text *ret_id) LT_YIELDS;
int lt_api_artifact_get(lathe_call *call, lathe_text id, lathe_text *ret_json) LT_YIELDS;
int lt_api_artifact_list(lathe_call *call, lathe_text *ret_json) LT_YIELDS;
/* json.c */
lathe_text lt_api_quote(lathe_call *call, lathe_text characters);
lathe_text lt_api_characters(lathe_call *call, lathe_text json);
lathe_text lt_api_member(lathe_call *call, lathe_text json, const char *key);
lathe_text lt_api_format(lathe_call *call, const char *format, ...) __attribute__((format(printf, 2, 3)));
void lt_host_vformat(lt_buf *out, const char *format, va_list args);
/* program.c */
int lt_api_call_tool(lathe_call *call, lathe_text id, lathe_text input, lathe_text *ret_value) LT_YIELDS;
int lt_api_run_program(lathe_call *call, const lathe_program *program, lathe_text *ret_result) LT_YIELDS;
/* many.c */
int lt_api_call_tools(lathe_call *call, lathe_text calls, unsigned at_once, lathe_text *ret_results) LT_YIELDS;

/* --- Waiting for each other (circle.c) ---------------------------------------------------------------------------- */
/* Whether the plugin is running a call that this caller works for. */
bool lt_caller_is_within(const lt_caller *caller, const lt_plugin *plugin);
/* Whether the call would wait, behind what its plugin's thread is at, for one it is made on behalf of. */
bool lt_call_would_circle(const lathe_call *call);
/* A call of a plugin on a thread is known from when it is queued until nobody waits for it any more. */
void lt_call_open(lathe_call *call);
void lt_call_close(lathe_call *call);

#endif
