/* Finds the configuration files, and decides which of them count: the user's, and over it the project's. */
#include <limits.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/limits.h"
#include "base/sha256.h"
#include "config/config_layer.h"
#include "config/config_read.h"
#include "config/config_review.h"
#include "config/config_take.h"

/* A file that was named or found, and what was read of it. */
typedef struct config_source {
  const char *path; /* as it was named */
  const char *why;
  lt_config_layer layer;
  bool is_found; /* nobody named it: it counts once it is trusted */
  bool is_foreign;
  lt_buf text;
  lt_config_folder folder;
  lt_config_identity identity;
  lt_config_file file; /* for lt_config.files */
} config_source;

typedef struct config_loader {
  const lt_config_sources *sources;
  lt_config *config;
  lt_config_identity user; /* the user's file, where there is one */
  bool has_user;
  lt_err *err;
} config_loader;

static lt_status config_no_memory_for(const char *path, lt_err *err) {
  return lt_fail(err, LT_E_NOMEM, "%s: out of memory while reading it", path);
}

/* --- A file and what it is ---------------------------------------------------------------------------------------- */

static lt_status config_describe_source(config_source *source, lt_config *config, lt_err *err) {
  lt_sha256_hex hash = lt_sha256(lt_buf_view(&source->text));
  source->folder = lt_config_folder_of(source->path);
  source->file = (lt_config_file){
      .name = lt_arena_dup(&config->arena, lt_str_of(source->path)).p,
      .path = lt_config_absolute_path(&config->arena, source->path),
      .layer = source->layer,
      .why = source->why,
      .hash = lt_arena_dup(&config->arena, lt_str_of(hash.text)).p,
      .wants = "",
  };
  bool has_all = source->file.name != NULL && source->file.path != NULL && source->file.hash != NULL;
  return has_all ? LT_OK : config_no_memory_for(source->path, err);
}

/* Adds the source to lt_config.files. */
static lt_status config_add_file(lt_config *config, const config_source *source, lt_err *err) {
  lt_config_file *files = lt_arena_zalloc(&config->arena, config->file_count + 1, sizeof *files);
  if (files == NULL) {
    return config_no_memory_for(source->path, err);
  }
  if (config->file_count > 0) {
    memcpy(files, config->files, config->file_count * sizeof *files);
  }
  files[config->file_count++] = source->file;
  config->files = files;
  return LT_OK;
}

/* --- Trust -------------------------------------------------------------------------------------------------------- */

static lt_config_trust config_trust_in(const lt_config_sources *sources, const lt_config_file *file) {
  const lt_config_file *accepted = sources->accepted;
  if (accepted != NULL && strcmp(accepted->path, file->path) == 0 && strcmp(accepted->hash, file->hash) == 0) {
    return LT_CONFIG_TRUSTED;
  }
  return sources->trust != NULL ? sources->trust(sources->trust_arg, file) : LT_CONFIG_NOT_TRUSTED;
}

/* What the file wants, as lines; "" for a harmless one. Nothing of it takes effect. */
static lt_status config_review_source(config_source *source, lt_config *config, lt_buf *keys, lt_err *err) {
  lt_yaml_node *root = NULL;
  LT_AUTO_BUF(lines, LT_CONFIG_REVIEW_BYTES);
  LT_TRY(lt_yaml_parse(&config->arena, lt_buf_view(&source->text), source->path, &root, err));
  lt_config_review(root, config, &lines);
  lt_config_review_keys(root, config, keys);
  if (lines.status == LT_E_LIMIT || keys->status == LT_E_LIMIT) {
    return lt_fail(err, LT_E_LIMIT, "%s: it wants too much for a person to read it", source->path);
  }
  LT_TRY(lt_buf_check(&lines, err, "out of memory"));
  source->file.wants = lt_arena_dup(&config->arena, lt_buf_view(&lines)).p;
  return source->file.wants != NULL ? LT_OK : config_no_memory_for(source->path, err);
}

