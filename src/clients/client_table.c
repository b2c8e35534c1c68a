#include "clients/client_table.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/nearest.h"

/* Most clients read the form that Claude Desktop has begun with. */
#define LIKE_CLAUDE .format = LT_CLIENT_JSON, .section = "mcpServers", .command = "command", .env = "env"

/* clang-format off */
static const lt_client client_table[] = {
    {.name = "claude-code", .title = "Claude Code", LIKE_CLAUDE, .url = "url",
     .place = {"CLAUDE_CONFIG_DIR", ".claude.json", "~/.claude.json"}, .project = ".mcp.json",
     .stdio_type = "stdio", .http_type = "http", .reference = LT_CLIENT_SHELL,
     .next = "start claude again; /mcp shows it"},
    {.name = "claude-desktop", .title = "Claude Desktop", LIKE_CLAUDE,
     .place = {NULL, NULL, "@/Claude/claude_desktop_config.json"},
     .next = "quit Claude Desktop and start it again"},
    {.name = "codex", .title = "Codex", .format = LT_CLIENT_TOML, .section = "mcp_servers", .command = "command",
     .env = "env", .env_names = "env_vars", .url = "url",
     .token_env = "bearer_token_env_var",
     .place = {"CODEX_HOME", "config.toml", "~/.codex/config.toml"}, .project = ".codex/config.toml",
     .next = "start codex again; /mcp shows it"},
    {.name = "cursor", .title = "Cursor", LIKE_CLAUDE, .url = "url",
     .place = {NULL, NULL, "~/.cursor/mcp.json"}, .project = ".cursor/mcp.json", .reference = LT_CLIENT_ENV,
     .next = "switch it on in Cursor's settings, under MCP"},
    {.name = "vscode", .title = "VS Code", .format = LT_CLIENT_JSON, .section = "servers", .command = "command",
     .env = "env", .url = "url", .stdio_type = "stdio", .http_type = "http", .reference = LT_CLIENT_ENV,
     .place = {NULL, NULL, "@/Code/User/mcp.json"}, .project = ".vscode/mcp.json",
     .next = "run \"MCP: List Servers\" in VS Code and start it"},
    {.name = "opencode", .title = "opencode", .format = LT_CLIENT_JSON, .section = "mcp", .command = "command",
     .has_one_list = true, .env = "environment", .url = "url", .stdio_type = "local", .http_type = "remote",
     .extra = "\"enabled\":true", .reference = LT_CLIENT_BRACES,
     .place = {"OPENCODE_CONFIG", "", "@/opencode/opencode.json"}, .other = "@/opencode/opencode.jsonc",
     .project = "opencode.json", .next = "start opencode again; opencode mcp list shows it"},
    {.name = "gemini-cli", .title = "Gemini CLI", LIKE_CLAUDE, .url = "httpUrl",
     .place = {"GEMINI_CLI_HOME", ".gemini/settings.json", "~/.gemini/settings.json"}, .project = ".gemini/settings.json",
     .reference = LT_CLIENT_DOLLAR, .next = "start gemini again; /mcp shows it"},
    {.name = "qwen-code", .title = "Qwen Code", LIKE_CLAUDE, .url = "httpUrl",
     .place = {NULL, NULL, "~/.qwen/settings.json"}, .project = ".qwen/settings.json",
     .reference = LT_CLIENT_DOLLAR, .next = "start qwen again; /mcp shows it"},
    {.name = "cline", .title = "Cline", LIKE_CLAUDE, .url = "url", .http_type = "streamableHttp",
     .place = {"CLINE_DIR", "data/settings/cline_mcp_settings.json", "~/.cline/data/settings/cline_mcp_settings.json"},
     .other = "@/Code/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json",
     .reference = LT_CLIENT_ENV, .next = "Cline reads the file again by itself"},
    {.name = "continue", .title = "Continue", .format = LT_CLIENT_YAML, .section = "mcpServers", .is_list = true,
     .has_name_inside = true, .command = "command", .env = "env", .url = "url", .http_type = "streamable-http",
     .fresh = "name: Local config\nversion: 1.0.0\nschema: v1\n", .reference = LT_CLIENT_TEMPLATE,
     .place = {"CONTINUE_GLOBAL_DIR", "config.yaml", "~/.continue/config.yaml"},
     .next = "Continue's agent mode has it after a reload"},
    {.name = "zed", .title = "Zed", .format = LT_CLIENT_JSON, .section = "context_servers", .command = "command",
     .env = "env", .url = "url",
     .place = {NULL, NULL, "@/zed/settings.json"}, .project = ".zed/settings.json",
     .next = "Zed's agent panel shows it in its settings"},
    {.name = "goose", .title = "goose", .format = LT_CLIENT_YAML, .section = "extensions", .has_name_inside = true,
     .command = "cmd", .env = "envs", .url = "uri", .stdio_type = "stdio", .http_type = "streamable_http",
     .extra = "\"enabled\":true,\"timeout\":300",
     .place = {NULL, NULL, "@/goose/config.yaml"}, .next = "start goose again"},
    {.name = NULL},
};
/* clang-format on */

