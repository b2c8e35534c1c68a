/* The table of configuration keys: each row says all there is to say, each value arrives, and the schema that is made
 * of the table takes what the program takes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/limits.h"
#include "config/config_keys.h"
#include "config/config_reference.h"
#include "config/config_schema.h"
#include "json/json.h"
#include "json/schema.h"

#define MAX_DEPTH 8

static bool is_records(const lt_config_key *key) {
  return key->kind == LT_CONFIG_RECORDS || key->kind == LT_CONFIG_NAMED;
}

static bool is_value(const lt_config_key *key) {
  return key->kind != LT_CONFIG_SECTION && !is_records(key);
}

/* The key that `key` is directly inside of; NULL: it is at the top. */
static const lt_config_key *parent_of(const lt_config_key *key) {
  for (const lt_config_key *other = key; other >= lt_config_keys; other--) {
    for (const lt_config_key *kid = NULL; (kid = lt_config_key_inside(other, kid)) != NULL;) {
      if (kid == key) {
        return other;
      }
    }
  }
  return NULL;
}

/* --- A file with one key in it ------------------------------------------------------------------------------------ */

static void put_value(lt_json_writer *w, const lt_config_key *key) {
  switch (key->kind) {
    case LT_CONFIG_TEXT:
      lt_json_put_cstr(w, key->choices != NULL ? key->choices[0] : key->example != NULL ? key->example : "x");
      break;
    case LT_CONFIG_NUMBER:
      lt_json_put_int(w, key->min == key->standard ? key->min + 1 : key->min);
      break;
    case LT_CONFIG_DECIMAL:
      lt_json_put_raw(w, LT_STR("0.15"));
      break;
    case LT_CONFIG_TRUTH:
    case LT_CONFIG_MAYBE:
      lt_json_put_bool(w, key->standard <= 0);
      break;
    case LT_CONFIG_CHOICE:
      lt_json_put_cstr(w, key->choices[key->standard == 0 ? 1 : 0]);
      break;
    case LT_CONFIG_TEXTS:
      lt_json_begin_array(w);
      lt_json_put_cstr(w, key->example != NULL ? key->example : "x");
      if (key->example == NULL) {
        lt_json_put_int(w, 8080);
      }
      lt_json_end_array(w);
      break;
    case LT_CONFIG_ENV:
    case LT_CONFIG_HEADERS:
      lt_json_put_raw(w, LT_STR("{\"X\": \"y\", \"Z\": true}"));
      break;
    case LT_CONFIG_COUNTS:
      lt_json_put_raw(w, LT_STR("{\"code\": 7}"));
      break;
    case LT_CONFIG_PASSTHROUGH:
      lt_json_put_bool(w, true);
      break;
    case LT_CONFIG_JSON:
      lt_json_put_raw(w, LT_STR("{\"a\": [1]}"));
      break;
    case LT_CONFIG_SECTION:
      lt_json_put_raw(w, LT_STR("{}"));
      break;
    case LT_CONFIG_RECORDS:
    case LT_CONFIG_NAMED:
      break;
  }
}

static bool is_one_of(const char *name, const char *const *names) {
  for (; *names != NULL; names++) {
    if (strcmp(name, *names) == 0) {
      return true;
    }
  }
  return false;
}

/* What the record must have beside the key. */
static void put_company(lt_json_writer *w, const lt_config_key *record, const lt_config_key *key) {
  for (const lt_config_key *other = NULL; (other = lt_config_key_inside(record, other)) != NULL;) {
    bool is_needed = record->needs != NULL && !is_one_of(lt_config_key_name(key), record->needs) &&
                     strcmp(lt_config_key_name(other), record->needs[0]) == 0;
    if (other != key && (is_needed || (other->flags & LT_CONFIG_REQUIRED) != 0)) {
      lt_json_key(w, lt_config_key_name(other));
      put_value(w, other);
    }
  }
}

/* A file with that key, and what it cannot be without; `odd` is another key of the same place, or NULL. */
static void put_file(lt_buf *out, const lt_config_key *key, const char *odd) {
  const lt_config_key *way[MAX_DEPTH];
  size_t depth = 0;
  for (const lt_config_key *at = key; at != NULL; at = parent_of(at)) {
    way[depth++] = at;
  }
  lt_json_writer w = lt_json_writer_on(out);
  lt_json_begin_object(&w);
  for (size_t i = depth; i-- > 0;) {
    lt_json_key(&w, lt_config_key_name(way[i]));
    if (i == 0) {
      put_value(&w, key);
      break;
    }
    if (way[i]->kind == LT_CONFIG_RECORDS) {
      lt_json_begin_array(&w);
    } else if (way[i]->kind == LT_CONFIG_NAMED) {
      lt_json_begin_object(&w);
      lt_json_key(&w, "name");
    }
    lt_json_begin_object(&w);
    if (is_records(way[i])) {
      put_company(&w, way[i], way[i - 1]);
    }
  }
  if (odd != NULL) {
    lt_json_key(&w, odd);
    lt_json_put_int(&w, 1);
  }
  for (size_t i = 1; i < depth; i++) {
    lt_json_end_object(&w);
    if (way[i]->kind == LT_CONFIG_RECORDS) {
      lt_json_end_array(&w);
    } else if (way[i]->kind == LT_CONFIG_NAMED) {
      lt_json_end_object(&w);
    }
  }
  lt_json_end_object(&w);
  assert_int_equal(out->status, LT_OK);
}

