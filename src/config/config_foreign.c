#include "config/config_foreign.h"

#include "base/buf.h"
#include "base/limits.h"
#include "json/json.h"
#include "json/jsonc.h"

typedef struct config_foreign {
  lt_arena *arena;
  const char *name;
  bool is_opencode;
  lt_err *err;
} config_foreign;

static lt_status config_foreign_no_memory(const config_foreign *f) {
  return lt_fail(f->err, LT_E_NOMEM, "%s: out of memory while reading it", f->name);
}

/* --- References --------------------------------------------------------------------------------------------------- */

/* In opencode's texts, "${" are two characters like others. */
static void config_foreign_write_text(const config_foreign *f, lt_str s, lt_buf *out) {
  lt_str open = f->is_opencode ? LT_STR("{env:") : LT_STR("${env:");
  for (size_t at = 0; at < s.n;) {
    lt_str rest = lt_str_sub(s, at, s.n);
    size_t close = lt_str_find(rest, LT_STR("}"), 0);
    bool is_escaped = at > 0 && s.p[at - 1] == '$';
    if (lt_str_starts(rest, open) && close != SIZE_MAX && !is_escaped) {
      lt_buf_printf(out, "${%.*s}", LT_STR_ARG(lt_str_sub(rest, open.n, close)));
      at += close + 1;
    } else if (f->is_opencode && lt_str_starts(rest, LT_STR("${"))) {
      lt_buf_addc(out, "$${");
      at += 2;
    } else {
      lt_buf_byte(out, s.p[at++]);
    }
  }
}

static lt_status config_foreign_convert_text(const config_foreign *f, lt_yaml_node *scalar) {
  if (lt_str_find(scalar->text, LT_STR("{"), 0) == SIZE_MAX) {
    return LT_OK;
  }
  LT_AUTO_BUF(out, 2 * LT_CONFIG_MAX_BYTES);
  config_foreign_write_text(f, scalar->text, &out);
  scalar->text = lt_arena_dup_buf(f->arena, &out);
  return scalar->text.p != NULL ? LT_OK : config_foreign_no_memory(f);
}

/* At most LT_CONFIG_DEPTH_MAX deep. A node behind several aliases is converted again, which changes nothing. */
static lt_status config_foreign_convert(const config_foreign *f, lt_yaml_node *node) {
  if (node->type == LT_YAML_SCALAR) {
    return config_foreign_convert_text(f, node);
  }
  for (lt_yaml_node *kid = node->kids; kid != NULL; kid = kid->next) {
    LT_TRY(config_foreign_convert(f, kid));
  }
  return LT_OK;
}

/* --- opencode's servers ------------------------------------------------------------------------------------------- */

static void config_foreign_rename(lt_yaml_node *server, const char *from, const char *to) {
  lt_yaml_node *member = lt_yaml_get(server, from);
  if (member != NULL && lt_yaml_get(server, to) == NULL) {
    member->key->text = lt_str_of(to);
  }
}

static void config_foreign_reword(lt_yaml_node *member, const char *from, const char *to) {
  if (member != NULL && member->type == LT_YAML_SCALAR && lt_str_eqc(member->text, from)) {
    member->text = lt_str_of(to);
  }
}

/* The list of the command has its arguments, too: its first item becomes the command, the list `args`. */
static lt_status config_foreign_split_command(const config_foreign *f, lt_yaml_node *server) {
  lt_yaml_node **at = &server->kids;
  while (*at != NULL && !lt_str_eqc((*at)->key->text, "command")) {
    at = &(*at)->next;
  }
  lt_yaml_node *list = *at;
  if (list == NULL || list->type != LT_YAML_LIST || list->kids == NULL) {
    return LT_OK;
  }
  lt_yaml_node *program = list->kids, *key = lt_arena_zalloc(f->arena, 1, sizeof *key);
  if (key == NULL) {
    return config_foreign_no_memory(f);
  }
  *key = *list->key;
  key->text = LT_STR("args");
  list->kids = program->next;
  list->count--;
  program->key = list->key;
  program->next = list;
  list->key = key;
  *at = program;
  server->count++;
  return LT_OK;
}

