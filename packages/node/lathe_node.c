/* liblathe for Node.js: an addon with the functions of lathe.h, which index.js makes a module of.
 *
 * Node's own loop waits for the environment's descriptor, so a program that waits costs no thread. What waits for
 * something itself (lathe_open, lathe_check, lathe_close) runs on a thread of libuv's pool, and is a promise; but for
 * lathe_turn (addon_run.c). The library is loaded by dlopen: the addon is built with the headers alone.
 *
 * All functions here run on the thread of their Node environment; each one (a worker is one) has its own addon_state.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "addon.h"

enum { EVENTS_AT_A_TIME = 100 };

/* --- The library -------------------------------------------------------------------------------------------------- */
/* False: `ret_missing` is what the library does not have. */
static bool library_find(addon_library *lib, void *handle, const char **ret_missing) {
  const struct {
    const char *name;
    void *at;
  } members[] = {
#define ROW(name) {#name, &lib->name},
      LIBRARY_FUNCTIONS(ROW)
#undef ROW
  };
  for (size_t i = 0; i < sizeof members / sizeof members[0]; i++) {
    void *symbol = dlsym(handle, members[i].name);
    if (symbol == NULL) {
      *ret_missing = members[i].name;
      return false;
    }
    memcpy(members[i].at, &symbol, sizeof symbol);
  }
  return true;
}

/* --- Environments ------------------------------------------------------------------------------------------------- */
static void env_free_unless_used(addon_env *it) {
  if (!it->has_value && it->poll == NULL && it->working == 0) {
    free(it);
  }
}

static void env_tell(addon_env *it, const lathe_event *event) {
  napi_env env = it->env;
  napi_handle_scope scope;
  napi_value on_event = NULL, receiver = NULL, done;
  if (napi_open_handle_scope(env, &scope) != napi_ok) {
    return;
  }
  napi_get_reference_value(env, it->on_event, &on_event);
  napi_get_global(env, &receiver);
  napi_value arguments[EVENT_VALUES];
  value_event(env, event, arguments);
  napi_make_callback(env, it->context, receiver, on_event, EVENT_VALUES, arguments, &done);
  bool is_pending = false;
  napi_is_exception_pending(env, &is_pending);
  if (is_pending) { /* index.js catches what functions of its user throw; this is a fault of its own */
    napi_value fault;
    napi_get_and_clear_last_exception(env, &fault);
    napi_fatal_exception(env, fault);
  }
  napi_close_handle_scope(env, scope);
}

static void env_take_events(addon_env *it) {
  const lathe_event *event;
  for (int i = 0; i < EVENTS_AT_A_TIME && it->lathe != NULL; i++) {
    if (it->lib->lathe_next(it->lathe, 0, &event) != LATHE_OK) {
      return;
    }
    env_tell(it, event);
    it->lib->lathe_event_free(event);
  }
}

static void env_on_readable(uv_poll_t *poll, int status, int events) {
  (void)status;
  (void)events;
  env_take_events(poll->data);
}

static void env_on_poll_closed(uv_handle_t *handle) {
  addon_env *it = handle->data;
  free(handle);
  it->poll = NULL;
  if (it->cleanup != NULL) {
    napi_remove_async_cleanup_hook(it->cleanup);
    it->cleanup = NULL;
  }
  env_free_unless_used(it);
}

/* No event follows. */
static void env_stop(addon_env *it) {
  if (it->on_event != NULL) {
    napi_delete_reference(it->env, it->on_event);
    napi_async_destroy(it->env, it->context);
    it->on_event = NULL;
  }
  if (it->poll != NULL && !uv_is_closing((uv_handle_t *)it->poll)) {
    uv_close((uv_handle_t *)it->poll, env_on_poll_closed);
  }
}

static lathe_env *env_take(addon_env *it) {
  lathe_env *lathe = it->lathe;
  it->lathe = NULL;
  return lathe;
}