static lt_status parse(lt_str text, lt_config *config, lt_err *err) {
  *err = LT_ERR_INIT;
  return lt_config_parse(text, "lathe.yaml", "/etc/lathe", config, err);
}

/* --- Rows --------------------------------------------------------------------------------------------------------- */

static void every_row_says_what_it_must(void **state) {
  (void)state;
  for (const lt_config_key *key = lt_config_keys; key->path != NULL; key++) {
    assert_true(strlen(key->doc) > 3 && key->doc[strlen(key->doc) - 1] == '.' && strchr(key->doc, '|') == NULL);
    assert_true(key == lt_config_keys || parent_of(key) != NULL || strchr(key->path, '.') == NULL);
    for (const lt_config_key *other = lt_config_keys; other < key; other++) {
      assert_string_not_equal(other->path, key->path);
    }
    if (is_value(key)) {
      assert_true(key->at != LT_CONFIG_NOWHERE);
    }
    assert_true(key->kind != LT_CONFIG_CHOICE || key->choices != NULL);
    assert_true(key->kind != LT_CONFIG_NUMBER || (key->min < key->max && key->standard <= key->max));
    assert_true(!is_records(key) || (key->record_bytes > 0 && lt_config_key_inside(key, NULL) != NULL));
  }
}

static size_t record_bytes_of(const lt_config_key *record) {
  return record != NULL ? record->record_bytes : sizeof(lt_config);
}

/* The mapping of records that a key is in; NULL: it is in the lt_config. */
static const lt_config_key *record_of(const lt_config_key *key) {
  const lt_config_key *parent = parent_of(key);
  while (parent != NULL && !is_records(parent)) {
    parent = parent_of(parent);
  }
  return parent;
}

static void no_two_keys_fill_one_member(void **state) {
  (void)state;
  for (const lt_config_key *key = lt_config_keys; key->path != NULL; key++) {
    for (const lt_config_key *other = lt_config_keys; other < key; other++) {
      if (key->at != LT_CONFIG_NOWHERE && record_of(key) == record_of(other) && key->at == other->at) {
        fail_msg("%s and %s", other->path, key->path);
      }
    }
  }
}

/* A value that is not the default changes the key's member: it is stored, and where the row says. */
static void every_value_arrives(void **state) {
  (void)state;
  for (const lt_config_key *key = lt_config_keys; key->path != NULL; key++) {
    if (key->at == LT_CONFIG_NOWHERE || is_records(key)) {
      continue;
    }
    lt_config config;
    lt_err err;
    LT_AUTO_BUF(text, LT_KIB);
    put_file(&text, key, NULL);
    if (parse(lt_buf_view(&text), &config, &err) != LT_OK) {
      fail_msg("%s: %s", lt_err_msg(&err), text.p);
    }
    const lt_config_key *record = record_of(key);
    const char *here = (const char *)&config;
    size_t count = 1;
    if (record != NULL) {
      memcpy(&count, here + record->count_at, sizeof count);
      memcpy(&here, here + record->at, sizeof here);
    }
    assert_int_equal(count, 1);
    char *standard = calloc(1, record_bytes_of(record));
    assert_non_null(standard);
    lt_config_key_set_standards(record, standard);
    if (memcmp(here + key->at, standard + key->at, lt_config_key_bytes(key)) == 0) {
      fail_msg("%s stays at its default", key->path);
    }
    free(standard);
    lt_config_release(&config);
  }
}

/* --- The schema --------------------------------------------------------------------------------------------------- */

static lt_schema *compile_schema(void) {
  LT_AUTO_BUF(text, LT_MIB);
  lt_err err = LT_ERR_INIT;
  lt_schema *schema = NULL;
  lt_config_schema(&text);
  if (lt_schema_new(lt_buf_view(&text), &schema, &err) != LT_OK) {
    fail_msg("%s", lt_err_msg(&err));
  }
  assert_int_equal(lt_schema_notes(schema).n, 0);
  return schema;
}

