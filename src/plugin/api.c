/* The functions a plugin is given: those that need nobody else, and the table of all. */
#include <stdarg.h>
#include <stdio.h>

#include "base/limits.h"
#include "json/json.h"
#include "text/plain.h"
#include "plugin/hook.h"

/* --- Answering ---------------------------------------------------------------------------------------------------- */
static void fail_as(lathe_call *call, lt_status status, lt_str why) {
  call->failed = true;
  call->failed_as = status;
  lt_buf_clear(&call->failure);
  lt_buf_add(&call->failure, why);
}

typedef struct check {
  lt_str json;
  lt_status status;
  lt_err err;
} check;

static void run_check(void *arg) {
  check *c = arg;
  c->status = lt_json_check(c->json, &c->err);
}

lt_status lt_call_check_json(const lathe_call *call, lt_str json, lt_err *err) {
  check c = {.json = json, .err = LT_ERR_INIT};
  if (json.n > LT_CALL_INLINE_BYTES && lt_plugin_on_loop(call->plugin)) {
    LT_TRY(lt_loop_offload(call->plugin->host->options.loop, run_check, &c, err));
  } else {
    run_check(&c);
  }
  *err = c.err;
  return c.status;
}

static void api_answer(lathe_call *call, lathe_text json) LT_YIELDS {
  lt_err err = LT_ERR_INIT;
  if (lt_call_check_json(call, lt_of_text(json), &err) != LT_OK) {
    lt_err_prefix(&err, "plugin \"%s\" answered something that is not JSON", call->plugin->is.id);
    fail_as(call, LT_E_PROTOCOL, lt_str_of(lt_err_msg(&err)));
    return;
  }
  lt_buf_clear(&call->answer);
  lt_buf_add(&call->answer, lt_of_text(json));
  call->answered = true;
  if (call->answer.status != LT_OK) {
    fail_as(call, call->answer.status, LT_STR("there was no memory for the plugin's answer"));
  }
}

static void api_fail(lathe_call *call, const char *format, ...) {
  lt_buf text;
  lt_buf_init(&text, LT_PLUGIN_CALL_MAX_BYTES);
  va_list args;
  va_start(args, format);
  lt_host_vformat(&text, format, args);
  va_end(args);
  lt_str why = lt_str_sub(lt_buf_view(&text), 0, LT_RUN_ERROR_BYTES);
  fail_as(call, LT_E_TOOL, why.n > 0 ? why : LT_STR("the plugin failed without saying why"));
  lt_buf_release(&text);
}

static lathe_text api_error(lathe_call *call) {
  return lt_to_text(lt_buf_view(&call->error));
}

/* --- About the call ----------------------------------------------------------------------------------------------- */
static lathe_text api_config(lathe_call *call) {
  return lt_to_text(call->plugin->config);
}

static lathe_text api_user(lathe_call *call) {
  return lt_to_text(call->user);
}

static lathe_text api_conversation(lathe_call *call) {
  return lt_to_text(call->conversation);
}

/* On the loop nobody else sets `unwanted`: the cancel says it. */
static int api_cancelled(lathe_call *call) {
  return lt_plugin_on_loop(call->plugin) ? call->cancel.why != LT_OK : atomic_load(&call->unwanted);
}

static void *api_memory(lathe_call *call, size_t size) {
  return lt_arena_zalloc(&call->arena, size > 0 ? size : 1, 1);
}

/* --- A line for a person ------------------------------------------------------------------------------------------ */
typedef struct line {
  lt_str text;
  bool warning;
} line;

void lt_host_add_words(const lt_host *host, lt_str text, lt_buf *out) {
  lt_buf masked;
  lt_buf_init(&masked, out->max);
  lt_secrets_mask(host->options.secrets, text, &masked); /* before: line breaks may stand in one */
  lt_plain_add_line(out, lt_buf_view(&masked));
  lt_secrets_mask_buf(host->options.secrets, out); /* and after: an escape may stand in the middle of one */
  out->status = out->status == LT_OK ? masked.status : out->status;
  lt_buf_release(&masked);
}

static lt_status put_line(lathe_call *call, void *arg, lt_err *err) {
  const line *l = arg;
  const lt_host *host = call->plugin->host;
  if (host->options.on_line == NULL) {
    return LT_OK;
  }
  lt_buf out;
  lt_buf_init(&out, 4 * LT_PLUGIN_LINE_BYTES);
  lt_buf_printf(&out, "plugin %s: ", call->plugin->is.id);
  lt_host_add_words(host, l->text, &out);
  lt_status status = out.status;
  if (status == LT_OK) {
    host->options.on_line(host->options.arg, l->warning, lt_buf_view(&out));
  }
  lt_buf_release(&out);
  return status == LT_OK ? LT_OK : lt_fail(err, status, "the line could not be written");
}

static void api_log(lathe_call *call, int level, const char *format, ...) {
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
  line l = {.text = lt_str_from(text, (size_t)n), .warning = level == LATHE_LOG_WARNING};
  /* no LT_YIELDS: what is done at once does not wait */
  lt_ask_loop(call, &(lt_ask){.fn = put_line, .arg = &l, .at_once = true});
}

/* --- The table ---------------------------------------------------------------------------------------------------- */
const lathe_host lt_host_api = {
    .size = sizeof(lathe_host),
    .answer = api_answer,
    .fail = api_fail,
    .error = api_error,
    .config = api_config,
    .user = api_user,
    .conversation = api_conversation,
    .cancelled = api_cancelled,
    .memory = api_memory,
    .log = api_log,
    .add_tool = lt_api_add_tool,
    .add_function = lt_api_add_function,
    .add_module = lt_api_add_module,
    .add_context = lt_api_add_context,
    .state = lt_api_state,
    .set_state = lt_api_set_state,
    .migrate = lt_api_migrate,
    .sql = lt_api_sql,
    .call_tool = lt_api_call_tool,
    .run_program = lt_api_run_program,
    .artifact_put = lt_api_artifact_put,
    .artifact_get = lt_api_artifact_get,
    .artifact_list = lt_api_artifact_list,
    .quote = lt_api_quote,
    .characters = lt_api_characters,
    .member = lt_api_member,
    .format = lt_api_format,
    .add_mode = lt_api_add_mode,
    .ask_model = lt_api_ask_model,
    .put_text = lt_api_put_text,
    .call_tools = lt_api_call_tools,
};