/* `oauth: false` says that nobody logs in; Lathe asks for a login only where the server wants one. */
static void config_foreign_drop_oauth(lt_yaml_node *server) {
  for (lt_yaml_node **at = &server->kids; *at != NULL; at = &(*at)->next) {
    if (lt_str_eqc((*at)->key->text, "oauth") && (*at)->type == LT_YAML_SCALAR) {
      *at = (*at)->next;
      server->count--;
      return;
    }
  }
}

static lt_status config_foreign_reshape(const config_foreign *f, lt_yaml_node *server) {
  lt_yaml_node *type = lt_yaml_get(server, "type"), *enabled = lt_yaml_get(server, "enabled");
  bool is_enabled;
  if (server->type != LT_YAML_MAP) {
    return LT_OK;
  }
  config_foreign_reword(type, "local", "stdio");
  config_foreign_reword(type, "remote", "http");
  config_foreign_rename(server, "environment", "env");
  if (enabled != NULL && lt_yaml_bool(enabled, &is_enabled) && lt_yaml_get(server, "disabled") == NULL) {
    enabled->text = is_enabled ? LT_STR("false") : LT_STR("true");
    enabled->key->text = LT_STR("disabled");
  }
  config_foreign_drop_oauth(server);
  return config_foreign_split_command(f, server);
}

/* --- The file ----------------------------------------------------------------------------------------------------- */

/* The servers of VS Code or opencode; NULL: it is not such a file. Both programs write JSON, which has no aliases: each
 * node is in one place only. */
static lt_yaml_node *config_foreign_servers(config_foreign *f, const lt_yaml_node *root) {
  lt_yaml_node *servers = lt_yaml_get(root, "servers"), *mcp = lt_yaml_get(root, "mcp");
  if (lt_yaml_get(root, "mcpServers") != NULL) {
    return NULL;
  }
  f->is_opencode = servers == NULL && mcp != NULL;
  return f->is_opencode ? mcp : servers;
}

static lt_status config_foreign_take_form(config_foreign *f, lt_yaml_node *root) {
  lt_yaml_node *servers = config_foreign_servers(f, root);
  if (servers == NULL) {
    return LT_OK;
  }
  for (lt_yaml_node *server = servers->kids; f->is_opencode && server != NULL; server = server->next) {
    LT_TRY(config_foreign_reshape(f, server));
  }
  servers->key->text = LT_STR("mcpServers");
  servers->next = NULL;
  root->kids = servers;
  root->count = 1;
  return LT_OK;
}

/* Appends the text as plain JSON of the same length; `ret_is_json` is false when it is none, but perhaps YAML. */
static lt_status config_foreign_plain(const config_foreign *f, lt_str text, lt_buf *out, bool *ret_is_json) {
  LT_AUTO_BUF(commentless, LT_CONFIG_MAX_BYTES + 16 * LT_KIB);
  lt_jsonc_blank_comments(text, &commentless);
  lt_jsonc_blank_commas(lt_buf_view(&commentless), out);
  bool is_whole = commentless.status == LT_OK && out->status == LT_OK;
  *ret_is_json = is_whole && lt_json_check(lt_buf_view(out), NULL) == LT_OK;
  bool has_memory = commentless.status != LT_E_NOMEM && out->status != LT_E_NOMEM;
  return has_memory ? LT_OK : config_foreign_no_memory(f); /* a text that is too long is the parser's to refuse */
}

lt_status lt_config_foreign_parse(lt_arena *arena, lt_str text, const char *name, lt_yaml_node **ret_root,
                                  lt_err *err) {
  config_foreign f = {.arena = arena, .name = name, .err = err};
  LT_AUTO_BUF(plain, LT_CONFIG_MAX_BYTES + 16 * LT_KIB);
  lt_yaml_node *root = NULL;
  bool is_json;
  LT_TRY(config_foreign_plain(&f, text, &plain, &is_json));
  LT_TRY(lt_yaml_parse(arena, is_json ? lt_buf_view(&plain) : text, name, &root, err));
  if (is_json && root->type == LT_YAML_MAP) {
    LT_TRY(config_foreign_take_form(&f, root));
  }
  LT_TRY(config_foreign_convert(&f, root));
  *ret_root = root;
  return LT_OK;
}
