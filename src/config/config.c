#include "config/config.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/limits.h"
#include "base/mem.h"
#include "config/config_parts.h"

static const char *const none[] = {NULL};

static void set_defaults(lt_config *config) {
  *config = (lt_config){
      .timeout_ms = LT_RUN_TIMEOUT_MS,
      .max_output_bytes = LT_RUN_OUTPUT_MAX_BYTES,
      .warnings = none,
      .require_walls = true,
      .python = {.env = none},
      .typescript = {.check = -1},
      .plan = {.max_steps = LT_PLAN_STEPS, .concurrency = LT_PLAN_AT_ONCE},
  };
  lt_arena_init(&config->arena, LT_CONFIG_MEMORY_BYTES);
}

void lt_config_release(lt_config *config) {
  lt_arena_release(&config->arena);
  set_defaults(config);
}

/* --- What the parts share ----------------------------------------------------------------------------------------- */

lt_status lt_config_no_memory(const lt_config_reading *r) {
  return lt_fail(r->err, LT_E_NOMEM, "%s: out of memory while reading it", r->name);
}

lt_status lt_config_warn(const lt_config_reading *r, const char *fmt, ...) {
  lt_config *config = r->config;
  size_t n = 0;
  while (config->warnings[n]) {
    n++;
  }
  if (n == LT_CONFIG_WARNINGS_MAX) {
    return LT_OK;
  }
  char message[LT_ERR_MSG_MAX];
  va_list args;
  va_start(args, fmt);
  vsnprintf(message, sizeof message, fmt, args);
  va_end(args);
  const char **warnings = lt_arena_zalloc(&config->arena, n + 2, sizeof *warnings);
  lt_str kept = lt_arena_dup(&config->arena, lt_str_of(message));
  if (!warnings || !kept.p) {
    return lt_config_no_memory(r);
  }
  memcpy(warnings, config->warnings, n * sizeof *warnings);
  warnings[n] = kept.p;
  config->warnings = warnings;
  return LT_OK;
}

const lt_yaml_node *lt_config_given(const lt_yaml_node *map, const char *key) {
  const lt_yaml_node *node = lt_yaml_get(map, key);
  return node && node->type != LT_YAML_NULL ? node : NULL;
}

const char *lt_config_path(const lt_config_reading *r, const char *path) {
  if (path[0] == '/') {
    return path;
  }
  if (strcmp(path, ".") == 0) {
    path = "";
  }
  bool root = strcmp(r->folder, "/") == 0;
  return lt_arena_printf(&r->config->arena, "%s%s%s", r->folder, root || !path[0] ? "" : "/", path).p;
}

/* --- Checked text into the configuration -------------------------------------------------------------------------- */

static lt_status take_modules(const lt_config_reading *r, const lt_yaml_node *list) {
  lt_config_module *modules = lt_arena_zalloc(&r->config->arena, list->count + 1, sizeof *modules);
  if (!modules) {
    return lt_config_no_memory(r);
  }
  size_t n = 0;
  for (const lt_yaml_node *item = list->kids; item; item = item->next, n++) {
    LT_TRY(lt_config_expand(r, lt_yaml_get(item, "name"), &modules[n].name));
    LT_TRY(lt_config_expand(r, lt_yaml_get(item, "path"), &modules[n].path));
    for (size_t i = 0; i < n; i++) {
      if (strcmp(modules[i].name, modules[n].name) == 0) {
        return lt_fail(r->err, LT_E_CONFIG, "%s:%u: modules[%zu] has the same name as modules[%zu]", r->name,
                       item->line, n, i);
      }
    }
    modules[n].path = lt_config_path(r, modules[n].path);
    if (!modules[n].path) {
      return lt_config_no_memory(r);
    }
  }
  r->config->modules = modules;
  r->config->module_count = n;
  return LT_OK;
}

static void take_sandbox(lt_config *config, const lt_yaml_node *map) {
  int64_t mb;
  lt_yaml_int(lt_yaml_get(map, "timeoutMs"), &config->timeout_ms);
  if (lt_yaml_int(lt_yaml_get(map, "memoryMb"), &mb)) {
    config->memory_bytes = mb * (int64_t)LT_MIB;
  }
  lt_yaml_int(lt_yaml_get(map, "maxOutputBytes"), &config->max_output_bytes);
  lt_yaml_bool(lt_yaml_get(map, "requireWalls"), &config->require_walls);
}

