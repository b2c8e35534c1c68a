/* Finds the configuration files and reads them as text. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/limits.h"
#include "base/sha256.h"
#include "config/config_layer.h"

static lt_status config_read_to_end(int fd, lt_buf *buf) {
  for (;;) {
    char *into = lt_buf_reserve(buf, 16 * LT_KIB);
    if (into == NULL) {
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
static lt_status config_read_file(const char *path, lt_buf *buf, lt_err *err) {
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  lt_status status = fd < 0 ? LT_E_IO : config_read_to_end(fd, buf);
  int error = errno;
  if (fd >= 0) {
    close(fd);
  }
  if (status == LT_E_LIMIT) {
    return lt_fail(err, LT_E_LIMIT, "%s: larger than a configuration may be (%lu MiB)", path,
                   LT_CONFIG_MAX_BYTES / LT_MIB);
  }
  if (status == LT_E_NOMEM) {
    return lt_fail(err, LT_E_NOMEM, "%s: out of memory while reading it", path);
  }
  if (status != LT_OK) {
    bool is_missing = fd < 0 && (error == ENOENT || error == ENOTDIR);
    return lt_fail(err, is_missing ? LT_E_NOTFOUND : LT_E_CONFIG, "%s: cannot be read: %s", path,
                   error == EISDIR ? "it is a folder" : strerror(error));
  }
  return LT_OK;
}

typedef struct config_folder {
  char path[PATH_MAX];
} config_folder;

/* The folder of a file, absolute if possible. */
static config_folder config_folder_of(const char *path) {
  config_folder named, absolute;
  const char *slash = strrchr(path, '/');
  if (slash == NULL) {
    snprintf(named.path, sizeof named.path, ".");
  } else {
    snprintf(named.path, sizeof named.path, "%.*s", slash == path ? 1 : (int)(slash - path), path);
  }
  return realpath(named.path, absolute.path) != NULL ? absolute : named;
}

/* A file that was named or found. */
typedef struct config_source {
  const char *path;
  const char *why;
  lt_config_layer layer;
} config_source;

static lt_status config_no_memory_for(const char *path, lt_err *err) {
  return lt_fail(err, LT_E_NOMEM, "%s: out of memory while reading it", path);
}

/* The folder's links are resolved, the file's own is not: relative paths count from the folder of the link. */
static const char *config_absolute_path(lt_arena *arena, const char *path, const config_folder *folder) {
  const char *slash = strrchr(path, '/');
  const char *name = slash != NULL ? slash + 1 : path;
  bool is_root = strcmp(folder->path, "/") == 0;
  return lt_arena_printf(arena, "%s%s%s", folder->path, is_root ? "" : "/", name).p;
}

/* Adds a file to lt_config.files. */
static lt_status config_add_file(lt_config *config, const config_source *source, const config_folder *folder,
                                 lt_str text, lt_err *err) {
  lt_sha256_hex hash = lt_sha256(text);
  lt_config_file *files = lt_arena_zalloc(&config->arena, config->file_count + 1, sizeof *files);
  lt_config_file file = {
      .path = config_absolute_path(&config->arena, source->path, folder),
      .layer = source->layer,
      .why = source->why,
      .hash = lt_arena_dup(&config->arena, lt_str_of(hash.text)).p,
      .counts = true,
  };
  if (files == NULL || file.path == NULL || file.hash == NULL) {
    return config_no_memory_for(source->path, err);
  }
  if (config->file_count > 0) {
    memcpy(files, config->files, config->file_count * sizeof *files);
  }
  files[config->file_count++] = file;
  config->files = files;
  return LT_OK;
}

/* Reads the main file; `config` has the defaults. */
static lt_status config_load_main(const config_source *source, lt_config *config, lt_err *err) {
  LT_AUTO_BUF(text, LT_CONFIG_MAX_BYTES + 16 * LT_KIB);
  LT_TRY(config_read_file(source->path, &text, err));
  config_folder folder = config_folder_of(source->path);
  LT_TRY(lt_config_parse_layer(lt_buf_view(&text), source->path, folder.path, source->layer, config, err));
  config->path = lt_arena_dup(&config->arena, lt_str_of(source->path)).p;
  LT_TRY(config->path != NULL ? LT_OK : config_no_memory_for(source->path, err));
  return config_add_file(config, source, &folder, lt_buf_view(&text), err);
}

