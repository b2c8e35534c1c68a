/* The host's functions: the small ones, and the table of all. */
#include "plugin/host_table.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/limits.h"
#include "plugin/abi.h"
#include "plugin/host_line.h"
#include "plugin/host_modes.h"
#include "plugin/nested_program.h"
#include "plugin/nested_tools.h"
#include "plugin/plugin_json.h"
#include "plugin/plugin_request.h"
#include "plugin/plugin_storage.h"
#include "plugin/registration.h"

/* --- Answering ---------------------------------------------------------------------------------------------------- */
static void host_table_set_failure(lathe_call *call, lt_status status, lt_str why) {
  call->has_failed = true;
  call->failure_status = status;
  lt_buf_clear(&call->failure);
  lt_buf_add(&call->failure, why);
}

static void host_table_answer(lathe_call *call, lathe_text json) LT_YIELDS {
  LT_ERR_VAR(err);
  if (lt_plugin_json_check(call, lt_abi_to_str(json), &err) != LT_OK) {
    lt_err_prefix(&err, "plugin \"%s\" answered something that is not JSON", call->plugin->definition.id);
    host_table_set_failure(call, LT_E_PROTOCOL, lt_str_of(lt_err_msg(&err)));
    return;
  }
  lt_buf_clear(&call->answer);
  lt_buf_add(&call->answer, lt_abi_to_str(json));
  call->has_answer = true;
  if (call->answer.status != LT_OK) {
    host_table_set_failure(call, call->answer.status, LT_STR("there was no memory for the plugin's answer"));
  }
}

static void host_table_fail(lathe_call *call, const char *format, ...) {
  LT_AUTO_BUF(text, LT_PLUGIN_CALL_MAX_BYTES);
  va_list args;
  va_start(args, format);
  lt_plugin_json_vformat(&text, format, args);
  va_end(args);
  lt_str why = lt_str_sub(lt_buf_view(&text), 0, LT_RUN_ERROR_BYTES);
  host_table_set_failure(call, LT_E_TOOL, why.n > 0 ? why : LT_STR("the plugin failed without saying why"));
}

static lathe_text host_table_error(lathe_call *call) {
  return lt_abi_to_text(lt_buf_view(&call->error));
}

/* --- Properties of the call --------------------------------------------------------------------------------------- */
static lathe_text host_table_config(lathe_call *call) {
  return lt_abi_to_text(call->plugin->config);
}

static lathe_text host_table_user(lathe_call *call) {
  return lt_abi_to_text(call->user);
}

static lathe_text host_table_conversation(lathe_call *call) {
  return lt_abi_to_text(call->conversation);
}

/* A call on the loop is never marked as abandoned. Its cancel has the same meaning. */
static int host_table_cancelled(lathe_call *call) {
  return lt_plugin_on_loop(call->plugin) ? call->cancel.why != LT_OK : atomic_load(&call->is_abandoned);
}

static void *host_table_memory(lathe_call *call, size_t size) {
  return lt_arena_zalloc(&call->arena, size > 0 ? size : 1, 1);
}

/* --- A line for a person ------------------------------------------------------------------------------------------ */
typedef struct host_table_line {
  lt_str text;
  bool is_warning;
} host_table_line;

static lt_status host_table_show_line(lathe_call *call, void *arg, lt_err *err) {
  const host_table_line *line = arg;
  return lt_fail_if(err, lt_host_line_show(call->plugin, line->is_warning, line->text),
                    "the line could not be written");
}

static void host_table_log(lathe_call *call, int level, const char *format, ...) {
  char text[LT_PLUGIN_LINE_BYTES];
  va_list args;
  va_start(args, format);
  int n = vsnprintf(text, sizeof text, format, args);
  va_end(args);
  if (n < 0) {
    return;
  }
  if ((size_t)n >= sizeof text) {
    n = sizeof text - 1;
    memcpy(text + n - 3, "...", 3);
  }
  host_table_line line = {.text = lt_str_from(text, (size_t)n), .is_warning = level == LATHE_LOG_WARNING};
  /* no LT_YIELDS: a request that is done at once does not wait */
  lt_plugin_request_run(call, &(lt_plugin_request){.fn = host_table_show_line, .arg = &line, .at_once = true});
}

/* --- The table ---------------------------------------------------------------------------------------------------- */
const lathe_host lt_host_table = {
    .size = sizeof(lathe_host),
    .answer = host_table_answer,
    .fail = host_table_fail,
    .error = host_table_error,
    .config = host_table_config,
    .user = host_table_user,
    .conversation = host_table_conversation,
    .cancelled = host_table_cancelled,
    .memory = host_table_memory,
    .log = host_table_log,
    .add_tool = lt_registration_add_tool,
    .add_function = lt_registration_add_function,
    .add_module = lt_registration_add_module,
    .add_context = lt_registration_add_context,
    .state = lt_plugin_storage_state,
    .set_state = lt_plugin_storage_set_state,
    .migrate = lt_plugin_storage_migrate,
    .sql = lt_plugin_storage_sql,
    .call_tool = lt_nested_tools_call,
    .run_program = lt_nested_program_run,
    .artifact_put = lt_plugin_storage_put_artifact,
    .artifact_get = lt_plugin_storage_get_artifact,
    .artifact_list = lt_plugin_storage_list_artifacts,
    .quote = lt_plugin_json_quote,
    .characters = lt_plugin_json_characters,
    .member = lt_plugin_json_member,
    .format = lt_plugin_json_format,
    .add_mode = lt_host_modes_add,
    .ask_model = lt_host_modes_ask_model,
    .put_text = lt_host_modes_put_text,
    .call_tools = lt_nested_tools_call_many,
};