/* Reads nothing that lt_config_check has not seen: a key is absent, empty or right. */
static lt_status take_own(const lt_config_reading *r, const lt_yaml_node *root) {
  const lt_yaml_node *modules = lt_config_given(root, "modules");
  if (modules) {
    LT_TRY(take_modules(r, modules));
  }
  LT_TRY(lt_config_take_tools(r, lt_config_given(root, "tools")));
  LT_TRY(lt_config_take_plugins(r, lt_config_given(root, "plugins")));
  LT_TRY(lt_config_take_models(r, lt_config_given(root, "models")));
  LT_TRY(lt_config_take_defaults(r, lt_config_given(root, "defaults")));
  LT_TRY(lt_config_take_store(r, lt_config_given(root, "store")));
  LT_TRY(lt_config_take_python(r, lt_yaml_get(root, "python")));
  LT_TRY(lt_config_take_deno(r, lt_config_given(root, "deno")));
  LT_TRY(lt_config_take_typescript(r, lt_config_given(root, "typescript")));
  lt_config_take_plan(r, lt_yaml_get(root, "plan"));
  take_sandbox(r->config, lt_yaml_get(root, "sandbox"));
  return LT_OK;
}

static lt_status read_text(const lt_config_reading *r, lt_str yaml) {
  lt_yaml_node *root = NULL;
  LT_TRY(lt_yaml_parse(&r->config->arena, yaml, r->name, &root, r->err));
  LT_TRY(lt_config_check(r, root));
  if (!r->foreign) {
    LT_TRY(take_own(r, root));
  }
  const lt_yaml_node *servers = lt_yaml_get(root, "mcpServers");
  return servers && servers->type == LT_YAML_MAP ? lt_config_add_servers(r, servers) : LT_OK;
}

lt_status lt_config_parse(lt_str yaml, const char *name, const char *folder, lt_config *ret_config, lt_err *err) {
  set_defaults(ret_config);
  return read_text(&(lt_config_reading){.config = ret_config, .name = name, .folder = folder, .err = err}, yaml);
}

lt_status lt_config_parse_mcp(lt_str text, const char *name, const char *folder, lt_config *config, lt_err *err) {
  lt_config_reading r = {.config = config, .name = name, .folder = folder, .foreign = true, .err = err};
  return read_text(&r, text);
}

/* --- Files -------------------------------------------------------------------------------------------------------- */

static lt_status read_to_end(int fd, lt_buf *buf) {
  for (;;) {
    char *into = lt_buf_reserve(buf, 16 * LT_KIB);
    if (!into) {
      return buf->status;
    }
    ssize_t n = read(fd, into, 16 * LT_KIB);
    if (n > 0) {
      lt_buf_commit(buf, (size_t)n);
    } else if (n == 0) {
      return LT_OK;
    } else if (errno != EINTR) {
      return LT_E_IO;
    }
  }
}

/* LT_E_NOTFOUND: there is no such file. Pipes are fine. */
static lt_status read_file(const char *path, lt_buf *buf, lt_err *err) {
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  lt_status status = fd < 0 ? LT_E_IO : read_to_end(fd, buf);
  int error = errno;
  if (fd >= 0) {
    close(fd);
  }
  if (status == LT_OK) {
    return LT_OK;
  }
  if (status == LT_E_LIMIT) {
    return lt_fail(err, LT_E_LIMIT, "%s: larger than a configuration may be (%lu MiB)", path,
                   LT_CONFIG_MAX_BYTES / LT_MIB);
  }
  if (status == LT_E_NOMEM) {
    return lt_fail(err, LT_E_NOMEM, "%s: out of memory while reading it", path);
  }
  bool missing = fd < 0 && (error == ENOENT || error == ENOTDIR);
  return lt_fail(err, missing ? LT_E_NOTFOUND : LT_E_CONFIG, "%s: cannot be read: %s", path,
                 error == EISDIR ? "it is a folder" : strerror(error));
}

