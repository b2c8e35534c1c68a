#include "app/retention.h"

#include "base/limits.h"

lt_store_ages lt_retention_of(const lt_config *config) {
  const char *const texts[] = {
      [LT_STORE_CONVERSATIONS] = config->retention.conversations,
      [LT_STORE_CALLS] = config->retention.calls,
      [LT_STORE_ARTIFACTS] = config->retention.artifacts,
  };
  lt_store_ages ages;
  for (lt_store_kind kind = 0; kind < LT_STORE_KINDS; kind++) {
    ages.days[kind] = -1;
    if (texts[kind] != NULL) {
      (void)lt_config_age(texts[kind], &ages.days[kind]);
    }
  }
  return ages;
}

void lt_retention_apply(const lt_config *config, lt_store *store) {
  const lt_config_retention *retention = &config->retention;
  lt_store_ages ages = lt_retention_of(config);
  lt_store_trimmed ignored;
  bool is_set = retention->calls != NULL || retention->conversations != NULL || retention->artifacts != NULL;
  if (is_set && lt_store_is_open(store)) {
    (void)lt_store_trim(store, &ages, LT_TRIM_ROWS, false, &ignored, NULL);
  }
}
