/* Storage of plugins: state, tables, artifacts. The store does the work on the loop. */
#include "plugin/plugin_storage.h"

#include "base/limits.h"
#include "json/json.h"
#include "plugin/abi.h"
#include "plugin/host_state.h"
#include "plugin/plugin_request.h"

typedef struct plugin_storage_request {
  lt_str text; /* JSON, a statement, an id */
  lt_str more; /* parameters, a description */
  lt_str type;
  const char *const *scripts;
  size_t count;
  lt_buf out;
} plugin_storage_request;

static int plugin_storage_run(lathe_call *call, lt_status (*fn)(lathe_call *call, void *arg, lt_err *err) LT_YIELDS,
                              plugin_storage_request *r, lathe_text *ret) LT_YIELDS {
  lt_buf_init(&r->out, LT_JSON_MAX_BYTES);
  int rc = lt_plugin_request_run(call, &(lt_plugin_request){.fn = fn, .arg = r});
  if (ret != NULL) {
    rc = lt_plugin_call_return_text(call, rc, &r->out, ret);
  }
  lt_buf_release(&r->out);
  return rc;
}

static lt_status plugin_storage_db(const lathe_call *call, lt_store **ret_db, lt_err *err) {
  *ret_db = call->plugin->host->options.db;
  return *ret_db != NULL ? LT_OK : lt_fail(err, LT_E_UNSUPPORTED, "there is no database here to keep things in");
}

/* --- State -------------------------------------------------------------------------------------------------------- */
static lt_status plugin_storage_check_state(const lathe_call *call, lt_str json, lt_err *err) {
  const lt_schema *schema = call->plugin->state_schema;
  if (schema == NULL) {
    return lt_json_check(json, err);
  }
  LT_AUTO_ARENA(arena, LT_CALL_INDEX_MAX_BYTES);
  LT_AUTO_BUF(faults, LT_SCHEMA_FAULTS_MAX_BYTES);
  lt_json_doc doc;
  LT_TRY(lt_json_parse(&arena, json, &doc, err));
  lt_status status = lt_schema_check(schema, lt_json_root(&doc), LT_STR("state"), &faults, err);
  return status != LT_E_INVALID ? status : lt_fail(err, status, "%.*s", LT_STR_ARG(lt_buf_view(&faults)));
}

static lt_status plugin_storage_read_state(lathe_call *call, void *arg, lt_err *err) LT_YIELDS {
  plugin_storage_request *r = arg;
  lt_store *db;
  LT_TRY(plugin_storage_db(call, &db, err));
  return lt_store_state_get(db, call->plugin->id, call->user, call->conversation, &r->out, err);
}

int lt_plugin_storage_state(lathe_call *call, lathe_text *ret_json) {
  LT_ERR_VAR(err);
  lathe_text json;
  if (plugin_storage_run(call, plugin_storage_read_state, &(plugin_storage_request){0}, &json) != 0) {
    return -1;
  }
  lt_status status = json.n > 0 ? plugin_storage_check_state(call, lt_abi_to_str(json), &err) : LT_OK;
  if (status == LT_E_NOMEM) { /* the plugin must not take a failure for an empty state and overwrite it */
    lt_err_prefix(&err, "the state cannot be read");
    return lt_plugin_call_set_err(call, &err);
  }
  if (status != LT_OK) {
    call->plugin->functions->log(call, LATHE_LOG_WARNING,
                                 "the state kept for user \"%.*s\" does not fit any more and counts as empty: %s",
                                 LT_STR_ARG(call->user), lt_err_msg(&err));
    json = LATHE_TEXT("");
  }
  *ret_json = json;
  return 0;
}

static lt_status plugin_storage_write_state(lathe_call *call, void *arg, lt_err *err) LT_YIELDS {
  const plugin_storage_request *r = arg;
  lt_store *db;
  LT_TRY(plugin_storage_db(call, &db, err));
  return lt_store_state_put(db, call->plugin->id, call->user, call->conversation, r->text, err);
}

int lt_plugin_storage_set_state(lathe_call *call, lathe_text json) {
  LT_ERR_VAR(err);
  if (json.n > LT_STATE_MAX_BYTES) {
    lt_fail(&err, LT_E_LIMIT, "the state has more than %lu KiB: keep such things in a table",
            LT_STATE_MAX_BYTES / LT_KIB);
    return lt_plugin_call_set_err(call, &err);
  }
  if (json.n > 0 && plugin_storage_check_state(call, lt_abi_to_str(json), &err) != LT_OK) {
    lt_err_prefix(&err, "this state is not kept");
    return lt_plugin_call_set_err(call, &err);
  }
  return plugin_storage_run(call, plugin_storage_write_state, &(plugin_storage_request){.text = lt_abi_to_str(json)},
                            NULL);
}