/* A path as a word of a shell. */
static void config_quote_path(const char *path, lt_buf *out) {
  bool is_strange = false;
  for (const char *p = path; *p != '\0'; p++) {
    is_strange = is_strange || (unsigned char)*p < 0x20 || *p == 0x7F;
  }
  size_t plain = strspn(path, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_./-+,@%");
  bool has_quotes = path[plain] != '\0' || path[0] == '-';
  lt_buf_addc(out, is_strange ? "$'" : has_quotes ? "'" : "");
  for (const char *p = path; *p != '\0'; p++) {
    if (is_strange && ((unsigned char)*p < 0x20 || *p == 0x7F || *p == '\'' || *p == '\\')) {
      lt_buf_printf(out, "\\x%02x", (unsigned)(unsigned char)*p);
    } else if (*p == '\'') {
      lt_buf_addc(out, "'\\''");
    } else {
      lt_buf_byte(out, *p);
    }
  }
  lt_buf_addc(out, is_strange || has_quotes ? "'" : "");
}

static lt_status config_fail_untrusted(const config_source *source, lt_str keys, lt_err *err) {
  LT_AUTO_BUF(word, 8 * PATH_MAX);
  bool has_changed = source->file.trust == LT_CONFIG_CHANGED;
  config_quote_path(strchr(source->path, '/') == NULL ? "./" : "", &word);
  config_quote_path(source->path, &word);
  LT_TRY(lt_buf_check(&word, err, "out of memory"));
  return lt_fail(err, LT_E_DENIED,
                 "%s %s, and it says more than an untrusted file may (%.*s): read it, then run: lathe trust %s",
                 source->path, has_changed ? "has changed since you trusted it" : "is not trusted",
                 LT_STR_ARG(lt_str_sub(keys, 0, 200)), word.p);
}

/* What an untrusted file says about itself: "harmless" ones count. */
static const char *config_verdict_on(const config_loader *loader, config_source *source, lt_buf *keys, lt_err *err) {
  if (config_review_source(source, loader->config, keys, err) != LT_OK) {
    return "not trusted, and cannot be read";
  }
  source->file.counts = source->file.wants[0] == '\0';
  return source->file.counts ? "not trusted, but harmless" : "not trusted";
}

/* Whether a found file counts. Errors: LT_E_DENIED, when it must be trusted first. */
static lt_status config_judge(config_loader *loader, config_source *source) {
  LT_ERR_VAR(err);
  LT_AUTO_BUF(keys, LT_CONFIG_REVIEW_BYTES);
  source->file.trust = config_trust_in(loader->sources, &source->file);
  source->file.counts = source->file.trust == LT_CONFIG_TRUSTED;
  const char *verdict = source->file.counts ? "trusted" : config_verdict_on(loader, source, &keys, &err);
  source->file.why = lt_arena_printf(&loader->config->arena, "%s, %s", source->why, verdict).p;
  LT_TRY(source->file.why != NULL ? LT_OK : config_no_memory_for(source->path, loader->err));
  LT_TRY(config_add_file(loader->config, source, loader->err));
  if (source->file.counts || loader->sources->leaves_out_untrusted) {
    return LT_OK;
  }
  return err.status != LT_OK ? lt_err_copy(loader->err, &err)
                             : config_fail_untrusted(source, lt_buf_view(&keys), loader->err);
}

/* --- Taking a file ------------------------------------------------------------------------------------------------ */

static lt_status config_take_source(config_loader *loader, const config_source *source) {
  const lt_config_reading r = {
      .config = loader->config,
      .name = source->path,
      .folder = source->folder.path,
      .layer = source->layer,
      .is_found = source->is_found,
      .is_foreign = source->is_foreign,
      .err = loader->err,
  };
  LT_TRY(lt_config_parse_text(&r, lt_buf_view(&source->text)));
  if (!source->is_foreign) {
    loader->config->path = source->file.name;
  }
  return LT_OK;
}

static bool config_is_user_file(const config_loader *loader, const config_source *source) {
  return loader->has_user && source->layer == LT_CONFIG_LAYER_PROJECT && !source->is_foreign &&
         source->identity.device == loader->user.device && source->identity.inode == loader->user.inode;
}

static lt_status config_load_text(config_loader *loader, config_source *source) {
  LT_TRY(lt_config_read(source->path, source->is_found, &source->text, &source->identity, loader->err));
  if (config_is_user_file(loader, source)) { /* it counts already, as the user's */
    return LT_OK;
  }
  LT_TRY(config_describe_source(source, loader->config, loader->err));
  if (source->is_found && source->layer == LT_CONFIG_LAYER_PROJECT) {
    LT_TRY(config_judge(loader, source));
    return source->file.counts ? config_take_source(loader, source) : LT_OK;
  }
  source->file.counts = true;
  LT_TRY(config_take_source(loader, source));
  return config_add_file(loader->config, source, loader->err);
}

static lt_status config_load_source(config_loader *loader, config_source *source) {
  lt_buf_init(&source->text, LT_CONFIG_MAX_BYTES + 16 * LT_KIB);
  lt_status status = config_load_text(loader, source);
  lt_buf_release(&source->text);
  return status;
}

/* --- Where the files are ------------------------------------------------------------------------------------------ */

/* A file that must exist, because `why`, such as "--config", names it. */
static lt_status config_load_named(config_loader *loader, const char *path, const char *why, bool is_foreign) {
  config_source source = {.path = path, .why = why, .layer = LT_CONFIG_LAYER_PROJECT, .is_foreign = is_foreign};
  lt_status status = config_load_source(loader, &source);
  if (status == LT_E_NOTFOUND) {
    return lt_fail(loader->err, LT_E_CONFIG, "%s: there is no such file (%s asks for it)", path, why);
  }
  return status;
}

/* A missing file that is only looked for leaves no error. */
static lt_status config_load_usual(config_loader *loader, config_source *source) {
  lt_err *err = loader->err, why = LT_ERR_INIT;
  loader->err = &why;
  lt_status status = config_load_source(loader, source);
  loader->err = err;
  return status == LT_E_NOTFOUND ? LT_OK : lt_err_copy(err, &why);
}

/* NULL where it is not set or empty. */
static const char *config_environment(const char *name) {
  const char *value = getenv(name);
  return value != NULL && value[0] != '\0' ? value : NULL;
}

/* A relative path in the variable is ignored, as the XDG Base Directory Specification says: it would be somewhere in
 * the current folder. */
lt_status lt_config_user_path(lt_buf *out, lt_err *err) {
  const char *xdg = config_environment("XDG_CONFIG_HOME"), *home = config_environment("HOME");
  bool has_xdg = xdg != NULL && xdg[0] == '/';
  const char *folder = has_xdg ? xdg : home;
  if (folder == NULL || folder[0] != '/') {
    return lt_fail(err, LT_E_NOTFOUND, "there is no home for a configuration: set $HOME or $XDG_CONFIG_HOME");
  }
  lt_buf_printf(out, "%s%s/lathe/lathe.yaml", folder, has_xdg ? "" : "/.config");
  return lt_fail_if(err, out->status, "out of memory while looking for the configuration");
}

static lt_status config_load_user(config_loader *loader) {
  LT_AUTO_BUF(path, PATH_MAX);
  lt_status status = lt_config_user_path(&path, loader->err);
  if (status == LT_E_NOTFOUND) {
    return LT_OK;
  }
  LT_TRY(status);
  config_source source = {.path = path.p, .why = "the user's", .layer = LT_CONFIG_LAYER_USER, .is_found = true};
  LT_TRY(config_load_usual(loader, &source));
  loader->has_user = loader->config->file_count > 0;
  loader->user = source.identity;
  return LT_OK;
}

static lt_status config_load_project(config_loader *loader) {
  const lt_config_sources *sources = loader->sources;
  const char *variable = config_environment("LATHE_CONFIG");
  config_source here = {
      .path = "lathe.yaml", .why = "./lathe.yaml", .layer = LT_CONFIG_LAYER_PROJECT, .is_found = true};
  config_source referred = {
      .path = sources->found_file, .why = sources->found_file, .layer = LT_CONFIG_LAYER_PROJECT, .is_found = true};
  if (sources->config_file != NULL) {
    return config_load_named(loader, sources->config_file, "--config", false);
  }
  if (sources->found_file != NULL) {
    return config_load_source(loader, &referred);
  }
  if (variable != NULL) {
    return config_load_named(loader, variable, "$LATHE_CONFIG", false);
  }
  return config_load_usual(loader, &here);
}

/* A path counts from the current folder. Its folder is made, as that of the usual database is: `lathe mcp install`
 * writes that one's path before anything was stored. */
static lt_status config_take_store_flag(const config_loader *loader) {
  lt_str url = lt_str_of(loader->sources->store), path = lt_str_sub(url, strlen("sqlite:"), url.n);
  lt_arena *arena = &loader->config->arena;
  if (!lt_str_starts(url, LT_STR("sqlite:")) || path.n == 0) {
    return lt_fail(loader->err, LT_E_CONFIG, "--store must be sqlite:PATH, or sqlite::memory: to keep nothing");
  }
  loader->config->store = lt_str_eqc(path, ":memory:") ? path.p : lt_config_absolute_path(arena, path.p);
  if (loader->config->store == NULL) {
    return config_no_memory_for("--store", loader->err);
  }
  if (!lt_str_eqc(path, ":memory:")) {
    lt_file_make_folders(loader->config->store);
  }
  return LT_OK;
}

/* Somebody else's process has a configuration of its own: what a person keeps for Lathe is not for it. */
static lt_status config_load_alone(config_loader *loader) {
  const lt_config_sources *sources = loader->sources;
  lt_config *config = loader->config;
  if (sources->text == NULL) {
    return sources->config_file != NULL ? config_load_named(loader, sources->config_file, "config_file", false) : LT_OK;
  }
  const lt_config_reading r = {
      .config = config,
      .name = "the configuration",
      .folder = lt_config_absolute_path(&config->arena, sources->folder != NULL ? sources->folder : "."),
      .layer = LT_CONFIG_LAYER_PROJECT,
      .err = loader->err,
  };
  return r.folder != NULL ? lt_config_parse_text(&r, lt_str_of(sources->text))
                          : config_no_memory_for(r.name, loader->err);
}

lt_status lt_config_load(const lt_config_sources *sources, lt_config *ret_config, lt_err *err) {
  config_loader loader = {.sources = sources, .config = ret_config, .err = err};
  lt_config_init(ret_config);
  if (sources->is_alone) {
    LT_TRY(config_load_alone(&loader));
    return lt_config_complete(ret_config, err);
  }
  LT_TRY(config_load_user(&loader));
  LT_TRY(config_load_project(&loader));
  if (sources->mcp_config_file != NULL) {
    LT_TRY(config_load_named(&loader, sources->mcp_config_file, "--mcp-config", true));
  }
  if (sources->store != NULL) {
    LT_TRY(config_take_store_flag(&loader));
  }
  return lt_config_complete(ret_config, err);
}

static lt_status config_inspect_source(config_source *source, lt_config *config, lt_err *err) {
  LT_AUTO_BUF(keys, LT_CONFIG_REVIEW_BYTES);
  LT_TRY(lt_config_read(source->path, true, &source->text, &source->identity, err));
  LT_TRY(config_describe_source(source, config, err));
  LT_TRY(config_review_source(source, config, &keys, err));
  return config_add_file(config, source, err);
}

lt_status lt_config_inspect(const char *path, lt_config *ret_config, lt_err *err) {
  config_source source = {.path = path, .why = path, .layer = LT_CONFIG_LAYER_PROJECT};
  lt_config_init(ret_config);
  lt_buf_init(&source.text, LT_CONFIG_MAX_BYTES + 16 * LT_KIB);
  lt_status status = config_inspect_source(&source, ret_config, err);
  lt_buf_release(&source.text);
  return status;
}

const lt_config_file *lt_config_untrusted(const lt_config *config) {
  for (size_t i = 0; i < config->file_count; i++) {
    if (!config->files[i].counts) {
      return &config->files[i];
    }
  }
  return NULL;
}
