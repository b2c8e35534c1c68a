/* What plugins keep: state, tables, artifacts. Thin: store/ does the work, here it is carried over to the loop. */
#include "base/limits.h"
#include "json/json.h"
#include "plugin/hook.h"

typedef struct job {
  lt_str text; /* JSON, a statement, an id */
  lt_str more; /* parameters, a description */
  lt_str type;
  const char *const *scripts;
  size_t count;
  lt_buf out;
} job;

static int run_job(lathe_call *call, lt_status (*fn)(lathe_call *call, void *arg, lt_err *err) LT_YIELDS, job *j,
                   lathe_text *ret) LT_YIELDS {
  lt_buf_init(&j->out, LT_JSON_MAX_BYTES);
  int rc = lt_ask_loop(call, &(lt_ask){.fn = fn, .arg = j});
  if (rc == 0 && ret != NULL && !lt_call_keep(call, lt_buf_view(&j->out), ret)) {
    rc = -1;
  }
  lt_buf_release(&j->out);
  return rc;
}

static lt_status the_db(const lathe_call *call, lt_store **ret_db, lt_err *err) {
  *ret_db = call->plugin->host->options.db;
  return *ret_db != NULL ? LT_OK : lt_fail(err, LT_E_UNSUPPORTED, "there is no database here to keep things in");
}

/* --- State -------------------------------------------------------------------------------------------------------- */
/* LT_E_INVALID: `faults` says what does not fit. */
static lt_status check_state(const lathe_call *call, lt_str json, lt_buf *faults, lt_err *err) {
  const lt_schema *schema = call->plugin->state_schema;
  lt_arena arena;
  lt_json_doc doc;
  if (schema == NULL) {
    return lt_json_check(json, err);
  }
  lt_arena_init(&arena, LT_CALL_INDEX_MAX_BYTES);
  lt_status status = lt_json_parse(&arena, json, &doc, err);
  if (status == LT_OK) {
    status = lt_schema_check(schema, lt_json_root(&doc), LT_STR("state"), faults, err);
    if (status == LT_E_INVALID) {
      lt_fail(err, status, "%.*s", LT_STR_ARG(lt_buf_view(faults)));
    }
  }
  lt_arena_release(&arena);
  return status;
}

static lt_status state_fits(const lathe_call *call, lt_str json, lt_err *err) {
  lt_buf faults;
  lt_buf_init(&faults, LT_SCHEMA_FAULTS_MAX_BYTES);
  lt_status status = check_state(call, json, &faults, err);
  lt_buf_release(&faults);
  return status;
}

static lt_status get_state(lathe_call *call, void *arg, lt_err *err) LT_YIELDS {
  job *j = arg;
  lt_store *db;
  LT_TRY(the_db(call, &db, err));
  return lt_store_state_get(db, call->plugin->id, call->user, call->conversation, &j->out, err);
}

int lt_api_state(lathe_call *call, lathe_text *ret_json) {
  lt_err err = LT_ERR_INIT;
  lathe_text json;
  if (run_job(call, get_state, &(job){0}, &json) != 0) {
    return -1;
  }
  lt_status status = json.n > 0 ? state_fits(call, lt_of_text(json), &err) : LT_OK;
  if (status == LT_E_NOMEM) { /* whoever took that for none would write over it */
    lt_err_prefix(&err, "the state cannot be read");
    return lt_call_error(call, lt_str_of(lt_err_msg(&err)));
  }
  if (status != LT_OK) {
    lt_host_api.log(call, LATHE_LOG_WARNING,
                    "the state kept for user \"%.*s\" does not fit any more and counts as "
                    "empty: %s",
                    LT_STR_ARG(call->user), lt_err_msg(&err));
    json = LATHE_TEXT("");
  }
  *ret_json = json;
  return 0;
}

static lt_status put_state(lathe_call *call, void *arg, lt_err *err) LT_YIELDS {
  const job *j = arg;
  lt_store *db;
  LT_TRY(the_db(call, &db, err));
  return lt_store_state_put(db, call->plugin->id, call->user, call->conversation, j->text, err);
}

int lt_api_set_state(lathe_call *call, lathe_text json) {
  lt_err err = LT_ERR_INIT;
  if (json.n > LT_STATE_MAX_BYTES) {
    lt_fail(&err, LT_E_LIMIT, "the state has more than %lu KiB: keep such things in a table",
            LT_STATE_MAX_BYTES / LT_KIB);
    return lt_call_error(call, lt_str_of(lt_err_msg(&err)));
  }
  if (json.n > 0 && state_fits(call, lt_of_text(json), &err) != LT_OK) {
    lt_err_prefix(&err, "this state is not kept");
    return lt_call_error(call, lt_str_of(lt_err_msg(&err)));
  }
  return run_job(call, put_state, &(job){.text = lt_of_text(json)}, NULL);
}