static lt_status config_load_mcp(const char *path, lt_config *config, lt_err *err) {
  const config_source source = {.path = path, .why = "--mcp-config", .layer = LT_CONFIG_LAYER_PROJECT};
  LT_AUTO_BUF(text, LT_CONFIG_MAX_BYTES + 16 * LT_KIB);
  LT_TRY(config_read_file(path, &text, err));
  config_folder folder = config_folder_of(path);
  LT_TRY(lt_config_parse_mcp(lt_buf_view(&text), path, folder.path, config, err));
  return config_add_file(config, &source, &folder, lt_buf_view(&text), err);
}

/* Reads a file that must exist, because `asked_by`, such as "--config", names it. */
static lt_status config_must_exist(lt_status status, const char *path, const char *asked_by, lt_err *err) {
  if (status == LT_E_NOTFOUND) {
    return lt_fail(err, LT_E_CONFIG, "%s: there is no such file (%s asks for it)", path, asked_by);
  }
  return status;
}

/* A missing optional file leaves no error. */
static lt_status config_load_usual(const config_source *source, lt_config *config, bool *ret_is_there, lt_err *err) {
  lt_err why = LT_ERR_INIT;
  lt_status status = config_load_main(source, config, &why);
  *ret_is_there = status != LT_E_NOTFOUND;
  return *ret_is_there ? lt_err_copy(err, &why) : LT_OK;
}

/* NULL where it is not set or empty. */
static const char *config_environment(const char *name) {
  const char *value = getenv(name);
  return value != NULL && value[0] != '\0' ? value : NULL;
}

/* $XDG_CONFIG_HOME/lathe/lathe.yaml, with the default that the XDG Base Directory Specification gives. */
static lt_status config_load_user(lt_config *config, lt_err *err) {
  const char *xdg = config_environment("XDG_CONFIG_HOME");
  const char *folder = xdg != NULL ? xdg : config_environment("HOME");
  bool is_there = false;
  LT_AUTO_BUF(path, PATH_MAX);
  if (folder == NULL) {
    return LT_OK;
  }
  lt_buf_printf(&path, "%s%s/lathe/lathe.yaml", folder, xdg != NULL ? "" : "/.config");
  LT_TRY(lt_buf_check(&path, err, "out of memory while looking for the configuration"));
  const config_source source = {.path = path.p, .why = "the user's", .layer = LT_CONFIG_LAYER_USER};
  return config_load_usual(&source, config, &is_there, err);
}

/* Reads the file that `why` names: a flag or a variable. */
static lt_status config_load_named(const char *path, const char *why, lt_config *config, lt_err *err) {
  const config_source source = {.path = path, .why = why, .layer = LT_CONFIG_LAYER_PROJECT};
  return config_must_exist(config_load_main(&source, config, err), path, why, err);
}

static lt_status config_find_main(const lt_config_sources *sources, lt_config *config, lt_err *err) {
  const config_source found = {.path = "lathe.yaml", .why = "./lathe.yaml", .layer = LT_CONFIG_LAYER_PROJECT};
  const char *variable = config_environment("LATHE_CONFIG");
  bool is_there = false;
  if (sources->config_file != NULL) {
    return config_load_named(sources->config_file, "--config", config, err);
  }
  if (variable != NULL) {
    return config_load_named(variable, "$LATHE_CONFIG", config, err);
  }
  LT_TRY(config_load_usual(&found, config, &is_there, err));
  return is_there ? LT_OK : config_load_user(config, err);
}

lt_status lt_config_load(const lt_config_sources *sources, lt_config *ret_config, lt_err *err) {
  const char *mcp = sources->mcp_config_file;
  lt_config_init(ret_config);
  LT_TRY(config_find_main(sources, ret_config, err));
  return mcp == NULL ? LT_OK : config_must_exist(config_load_mcp(mcp, ret_config, err), mcp, "--mcp-config", err);
}