/* Both say the same of a file. */
static void expect(const lt_schema *schema, lt_str text, bool is_right) {
  LT_AUTO_ARENA(arena, LT_MIB);
  LT_AUTO_BUF(faults, LT_MIB);
  lt_json_doc doc;
  lt_config config;
  lt_err err = LT_ERR_INIT;
  assert_int_equal(lt_json_parse(&arena, text, &doc, &err), LT_OK);
  lt_status fits = lt_schema_check(schema, lt_json_root(&doc), LT_STR("file"), &faults, &err);
  lt_status taken = parse(text, &config, &err);
  if ((fits == LT_OK) != is_right || (taken == LT_OK) != is_right) {
    fail_msg("%.*s\nschema: %d %.*s\nprogram: %d %s", LT_STR_ARG(text), fits, LT_STR_ARG(lt_buf_view(&faults)), taken,
             lt_err_msg(&err));
  }
  lt_config_release(&config);
}

static void the_schema_takes_what_the_program_takes(void **state) {
  (void)state;
  lt_schema *schema = compile_schema();
  for (const lt_config_key *key = lt_config_keys; key->path != NULL; key++) {
    if (is_records(key)) {
      continue;
    }
    LT_AUTO_BUF(right, LT_KIB);
    LT_AUTO_BUF(wrong, LT_KIB);
    const lt_config_key *parent = parent_of(key);
    bool is_open = parent != NULL && (parent->flags & LT_CONFIG_OPEN) != 0;
    put_file(&right, key, NULL);
    expect(schema, lt_buf_view(&right), true);
    put_file(&wrong, key, "odd");
    expect(schema, lt_buf_view(&wrong), is_open);
  }
  lt_schema_free(schema);
}

static void the_schema_refuses_what_the_program_refuses(void **state) {
  (void)state;
  static const char *const wrong[] = {
      "[]",
      "{\"sandbox\": {\"timeoutMs\": 0}}",
      "{\"sandbox\": {\"timeoutMs\": 600001}}",
      "{\"sandbox\": {\"timeoutMs\": \"5\"}}",
      "{\"sandbox\": {\"requireWalls\": \"yes\"}}",
      "{\"sandbox\": []}",
      "{\"typescript\": {\"runner\": \"node\"}}",
      "{\"defaults\": {\"maxRounds\": {\"code\": 1001}}}",
      "{\"tools\": {\"policy\": [{\"match\": \"*\"}]}}",
      "{\"tools\": {\"policy\": [{\"match\": \"\", \"action\": \"ask\"}]}}",
      "{\"tools\": {\"policy\": [{\"match\": \"*\", \"action\": \"ask\", \"when\": null}]}}",
      "{\"tools\": {\"budgets\": [{\"match\": \"*\"}]}}",
      "{\"modules\": [{\"name\": \"a\"}]}",
      "{\"modules\": [null]}",
      "{\"plugins\": [[\"a\"]]}",
      "{\"plugins\": [\"\"]}",
      "{\"plugins\": [{\"config\": {}}]}",
      "{\"plugins\": [{\"name\": \"artefact\"}]}",
      "{\"mcpServers\": {\"a\": {}}}",
      "{\"mcpServers\": {\"a\": null}}",
      "{\"mcpServers\": {\"\": {\"command\": \"x\"}}}",
      "{\"mcpServers\": {\"a\": {\"command\": [\"x\"]}}}",
      "{\"mcpServers\": {\"a\": {\"command\": \"x\", \"args\": [null]}}}",
      "{\"python\": {\"env\": {\"A=B\": \"c\"}}}",
      "{\"python\": {\"envPassthrough\": \"HOME\"}}",
  };
  lt_schema *schema = compile_schema();
  for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
    expect(schema, lt_str_of(wrong[i]), false);
  }
  expect(schema, LT_STR("{\"python\": null, \"plan\": null, \"modules\": null, \"mcpServers\": null}"), true);
  lt_schema_free(schema);
}

static void the_reference_names_every_key(void **state) {
  (void)state;
  LT_AUTO_BUF(reference, LT_MIB);
  lt_config_reference(&reference);
  assert_int_equal(reference.status, LT_OK);
  for (const lt_config_key *key = lt_config_keys; key->path != NULL; key++) {
    LT_AUTO_BUF(row, LT_KIB);
    lt_buf_printf(&row, "\n| `%s` | ", key->path);
    assert_non_null(strstr(reference.p, row.p));
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_row_says_what_it_must),
      cmocka_unit_test(no_two_keys_fill_one_member),
      cmocka_unit_test(every_value_arrives),
      cmocka_unit_test(the_schema_takes_what_the_program_takes),
      cmocka_unit_test(the_schema_refuses_what_the_program_refuses),
      cmocka_unit_test(the_reference_names_every_key),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