/* --- Names -------------------------------------------------------------------------------------------------------- */

const lt_client *lt_client_table_find(const char *name, const char **ret_nearest) {
  lt_nearest nearest = lt_nearest_to(lt_str_of(name), 3);
  const char *beginning = NULL; /* "claude" and "gemini" are beginnings */
  for (const lt_client *client = client_table; client->name != NULL; client++) {
    if (strcmp(client->name, name) == 0) {
      return client;
    }
    bool begins = name[0] != '\0' && lt_str_starts(lt_str_of(client->name), lt_str_of(name));
    beginning = beginning == NULL && begins ? client->name : beginning;
    lt_nearest_offer(&nearest, lt_str_of(client->name));
  }
  *ret_nearest = beginning != NULL ? beginning : nearest.name.p;
  return NULL;
}

void lt_client_table_list(lt_buf *out) {
  for (const lt_client *client = client_table; client->name != NULL; client++) {
    lt_buf_addc(out, client != client_table ? ", " : "");
    lt_buf_addc(out, client->name);
  }
}

/* --- Paths -------------------------------------------------------------------------------------------------------- */

static const char *client_table_variable(const char *name) {
  const char *value = name != NULL ? getenv(name) : NULL;
  return value != NULL && value[0] != '\0' ? value : NULL;
}

/* Relative paths in $XDG_CONFIG_HOME are ignored, as its specification says. */
static lt_status client_table_add_usual(const char *usual, lt_buf *out, lt_err *err) {
  const char *home = client_table_variable("HOME"), *xdg = client_table_variable("XDG_CONFIG_HOME");
  bool has_xdg = usual[0] == '@' && xdg != NULL && xdg[0] == '/';
  if (!has_xdg && (home == NULL || home[0] != '/')) {
    return lt_fail(err, LT_E_NOTFOUND,
                   "there is no home to look for the client's file: set $HOME, or name it by --file");
  }
  lt_buf_printf(out, "%s%s%s", has_xdg ? xdg : home, usual[0] == '@' && !has_xdg ? "/.config" : "", usual + 1);
  return lt_buf_check(out, err, "out of memory");
}

static lt_status client_table_add_user(const lt_client *client, lt_buf *out, lt_err *err) {
  const char *folder = client_table_variable(client->place.variable);
  if (folder != NULL) {
    lt_buf_printf(out, "%s%s%s", folder, client->place.within[0] != '\0' ? "/" : "", client->place.within);
    return lt_buf_check(out, err, "out of memory");
  }
  LT_TRY(client_table_add_usual(client->place.usual, out, err));
  if (client->other == NULL || access(out->p, F_OK) == 0) {
    return LT_OK;
  }
  LT_AUTO_BUF(other, PATH_MAX);
  LT_TRY(client_table_add_usual(client->other, &other, err));
  if (access(other.p, F_OK) == 0) {
    lt_buf_clear(out);
    lt_buf_add(out, lt_buf_view(&other));
  }
  return lt_buf_check(out, err, "out of memory");
}

lt_status lt_client_table_path(const lt_client *client, bool is_project, lt_buf *out, lt_err *err) {
  if (!is_project) {
    return client_table_add_user(client, out, err);
  }
  if (client->project == NULL) {
    return lt_fail(err, LT_E_UNSUPPORTED, "%s has no file for a project: leave --project out", client->title);
  }
  lt_buf_addc(out, client->project);
  return lt_buf_check(out, err, "out of memory");
}
