#include "config/config_adopt.h"

#include <string.h>

/* --- Comparing ---------------------------------------------------------------------------------------------------- */
static bool adopt_texts_differ(const char *a, const char *b) {
  return (a == NULL) != (b == NULL) || (a != NULL && strcmp(a, b) != 0);
}

static const void *adopt_pointer(const void *record, size_t at) {
  const void *p;
  memcpy(&p, (const char *)record + at, sizeof p);
  return p;
}

static size_t adopt_count(const void *record, size_t at) {
  size_t n;
  memcpy(&n, (const char *)record + at, sizeof n);
  return n;
}

static bool adopt_lists_differ(const char *const *a, const char *const *b) {
  if (a == NULL || b == NULL) {
    return (a != NULL && a[0] != NULL) || (b != NULL && b[0] != NULL);
  }
  for (; *a != NULL && *b != NULL; a++, b++) {
    if (strcmp(*a, *b) != 0) {
      return true;
    }
  }
  return *a != *b; /* one has ended before the other */
}

static bool adopt_counts_differ(const lt_config_key *key, const void *a, const void *b) {
  const lt_config_count *one = adopt_pointer(a, key->at), *other = adopt_pointer(b, key->at);
  size_t n = adopt_count(a, key->count_at);
  bool differs = n != adopt_count(b, key->count_at);
  for (size_t i = 0; !differs && i < n; i++) {
    differs = strcmp(one[i].name, other[i].name) != 0 || one[i].value != other[i].value;
  }
  return differs;
}

static bool adopt_insides_differ(const lt_config_key *parent, const void *a, const void *b);

static bool adopt_records_differ(const lt_config_key *key, const void *a, const void *b) {
  const char *one = adopt_pointer(a, key->at), *other = adopt_pointer(b, key->at);
  size_t n = adopt_count(a, key->count_at);
  bool differs = n != adopt_count(b, key->count_at);
  for (size_t i = 0; !differs && i < n; i++, one += key->record_bytes, other += key->record_bytes) {
    bool is_renamed =
        key->kind == LT_CONFIG_NAMED && adopt_texts_differ(adopt_pointer(one, 0), adopt_pointer(other, 0));
    differs = is_renamed || adopt_insides_differ(key, one, other);
  }
  return differs;
}

static bool adopt_passthroughs_differ(const lt_config_key *key, const void *a, const void *b) {
  lt_config_passthrough one, other;
  memcpy(&one, (const char *)a + key->at, sizeof one);
  memcpy(&other, (const char *)b + key->at, sizeof other);
  return one.all != other.all || adopt_lists_differ(one.names, other.names);
}

static bool adopt_differs(const lt_config_key *key, const void *a, const void *b) {
  if (key->at == LT_CONFIG_NOWHERE) {
    return key->kind == LT_CONFIG_SECTION && adopt_insides_differ(key, a, b);
  }
  switch (key->kind) {
    case LT_CONFIG_TEXT:
    case LT_CONFIG_DECIMAL:
    case LT_CONFIG_JSON:
      return adopt_texts_differ(adopt_pointer(a, key->at), adopt_pointer(b, key->at));
    case LT_CONFIG_TEXTS:
    case LT_CONFIG_ENV:
    case LT_CONFIG_HEADERS:
      return adopt_lists_differ(adopt_pointer(a, key->at), adopt_pointer(b, key->at));
    case LT_CONFIG_COUNTS:
      return adopt_counts_differ(key, a, b);
    case LT_CONFIG_RECORDS:
    case LT_CONFIG_NAMED:
      return adopt_records_differ(key, a, b);
    case LT_CONFIG_PASSTHROUGH:
      return adopt_passthroughs_differ(key, a, b);
    case LT_CONFIG_SECTION:
    case LT_CONFIG_NUMBER:
    case LT_CONFIG_TRUTH:
    case LT_CONFIG_MAYBE:
    case LT_CONFIG_CHOICE:
      break;
  }
  return memcmp((const char *)a + key->at, (const char *)b + key->at, lt_config_key_bytes(key)) != 0 ||
         (key->kind == LT_CONFIG_SECTION && adopt_insides_differ(key, a, b));
}

static bool adopt_insides_differ(const lt_config_key *parent, const void *a, const void *b) {
  for (const lt_config_key *key = NULL; (key = lt_config_key_inside(parent, key)) != NULL;) {
    if (adopt_differs(key, a, b)) {
      return true;
    }
  }
  return false;
}

bool lt_config_servers_differ(const lt_config_server *server, const lt_config_server *other) {
  const lt_config_key *key = lt_config_key_find(NULL, LT_STR("mcpServers"));
  return adopt_texts_differ(server->fault, other->fault) || adopt_insides_differ(key, server, other);
}

/* --- Taking over -------------------------------------------------------------------------------------------------- */
static void adopt_copy(const lt_config_key *key, lt_config *config, const lt_config *fresh) {
  memcpy((char *)config + key->at, (const char *)fresh + key->at, lt_config_key_bytes(key));
  if (key->count_at != 0) {
    memcpy((char *)config + key->count_at, (const char *)fresh + key->count_at, sizeof(size_t));
  }
}

static void adopt_inside(const lt_config_key *parent, lt_config *config, const lt_config *fresh,
                         void (*on_kept)(void *arg, const lt_config_key *key), void *arg) {
  for (const lt_config_key *key = NULL; (key = lt_config_key_inside(parent, key)) != NULL;) {
    if ((key->flags & LT_CONFIG_RELOADS) != 0) {
      adopt_copy(key, config, fresh);
    } else if (key->kind == LT_CONFIG_SECTION && key->at == LT_CONFIG_NOWHERE) {
      adopt_inside(key, config, fresh, on_kept, arg);
    } else if (adopt_differs(key, config, fresh)) {
      on_kept(arg, key);
    }
  }
}

void lt_config_adopt(lt_config *config, const lt_config *fresh, void (*on_kept)(void *arg, const lt_config_key *key),
                     void *arg) {
  adopt_inside(NULL, config, fresh, on_kept, arg);
  config->path = fresh->path;
  config->files = fresh->files;
  config->file_count = fresh->file_count;
  config->defaults.model_file = fresh->defaults.model_file;
  config->defaults.mode_file = fresh->defaults.mode_file;
}
