/* Loading a plugin: the shared object, what it says of itself, its config, its setup. */
#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/limits.h"
#include "base/mem.h"
#include "json/json.h"
#include "plugin/host_impl.h"
#include "plugin/load.h"

/* --- Structs that say their own size ------------------------------------------------------------------------------ */
bool lt_struct_read(void *ret, size_t size, size_t least, const void *theirs) {
  size_t their_size = 0;
  if (theirs == NULL) {
    return false;
  }
  memcpy(&their_size, theirs, sizeof their_size);
  if (their_size < least || their_size > LT_PLUGIN_STRUCT_BYTES) {
    return false;
  }
  memset(ret, 0, size);
  memcpy(ret, theirs, their_size < size ? their_size : size);
  return true;
}

lt_str lt_plugin_text(const char *text, size_t max) {
  size_t n = text != NULL ? strnlen(text, max + 1) : 0;
  return text == NULL || n > max ? LT_STR_NULL : lt_str_from(text, n);
}

static const char *keep_text(lt_arena *arena, const char *text, size_t max) {
  return text != NULL ? lt_arena_dup(arena, lt_plugin_text(text, max)).p : NULL;
}

/* --- What it says of itself --------------------------------------------------------------------------------------- */
static bool is_id(lt_str id) {
  for (size_t i = 0; i < id.n; i++) {
    char c = id.p[i];
    if (!((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-')) {
      return false;
    }
  }
  return id.n > 0;
}

static lt_status read_self(lt_plugin *plugin, const lathe_plugin *theirs, lt_err *err) {
  lathe_plugin *is = &plugin->is;
  if (!lt_struct_read(is, sizeof *is, offsetof(lathe_plugin, ready), theirs)) {
    return lt_fail(err, LT_E_INVALID,
                   "its lathe_plugin says a size that makes no sense: .size has to be "
                   "sizeof(lathe_plugin)");
  }
  plugin->id = lt_plugin_text(is->id, LT_PLUGIN_ID_BYTES);
  if (!is_id(plugin->id)) {
    return lt_fail(err, LT_E_INVALID, "its id \"%.*s\" cannot be used: 1 to %d of a-z, 0-9 and \"-\"",
                   LT_STR_ARG(lt_plugin_text(is->id, LT_PLUGIN_NAME_BYTES)), LT_PLUGIN_ID_BYTES);
  }
  if ((is->flags & ~(unsigned)(LATHE_ON_LOOP | LATHE_NO_NAMESPACE)) != 0) {
    return lt_fail(err, LT_E_UNSUPPORTED,
                   "it asks for things that this Lathe (%s) does not know (flags 0x%x): it needs "
                   "a newer one",
                   LT_VERSION, is->flags);
  }
  return LT_OK;
}

static lt_status keep_texts(lt_plugin *plugin, lt_str config, lt_err *err) {
  lathe_plugin *is = &plugin->is;
  lt_arena *arena = &plugin->arena;
  is->id = keep_text(arena, is->id, LT_PLUGIN_ID_BYTES);
  plugin->id.p = is->id;
  is->name = keep_text(arena, is->name, LT_PLUGIN_LINE_BYTES);
  is->description = keep_text(arena, is->description, LT_PLUGIN_LINE_BYTES);
  plugin->config = lt_arena_dup(arena, lt_str_trim(config).n > 0 ? config : LT_STR("{}"));
  if (is->id == NULL || plugin->config.p == NULL) {
    return lt_fail(err, LT_E_NOMEM, "no memory for another plugin");
  }
  return LT_OK;
}

static lt_status read_schema(const char *text, const char *what, lt_schema **ret_schema, lt_err *err) {
  lt_str schema = lt_plugin_text(text, LT_SCHEMA_MAX_BYTES);
  if (text == NULL) {
    return LT_OK;
  }
  if (lt_schema_new(schema, ret_schema, err) != LT_OK) {
    return lt_err_prefix(err, "its %s cannot be used", what);
  }
  return LT_OK;
}

/* --- Its config --------------------------------------------------------------------------------------------------- */
static lt_status check_config_in(const lt_plugin *plugin, lt_arena *arena, lt_buf *faults, lt_err *err) {
  lt_json_doc doc;
  if (lt_json_parse(arena, plugin->config, &doc, err) != LT_OK) {
    return lt_err_prefix(err, "its config is not JSON");
  }
  if (plugin->config_schema == NULL) {
    return LT_OK;
  }
  lt_status status = lt_schema_check(plugin->config_schema, lt_json_root(&doc), LT_STR("config"), faults, err);
  return status != LT_E_INVALID ? status : lt_fail(err, status, "%.*s", LT_STR_ARG(lt_buf_view(faults)));
}

lt_status lt_plugin_check_config(const lt_plugin *plugin, lt_err *err) {
  lt_arena arena;
  lt_buf faults;
  lt_arena_init(&arena, LT_CALL_INDEX_MAX_BYTES);
  lt_buf_init(&faults, LT_SCHEMA_FAULTS_MAX_BYTES);
  lt_status status = check_config_in(plugin, &arena, &faults, err);
  lt_buf_release(&faults);
  lt_arena_release(&arena);
  return status;
}

/* --- One plugin --------------------------------------------------------------------------------------------------- */
static lt_plugin *plugin_new(lt_host *host, void *library) {
  lt_plugin *plugin = lt_mem_zalloc(1, sizeof *plugin);
  if (plugin == NULL) {
    return NULL;
  }
  atomic_init(&plugin->refs, 1);
  plugin->host = host;
  plugin->library = library;
  lt_arena_init(&plugin->arena, LT_PLUGIN_CALL_MAX_BYTES);
  lt_buf_init(&plugin->why_out, 2 * LT_ERR_MSG_MAX);
  pthread_mutex_init(&plugin->thread.lock, NULL);
  pthread_cond_init(&plugin->thread.changed, NULL);
  plugin->thread.last = &plugin->thread.queue;
  lt_wait_init(&plugin->thread.ending_wait, host->options.loop);
  lt_cancel_init(&plugin->ending);
  return plugin;
}

static lt_status check_new(const lt_host *host, const lt_plugin *plugin, lt_err *err) {
  for (size_t i = 0; i < host->plugin_count; i++) {
    if (lt_str_eq(host->plugins[i]->id, plugin->id)) {
      return lt_fail(err, LT_E_INVALID, "there is a plugin \"%s\" already: name each only once", plugin->is.id);
    }
  }
  return host->plugin_count < LT_PLUGINS_MAX
             ? LT_OK
             : lt_fail(err, LT_E_LIMIT, "there are more than %d plugins", LT_PLUGINS_MAX);
}

static lt_status read_all(lt_plugin *plugin, const lathe_plugin *theirs, lt_str config, lt_err *err) {
  LT_TRY(read_self(plugin, theirs, err));
  LT_TRY(check_new(plugin->host, plugin, err));
  LT_TRY(keep_texts(plugin, config, err));
  LT_TRY(read_schema(plugin->is.config_schema, "config_schema", &plugin->config_schema, err));
  LT_TRY(read_schema(plugin->is.state_schema, "state_schema", &plugin->state_schema, err));
  lt_plugin_tools_init(&plugin->tools, plugin, false);
  return lt_plugin_on_loop(plugin) ? LT_OK : lt_thread_start(plugin, err);
}

lt_status lt_plugin_read(lt_host *host, lathe_plugin_entry_fn *entry, void *library, lt_str config,
                         lt_plugin **ret_plugin, lt_err *err) {
  const lathe_plugin *theirs = entry();
  if (theirs == NULL) {
    return lt_fail(err, LT_E_UNSUPPORTED, "it says that it cannot work here (lathe_plugin_entry gave NULL)");
  }
  lt_plugin *plugin = plugin_new(host, NULL);
  if (plugin == NULL) {
    return lt_fail(err, LT_E_NOMEM, "no memory for another plugin");
  }
  lt_status status = read_all(plugin, theirs, config, err);
  if (status != LT_OK) {
    lt_plugin_unref(plugin);
    return status;
  }
  plugin->library = library;
  *ret_plugin = plugin;
  return LT_OK;
}

/* --- Its shared object -------------------------------------------------------------------------------------------- */
/* dlopen maps what the headers promise and reads it: of a file that was cut off, or is still being written, that is a
 * signal that ends the process. True for what is no such file at all: dlopen knows words for that. */
static bool is_whole(int fd) {
  ElfW(Ehdr) header;
  ElfW(Phdr) part;
  struct stat st;
  if (fstat(fd, &st) != 0 || pread(fd, &header, sizeof header, 0) != sizeof header ||
      memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_phentsize != sizeof part) {
    return true;
  }
  for (unsigned i = 0; i < header.e_phnum; i++) {
    off_t at = (off_t)(header.e_phoff + i * sizeof part);
    if (pread(fd, &part, sizeof part, at) != sizeof part ||
        (part.p_type == PT_LOAD &&
         (part.p_offset > (size_t)st.st_size || part.p_filesz > (size_t)st.st_size - part.p_offset))) {
      return false;
    }
  }
  return true;
}

static lt_status check_whole(const char *path, lt_err *err) {
  int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  bool whole = fd < 0 || is_whole(fd);
  if (fd >= 0) {
    close(fd);
  }
  return whole ? LT_OK : lt_fail(err, LT_E_INVALID, "it cannot be loaded: the file is cut off: build it again");
}

/* dlopen looks a name without a slash up elsewhere. */
static lt_status open_library(const char *path, void **ret_library, lt_err *err) {
  char with_slash[LT_PROC_PATH_MAX_BYTES];
  int n = snprintf(with_slash, sizeof with_slash, "%s%s", strchr(path, '/') == NULL ? "./" : "", path);
  if (n < 0 || (size_t)n >= sizeof with_slash) {
    return lt_fail(err, LT_E_INVALID, "its path is too long");
  }
  if (access(with_slash, F_OK) != 0) {
    return lt_fail(err, LT_E_NOTFOUND, "there is no such file: build it, or correct its path in the configuration");
  }
  LT_TRY(check_whole(with_slash, err));
  void *library = dlopen(with_slash, RTLD_NOW | RTLD_LOCAL);
  if (library == NULL) {
    const char *why = dlerror();
    return lt_fail(err, LT_E_INVALID, "it cannot be loaded: %s", why != NULL ? why : "no reason given");
  }
  *ret_library = library;
  return LT_OK;
}

static lt_status find_entry(void *library, lathe_plugin_entry_fn **ret_entry, lt_err *err) {
  void *symbol = dlsym(library, "lathe_plugin_entry");
  if (symbol == NULL) {
    return lt_fail(err, LT_E_INVALID, "it is no Lathe plugin: it exports no function lathe_plugin_entry");
  }
  memcpy(ret_entry, &symbol, sizeof symbol); /* POSIX lets a function be found this way, ISO C has no cast for it */
  return LT_OK;
}

lt_status lt_library_open(const char *path, void **ret_library, lathe_plugin_entry_fn **ret_entry, lt_err *err) {
  void *library = NULL;
  LT_TRY(open_library(path, &library, err));
  lt_status status = find_entry(library, ret_entry, err);
  if (status != LT_OK) {
    dlclose(library);
    return status;
  }
  *ret_library = library;
  return LT_OK;
}

void lt_library_close(void *library) {
  if (library != NULL) {
    dlclose(library);
  }
}
