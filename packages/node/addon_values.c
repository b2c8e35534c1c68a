#include <stdlib.h>
#include <string.h>

#include "addon.h"

addon_state *addon_state_of(napi_env env) {
  void *state = NULL;
  napi_get_instance_data(env, &state);
  return state;
}

/* --- Values ------------------------------------------------------------------------------------------------------- */
napi_value value_undefined(napi_env env) {
  napi_value value = NULL;
  napi_get_undefined(env, &value);
  return value;
}

napi_value value_number(napi_env env, double number) {
  napi_value value = NULL;
  napi_create_double(env, number, &value);
  return value;
}

napi_value value_text(napi_env env, const char *text) {
  napi_value value = NULL;
  napi_create_string_utf8(env, text, NAPI_AUTO_LENGTH, &value);
  return value;
}

napi_value value_error(napi_env env, lathe_status status, const char *message) {
  napi_value make = NULL, made = NULL, arguments[] = {value_number(env, status), value_text(env, message)};
  napi_get_reference_value(env, addon_state_of(env)->make_error, &make);
  napi_call_function(env, value_undefined(env), make, 2, arguments, &made);
  return made;
}

napi_value addon_throw(napi_env env, lathe_status status, const char *message) {
  bool is_pending = false;
  napi_is_exception_pending(env, &is_pending);
  if (!is_pending) {
    napi_throw(env, value_error(env, status, message));
  }
  return NULL;
}

napi_value addon_throw_unless_ok(napi_env env, lathe_status status, const lathe_error *error) {
  return status == LATHE_OK ? value_undefined(env) : addon_throw(env, status, error->message);
}

void value_event(napi_env env, const lathe_event *event, napi_value ret[EVENT_VALUES]) {
  ret[0] = value_number(env, event->type);
  ret[1] = value_number(env, event->status);
  ret[2] = value_number(env, (double)event->run);
  ret[3] = value_number(env, (double)event->call);
  ret[4] = value_text(env, event->tool);
  ret[5] = value_text(env, event->text);
  ret[6] = value_text(env, event->json);
}

/* --- Arguments ---------------------------------------------------------------------------------------------------- */
addon_arguments arguments_init(napi_env env, napi_callback_info info) {
  addon_arguments arguments = {.env = env};
  size_t count = ARGUMENTS_MAX;
  napi_get_cb_info(env, info, &count, arguments.at, NULL, NULL);
  return arguments;
}

void arguments_release(addon_arguments *arguments) {
  for (int i = 0; i < ARGUMENTS_MAX; i++) {
    free(arguments->texts[i]);
  }
}

void arguments_fail(addon_arguments *arguments, lathe_status status, const char *message) {
  if (!arguments->has_failed) {
    addon_throw(arguments->env, status, message);
  }
  arguments->has_failed = true;
}

const char *arguments_text(addon_arguments *arguments, int i) {
  napi_env env = arguments->env;
  napi_valuetype type = napi_undefined;
  size_t bytes = 0;
  napi_typeof(env, arguments->at[i], &type);
  if (type == napi_undefined || type == napi_null || arguments->has_failed) {
    return NULL;
  }
  if (napi_get_value_string_utf8(env, arguments->at[i], NULL, 0, &bytes) != napi_ok) {
    arguments_fail(arguments, LATHE_E_INVALID, "a text is not a string");
    return NULL;
  }
  char *text = malloc(bytes + 1);
  if (text == NULL) {
    arguments_fail(arguments, LATHE_E_NOMEM, "no memory for a text");
    return NULL;
  }
  arguments->texts[i] = text;
  napi_get_value_string_utf8(env, arguments->at[i], text, bytes + 1, &bytes);
  if (memchr(text, '\0', bytes) != NULL) {
    arguments_fail(arguments, LATHE_E_INVALID, "a text contains a NUL character");
  }
  return text;
}

uint64_t arguments_number(const addon_arguments *arguments, int i) {
  double number = 0;
  napi_get_value_double(arguments->env, arguments->at[i], &number);
  return number >= 0 && number < 0x1p53 ? (uint64_t)number : 0;
}

lathe_run_options arguments_program(addon_arguments *arguments) {
  bool can_snapshot = false, by_turns = false;
  napi_get_value_bool(arguments->env, arguments->at[6], &can_snapshot);
  napi_get_value_bool(arguments->env, arguments->at[7], &by_turns);
  return (lathe_run_options){
      .size = sizeof(lathe_run_options),
      .code = arguments_text(arguments, 1),
      .language = arguments_text(arguments, 2),
      .input = arguments_text(arguments, 3),
      .timeout_ms = arguments_number(arguments, 4),
      .memory_bytes = arguments_number(arguments, 5),
      .can_snapshot = can_snapshot,
      .by_turns = by_turns,
  };
}

addon_env *arguments_env(addon_arguments *arguments) {
  void *it = NULL;
  if (napi_get_value_external(arguments->env, arguments->at[0], &it) != napi_ok || ((addon_env *)it)->lathe == NULL) {
    arguments_fail(arguments, LATHE_E_CLOSED, "the sandbox is closed");
    return NULL;
  }
  return it;
}