/* Node ends, or a worker. A thread that is inside keeps the environment: the process ends soon, or leaks it. */
static void env_on_cleanup(napi_async_cleanup_hook_handle handle, void *arg) {
  addon_env *it = arg;
  (void)handle;
  lathe_env *lathe = env_take(it);
  env_stop(it);
  if (it->working == 0) {
    it->lib->lathe_close(lathe);
  }
}

/* Its value is garbage. Nobody closed it. */
static void env_on_garbage(napi_env env, void *data, void *hint) {
  addon_env *it = data;
  (void)env;
  (void)hint;
  it->has_value = false;
  lathe_env *lathe = env_take(it);
  env_stop(it);
  if (lathe != NULL) { /* else the addon's state, with the library's functions, may be gone */
    it->lib->lathe_close(lathe);
  }
  env_free_unless_used(it);
}

/* Takes the environment of the library. NULL: an exception is pending. */
static napi_value env_make(napi_env env, lathe_env *lathe, napi_ref on_event) {
  addon_env *it = calloc(1, sizeof *it);
  uv_poll_t *poll = calloc(1, sizeof *poll);
  uv_loop_t *loop = NULL;
  const addon_library *lib = &addon_state_of(env)->lib;
  napi_value name = value_text(env, "lathe"), value = NULL;
  napi_get_uv_event_loop(env, &loop);
  if (it == NULL || poll == NULL || loop == NULL || uv_poll_init(loop, poll, lib->lathe_fd(lathe)) != 0) {
    free(it);
    free(poll);
    napi_delete_reference(env, on_event);
    lib->lathe_close(lathe);
    return addon_throw(env, LATHE_E_IO, "the loop of Node.js cannot wait for the sandbox");
  }
  *it = (addon_env){.env = env, .lib = lib, .lathe = lathe, .poll = poll, .on_event = on_event, .has_value = true};
  poll->data = it;
  napi_async_init(env, NULL, name, &it->context);
  napi_add_async_cleanup_hook(env, env_on_cleanup, it, &it->cleanup);
  uv_poll_start(poll, UV_READABLE, env_on_readable);
  uv_unref((uv_handle_t *)poll); /* until a program runs: addon_hold */
  napi_create_external(env, it, env_on_garbage, NULL, &value);
  return value;
}

/* --- What waits, on a thread of the pool -------------------------------------------------------------------------- */
typedef struct addon_work addon_work;
struct addon_work {
  addon_arguments arguments; /* the texts */
  const addon_library *lib;
  addon_env *it;    /* NULL: of lathe_open */
  lathe_env *lathe; /* to be checked or closed; what was opened */
  void (*run)(addon_work *work);
  napi_value (*finish)(napi_env env, addon_work *work); /* the value of the promise */
  napi_ref on_event;
  char *text;
  lathe_status status;
  lathe_error error;
  napi_async_work async;
  napi_deferred promise;
  napi_ref value; /* keeps the environment's value */
};

static void work_run(napi_env env, void *data) {
  addon_work *work = data;
  (void)env;
  work->run(work);
}

static void work_settle(napi_env env, addon_work *work) {
  napi_value value = work->status == LATHE_OK ? work->finish(env, work) : NULL;
  bool is_pending = false;
  napi_is_exception_pending(env, &is_pending);
  if (is_pending) {
    napi_get_and_clear_last_exception(env, &value);
    napi_reject_deferred(env, work->promise, value);
  } else if (work->status != LATHE_OK) {
    napi_reject_deferred(env, work->promise, value_error(env, work->status, work->error.message));
  } else {
    napi_resolve_deferred(env, work->promise, value);
  }
}

static void work_free(napi_env env, addon_work *work) {
  if (work->on_event != NULL) {
    napi_delete_reference(env, work->on_event);
  }
  if (work->value != NULL) {
    napi_delete_reference(env, work->value);
  }
  if (work->it != NULL) {
    work->it->working--;
    env_free_unless_used(work->it);
  }
  if (work->text != NULL) {
    work->lib->lathe_free(work->text);
  }
  napi_delete_async_work(env, work->async);
  arguments_release(&work->arguments);
  free(work);
}

