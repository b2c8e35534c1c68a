#include "clients/client_server.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/limits.h"
#include "text/plain.h"
#include "text/secret_name.h"

/* --- Writing ------------------------------------------------------------------------------------------------------ */

static void client_server_put_texts(lt_json_writer *w, const char *const *texts) {
  for (; *texts != NULL; texts++) {
    lt_json_put_cstr(w, *texts);
  }
}

static void client_server_put_pairs(lt_json_writer *w, const char *const *pairs) {
  lt_json_begin_object(w);
  for (; *pairs != NULL; pairs++) {
    const char *equals = strchr(*pairs, '=');
    lt_json_key_str(w, lt_str_from(*pairs, (size_t)(equals - *pairs)));
    lt_json_put_cstr(w, equals + 1);
  }
  lt_json_end_object(w);
}

static void client_server_put_command(const lt_client *client, const lt_client_server *server, lt_json_writer *w) {
  lt_json_key(w, client->command);
  if (client->has_one_list) {
    lt_json_begin_array(w);
    lt_json_put_cstr(w, server->command);
  } else {
    lt_json_put_cstr(w, server->command);
    lt_json_key(w, "args");
    lt_json_begin_array(w);
  }
  client_server_put_texts(w, server->args);
  lt_json_end_array(w);
  if (server->env[0] != NULL) {
    lt_json_key(w, client->env);
    client_server_put_pairs(w, server->env);
  }
  if (client->env_names != NULL && server->env_names[0] != NULL) {
    lt_json_key(w, client->env_names);
    lt_json_begin_array(w);
    client_server_put_texts(w, server->env_names);
    lt_json_end_array(w);
  }
}

/* What stands around a variable's name in the client's texts. */
typedef struct reference_form {
  const char *open, *close;
} reference_form;

static reference_form client_server_form(lt_client_reference reference) {
  static const reference_form forms[] = {
      [LT_CLIENT_PLAIN] = {"", ""},        [LT_CLIENT_SHELL] = {"${", "}"},
      [LT_CLIENT_DOLLAR] = {"${", "}"},    [LT_CLIENT_ENV] = {"${env:", "}"},
      [LT_CLIENT_BRACES] = {"{env:", "}"}, [LT_CLIENT_TEMPLATE] = {"${{ secrets.", " }}"},
  };
  return forms[reference];
}

/* A token is never written itself. */
static lt_status client_server_put_token(const lt_client *client, const char *variable, lt_json_writer *w,
                                         lt_err *err) {
  LT_AUTO_BUF(value, LT_KIB);
  reference_form form = client_server_form(client->reference);
  if (client->token_env != NULL) {
    lt_json_key(w, client->token_env);
    lt_json_put_cstr(w, variable);
    return LT_OK;
  }
  if (client->reference == LT_CLIENT_PLAIN || client->reference == LT_CLIENT_TEMPLATE) {
    return lt_fail(err, LT_E_UNSUPPORTED,
                   "%s cannot refer to a variable there: leave --token-env out and write the header \"Authorization: "
                   "Bearer ...\" by hand",
                   client->title);
  }
  lt_buf_printf(&value, "Bearer %s%s%s", form.open, variable, form.close);
  lt_json_key(w, "headers");
  lt_json_begin_object(w);
  lt_json_key(w, "Authorization");
  lt_json_put_str(w, lt_buf_view(&value));
  lt_json_end_object(w);
  return lt_buf_check(&value, err, "the variable's name is too long");
}

static void client_server_put_extra(const char *extra, lt_json_writer *w) {
  LT_AUTO_ARENA(arena, LT_MIB);
  LT_AUTO_BUF(object, LT_KIB);
  lt_json_doc doc;
  lt_buf_printf(&object, "{%s}", extra);
  LT_CHECK(object.status != LT_OK || lt_json_check(lt_buf_view(&object), NULL) == LT_OK);
  if (object.status == LT_OK && lt_json_parse(&arena, lt_buf_view(&object), &doc, NULL) == LT_OK) {
    for (lt_json_iter it = lt_json_each(lt_json_root(&doc)); lt_json_next(&it);) {
      lt_str key = lt_json_text(it.key);
      lt_json_key_str(w, lt_str_sub(key, 1, key.n - 1));
      lt_json_put_raw(w, lt_json_text(it.value));
    }
  }
}

