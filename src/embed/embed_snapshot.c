/* Runs on their way to another process: lathe_snapshot and lathe_restore. */
#include "base/limits.h"
#include "base/mem.h"
#include "embed/embed_error.h"
#include "embed/embed_run.h"

/* --- Writing ------------------------------------------------------------------------------------------------------ */
typedef struct embed_wanted {
  uint64_t run;
  lt_buf json;
} embed_wanted;

static lt_status embed_snapshot_check(const lt_embed_run *run, uint64_t number, lt_err *err) {
  if (run == NULL) {
    return lt_fail(err, LT_E_NOTFOUND, "there is no run %llu, or it has ended", (unsigned long long)number);
  }
  if (run->prompt != NULL) {
    return lt_fail(err, LT_E_UNSUPPORTED, "a prompt is kept by the configuration's `store`");
  }
  if (run->record == NULL) {
    return lt_fail(err, LT_E_INVALID, "the run was started without can_snapshot");
  }
  if (run->asking == 0) {
    return lt_fail(err, LT_E_INVALID, "the run does not wait for an answer or a decision");
  }
  return lt_fail_if(err, run->record->lost, "%s",
                    run->record->lost == LT_E_LIMIT ? "the record of the run is too long"
                                                    : "there was no memory for the record of the run");
}

static void embed_snapshot_put(const lt_embed_run *run, lt_buf *out) {
  lt_json_writer w = lt_json_writer_on(out);
  lt_json_begin_object(&w);
  lt_json_key(&w, "lathe");
  lt_json_put_cstr(&w, LT_VERSION);
  lt_json_key(&w, "code");
  lt_json_put_cstr(&w, run->code);
  lt_json_key(&w, "language");
  lt_json_put_str(&w, lt_lang_name(run->lang));
  if (run->input != NULL) {
    lt_json_key(&w, "input");
    lt_json_put_cstr(&w, run->input);
  }
  lt_json_key(&w, "timeoutMs");
  lt_json_put_int(&w, (int64_t)run->timeout_ms);
  lt_json_key(&w, "memoryBytes");
  lt_json_put_int(&w, (int64_t)run->memory_bytes);
  lt_embed_record_put(run->record, &w);
  lt_json_end_object(&w);
}

/* Runs are freed by this thread only. */
static lt_status embed_snapshot_write(lathe_env *env, void *arg, lt_err *err) {
  embed_wanted *wanted = arg;
  pthread_mutex_lock(&env->lock);
  const lt_embed_run *run = (const lt_embed_run *)(const void *)lt_embed_table_find(&env->runs, wanted->run);
  pthread_mutex_unlock(&env->lock);
  LT_TRY(embed_snapshot_check(run, wanted->run, err));
  embed_snapshot_put(run, &wanted->json);
  return lt_buf_check(&wanted->json, err,
                      wanted->json.status == LT_E_LIMIT ? "the snapshot is too long" : "no memory for the snapshot");
}

lathe_status lathe_snapshot(lathe_env *env, uint64_t run, char **ret_json, lathe_error *error) {
  LT_ERR_VAR(err);
  embed_wanted wanted = {.run = run};
  if (ret_json != NULL) {
    *ret_json = NULL;
  }
  lathe_status entered = lt_embed_env_enter(env, error);
  if (entered != LATHE_OK) {
    return entered;
  }
  lt_buf_init(&wanted.json, LT_JSON_MAX_BYTES);
  lt_status status = ret_json != NULL ? lt_embed_env_do(env, embed_snapshot_write, &wanted, &err)
                                      : lt_fail(&err, LT_E_INVALID, "ret_json is NULL");
  if (status == LT_OK) {
    *ret_json = lt_buf_take(&wanted.json, NULL);
  }
  lt_buf_release(&wanted.json);
  return lt_embed_env_leave(env, status, &err, error);
}

/* --- Reading ------------------------------------------------------------------------------------------------------ */
static lt_status embed_snapshot_fail(lt_err *err) {
  return lt_fail(err, LT_E_INVALID, "this is no snapshot of a run, or a part of one");
}

/* A text of it, in the arena; NULL: it has none of this name. */
static lt_status embed_snapshot_take(lt_json snapshot, const char *key, lt_arena *arena, const char **ret_text,
                                     lt_err *err) {
  lt_str text = LT_STR("");
  lt_json value = lt_json_get(snapshot, key);
  *ret_text = NULL;
  if (!lt_json_exists(value)) {
    return LT_OK;
  }
  if (lt_json_typeof(value) != LT_JSON_STRING) {
    return embed_snapshot_fail(err);
  }
  bool is_read = lt_json_str(value, arena, &text);
  char *copy = is_read ? lt_arena_alloc(arena, text.n + 1) : NULL;
  if (copy == NULL) {
    return lt_fail(err, LT_E_NOMEM, "no memory for the snapshot");
  }
  memcpy(copy, text.p, text.n);
  copy[text.n] = '\0';
  *ret_text = copy;
  return strlen(copy) == text.n ? LT_OK : embed_snapshot_fail(err);
}