static void work_on_end(napi_env env, napi_status status, void *data) {
  addon_work *work = data;
  if (status == napi_ok) { /* else Node ends, and nobody waits for the promise */
    work_settle(env, work);
  }
  work_free(env, work);
}

/* Begins it, with the arguments, which are the work's from now on. Returns the promise. */
static napi_value work_begin(addon_arguments *arguments, const addon_work *what) {
  napi_env env = arguments->env;
  napi_value promise = NULL;
  addon_work *work = arguments->has_failed ? NULL : malloc(sizeof *work);
  if (work == NULL) {
    arguments_fail(arguments, LATHE_E_NOMEM, "no memory to wait");
    arguments_release(arguments);
    return NULL;
  }
  *work = *what;
  work->arguments = *arguments;
  work->lib = &addon_state_of(env)->lib;
  work->error.size = sizeof work->error;
  if (work->it != NULL) {
    work->it->working++;
    napi_create_reference(env, arguments->at[0], 1, &work->value);
  }
  napi_create_promise(env, &work->promise, &promise);
  napi_create_async_work(env, NULL, value_text(env, "lathe"), work_run, work_on_end, work, &work->async);
  napi_queue_async_work(env, work->async);
  return promise;
}

static void open_run(addon_work *work) {
  char *const *texts = work->arguments.texts;
  const lathe_options options = {
      .size = sizeof options, .config = texts[0], .config_file = texts[1], .folder = texts[2]};
  work->status = work->lib->lathe_open(&options, &work->lathe, &work->error);
}

static napi_value open_finish(napi_env env, addon_work *work) {
  napi_ref on_event = work->on_event;
  work->on_event = NULL;
  return env_make(env, work->lathe, on_event);
}

/* open(config, configFile, folder, onEvent) → promise of an environment */
static napi_value addon_open(napi_env env, napi_callback_info info) {
  addon_arguments arguments = arguments_init(env, info);
  addon_work work = {.run = open_run, .finish = open_finish};
  for (int i = 0; i < 3; i++) {
    arguments_text(&arguments, i);
  }
  if (!arguments.has_failed) {
    napi_create_reference(env, arguments.at[3], 1, &work.on_event);
  }
  return work_begin(&arguments, &work);
}

static void check_run(addon_work *work) {
  char *const *texts = work->arguments.texts;
  const lathe_run_options options = {.size = sizeof options, .code = texts[1], .language = texts[2]};
  work->status = work->lib->lathe_check(work->lathe, &options, &work->text, &work->error);
}

static napi_value check_finish(napi_env env, addon_work *work) {
  return value_text(env, work->text);
}

/* check(environment, code, language) → promise of JSON */
static napi_value addon_check(napi_env env, napi_callback_info info) {
  addon_arguments arguments = arguments_init(env, info);
  addon_env *it = arguments_env(&arguments);
  arguments_text(&arguments, 1);
  arguments_text(&arguments, 2);
  const addon_work work = {.it = it, .lathe = it != NULL ? it->lathe : NULL, .run = check_run, .finish = check_finish};
  return work_begin(&arguments, &work);
}

static void close_run(addon_work *work) {
  work->lib->lathe_close(work->lathe);
}

static napi_value close_finish(napi_env env, addon_work *work) {
  (void)work;
  return value_undefined(env);
}

/* close(environment) → promise. index.js has waited for checks. */
static napi_value addon_close(napi_env env, napi_callback_info info) {
  addon_arguments arguments = arguments_init(env, info);
  addon_env *it = arguments_env(&arguments);
  addon_work work = {.it = it, .run = close_run, .finish = close_finish};
  if (it != NULL) {
    env_stop(it);
    work.lathe = env_take(it);
  }
  return work_begin(&arguments, &work);
}