lt_status lt_client_server_write(const lt_client *client, const lt_client_server *server, lt_buf *out, lt_err *err) {
  const char *type = server->url != NULL ? client->http_type : client->stdio_type;
  lt_json_writer w = lt_json_writer_on(out);
  if (server->url != NULL && client->url == NULL) {
    return lt_fail(err, LT_E_UNSUPPORTED, "%s connects to no address by this file: leave --http out", client->title);
  }
  lt_json_begin_object(&w);
  if (client->has_name_inside) {
    lt_json_key(&w, "name");
    lt_json_put_str(&w, server->name);
  }
  if (type != NULL) {
    lt_json_key(&w, "type");
    lt_json_put_cstr(&w, type);
  }
  if (server->url != NULL) {
    lt_json_key(&w, client->url);
    lt_json_put_cstr(&w, server->url);
    LT_TRY(server->token_env != NULL ? client_server_put_token(client, server->token_env, &w, err) : LT_OK);
  } else {
    client_server_put_command(client, server, &w);
  }
  if (client->extra != NULL) {
    client_server_put_extra(client->extra, &w);
  }
  lt_json_end_object(&w);
  return lt_buf_check(out, err, "out of memory");
}

/* --- Recognizing -------------------------------------------------------------------------------------------------- */

/* The value under the first of these names. */
static lt_json client_server_get(lt_json server, const char *const *names) {
  for (; *names != NULL; names++) {
    lt_json value = lt_json_get(server, *names);
    if (lt_json_exists(value) && lt_json_typeof(value) != LT_JSON_NULL) {
      return value;
    }
  }
  return (lt_json){NULL, 0};
}

static const char *const command_names[] = {"command", "cmd", NULL};
static const char *const url_names[] = {"url", "httpUrl", "uri", "serverUrl", NULL};
static const char *const env_names[] = {"env", "environment", "envs", NULL};
static const char *const header_names[] = {"headers", "http_headers", NULL};

bool lt_client_server_is_lathe(const lt_client *client, lt_json server, const char *url) {
  LT_AUTO_ARENA(arena, LT_CLIENT_MEMORY_BYTES);
  lt_json command = client_server_get(server, command_names), address = client_server_get(server, url_names);
  bool is_list = lt_json_typeof(command) == LT_JSON_ARRAY;
  lt_json first = is_list ? lt_json_at(command, 1) : lt_json_at(lt_json_get(server, "args"), 0);
  lt_str text = LT_STR_NULL;
  (void)client;
  if (url != NULL && lt_json_str_eq(address, lt_str_of(url))) {
    return true;
  }
  return lt_json_str(is_list ? lt_json_at(command, 0) : command, &arena, &text) &&
         (lt_str_eqc(text, "lathe") || lt_str_ends(text, LT_STR("/lathe"))) && lt_json_str_eq(first, LT_STR("mcp"));
}

bool lt_client_server_is_local(lt_json server) {
  static const char *const hosts[] = {"http://127.0.0.1:", "http://localhost:", "http://[::1]:", NULL};
  LT_AUTO_ARENA(arena, LT_CLIENT_MEMORY_BYTES);
  lt_str url = LT_STR_NULL;
  (void)lt_json_str(client_server_get(server, url_names), &arena, &url);
  bool is_local = false;
  for (size_t i = 0; hosts[i] != NULL; i++) {
    is_local = is_local || lt_str_starts(url, lt_str_of(hosts[i]));
  }
  return is_local && lt_str_ends(url, LT_STR("/mcp"));
}

/* --- Notes -------------------------------------------------------------------------------------------------------- */

void lt_client_server_note(lt_client_import *import, const char *format, ...) {
  char line[2 * LT_ERR_MSG_MAX];
  va_list args;
  va_start(args, format);
  vsnprintf(line, sizeof line, format, args);
  va_end(args);
  lt_plain_add_line(&import->notes, lt_str_of(line));
  lt_buf_byte(&import->notes, '\n');
}