/* --- Tables ------------------------------------------------------------------------------------------------------- */
static lt_status migrate(lathe_call *call, void *arg, lt_err *err) LT_YIELDS {
  const job *j = arg;
  lt_store *db;
  LT_TRY(the_db(call, &db, err));
  return lt_store_migrate(db, call->plugin->id, j->scripts, j->count, err);
}

int lt_api_migrate(lathe_call *call, const char *const *scripts, size_t count) {
  return run_job(call, migrate, &(job){.scripts = scripts, .count = count}, NULL);
}

static lt_status run_sql(lathe_call *call, void *arg, lt_err *err) LT_YIELDS {
  job *j = arg;
  lt_store *db;
  LT_TRY(the_db(call, &db, err));
  return lt_store_sql(db, call->plugin->id, j->text, j->more, &j->out, err);
}

int lt_api_sql(lathe_call *call, lathe_text statement, lathe_text params, lathe_text *ret_rows) {
  return run_job(call, run_sql, &(job){.text = lt_of_text(statement), .more = lt_of_text(params)}, ret_rows);
}

/* --- Artifacts ---------------------------------------------------------------------------------------------------- */
static lt_status put_masked(const lathe_call *call, lt_artifacts *artifacts, job *j, lt_str data, lt_str description,
                            lt_err *err) LT_YIELDS {
  bool secret = lt_secrets_in(call->plugin->host->options.secrets, j->type);
  lt_artifact artifact = {.user = call->user,
                          .type = secret ? LT_STR("***") : j->type,
                          .description = description,
                          .mime_type = LT_STR("application/json"),
                          .data = data};
  return artifacts->put(artifacts, &artifact, &j->out, err);
}

/* What is stored has no secrets in it. */
static lt_status put_artifact(lathe_call *call, void *arg, lt_err *err) LT_YIELDS {
  const lt_host_options *options = &call->plugin->host->options;
  job *j = arg;
  if (options->artifacts == NULL) {
    return lt_fail(err, LT_E_UNSUPPORTED, "there is no database here to keep artifacts in");
  }
  lt_buf data, description;
  lt_buf_init(&data, LT_JSON_MAX_BYTES);
  lt_buf_init(&description, LT_JSON_MAX_BYTES);
  lt_secrets_mask_json(options->secrets, j->text, &data);
  lt_secrets_mask(options->secrets, j->more, &description);
  lt_status status = data.status != LT_OK ? data.status : description.status;
  if (status == LT_OK) {
    status = put_masked(call, options->artifacts, j, lt_buf_view(&data), lt_buf_view(&description), err);
  } else {
    lt_fail(err, status, "the artifact is not kept: %s", lt_status_text(status));
  }
  lt_buf_release(&data);
  lt_buf_release(&description);
  return status;
}

int lt_api_artifact_put(lathe_call *call, const char *type, lathe_text description, lathe_text json,
                        lathe_text *ret_id) {
  lt_err err = LT_ERR_INIT;
  lt_str kind = lt_plugin_text(type, LT_PLUGIN_NAME_BYTES);
  if (kind.n == 0) {
    return lt_call_error(call, LT_STR("an artifact needs a type of a few words at most, such as \"note\""));
  }
  if (lt_json_check(lt_of_text(json), &err) != LT_OK) {
    lt_err_prefix(&err, "an artifact has to be JSON");
    return lt_call_error(call, lt_str_of(lt_err_msg(&err)));
  }
  job j = {.text = lt_of_text(json), .more = lt_of_text(description), .type = kind};
  return run_job(call, put_artifact, &j, ret_id);
}

/* One that is not there is no failure: nothing is appended. */
static lt_status get_artifact(lathe_call *call, void *arg, lt_err *err) LT_YIELDS {
  job *j = arg;
  lt_store *db;
  LT_TRY(the_db(call, &db, err));
  lt_status status = lt_store_artifact_get(db, call->user, j->text, &j->out, err);
  if (status == LT_E_NOTFOUND) {
    lt_buf_clear(&j->out);
    return LT_OK;
  }
  return status;
}

int lt_api_artifact_get(lathe_call *call, lathe_text id, lathe_text *ret_json) {
  return run_job(call, get_artifact, &(job){.text = lt_of_text(id)}, ret_json);
}

static lt_status list_artifacts(lathe_call *call, void *arg, lt_err *err) LT_YIELDS {
  job *j = arg;
  lt_store *db;
  LT_TRY(the_db(call, &db, err));
  return lt_store_artifact_list(db, call->user, &j->out, err);
}

int lt_api_artifact_list(lathe_call *call, lathe_text *ret_json) {
  return run_job(call, list_artifacts, &(job){0}, ret_json);
}