/* --- What returns at once ----------------------------------------------------------------------------------------- */
/* Node.js exports the functions of its own libuv, OpenSSL and SQLite. With RTLD_DEEPBIND liblathe uses those that it
 * was built with instead. The dlopen of sanitizers refuses that flag. */
static void *library_open(const char *path) {
  bool is_sanitized = dlsym(RTLD_DEFAULT, "__sanitizer_print_stack_trace") != NULL;
  return dlopen(path, RTLD_NOW | RTLD_LOCAL | (is_sanitized ? 0 : RTLD_DEEPBIND));
}

/* load(path, makeError) → the library's version */
static napi_value addon_load(napi_env env, napi_callback_info info) {
  addon_arguments arguments = arguments_init(env, info);
  addon_state *state = addon_state_of(env);
  if (state->make_error == NULL) {
    napi_create_reference(env, arguments.at[1], 1, &state->make_error);
  }
  const char *path = arguments_text(&arguments, 0), *missing = NULL;
  void *handle = path != NULL ? library_open(path) : NULL;
  napi_value version = NULL;
  if (handle == NULL) {
    arguments_fail(&arguments, LATHE_E_IO, path != NULL ? dlerror() : "no path");
  } else if (!library_find(&state->lib, handle, &missing)) {
    arguments_fail(&arguments, LATHE_E_UNSUPPORTED, missing);
  } else {
    version = value_text(env, state->lib.lathe_version());
  }
  arguments_release(&arguments);
  return version;
}

/* hold(environment, whether it keeps the process alive) */
static napi_value addon_hold(napi_env env, napi_callback_info info) {
  addon_arguments arguments = arguments_init(env, info);
  addon_env *it = arguments_env(&arguments);
  bool is_held = false;
  if (it != NULL) {
    napi_get_value_bool(env, arguments.at[1], &is_held);
    (is_held ? uv_ref : uv_unref)((uv_handle_t *)it->poll);
  }
  return NULL;
}

/* takeEvents(environment): tells of those that wait, before Node's loop does */
static napi_value addon_take_events(napi_env env, napi_callback_info info) {
  addon_arguments arguments = arguments_init(env, info);
  addon_env *it = arguments_env(&arguments);
  if (it != NULL) {
    env_take_events(it);
  }
  return NULL;
}

/* addTool(environment, name, description, inputSchema, outputSchema, annotations, approval) */
static napi_value addon_add_tool(napi_env env, napi_callback_info info) {
  addon_arguments arguments = arguments_init(env, info);
  addon_env *it = arguments_env(&arguments);
  lathe_error error = {.size = sizeof error};
  const lathe_tool_options tool = {
      .size = sizeof tool,
      .name = arguments_text(&arguments, 1),
      .description = arguments_text(&arguments, 2),
      .input_schema = arguments_text(&arguments, 3),
      .output_schema = arguments_text(&arguments, 4),
      .annotations = arguments_text(&arguments, 5),
      .approval = arguments_text(&arguments, 6),
  };
  napi_value done = NULL;
  if (!arguments.has_failed) {
    done = addon_throw_unless_ok(env, it->lib->lathe_add_tool(it->lathe, &tool, &error), &error);
  }
  arguments_release(&arguments);
  return done;
}

/* removeTool(environment, name) */
static napi_value addon_remove_tool(napi_env env, napi_callback_info info) {
  addon_arguments arguments = arguments_init(env, info);
  addon_env *it = arguments_env(&arguments);
  lathe_error error = {.size = sizeof error};
  const char *name = arguments_text(&arguments, 1);
  napi_value done = NULL;
  if (!arguments.has_failed) {
    done = addon_throw_unless_ok(env, it->lib->lathe_remove_tool(it->lathe, name, &error), &error);
  }
  arguments_release(&arguments);
  return done;
}

static napi_value addon_return_text(addon_arguments *arguments, addon_env *it, lathe_status status, char *text,
                                    const lathe_error *error) {
  napi_env env = arguments->env;
  napi_value value = status == LATHE_OK ? value_text(env, text) : addon_throw(env, status, error->message);
  if (text != NULL) {
    it->lib->lathe_free(text);
  }
  arguments_release(arguments);
  return value;
}

