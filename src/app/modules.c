#include "app/modules.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/file.h"
#include "base/limits.h"
#include "base/mem.h"

/* The file that the path leads to. A module of a project stays in its folder, also through links: the folder's owner
 * must not hand files of this person to programs and models. */
static lt_status modules_resolve(const lt_config_module *module, char *ret_path, lt_err *err) {
  lt_str within = lt_str_of(module->within);
  if (module->within == NULL || realpath(module->path, ret_path) == NULL) {
    snprintf(ret_path, PATH_MAX, "%s", module->path); /* reading a missing file says what is wrong */
    return LT_OK;
  }
  lt_str path = lt_str_of(ret_path);
  bool is_inside = lt_str_starts(path, within) && (lt_str_eqc(within, "/") || path.p[within.n] == '/');
  return is_inside ? LT_OK
                   : lt_fail(err, LT_E_CONFIG,
                             "module \"%s\": %s is outside of the folder of its configuration, %s: move it there",
                             module->name, ret_path, module->within);
}

static lt_status modules_read_module(lt_modules *m, const lt_config_module *module, lt_err *err) {
  lt_buf *source = &m->sources[m->source_count++];
  lt_buf_init(source, LT_RUN_CODE_MAX_BYTES);
  char path[PATH_MAX];
  LT_TRY(modules_resolve(module, path, err));
  if (lt_file_read(path, source, err) != LT_OK) {
    lt_err_prefix(err, "module \"%s\"", module->name);
    return LT_E_CONFIG;
  }
  m->list[m->count++] = (lt_run_module){.name = lt_str_of(module->name), .source = lt_buf_view(source)};
  return LT_OK;
}

static bool modules_has_module(const lt_modules *m, lt_str name) {
  for (size_t i = 0; i < m->count; i++) {
    if (lt_str_eq(m->list[i].name, name)) {
      return true;
    }
  }
  return false;
}

lt_status lt_modules_load(const lt_session *session, lt_modules *ret_modules, lt_err *err) {
  const lt_config *config = &session->config;
  size_t more_count = 0, saved_count = 0;
  const lt_run_module *more = lt_host_modules(lt_toolbox_host(session->toolbox), &more_count);
  const lt_run_module *saved = lt_toolbox_program_modules(session->toolbox, &saved_count);
  lt_modules *m = ret_modules;
  *m = (lt_modules){
      .list = lt_mem_zalloc(config->module_count + more_count + saved_count + 1, sizeof *m->list),
      .sources = lt_mem_zalloc(config->module_count + 1, sizeof *m->sources),
  };
  if (m->list == NULL || m->sources == NULL) {
    return lt_fail(err, LT_E_NOMEM, "out of memory");
  }
  for (size_t i = 0; i < config->module_count; i++) {
    LT_TRY(modules_read_module(m, &config->modules[i], err));
  }
  for (size_t i = 0; i < more_count; i++) {
    if (modules_has_module(m, more[i].name)) {
      lt_report_warning(&session->report,
                        "a plugin's module \"%.*s\" is not used: the configuration has one of that name",
                        LT_STR_ARG(more[i].name));
    } else {
      m->list[m->count++] = more[i];
    }
  }
  for (size_t i = 0; i < saved_count; i++) {
    if (!modules_has_module(m, saved[i].name)) {
      m->list[m->count++] = saved[i];
    }
  }
  return LT_OK;
}

void lt_modules_release(lt_modules *m) {
  for (size_t i = 0; i < m->source_count; i++) {
    lt_buf_release(&m->sources[i]);
  }
  lt_mem_free(m->sources);
  lt_mem_free(m->list);
  *m = (lt_modules){0};
}
