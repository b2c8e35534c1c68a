#include "clients/client_text.h"

#include "base/limits.h"
#include "clients/client_edit.h"
#include "json/jsonc.h"

/* --- Reading ------------------------------------------------------------------------------------------------------ */

static lt_status client_text_read_json(lt_client_text *file, lt_err *err) {
  LT_AUTO_BUF(commentless, LT_CLIENT_FILE_BYTES);
  LT_AUTO_BUF(plain, LT_CLIENT_FILE_BYTES);
  lt_jsonc_blank_comments(file->text, &commentless);
  lt_jsonc_blank_commas(lt_buf_view(&commentless), &plain);
  bool is_empty = lt_str_trim(lt_buf_view(&plain)).n == 0;
  file->commentless = lt_arena_dup_buf(&file->arena, &commentless);
  lt_str json = is_empty ? LT_STR("{}") : lt_arena_dup_buf(&file->arena, &plain);
  if (json.p == NULL) {
    return lt_fail(err, LT_E_NOMEM, "out of memory");
  }
  return lt_json_parse(&file->arena, json, &file->doc, err);
}

/* As it is written: without references replaced. */
static void client_text_put_yaml(const lt_yaml_node *node, lt_json_writer *w) {
  bool truth;
  int64_t number;
  switch (node->type) {
    case LT_YAML_NULL:
      lt_json_put_null(w);
      return;
    case LT_YAML_SCALAR:
      if (lt_yaml_bool(node, &truth)) {
        lt_json_put_bool(w, truth);
      } else if (lt_yaml_int(node, &number)) {
        lt_json_put_int(w, number);
      } else {
        lt_json_put_str(w, node->text);
      }
      return;
    case LT_YAML_LIST:
      lt_json_begin_array(w);
      for (const lt_yaml_node *kid = node->kids; kid != NULL; kid = kid->next) {
        client_text_put_yaml(kid, w);
      }
      lt_json_end_array(w);
      return;
    case LT_YAML_MAP:
      lt_json_begin_object(w);
      for (const lt_yaml_node *kid = node->kids; kid != NULL; kid = kid->next) {
        lt_json_key_str(w, kid->key->text);
        client_text_put_yaml(kid, w);
      }
      lt_json_end_object(w);
      return;
  }
}

static lt_status client_text_read_yaml(lt_client_text *file, lt_buf *json, lt_err *err) {
  LT_TRY(lt_yaml_parse(&file->arena, file->text, file->path, &file->yaml, err));
  lt_json_writer w = lt_json_writer_on(json);
  if (file->yaml->type == LT_YAML_NULL) {
    lt_buf_addc(json, "{}");
  } else {
    client_text_put_yaml(file->yaml, &w);
  }
  return lt_buf_check(json, err, "the file is too large");
}

static lt_status client_text_read_other(lt_client_text *file, lt_err *err) {
  LT_AUTO_BUF(json, LT_CLIENT_FILE_BYTES);
  LT_TRY(file->client->format == LT_CLIENT_TOML
             ? lt_toml_parse(&file->arena, file->text, file->path, &json, &file->tables, err)
             : client_text_read_yaml(file, &json, err));
  lt_str kept = lt_arena_dup_buf(&file->arena, &json);
  return kept.p != NULL ? lt_json_parse(&file->arena, kept, &file->doc, err)
                        : lt_fail(err, LT_E_NOMEM, "out of memory");
}

static lt_status client_text_check_shape(lt_client_text *file, lt_err *err) {
  const lt_client *client = file->client;
  lt_json root = lt_json_root(&file->doc);
  if (lt_json_typeof(root) != LT_JSON_OBJECT) {
    return lt_fail(err, LT_E_CONFIG, "%s: it is %s, not an object with settings", file->path,
                   lt_json_type_name(lt_json_typeof(root)));
  }
  file->section = lt_json_get(root, client->section);
  lt_json_type type = lt_json_typeof(file->section), wanted = client->is_list ? LT_JSON_ARRAY : LT_JSON_OBJECT;
  bool is_absent = type == LT_JSON_NONE || (type == LT_JSON_NULL && client->format == LT_CLIENT_YAML);
  if (!is_absent && type != wanted) {
    return lt_fail(err, LT_E_CONFIG, "%s: \"%s\" is %s there, where %s has %s of servers", file->path, client->section,
                   lt_json_type_name(type), client->title, lt_json_type_name(wanted));
  }
  return LT_OK;
}