/* --- Tables ------------------------------------------------------------------------------------------------------- */
static lt_status plugin_storage_run_scripts(lathe_call *call, void *arg, lt_err *err) LT_YIELDS {
  const plugin_storage_request *r = arg;
  lt_store *db;
  LT_TRY(plugin_storage_db(call, &db, err));
  return lt_store_migrate(db, call->plugin->id, r->scripts, r->count, err);
}

int lt_plugin_storage_migrate(lathe_call *call, const char *const *scripts, size_t count) {
  return plugin_storage_run(call, plugin_storage_run_scripts,
                            &(plugin_storage_request){.scripts = scripts, .count = count}, NULL);
}

static lt_status plugin_storage_run_statement(lathe_call *call, void *arg, lt_err *err) LT_YIELDS {
  plugin_storage_request *r = arg;
  lt_store *db;
  LT_TRY(plugin_storage_db(call, &db, err));
  return lt_store_sql(db, call->plugin->id, r->text, r->more, &r->out, err);
}

int lt_plugin_storage_sql(lathe_call *call, lathe_text statement, lathe_text params, lathe_text *ret_rows) {
  return plugin_storage_run(call, plugin_storage_run_statement,
                            &(plugin_storage_request){.text = lt_abi_to_str(statement), .more = lt_abi_to_str(params)},
                            ret_rows);
}

/* --- Artifacts ---------------------------------------------------------------------------------------------------- */
static lt_status plugin_storage_write_artifact(lathe_call *call, void *arg, lt_err *err) LT_YIELDS {
  const lt_host_options *options = &call->plugin->host->options;
  plugin_storage_request *r = arg;
  if (options->artifacts == NULL) {
    return lt_fail(err, LT_E_UNSUPPORTED, "there is no database here to keep artifacts in");
  }
  lt_artifact artifact = {.user = call->user,
                          .run = call->caller != NULL ? call->caller->run : LT_STR_NULL,
                          .type = r->type,
                          .description = r->more,
                          .mime_type = LT_STR("application/json"),
                          .data = r->text};
  return options->artifacts->put(options->artifacts, &artifact, &r->out, err);
}

int lt_plugin_storage_put_artifact(lathe_call *call, const char *type, lathe_text description, lathe_text json,
                                   lathe_text *ret_id) {
  LT_ERR_VAR(err);
  lt_str type_text = lt_abi_view_text(type, LT_PLUGIN_NAME_BYTES);
  if (type_text.n == 0) {
    return lt_plugin_call_set_error(call, LT_STR("an artifact needs a type of a few words at most, such as \"note\""));
  }
  if (lt_json_check(lt_abi_to_str(json), &err) != LT_OK) {
    lt_err_prefix(&err, "an artifact has to be JSON");
    return lt_plugin_call_set_err(call, &err);
  }
  plugin_storage_request r = {.text = lt_abi_to_str(json), .more = lt_abi_to_str(description), .type = type_text};
  return plugin_storage_run(call, plugin_storage_write_artifact, &r, ret_id);
}

/* An artifact that does not exist is no failure. Then nothing is appended. */
static lt_status plugin_storage_read_artifact(lathe_call *call, void *arg, lt_err *err) LT_YIELDS {
  plugin_storage_request *r = arg;
  lt_store *db;
  LT_TRY(plugin_storage_db(call, &db, err));
  lt_status status = lt_store_artifact_get(db, call->user, r->text, &r->out, err);
  if (status == LT_E_NOTFOUND) {
    lt_buf_clear(&r->out);
    return LT_OK;
  }
  return status;
}

int lt_plugin_storage_get_artifact(lathe_call *call, lathe_text id, lathe_text *ret_json) {
  return plugin_storage_run(call, plugin_storage_read_artifact, &(plugin_storage_request){.text = lt_abi_to_str(id)},
                            ret_json);
}

static lt_status plugin_storage_read_artifact_list(lathe_call *call, void *arg, lt_err *err) LT_YIELDS {
  plugin_storage_request *r = arg;
  lt_store *db;
  LT_TRY(plugin_storage_db(call, &db, err));
  return lt_store_artifact_list(db, call->user, &r->out, err);
}

int lt_plugin_storage_list_artifacts(lathe_call *call, lathe_text *ret_json) {
  return plugin_storage_run(call, plugin_storage_read_artifact_list, &(plugin_storage_request){0}, ret_json);
}
