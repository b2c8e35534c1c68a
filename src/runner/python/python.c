#include "runner/python/python.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/environ.h"
#include "base/mem.h"
#include "runner/python/python_names.h"
#include "runner/python/python_run.h"
#include "runner/python/python_state.h"
#include "runner/python/python_zygote.h"
#include "runner/remove_folder.h"

/* --- The interpreter's environment -------------------------------------------------------------------------------- */

static size_t python_count_of(const char *const *strings) {
  size_t n = 0;
  while (strings != NULL && strings[n] != NULL) {
    n++;
  }
  return n;
}

static size_t python_name_length(const char *variable) {
  return strcspn(variable, "=");
}

/* Adds a variable, or replaces the one of the same name. */
static bool python_put_variable(char **env, size_t *count, const char *variable) {
  char *copy = lt_mem_strdup(lt_str_of(variable));
  size_t name = python_name_length(variable);
  if (copy == NULL) {
    return false;
  }
  for (size_t i = 0; i < *count; i++) {
    if (python_name_length(env[i]) == name && strncmp(env[i], copy, name) == 0) {
      lt_mem_free(env[i]);
      env[i] = copy;
      return true;
    }
  }
  env[(*count)++] = copy;
  return true;
}

static bool python_put_path(char **env, size_t *count) {
  const char *path = getenv("PATH");
  LT_AUTO_BUF(variable, LT_CONFIG_MAX_BYTES);
  lt_buf_addc(&variable, "PATH=");
  lt_buf_addc(&variable, path != NULL ? path : "/usr/bin:/bin");
  return variable.status == LT_OK && python_put_variable(env, count, variable.p);
}

/* MALLOC_ARENA_MAX: otherwise each thread of a program reserves 64 MiB of address space. */
static const char *const fixed_variables[] = {"LANG=C.UTF-8", "MALLOC_ARENA_MAX=2", NULL};

static bool python_put_time_zone(char **env, size_t *count, const char *zone) {
  LT_AUTO_BUF(variable, LT_CONFIG_MAX_BYTES);
  lt_buf_addc(&variable, "TZ=");
  lt_buf_addc(&variable, zone != NULL ? zone : "UTC");
  return variable.status == LT_OK && python_put_variable(env, count, variable.p);
}

static bool python_make_env(lt_python *p, const lt_python_options *options) {
  const char *const *passed_on = options->env_passthrough ? (const char *const *)lt_environ_view() : NULL;
  size_t places = python_count_of(passed_on) + python_count_of(fixed_variables) + python_count_of(options->env) + 3;
  size_t count = 0;
  p->env = lt_mem_zalloc(places, sizeof *p->env);
  bool ok =
      p->env != NULL && python_put_path(p->env, &count) && python_put_time_zone(p->env, &count, options->time_zone);
  const char *const *lists[] = {fixed_variables, passed_on, options->env};
  for (size_t i = 0; i < 3; i++) {
    for (const char *const *variable = lists[i]; ok && variable != NULL && *variable != NULL; variable++) {
      ok = python_put_variable(p->env, &count, *variable);
    }
  }
  return ok;
}

/* --- New and free ------------------------------------------------------------------------------------------------- */

static bool python_speaks(lt_lang lang) {
  return lang == LT_LANG_PYTHON;
}

static void python_free(lt_python *p) {
  for (char **variable = p->env; variable != NULL && *variable != NULL; variable++) {
    lt_mem_free(*variable);
  }
  lt_mem_free(p->env);
  lt_mem_free(p->path);
  lt_mem_free(p->workspace);
  lt_mem_free(p->helper);
  lt_mem_free(p->base_folder);
  lt_python_names_free(p->names);
  lt_mem_free(p);
}

static bool python_copy(const char *text, const char *otherwise, char **ret) {
  const char *from = text != NULL ? text : otherwise;
  *ret = from != NULL ? lt_mem_strdup(lt_str_of(from)) : NULL;
  return from == NULL || *ret != NULL;
}

static lt_status python_runner_warm(lt_runner *self, lt_err *err) LT_YIELDS {
  return lt_python_warm((lt_python *)(void *)self, err);
}

static void python_runner_free(lt_runner *self) LT_YIELDS {
  lt_python_free((lt_python *)(void *)self);
}

lt_status lt_python_new(const lt_python_options *options, lt_python **ret_python, lt_err *err) {
  lt_python *p = lt_mem_zalloc(1, sizeof *p);
  if (p == NULL) {
    return lt_fail(err, LT_E_NOMEM, "no memory for the Python runner");
  }
  p->runner = (lt_runner){.id = "python",
                          .speaks = python_speaks,
                          .run = lt_python_run_program,
                          .warm = python_runner_warm,
                          .free = python_runner_free};
  p->loop = options->loop;
  p->door = options->door;
  p->without_walls = options->without_walls;
  p->base_lock = -1;
  if (!python_copy(options->path, "python3", &p->path) || !python_copy(options->workspace, NULL, &p->workspace) ||
      !python_copy(options->helper, "/proc/self/exe", &p->helper) || !python_make_env(p, options)) {
    python_free(p);
    return lt_fail(err, LT_E_NOMEM, "no memory for the Python runner");
  }
  *ret_python = p;
  return LT_OK;
}

void lt_python_free(lt_python *p) {
  if (p == NULL) {
    return;
  }
  lt_python_zygote_close(p);
  if (p->base_folder != NULL) {
    lt_remove_folder(p->loop, p->base_folder);
    if (p->base_lock >= 0) {
      close(p->base_lock);
    }
  }
  python_free(p);
}

lt_runner *lt_python_runner(lt_python *p) {
  return &p->runner;
}
