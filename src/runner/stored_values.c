#include "runner/stored_values.h"

#include "base/limits.h"
#include "base/mem.h"

#define BUCKETS 256

typedef struct stored_value {
  struct stored_value *next;
  lt_str key;
  lt_str json;
  char bytes[];
} stored_value;

struct lt_stored_values {
  size_t used;
  stored_value **buckets; /* NULL: nothing was stored yet, as in most prompts */
};

lt_stored_values *lt_stored_values_new(void) {
  return lt_mem_zalloc(1, sizeof(lt_stored_values));
}

static void stored_values_clear(lt_stored_values *values) {
  for (unsigned i = 0; i < BUCKETS && values->used > 0; i++) {
    while (values->buckets[i] != NULL) {
      stored_value *e = values->buckets[i];
      values->buckets[i] = e->next;
      lt_mem_free(e);
    }
  }
  values->used = 0;
}

void lt_stored_values_free(lt_stored_values *values) {
  if (values != NULL) {
    stored_values_clear(values);
    lt_mem_free(values->buckets);
    lt_mem_free(values);
  }
}

static const stored_value *stored_values_list(const lt_stored_values *values, size_t bucket) {
  return values->buckets != NULL ? values->buckets[bucket] : NULL;
}

/* The link to the entry of `key`, or to the end of the list. */
static stored_value **stored_values_link(lt_stored_values *values, lt_str key) {
  stored_value **place = &values->buckets[lt_str_hash(key) % BUCKETS];
  while (*place != NULL && !lt_str_eq((*place)->key, key)) {
    place = &(*place)->next;
  }
  return place;
}

static size_t stored_value_bytes(lt_str key, lt_str json) {
  return sizeof(stored_value) + key.n + json.n;
}

static stored_value *stored_value_new(lt_str key, lt_str json) {
  stored_value *e = lt_mem_alloc(stored_value_bytes(key, json));
  if (e != NULL) {
    if (key.n > 0) {
      memcpy(e->bytes, key.p, key.n);
    }
    memcpy(e->bytes + key.n, json.p, json.n);
    e->key = lt_str_from(e->bytes, key.n);
    e->json = lt_str_from(e->bytes + key.n, json.n);
    e->next = NULL;
  }
  return e;
}

static void stored_values_unlink(lt_stored_values *values, stored_value **place) {
  stored_value *old = *place;
  *place = old->next;
  values->used -= stored_value_bytes(old->key, old->json);
  lt_mem_free(old);
}

lt_status lt_stored_values_put(lt_stored_values *values, lt_str key, lt_str json, lt_err *err) {
  if (values->buckets == NULL && json.n == 0) {
    return LT_OK;
  }
  values->buckets = values->buckets != NULL ? values->buckets : lt_mem_zalloc(BUCKETS, sizeof *values->buckets);
  if (values->buckets == NULL) {
    return lt_fail(err, LT_E_NOMEM, "store(): out of memory");
  }
  stored_value **place = stored_values_link(values, key);
  size_t old = *place != NULL ? stored_value_bytes((*place)->key, (*place)->json) : 0;
  if (json.n == 0) {
    if (*place != NULL) {
      stored_values_unlink(values, place);
    }
    return LT_OK;
  }
  if (values->used - old + stored_value_bytes(key, json) > LT_RUN_STORE_MAX_BYTES) {
    return lt_fail(err, LT_E_LIMIT, "store(\"%.*s\"): all stored values together may have %lu MiB", LT_STR_ARG(key),
                   LT_RUN_STORE_MAX_BYTES / LT_MIB);
  }
  stored_value *e = stored_value_new(key, json);
  if (e == NULL) {
    return lt_fail(err, LT_E_NOMEM, "store(): out of memory");
  }
  if (*place != NULL) {
    stored_values_unlink(values, place);
  }
  e->next = *place;
  *place = e;
  values->used += stored_value_bytes(key, json);
  return LT_OK;
}

lt_str lt_stored_values_find(const lt_stored_values *values, lt_str key) {
  for (const stored_value *e = stored_values_list(values, lt_str_hash(key) % BUCKETS); e != NULL; e = e->next) {
    if (lt_str_eq(e->key, key)) {
      return e->json;
    }
  }
  return LT_STR_NULL;
}

void lt_stored_values_write(const lt_stored_values *values, lt_json_writer *w) {
  lt_json_begin_object(w);
  for (unsigned i = 0; i < BUCKETS && values->used > 0; i++) {
    for (const stored_value *e = stored_values_list(values, i); e != NULL; e = e->next) {
      lt_json_key_str(w, e->key);
      lt_json_put_raw(w, e->json);
    }
  }
  lt_json_end_object(w);
}

lt_status lt_stored_values_merge(lt_stored_values *to, const lt_stored_values *values, const lt_stored_values *found,
                                 bool *ret_is_changed, lt_err *err) {
  *ret_is_changed = false;
  for (unsigned i = 0; i < BUCKETS; i++) {
    for (const stored_value *e = stored_values_list(found, i); e != NULL; e = e->next) {
      if (lt_stored_values_find(values, e->key).n == 0) {
        *ret_is_changed = true;
        LT_TRY(lt_stored_values_put(to, e->key, LT_STR_NULL, err));
      }
    }
    for (const stored_value *e = stored_values_list(values, i); e != NULL; e = e->next) {
      if (!lt_str_eq(lt_stored_values_find(found, e->key), e->json)) {
        *ret_is_changed = true;
        LT_TRY(lt_stored_values_put(to, e->key, e->json, err));
      }
    }
  }
  return LT_OK;
}

static lt_status stored_values_read_all(lt_stored_values *values, lt_json all, lt_arena *arena, lt_err *err) {
  lt_json_iter it = lt_json_each(all);
  while (lt_json_next(&it)) {
    lt_str key;
    if (!lt_json_str(it.key, arena, &key)) {
      return lt_fail(err, LT_E_NOMEM, "no memory for stored values");
    }
    LT_TRY(lt_stored_values_put(values, key, lt_json_text(it.value), err));
  }
  return LT_OK;
}

lt_status lt_stored_values_read(lt_stored_values *values, lt_str json, lt_err *err) {
  lt_json_doc doc;
  LT_AUTO_ARENA(arena, LT_CALL_INDEX_MAX_BYTES);
  lt_status status = lt_json_parse(&arena, json, &doc, err);
  if (status == LT_OK) {
    stored_values_clear(values);
    status = stored_values_read_all(values, lt_json_root(&doc), &arena, err);
  }
  return status;
}