/* tools(environment, query, limit) → JSON */
static napi_value addon_tools(napi_env env, napi_callback_info info) {
  addon_arguments arguments = arguments_init(env, info);
  addon_env *it = arguments_env(&arguments);
  lathe_error error = {.size = sizeof error};
  const char *query = arguments_text(&arguments, 1);
  char *text = NULL;
  lathe_status status = LATHE_E_INVALID;
  if (!arguments.has_failed) {
    status = it->lib->lathe_tools(it->lathe, query, arguments_number(&arguments, 2), &text, &error);
  }
  return addon_return_text(&arguments, it, status, text, &error);
}

/* declare(environment, form, maxTokens) → text */
static napi_value addon_declare(napi_env env, napi_callback_info info) {
  addon_arguments arguments = arguments_init(env, info);
  addon_env *it = arguments_env(&arguments);
  lathe_error error = {.size = sizeof error};
  const char *form = arguments_text(&arguments, 1);
  char *text = NULL;
  lathe_status status = LATHE_E_INVALID;
  if (!arguments.has_failed) {
    status = it->lib->lathe_declare(it->lathe, form, arguments_number(&arguments, 2), &text, &error);
  }
  return addon_return_text(&arguments, it, status, text, &error);
}

static napi_value addon_return_run(addon_arguments *arguments, lathe_status status, uint64_t run,
                                   const lathe_error *error) {
  napi_env env = arguments->env;
  napi_value number = status == LATHE_OK ? value_number(env, (double)run) : addon_throw(env, status, error->message);
  arguments_release(arguments);
  return number;
}

/* start(environment, code, language, input, timeoutMs, memoryBytes, canSnapshot, byTurns) → the run's number */
static napi_value addon_start(napi_env env, napi_callback_info info) {
  addon_arguments arguments = arguments_init(env, info);
  addon_env *it = arguments_env(&arguments);
  lathe_error error = {.size = sizeof error};
  uint64_t run = 0;
  const lathe_run_options options = arguments_program(&arguments);
  lathe_status status = LATHE_E_INVALID;
  if (!arguments.has_failed) {
    status = it->lib->lathe_start(it->lathe, &options, &run, &error);
  }
  return addon_return_run(&arguments, status, run, &error);
}

/* restore(environment, snapshot) → the run's number */
static napi_value addon_restore(napi_env env, napi_callback_info info) {
  addon_arguments arguments = arguments_init(env, info);
  addon_env *it = arguments_env(&arguments);
  lathe_error error = {.size = sizeof error};
  uint64_t run = 0;
  const char *snapshot = arguments_text(&arguments, 1);
  lathe_status status = LATHE_E_INVALID;
  if (!arguments.has_failed) {
    status = it->lib->lathe_restore(it->lathe, snapshot, NULL, &run, &error);
  }
  return addon_return_run(&arguments, status, run, &error);
}

/* prompt(environment, input, model, mode, conversation, user, prompt, attachments) → the run's number */
static napi_value addon_prompt(napi_env env, napi_callback_info info) {
  addon_arguments arguments = arguments_init(env, info);
  addon_env *it = arguments_env(&arguments);
  lathe_error error = {.size = sizeof error};
  uint64_t run = 0;
  const lathe_prompt_options options = {
      .size = sizeof options,
      .input = arguments_text(&arguments, 1),
      .model = arguments_text(&arguments, 2),
      .mode = arguments_text(&arguments, 3),
      .conversation = arguments_text(&arguments, 4),
      .user = arguments_text(&arguments, 5),
      .prompt = arguments_text(&arguments, 6),
      .attachments = arguments_text(&arguments, 7),
  };
  lathe_status status = LATHE_E_INVALID;
  if (!arguments.has_failed) {
    status = it->lib->lathe_prompt(it->lathe, &options, &run, &error);
  }
  return addon_return_run(&arguments, status, run, &error);
}