/* --- References --------------------------------------------------------------------------------------------------- */

typedef struct import_state {
  const lt_client *client;
  lt_str name;
  lt_json server;
  lt_arena *arena;
  lt_client_import *import;
  lt_json_writer w;
  lt_err *err;
} import_state;

static lt_status client_server_refuse(const import_state *s, lt_str reference) {
  return lt_fail(s->err, LT_E_UNSUPPORTED, "it uses %.*s, which only %s knows",
                 LT_STR_ARG(lt_str_sub(reference, 0, 80)), s->client->title);
}

static bool client_server_is_variable(lt_str name) {
  size_t i = 0;
  while (i < name.n && ((name.p[i] >= 'A' && name.p[i] <= 'Z') || (name.p[i] >= 'a' && name.p[i] <= 'z') ||
                        name.p[i] == '_' || (i > 0 && name.p[i] >= '0' && name.p[i] <= '9'))) {
    i++;
  }
  return i == name.n && name.n > 0;
}

/* A reference at `at`: appends ${NAME} and returns one past it; `at` when there is none. */
static size_t client_server_read_reference(const import_state *s, lt_str text, size_t at, lt_buf *out) {
  reference_form form = client_server_form(s->client->reference);
  lt_str rest = lt_str_sub(text, at, text.n);
  size_t open = strlen(form.open), close = lt_str_find(rest, lt_str_of(form.close), open);
  if (open == 0 || !lt_str_starts(rest, lt_str_of(form.open)) || close == SIZE_MAX) {
    return at;
  }
  lt_str name = lt_str_sub(rest, open, close);
  size_t minus = s->client->reference == LT_CLIENT_SHELL ? lt_str_find(name, LT_STR(":-"), 0) : SIZE_MAX;
  if (!client_server_is_variable(lt_str_sub(name, 0, minus))) {
    return at;
  }
  lt_buf_printf(out, "${%.*s}", LT_STR_ARG(name));
  return at + close + strlen(form.close);
}

/* $NAME, of Gemini CLI. */
static size_t client_server_read_dollar(const import_state *s, lt_str text, size_t at, lt_buf *out) {
  size_t end = at + 1;
  if (s->client->reference != LT_CLIENT_DOLLAR || text.p[at] != '$') {
    return at;
  }
  while (end < text.n && client_server_is_variable(lt_str_sub(text, at + 1, end + 1))) {
    end++;
  }
  if (end == at + 1) {
    return at;
  }
  lt_buf_printf(out, "${%.*s}", LT_STR_ARG(lt_str_sub(text, at + 1, end)));
  return end;
}

/* Appends the text as lathe.yaml has it. `ret_has_reference`: it names a variable. */
static lt_status client_server_convert(const import_state *s, lt_str text, lt_buf *out, bool *ret_has_reference) {
  *ret_has_reference = false;
  for (size_t at = 0; at < text.n;) {
    size_t end = client_server_read_reference(s, text, at, out);
    end = end > at ? end : client_server_read_dollar(s, text, at, out);
    *ret_has_reference = *ret_has_reference || end > at;
    bool is_open = lt_str_starts(lt_str_sub(text, at, text.n), LT_STR("${"));
    if (end == at && is_open && s->client->reference != LT_CLIENT_PLAIN) {
      return client_server_refuse(s, lt_str_sub(text, at, lt_str_find(text, LT_STR("}"), at) + 1));
    }
    if (end == at) {
      lt_buf_addc(out, is_open ? "$" : ""); /* $${ stands for the two characters */
      lt_buf_byte(out, text.p[at++]);
    } else {
      at = end;
    }
  }
  return LT_OK;
}

/* --- Taking over -------------------------------------------------------------------------------------------------- */