/* The folder a file is in, absolute where that can be found out. */
static lt_status folder_of(const char *path, lt_arena *arena, const char **ret) {
  const char *slash = strrchr(path, '/');
  lt_str folder = slash ? lt_str_from(path, slash == path ? 1 : (size_t)(slash - path)) : LT_STR(".");
  char absolute[PATH_MAX];
  lt_str kept = lt_arena_dup(arena, folder);
  if (kept.p && realpath(kept.p, absolute)) {
    kept = lt_arena_dup(arena, lt_str_of(absolute));
  }
  *ret = kept.p;
  return kept.p ? LT_OK : LT_E_NOMEM;
}

/* Reads a file into `config`: the main one, or (`foreign`) another client's. */
static lt_status load_file(const char *path, bool foreign, lt_config *config, lt_err *err) {
  lt_buf buf;
  lt_buf_init(&buf, LT_CONFIG_MAX_BYTES + 16 * LT_KIB);
  lt_config_reading r = {.config = config, .foreign = foreign, .err = err};
  r.name = lt_arena_dup(&config->arena, lt_str_of(path)).p;
  lt_status status = r.name ? read_file(path, &buf, err) : LT_E_NOMEM;
  if (status == LT_OK) {
    status = folder_of(path, &config->arena, &r.folder);
  }
  if (status == LT_OK) {
    status = read_text(&r, lt_buf_view(&buf));
  } else if (status == LT_E_NOMEM) {
    lt_fail(err, LT_E_NOMEM, "%s: out of memory while reading it", path);
  }
  if (status == LT_OK && !foreign) {
    config->path = r.name;
  }
  lt_buf_release(&buf);
  return status;
}

/* A file that was asked for must be there. `asked_by` says who asked. */
static lt_status load_asked(const char *path, const char *asked_by, bool foreign, lt_config *config, lt_err *err) {
  lt_status status = load_file(path, foreign, config, err);
  if (status == LT_E_NOTFOUND) {
    return lt_fail(err, LT_E_CONFIG, "%s: there is no such file (%s asks for it)", path, asked_by);
  }
  return status;
}

static bool variable_set(const char *name, const char **ret) {
  const char *value = getenv(name);
  if (value && value[0]) {
    *ret = value;
    return true;
  }
  return false;
}

/* $XDG_CONFIG_HOME/lathe/lathe.yaml, with the default that the XDG Base Directory Specification gives; may be NULL. */
static lt_status user_file(lt_arena *arena, const char **ret) {
  const char *folder;
  lt_str path = LT_STR_NULL;
  *ret = NULL;
  if (variable_set("XDG_CONFIG_HOME", &folder)) {
    path = lt_arena_printf(arena, "%s/lathe/lathe.yaml", folder);
  } else if (variable_set("HOME", &folder)) {
    path = lt_arena_printf(arena, "%s/.config/lathe/lathe.yaml", folder);
  } else {
    return LT_OK;
  }
  *ret = path.p;
  return path.p ? LT_OK : LT_E_NOMEM;
}

/* A file that need not be there: nothing is said of one that is not. */
static lt_status load_usual(const char *path, lt_config *config, bool *ret_there, lt_err *err) {
  lt_err fault = LT_ERR_INIT;
  lt_status status = load_file(path, false, config, &fault);
  *ret_there = status != LT_E_NOTFOUND;
  if (status != LT_OK && *ret_there && err != NULL) {
    *err = fault;
  }
  return *ret_there ? status : LT_OK;
}

static lt_status load_main(const lt_config_sources *sources, lt_config *config, lt_err *err) {
  const char *path;
  bool there = false;
  if (sources->config_file) {
    return load_asked(sources->config_file, "--config", false, config, err);
  }
  if (variable_set("LATHE_CONFIG", &path)) {
    return load_asked(path, "$LATHE_CONFIG", false, config, err);
  }
  LT_TRY(load_usual("lathe.yaml", config, &there, err));
  if (there) {
    return LT_OK;
  }
  if (user_file(&config->arena, &path) != LT_OK) {
    return lt_fail(err, LT_E_NOMEM, "out of memory while looking for the configuration");
  }
  return path ? load_usual(path, config, &there, err) : LT_OK;
}

lt_status lt_config_load(const lt_config_sources *sources, lt_config *ret_config, lt_err *err) {
  set_defaults(ret_config);
  LT_TRY(load_main(sources, ret_config, err));
  if (sources->mcp_config_file) {
    return load_asked(sources->mcp_config_file, "--mcp-config", true, ret_config, err);
  }
  return LT_OK;
}
