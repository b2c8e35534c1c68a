#include "config/config_schema.h"

#include "config/config_keys.h"
#include "json/json.h"

static void schema_put(lt_json_writer *w, const char *key, const char *text) {
  lt_json_key(w, key);
  lt_json_put_cstr(w, text);
}

static void schema_put_words(lt_json_writer *w, const char *key, const char *const *words) {
  lt_json_key(w, key);
  lt_json_begin_array(w);
  for (size_t i = 0; words[i] != NULL; i++) {
    lt_json_put_cstr(w, words[i]);
  }
  lt_json_end_array(w);
}

/* Lists and mappings may be left empty; that is null in YAML. */
static void schema_put_type_or_null(lt_json_writer *w, const char *type) {
  schema_put_words(w, "type", (const char *const[]){type, "null", NULL});
}

/* --- Values ------------------------------------------------------------------------------------------------------- */

/* Every scalar is accepted as written: `args: [8080]` is a text, too. */
static void schema_put_text(lt_json_writer *w, const lt_config_key *key) {
  if (key->choices != NULL) {
    schema_put_words(w, "enum", key->choices);
    return;
  }
  schema_put_words(w, "type", (const char *const[]){"string", "number", "boolean", NULL});
  if (key->empty_advice != NULL) {
    lt_json_key(w, "minLength");
    lt_json_put_int(w, 1);
  }
}

static void schema_put_number(lt_json_writer *w, const lt_config_key *key) {
  schema_put(w, "type", "integer");
  lt_json_key(w, "minimum");
  lt_json_put_int(w, key->min);
  if (key->max != INT64_MAX) {
    lt_json_key(w, "maximum");
    lt_json_put_int(w, key->max);
  }
}

/* A mapping of names to `put` values. */
static void schema_put_mapping(lt_json_writer *w, const lt_config_key *key, const char *names,
                               void (*put)(lt_json_writer *w, const lt_config_key *key)) {
  schema_put_type_or_null(w, "object");
  lt_json_key(w, "propertyNames");
  lt_json_begin_object(w);
  schema_put(w, "pattern", names);
  lt_json_end_object(w);
  lt_json_key(w, "additionalProperties");
  lt_json_begin_object(w);
  put(w, key);
  lt_json_end_object(w);
}

static void schema_put_items(lt_json_writer *w, const lt_config_key *key,
                             void (*put)(lt_json_writer *w, const lt_config_key *key)) {
  lt_json_key(w, "items");
  lt_json_begin_object(w);
  put(w, key);
  lt_json_end_object(w);
}

static void schema_put_standard(lt_json_writer *w, const lt_config_key *key) {
  lt_json_key(w, "default");
  if (key->kind == LT_CONFIG_NUMBER) {
    lt_json_put_int(w, key->standard);
  } else if (key->kind == LT_CONFIG_TRUTH) {
    lt_json_put_bool(w, key->standard != 0);
  } else {
    lt_json_put_cstr(w, key->choices[key->standard]);
  }
}

static void schema_put_description(lt_json_writer *w, const lt_config_key *key) {
  LT_AUTO_BUF(text, 4096);
  lt_buf_addc(&text, key->doc);
  if (key->standard_text != NULL) {
    lt_buf_printf(&text, " Default: %s.", key->standard_text);
  }
  lt_json_key(w, "description");
  lt_json_put_str(w, lt_buf_view(&text));
}

/* --- Sections and records ----------------------------------------------------------------------------------------- */

static void schema_put_key(lt_json_writer *w, const lt_config_key *key);

static bool schema_has_required(const lt_config_key *parent) {
  const lt_config_key *key = NULL;
  while ((key = lt_config_key_inside(parent, key)) != NULL && (key->flags & LT_CONFIG_REQUIRED) == 0) {
  }
  return key != NULL;
}

/* The keys inside `parent` (NULL: of the file). */
static void schema_put_keys(lt_json_writer *w, const lt_config_key *parent) {
  lt_json_key(w, "properties");
  lt_json_begin_object(w);
  for (const lt_config_key *key = NULL; (key = lt_config_key_inside(parent, key)) != NULL;) {
    lt_json_key(w, lt_config_key_name(key));
    schema_put_key(w, key);
  }
  lt_json_end_object(w);
  if (schema_has_required(parent)) {
    lt_json_key(w, "required");
    lt_json_begin_array(w);
    for (const lt_config_key *key = NULL; (key = lt_config_key_inside(parent, key)) != NULL;) {
      if ((key->flags & LT_CONFIG_REQUIRED) != 0) {
        lt_json_put_cstr(w, lt_config_key_name(key));
      }
    }
    lt_json_end_array(w);
  }
  lt_json_key(w, "additionalProperties");
  lt_json_put_bool(w, parent != NULL && (parent->flags & LT_CONFIG_OPEN) != 0);
}