/* `secret_as`: where the value is a secret if its name sounds so; empty: an argument or a path. */
static lt_status client_server_take_text(import_state *s, lt_json value, lt_str secret_as) {
  LT_AUTO_BUF(out, LT_CONFIG_MAX_BYTES);
  lt_str text = lt_json_text(value);
  bool has_reference;
  if (lt_json_typeof(value) == LT_JSON_STRING && !lt_json_str(value, s->arena, &text)) {
    return lt_fail(s->err, LT_E_NOMEM, "out of memory");
  }
  LT_TRY(client_server_convert(s, text, &out, &has_reference));
  if (!has_reference && text.n > 0 && lt_secret_name_sounds(secret_as) && !lt_secret_name_is_count(text)) {
    LT_TRY(lt_secrets_add(s->import->secrets, text));
    lt_client_server_note(s->import, "%.*s: %.*s is written plainly; it works as it is, and is safer as ${NAME}",
                          LT_STR_ARG(s->name), LT_STR_ARG(lt_str_sub(secret_as, 0, 80)));
  }
  LT_TRY(lt_buf_check(&out, s->err, "out of memory"));
  lt_json_put_str(&s->w, lt_buf_view(&out));
  return LT_OK;
}

static bool client_server_is_scalar(lt_json value) {
  lt_json_type type = lt_json_typeof(value);
  return type != LT_JSON_NONE && type != LT_JSON_NULL && type != LT_JSON_OBJECT && type != LT_JSON_ARRAY;
}

/* Items of a list, from the `from`-th on. A flag before a value says what the value is (--api-key X). */
static lt_status client_server_take_list(import_state *s, lt_json list, uint32_t from) {
  lt_str before = LT_STR_NULL;
  uint32_t index = 0;
  lt_json_begin_array(&s->w);
  for (lt_json_iter it = lt_json_each(list); lt_json_next(&it); index++) {
    if (!client_server_is_scalar(it.value)) {
      return lt_fail(s->err, LT_E_UNSUPPORTED, "its arguments are no list of texts");
    }
    if (index >= from) {
      LT_TRY(client_server_take_text(s, it.value, before));
    }
    before = LT_STR_NULL;
    (void)lt_json_str(it.value, s->arena, &before);
    before = lt_str_starts(before, LT_STR("--")) ? lt_str_sub(before, 2, before.n) : LT_STR_NULL;
  }
  lt_json_end_array(&s->w);
  return LT_OK;
}

static lt_status client_server_take_pairs(import_state *s, const char *key, lt_json pairs) {
  if (lt_json_typeof(pairs) != LT_JSON_OBJECT || lt_json_count(pairs) == 0) {
    return LT_OK;
  }
  lt_json_key(&s->w, key);
  lt_json_begin_object(&s->w);
  for (lt_json_iter it = lt_json_each(pairs); lt_json_next(&it);) {
    lt_str name;
    if (!client_server_is_scalar(it.value) || !lt_json_str(it.key, s->arena, &name)) {
      return lt_fail(s->err, LT_E_UNSUPPORTED, "its %s has more than texts", key);
    }
    lt_json_key_str(&s->w, name);
    LT_TRY(client_server_take_text(s, it.value, name));
  }
  lt_json_end_object(&s->w);
  return LT_OK;
}

static lt_status client_server_take_process(import_state *s, lt_json command) {
  bool is_list = lt_json_typeof(command) == LT_JSON_ARRAY;
  /* Zed once had {path, args, env} under `command`. */
  lt_json inner = lt_json_typeof(command) == LT_JSON_OBJECT ? command : s->server;
  lt_json program = is_list                    ? lt_json_at(command, 0)
                    : inner.at != s->server.at ? lt_json_get(command, "path")
                                               : command;
  lt_json args = is_list ? command : lt_json_get(inner, "args");
  if (lt_json_typeof(program) != LT_JSON_STRING) {
    return lt_fail(s->err, LT_E_UNSUPPORTED, "its command is no text");
  }
  lt_json_key(&s->w, "command");
  LT_TRY(client_server_take_text(s, program, LT_STR_NULL));
  if (lt_json_typeof(args) == LT_JSON_ARRAY && lt_json_count(args) > is_list) {
    lt_json_key(&s->w, "args");
    LT_TRY(client_server_take_list(s, args, is_list));
  }
  LT_TRY(client_server_take_pairs(s, "env", client_server_get(inner, env_names)));
  lt_json cwd = lt_json_get(s->server, "cwd");
  if (lt_json_typeof(cwd) == LT_JSON_STRING) {
    lt_json_key(&s->w, "cwd");
    LT_TRY(client_server_take_text(s, cwd, LT_STR_NULL));
  }
  return LT_OK;
}