lt_status lt_client_text_read(const lt_client *client, const char *path, lt_str text, lt_client_text *ret,
                              lt_err *err) {
  *ret = (lt_client_text){.client = client, .path = path, .text = text};
  lt_arena_init(&ret->arena, LT_CLIENT_MEMORY_BYTES);
  if (client->format != LT_CLIENT_JSON) {
    LT_TRY(client_text_read_other(ret, err));
  } else if (client_text_read_json(ret, err) != LT_OK) {
    return lt_err_prefix(err, "%s", path);
  }
  return client_text_check_shape(ret, err);
}

void lt_client_text_release(lt_client_text *file) {
  lt_arena_release(&file->arena);
}

/* --- Servers ------------------------------------------------------------------------------------------------------ */

lt_json lt_client_text_server(const lt_client_text *file, lt_str name) {
  if (!file->client->is_list) {
    return lt_json_get_str(file->section, name);
  }
  for (lt_json_iter it = lt_json_each(file->section); lt_json_next(&it);) {
    if (lt_json_str_eq(lt_json_get(it.value, "name"), name)) {
      return it.value;
    }
  }
  return (lt_json){NULL, 0};
}

bool lt_client_text_next(lt_client_text *file, lt_json_iter *it, lt_str *ret_name, lt_json *ret_server) {
  while (lt_json_next(it)) {
    lt_json name = file->client->is_list ? lt_json_get(it->value, "name") : it->key;
    if (lt_json_str(name, &file->arena, ret_name)) {
      *ret_server = it->value;
      return true;
    }
  }
  return false;
}

static bool client_text_is_same_text(lt_json a, lt_json b) {
  LT_AUTO_ARENA(arena, LT_CLIENT_MEMORY_BYTES);
  lt_str one, other;
  return lt_json_str(a, &arena, &one) && lt_json_str(b, &arena, &other) && lt_str_eq(one, other);
}

static bool client_text_has_same_items(lt_json a, lt_json b) {
  lt_json_iter one = lt_json_each(a), other = lt_json_each(b);
  while (lt_json_next(&one)) {
    if (!lt_json_next(&other) || !lt_client_text_is_same(one.value, other.value)) {
      return false;
    }
  }
  return lt_json_count(a) == lt_json_count(b);
}

static bool client_text_has_same_members(lt_json a, lt_json b) {
  LT_AUTO_ARENA(arena, LT_CLIENT_MEMORY_BYTES);
  for (lt_json_iter it = lt_json_each(a); lt_json_next(&it);) {
    lt_str key;
    if (!lt_json_str(it.key, &arena, &key) || !lt_client_text_is_same(it.value, lt_json_get_str(b, key))) {
      return false;
    }
  }
  return lt_json_count(a) == lt_json_count(b);
}

bool lt_client_text_is_same(lt_json a, lt_json b) {
  lt_json_type type = lt_json_typeof(a);
  if (type != lt_json_typeof(b)) {
    return false;
  }
  switch ((int)type) {
    case LT_JSON_STRING:
      return client_text_is_same_text(a, b);
    case LT_JSON_ARRAY:
      return client_text_has_same_items(a, b);
    case LT_JSON_OBJECT:
      return client_text_has_same_members(a, b);
    default:
      return lt_str_eq(lt_json_text(a), lt_json_text(b));
  }
}

/* --- The check of a new text -------------------------------------------------------------------------------------- */

static bool client_text_has_same_settings(lt_client_text *old, lt_client_text *now) {
  size_t count = 0;
  for (lt_json_iter it = lt_json_each(lt_json_root(&old->doc)); lt_json_next(&it);) {
    lt_str key;
    if (!lt_json_str(it.key, &old->arena, &key)) {
      return false;
    }
    bool is_section = lt_str_eqc(key, old->client->section);
    if (!is_section && !lt_client_text_is_same(it.value, lt_json_get_str(lt_json_root(&now->doc), key))) {
      return false;
    }
    count += !is_section;
  }
  size_t now_has = lt_json_count(lt_json_root(&now->doc));
  bool has_section = lt_json_exists(lt_json_get(lt_json_root(&now->doc), now->client->section));
  return count == now_has - has_section;
}