static void schema_put_needs(lt_json_writer *w, const char *const *needs) {
  lt_json_key(w, "anyOf");
  lt_json_begin_array(w);
  for (size_t i = 0; needs[i] != NULL; i++) {
    lt_json_begin_object(w);
    schema_put_words(w, "required", (const char *const[]){needs[i], NULL});
    lt_json_end_object(w);
  }
  lt_json_end_array(w);
}

static void schema_put_mapping_record(lt_json_writer *w, const lt_config_key *key) {
  schema_put(w, "type", "object");
  schema_put_keys(w, key);
  if (key->needs != NULL) {
    schema_put_needs(w, key->needs);
  }
}

static void schema_put_record(lt_json_writer *w, const lt_config_key *key) {
  if (key->short_for == NULL) {
    schema_put_mapping_record(w, key);
    return;
  }
  lt_json_key(w, "anyOf");
  lt_json_begin_array(w);
  schema_put_key(w, lt_config_key_find(key, lt_str_of(key->short_for)));
  lt_json_begin_object(w);
  schema_put_mapping_record(w, key);
  lt_json_end_object(w);
  lt_json_end_array(w);
}

static void schema_put_at_most(lt_json_writer *w, const lt_config_key *key, const char *keyword) {
  if (key->max > 0) {
    lt_json_key(w, keyword);
    lt_json_put_int(w, key->max);
  }
}

/* --- A key of any kind -------------------------------------------------------------------------------------------- */

#define ANY_NAME      "^[\\s\\S]+$"
#define VARIABLE_NAME "^[^=]+$"

static void schema_put_shape(lt_json_writer *w, const lt_config_key *key) {
  switch (key->kind) {
    case LT_CONFIG_TEXT:
    case LT_CONFIG_CHOICE:
      schema_put_text(w, key);
      break;
    case LT_CONFIG_NUMBER:
      schema_put_number(w, key);
      break;
    case LT_CONFIG_DECIMAL:
      schema_put(w, "type", "number");
      lt_json_key(w, "minimum");
      lt_json_put_int(w, 0);
      break;
    case LT_CONFIG_TRUTH:
    case LT_CONFIG_MAYBE:
      schema_put(w, "type", "boolean");
      break;
    case LT_CONFIG_TEXTS:
      schema_put_type_or_null(w, "array");
      schema_put_items(w, key, schema_put_text);
      break;
    case LT_CONFIG_ENV:
      schema_put_mapping(w, key, VARIABLE_NAME, schema_put_text);
      break;
    case LT_CONFIG_HEADERS:
      schema_put_mapping(w, key, ANY_NAME, schema_put_text);
      break;
    case LT_CONFIG_COUNTS:
      schema_put_mapping(w, key, ANY_NAME, schema_put_number);
      break;
    case LT_CONFIG_PASSTHROUGH:
      schema_put_words(w, "type", (const char *const[]){"boolean", "array", "null", NULL});
      schema_put_items(w, key, schema_put_text);
      break;
    case LT_CONFIG_JSON:
      schema_put_type_or_null(w, "object");
      break;
    case LT_CONFIG_SECTION:
      if (key->short_for != NULL) {
        schema_put_record(w, key);
      } else {
        schema_put_type_or_null(w, "object");
        schema_put_keys(w, key);
      }
      break;
    case LT_CONFIG_RECORDS:
      schema_put_type_or_null(w, "array");
      schema_put_items(w, key, schema_put_record);
      schema_put_at_most(w, key, "maxItems");
      break;
    case LT_CONFIG_NAMED:
      schema_put_mapping(w, key, ANY_NAME, schema_put_record);
      schema_put_at_most(w, key, "maxProperties");
      break;
  }
}

static void schema_put_example(lt_json_writer *w, const lt_config_key *key) {
  const char *const words[] = {key->example, NULL};
  if (key->example == NULL) {
    return;
  }
  if (key->kind != LT_CONFIG_TEXTS) {
    schema_put_words(w, "examples", words);
    return;
  }
  lt_json_key(w, "examples");
  lt_json_begin_array(w);
  lt_json_begin_array(w);
  lt_json_put_cstr(w, key->example);
  lt_json_end_array(w);
  lt_json_end_array(w);
}

static void schema_put_key(lt_json_writer *w, const lt_config_key *key) {
  lt_json_begin_object(w);
  schema_put_description(w, key);
  schema_put_shape(w, key);
  if (lt_config_key_has_standard(key)) {
    schema_put_standard(w, key);
  }
  schema_put_example(w, key);
  lt_json_end_object(w);
}

void lt_config_schema(lt_buf *out) {
  lt_json_writer w = lt_json_writer_on(out);
  lt_json_begin_object(&w);
  schema_put(&w, "$schema", "https://json-schema.org/draft/2020-12/schema");
  schema_put(&w, "title", "lathe.yaml");
  schema_put(&w, "description", "The configuration of Lathe.");
  schema_put_type_or_null(&w, "object");
  schema_put_keys(&w, NULL);
  lt_json_end_object(&w);
}
