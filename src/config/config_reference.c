#include "config/config_reference.h"

#include "config/config_keys.h"

static const char *reference_kind(const lt_config_key *key) {
  switch (key->kind) {
    case LT_CONFIG_TEXT:
      return (key->flags & (LT_CONFIG_FILE_PATH | LT_CONFIG_PROGRAM)) != 0 ? "path" : "text";
    case LT_CONFIG_NUMBER:
      return "number";
    case LT_CONFIG_TRUTH:
    case LT_CONFIG_MAYBE:
      return "true or false";
    case LT_CONFIG_CHOICE:
      return "word";
    case LT_CONFIG_TEXTS:
      return "list of texts";
    case LT_CONFIG_ENV:
    case LT_CONFIG_HEADERS:
      return "texts by name";
    case LT_CONFIG_DECIMAL:
      return "decimal number";
    case LT_CONFIG_COUNTS:
      return "numbers by name";
    case LT_CONFIG_PASSTHROUGH:
      return "true, false or list of names";
    case LT_CONFIG_JSON:
      return "mapping";
    case LT_CONFIG_SECTION:
      return key->short_for != NULL ? "text or section" : "section";
    case LT_CONFIG_RECORDS:
      return "list";
    case LT_CONFIG_NAMED:
      return "mappings by name";
  }
  return "";
}

static void reference_put_value(lt_buf *out, const lt_config_key *key) {
  if (key->choices != NULL) {
    for (size_t i = 0; key->choices[i] != NULL; i++) {
      lt_buf_printf(out, "%s`%s`", i > 0 ? ", " : "", key->choices[i]);
    }
    return;
  }
  lt_buf_addc(out, reference_kind(key));
  if (key->kind != LT_CONFIG_NUMBER && key->kind != LT_CONFIG_COUNTS) {
    return;
  }
  if (key->max == INT64_MAX) {
    lt_buf_printf(out, ", %lld or more", (long long)key->min);
  } else {
    lt_buf_printf(out, ", %lld to %lld", (long long)key->min, (long long)key->max);
  }
}

static void reference_put_standard(lt_buf *out, const lt_config_key *key) {
  if (key->standard_text != NULL) {
    lt_buf_addc(out, key->standard_text);
  } else if (!lt_config_key_has_standard(key)) {
    return;
  } else if (key->kind == LT_CONFIG_NUMBER) {
    lt_buf_printf(out, "%lld", (long long)key->standard);
  } else if (key->kind == LT_CONFIG_TRUTH) {
    lt_buf_addc(out, key->standard != 0 ? "`true`" : "`false`");
  } else {
    lt_buf_printf(out, "`%s`", key->choices[key->standard]);
  }
}

static void reference_put_remarks(lt_buf *out, const lt_config_key *key) {
  static const struct {
    unsigned flag;
    const char *remark;
  } remarks[] = {
      {LT_CONFIG_REQUIRED, " Required."},
      {LT_CONFIG_FILE_PATH, " Relative to the file."},
      {LT_CONFIG_PROGRAM, " With a slash relative to the file, without one looked up in `$PATH`."},
      {LT_CONFIG_SECRET, " What `${NAME}` brings is a secret."},
  };
  for (size_t i = 0; i < sizeof remarks / sizeof remarks[0]; i++) {
    lt_buf_addc(out, (key->flags & remarks[i].flag) != 0 ? remarks[i].remark : "");
  }
}

void lt_config_reference(lt_buf *out) {
  lt_buf_addc(out, "| key | value | default | meaning |\n|---|---|---|---|\n");
  for (const lt_config_key *key = lt_config_keys; key->path != NULL; key++) {
    lt_buf_printf(out, "| `%s` | ", key->path);
    reference_put_value(out, key);
    lt_buf_addc(out, " | ");
    reference_put_standard(out, key);
    lt_buf_printf(out, " | %s", key->doc);
    reference_put_remarks(out, key);
    lt_buf_addc(out, " |\n");
  }
}
