/* Runs on their way to another process: lathe_snapshot and lathe_restore. */
#include "base/limits.h"
#include "base/mem.h"
#include "embed/embed_error.h"
#include "embed/embed_run.h"

#define SNAPSHOT_BYTES (2 * LT_EMBED_RECORD_BYTES + LT_JSON_MAX_BYTES)

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
  return !run->record->is_incomplete
             ? LT_OK
             : lt_fail(err, LT_E_LIMIT, "the record of the run is too long, or there was no memory for it");
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
  return lt_buf_check(&wanted->json, err, "no memory for the snapshot");
}

lathe_status lathe_snapshot(lathe_env *env, uint64_t run, char **ret_json, lathe_error *error) {
  lt_err err = LT_ERR_INIT;
  embed_wanted wanted = {.run = run};
  if (ret_json != NULL) {
    *ret_json = NULL;
  }
  lathe_status entered = lt_embed_env_enter(env, error);
  if (entered != LATHE_OK) {
    return entered;
  }
  lt_buf_init(&wanted.json, SNAPSHOT_BYTES);
  lt_status status = ret_json != NULL ? lt_embed_env_do(env, embed_snapshot_write, &wanted, &err)
                                      : lt_fail(&err, LT_E_INVALID, "ret_json is NULL");
  if (status == LT_OK) {
    *ret_json = lt_buf_take(&wanted.json, NULL);
  }
  lt_buf_release(&wanted.json);
  return lt_embed_env_leave(env, status, &err, error);
}

/* --- Reading ------------------------------------------------------------------------------------------------------ */
/* NULL: it has no such text, or there is no memory. */
static char *embed_snapshot_text(lt_json snapshot, const char *key, lt_arena *arena) {
  lt_str text;
  return lt_json_str(lt_json_get(snapshot, key), arena, &text) ? lt_mem_strdup(text) : NULL;
}

static lt_status embed_snapshot_check_version(lt_json snapshot, lt_err *err) {
  lt_json version = lt_json_get(snapshot, "lathe");
  if (!lt_json_exists(version)) {
    return lt_fail(err, LT_E_INVALID, "this is no snapshot of a run, or a part of one");
  }
  return lt_json_str_eq(version, LT_STR(LT_VERSION))
             ? LT_OK
             : lt_fail(err, LT_E_UNSUPPORTED, "the snapshot is of lathe %.*s, and this is " LT_VERSION,
                       LT_STR_ARG(lt_str_sub(lt_json_text(version), 0, 40)));
}

static lt_status embed_snapshot_read_program(lt_embed_run *run, lt_json snapshot, lt_arena *arena, lt_err *err) {
  int64_t timeout_ms = 0, memory_bytes = 0;
  char *code = embed_snapshot_text(snapshot, "code", arena);
  char *input = embed_snapshot_text(snapshot, "input", arena);
  char *language = embed_snapshot_text(snapshot, "language", arena);
  bool is_whole = code != NULL && language != NULL && lt_json_int(lt_json_get(snapshot, "timeoutMs"), &timeout_ms) &&
                  lt_json_int(lt_json_get(snapshot, "memoryBytes"), &memory_bytes);
  const lathe_run_options options = {.size = sizeof options,
                                     .code = code,
                                     .input = input,
                                     .language = language,
                                     .timeout_ms = (uint64_t)timeout_ms,
                                     .memory_bytes = (uint64_t)memory_bytes,
                                     .can_snapshot = true};
  lt_status status = is_whole ? lt_embed_run_fill(run, &options, err)
                              : lt_fail(err, LT_E_INVALID, "this is no snapshot of a run, or a part of one");
  lt_mem_free(code);
  lt_mem_free(input);
  lt_mem_free(language);
  return status == LT_OK ? lt_embed_record_read(run->record, snapshot, err) : status;
}

/* What the host had not answered, it is asked again. */
static lt_status embed_snapshot_check_tools(lathe_env *env, void *arg, lt_err *err) {
  const lt_embed_run *run = arg;
  lt_catalog *catalog;
  LT_TRY(lt_door_catalog(env->session.door, &catalog, err));
  lt_str tool = lt_embed_record_open_tool(run->record, 0);
  for (size_t i = 1; tool.n > 0 && lt_catalog_find(catalog, tool) != NULL; i++) {
    tool = lt_embed_record_open_tool(run->record, i);
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
  lt_err err = LT_ERR_INIT;
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