/* Codex names variables: bearer_token_env_var, and env_http_headers. */
static lt_status client_server_take_codex_headers(import_state *s) {
  lt_json bearer = lt_json_get(s->server, "bearer_token_env_var"), others = lt_json_get(s->server, "env_http_headers");
  lt_json plain = client_server_get(s->server, header_names);
  lt_str name, variable;
  lt_json_key(&s->w, "headers");
  lt_json_begin_object(&s->w);
  for (lt_json_iter it = lt_json_each(plain); lt_json_typeof(plain) == LT_JSON_OBJECT && lt_json_next(&it);) {
    if (lt_json_str(it.key, s->arena, &name)) {
      lt_json_key_str(&s->w, name);
      LT_TRY(client_server_take_text(s, it.value, name));
    }
  }
  if (lt_json_str(bearer, s->arena, &variable)) {
    lt_json_key(&s->w, "Authorization");
    lt_json_put_str(&s->w, lt_arena_printf(s->arena, "Bearer ${%.*s}", LT_STR_ARG(variable)));
  }
  for (lt_json_iter it = lt_json_each(others); lt_json_typeof(others) == LT_JSON_OBJECT && lt_json_next(&it);) {
    if (lt_json_str(it.key, s->arena, &name) && lt_json_str(it.value, s->arena, &variable)) {
      lt_json_key_str(&s->w, name);
      lt_json_put_str(&s->w, lt_arena_printf(s->arena, "${%.*s}", LT_STR_ARG(variable)));
    }
  }
  lt_json_end_object(&s->w);
  return LT_OK;
}

static lt_status client_server_take_address(import_state *s, lt_json url) {
  bool is_sse = lt_json_str_eq(lt_json_get(s->server, "type"), LT_STR("sse"));
  bool has_variables = lt_json_exists(lt_json_get(s->server, "bearer_token_env_var")) ||
                       lt_json_exists(lt_json_get(s->server, "env_http_headers"));
  lt_json_key(&s->w, "type");
  lt_json_put_cstr(&s->w, is_sse ? "sse" : "http");
  lt_json_key(&s->w, "url");
  LT_TRY(client_server_take_text(s, url, LT_STR_NULL));
  LT_TRY(lt_secrets_add_url(s->import->secrets, lt_json_text(url)));
  return has_variables ? client_server_take_codex_headers(s)
                       : client_server_take_pairs(s, "headers", client_server_get(s->server, header_names));
}

static bool client_server_is_off(lt_json server) {
  return lt_json_bool(lt_json_get(server, "disabled"), false) || !lt_json_bool(lt_json_get(server, "enabled"), true);
}

lt_status lt_client_server_import(const lt_client *client, lt_str name, lt_json server, lt_arena *arena,
                                  lt_client_import *import, lt_err *err) {
  import_state s = {.client = client, .name = name, .server = server, .arena = arena, .import = import, .err = err};
  s.w = lt_json_writer_on(&import->json);
  lt_json url = client_server_get(server, url_names), command = client_server_get(server, command_names);
  if (lt_json_typeof(server) != LT_JSON_OBJECT) {
    return lt_fail(err, LT_E_UNSUPPORTED, "it is no object with settings");
  }
  if (!lt_json_exists(command) && lt_json_typeof(url) != LT_JSON_STRING) {
    return lt_fail(err, LT_E_UNSUPPORTED, "it has neither a command nor an address: it is built into %s",
                   client->title);
  }
  lt_json_begin_object(&s.w);
  LT_TRY(lt_json_exists(command) ? client_server_take_process(&s, command) : client_server_take_address(&s, url));
  if (client_server_is_off(server)) {
    lt_json_key(&s.w, "disabled");
    lt_json_put_bool(&s.w, true);
  }
  lt_json_end_object(&s.w);
  return lt_buf_check(&import->json, err, "out of memory");
}