static lt_status embed_snapshot_check_version(lt_json snapshot, lt_err *err) {
  lt_json version = lt_json_get(snapshot, "lathe");
  if (!lt_json_exists(version)) {
    return embed_snapshot_fail(err);
  }
  return lt_json_str_eq(version, LT_STR(LT_VERSION))
             ? LT_OK
             : lt_fail(err, LT_E_UNSUPPORTED, "the snapshot is of lathe %.*s, and this is " LT_VERSION,
                       LT_STR_ARG(lt_str_sub(lt_json_text(version), 0, 40)));
}

static lt_status embed_snapshot_read_program(lt_embed_run *run, lt_json snapshot, lt_arena *arena, lt_err *err) {
  int64_t timeout_ms = 0, memory_bytes = 0;
  lathe_run_options options = {.size = sizeof options, .can_snapshot = true};
  LT_TRY(embed_snapshot_take(snapshot, "code", arena, &options.code, err));
  LT_TRY(embed_snapshot_take(snapshot, "input", arena, &options.input, err));
  LT_TRY(embed_snapshot_take(snapshot, "language", arena, &options.language, err));
  if (options.code == NULL || options.language == NULL ||
      !lt_json_int(lt_json_get(snapshot, "timeoutMs"), &timeout_ms) ||
      !lt_json_int(lt_json_get(snapshot, "memoryBytes"), &memory_bytes)) {
    return embed_snapshot_fail(err);
  }
  options.timeout_ms = (uint64_t)timeout_ms;
  options.memory_bytes = (uint64_t)memory_bytes;
  LT_TRY(lt_embed_run_fill(run, &options, err));
  return lt_embed_record_read(run->record, snapshot, err);
}

/* What the host had not answered, it is asked again. */
static lt_status embed_snapshot_check_tools(lathe_env *env, void *arg, lt_err *err) {
  const lt_embed_run *run = arg;
  lt_catalog *catalog;
  LT_TRY(lt_door_catalog(env->session.door, &catalog, err));
  size_t at = 0;
  lt_str tool = lt_embed_record_next_open_tool(run->record, &at);
  while (tool.n > 0 && lt_catalog_find(catalog, tool) != NULL) {
    tool = lt_embed_record_next_open_tool(run->record, &at);
  }
  lt_catalog_unref(catalog);
  return tool.n == 0
             ? LT_OK
             : lt_fail(err, LT_E_NOTFOUND, "the run waits for the tool \"%.*s\", which is not there: add it first",
                       LT_STR_ARG(lt_str_sub(tool, 0, 100)));
}

static lt_status embed_snapshot_read(lt_embed_run *run, const char *text, lt_err *err) {
  lt_json_doc doc;
  LT_AUTO_ARENA(arena, LT_CALL_INDEX_MAX_BYTES);
  LT_TRY(lt_embed_error_check_text(text, "snapshot", err));
  LT_TRY(lt_json_parse(&arena, lt_str_of(text), &doc, err));
  LT_TRY(embed_snapshot_check_version(lt_json_root(&doc), err));
  LT_TRY(embed_snapshot_read_program(run, lt_json_root(&doc), &arena, err));
  return lt_embed_env_do(run->env, embed_snapshot_check_tools, run, err);
}

static lt_status embed_snapshot_start(lathe_env *env, const char *text, void *data, uint64_t *ret_run, lt_err *err) {
  lt_embed_run *run = lt_embed_run_new(env, data);
  if (run == NULL) {
    return lt_fail(err, LT_E_NOMEM, "no memory for a run");
  }
  lt_status status = embed_snapshot_read(run, text, err);
  if (status != LT_OK) {
    lt_embed_run_free(run);
    return status;
  }
  return lt_embed_run_start(run, ret_run, err);
}

lathe_status lathe_restore(lathe_env *env, const char *snapshot, void *data, uint64_t *ret_run, lathe_error *error) {
  LT_ERR_VAR(err);
  uint64_t number = 0;
  lathe_status entered = lt_embed_env_enter(env, error);
  if (entered != LATHE_OK) {
    return entered;
  }
  lt_status status = embed_snapshot_start(env, snapshot, data, &number, &err);
  if (ret_run != NULL) {
    *ret_run = number;
  }
  return lt_embed_env_leave(env, status, &err, error);
}