/* snapshot(environment, run) → JSON */
static napi_value addon_snapshot(napi_env env, napi_callback_info info) {
  addon_arguments arguments = arguments_init(env, info);
  addon_env *it = arguments_env(&arguments);
  lathe_error error = {.size = sizeof error};
  char *text = NULL;
  lathe_status status = LATHE_E_INVALID;
  if (!arguments.has_failed) {
    status = it->lib->lathe_snapshot(it->lathe, arguments_number(&arguments, 1), &text, &error);
  }
  return addon_return_text(&arguments, it, status, text, &error);
}

/* cancel(environment, run): one that has ended is left alone */
static napi_value addon_cancel(napi_env env, napi_callback_info info) {
  addon_arguments arguments = arguments_init(env, info);
  addon_env *it = arguments_env(&arguments);
  if (it != NULL) {
    it->lib->lathe_cancel(it->lathe, arguments_number(&arguments, 1), NULL);
  }
  return NULL;
}

typedef lathe_status addon_reply(lathe_env *env, uint64_t call, const char *text, lathe_error *error);

/* (environment, call, text): an answer that nobody wants any more is dropped. */
static napi_value addon_reply_by(napi_env env, napi_callback_info info, size_t offset) {
  addon_arguments arguments = arguments_init(env, info);
  addon_env *it = arguments_env(&arguments);
  lathe_error error = {.size = sizeof error};
  const char *text = arguments_text(&arguments, 2);
  napi_value done = NULL;
  if (!arguments.has_failed) {
    addon_reply *reply;
    memcpy(&reply, (const char *)it->lib + offset, sizeof reply);
    lathe_status status = reply(it->lathe, arguments_number(&arguments, 1), text, &error);
    done = addon_throw_unless_ok(env, status == LATHE_E_NOTFOUND ? LATHE_OK : status, &error);
  }
  arguments_release(&arguments);
  return done;
}

static napi_value addon_answer(napi_env env, napi_callback_info info) {
  return addon_reply_by(env, info, offsetof(addon_library, lathe_answer));
}

static napi_value addon_fail(napi_env env, napi_callback_info info) {
  return addon_reply_by(env, info, offsetof(addon_library, lathe_fail));
}

static napi_value addon_approve(napi_env env, napi_callback_info info) {
  return addon_reply_by(env, info, offsetof(addon_library, lathe_approve));
}

static napi_value addon_reject(napi_env env, napi_callback_info info) {
  return addon_reply_by(env, info, offsetof(addon_library, lathe_reject));
}

/* --- The module --------------------------------------------------------------------------------------------------- */
static void addon_state_free(napi_env env, void *data, void *hint) {
  (void)env;
  (void)hint;
  free(data);
}

NAPI_MODULE_INIT() {
  static const struct {
    const char *name;
    napi_callback call;
  } functions[] = {
      {"load", addon_load},                {"open", addon_open},                {"close", addon_close},
      {"hold", addon_hold},                {"takeEvents", addon_take_events},   {"addTool", addon_add_tool},
      {"removeTool", addon_remove_tool},   {"tools", addon_tools},              {"declare", addon_declare},
      {"check", addon_check},              {"start", addon_start},              {"turn", addon_turn},
      {"detach", addon_detach},            {"restore", addon_restore},          {"prompt", addon_prompt},
      {"cancel", addon_cancel},            {"snapshot", addon_snapshot},        {"answer", addon_answer},
      {"fail", addon_fail},                {"approve", addon_approve},          {"reject", addon_reject},
  };
  addon_state *state = calloc(1, sizeof *state);
  napi_set_instance_data(env, state, addon_state_free, NULL);
  for (size_t i = 0; state != NULL && i < sizeof functions / sizeof functions[0]; i++) {
    napi_value function;
    napi_create_function(env, functions[i].name, NAPI_AUTO_LENGTH, functions[i].call, NULL, &function);
    napi_set_named_property(env, exports, functions[i].name, function);
  }
  return exports;
}