static bool client_text_has_same_servers(lt_client_text *old, lt_client_text *now, lt_str name, lt_json server) {
  lt_str other;
  lt_json value;
  size_t count = 0;
  for (lt_json_iter it = lt_json_each(old->section); lt_client_text_next(old, &it, &other, &value);) {
    bool is_it = lt_str_eq(other, name);
    if (!is_it && !lt_client_text_is_same(value, lt_client_text_server(now, other))) {
      return false;
    }
    count += !is_it;
  }
  lt_json changed = lt_client_text_server(now, name);
  bool is_wanted = lt_json_exists(server) ? lt_client_text_is_same(changed, server) : !lt_json_exists(changed);
  return is_wanted && count + lt_json_exists(server) == lt_json_count(now->section);
}

/* A server that was dropped is NONE. */
static lt_status client_text_check(const lt_client_text *file, lt_str name, lt_json server, const lt_buf *made,
                                   lt_err *err) {
  lt_client_text old, now;
  LT_ERR_VAR(why);
  LT_TRY(lt_buf_check(made, err, "the file is too large"));
  lt_status status = lt_client_text_read(file->client, file->path, file->text, &old, &why);
  bool is_read = lt_client_text_read(file->client, file->path, lt_buf_view(made), &now, &why) == LT_OK;
  bool is_right = status == LT_OK && is_read && client_text_has_same_settings(&old, &now) &&
                  client_text_has_same_servers(&old, &now, name, server);
  lt_client_text_release(&old);
  lt_client_text_release(&now);
  return is_right ? LT_OK
                  : lt_fail(err, LT_E_CONFIG,
                            "%s: its shape does not allow a safe change%s%s; nothing was written, --print shows what "
                            "to write there",
                            file->path, why.status != LT_OK ? ": " : "", why.status != LT_OK ? lt_err_msg(&why) : "");
}

typedef lt_status client_text_put_fn(const lt_client_text *file, lt_str name, lt_json server, lt_buf *out, lt_err *err);
typedef lt_status client_text_drop_fn(const lt_client_text *file, lt_str name, lt_buf *out, lt_err *err);

lt_status lt_client_text_put(const lt_client_text *file, lt_str name, lt_str server, lt_buf *out, lt_err *err) {
  static client_text_put_fn *const edits[] = {[LT_CLIENT_JSON] = lt_client_edit_put_json,
                                              [LT_CLIENT_TOML] = lt_client_edit_put_toml,
                                              [LT_CLIENT_YAML] = lt_client_edit_put_yaml};
  LT_AUTO_ARENA(arena, LT_CLIENT_MEMORY_BYTES);
  LT_AUTO_BUF(made, LT_CLIENT_FILE_BYTES);
  lt_json_doc doc;
  LT_TRY(lt_json_parse(&arena, server, &doc, err));
  if (lt_client_text_is_same(lt_client_text_server(file, name), lt_json_root(&doc))) {
    lt_buf_add(out, file->text);
    return lt_buf_check(out, err, "out of memory");
  }
  LT_TRY(edits[file->client->format](file, name, lt_json_root(&doc), &made, err));
  LT_TRY(client_text_check(file, name, lt_json_root(&doc), &made, err));
  lt_buf_add(out, lt_buf_view(&made));
  return lt_buf_check(out, err, "out of memory");
}

lt_status lt_client_text_drop(const lt_client_text *file, lt_str name, lt_buf *out, lt_err *err) {
  static client_text_drop_fn *const drops[] = {[LT_CLIENT_JSON] = lt_client_edit_drop_json,
                                               [LT_CLIENT_TOML] = lt_client_edit_drop_toml,
                                               [LT_CLIENT_YAML] = lt_client_edit_drop_yaml};
  LT_AUTO_BUF(made, LT_CLIENT_FILE_BYTES);
  if (!lt_json_exists(lt_client_text_server(file, name))) {
    return lt_fail(err, LT_E_NOTFOUND, "%s has no server \"%.*s\"", file->path, LT_STR_ARG(name));
  }
  LT_TRY(drops[file->client->format](file, name, &made, err));
  LT_TRY(client_text_check(file, name, (lt_json){NULL, 0}, &made, err));
  lt_buf_add(out, lt_buf_view(&made));
  return lt_buf_check(out, err, "out of memory");
}
