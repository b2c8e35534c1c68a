#include "app/runners.h"

#include <string.h>

#include "base/mem.h"
#include "runner/deno/deno.h"
#include "runner/python/python.h"
#include "runner/quickjs/quickjs.h"

struct lt_runners {
  lt_loop *loop;
  lt_door *door;
  const lt_config *config;
  lt_quickjs *quickjs;
  lt_python *python;
  lt_deno *deno;
  bool lasts; /* more programs may come after the first one */
  bool warming;
  lt_wait warmed; /* woken when that is over */
};

lt_status lt_runners_new(lt_loop *loop, lt_door *door, const lt_config *config, lt_runners **ret_runners, lt_err *err) {
  lt_runners *r = lt_mem_zalloc(1, sizeof *r);
  if (r == NULL) {
    return lt_fail(err, LT_E_NOMEM, "out of memory");
  }
  *r = (lt_runners){.loop = loop, .door = door, .config = config};
  lt_wait_init(&r->warmed, loop);
  *ret_runners = r;
  return LT_OK;
}

void lt_runners_free(lt_runners *r) {
  if (r != NULL) {
    while (r->warming) {
      lt_wait_on(&r->warmed, UINT64_MAX);
    }
    lt_python_free(r->python);
    lt_deno_free(r->deno);
    lt_quickjs_free(r->quickjs);
    lt_mem_free(r);
  }
}

static lt_runner *quickjs(lt_runners *r, lt_err *err) {
  if (r->quickjs == NULL && lt_quickjs_new(r->loop, r->door, 0, &r->quickjs, err) != LT_OK) {
    return NULL;
  }
  return lt_quickjs_runner(r->quickjs);
}

static lt_runner *python(lt_runners *r, lt_err *err) {
  const lt_config *c = r->config;
  const lt_python_options options = {
      .loop = r->loop,
      .door = r->door,
      .path = c->python.path,
      .workspace = c->python.workspace,
      .env = c->python.env,
      .env_passthrough = c->python.passthrough.all,
      .without_walls = !c->require_walls,
  };
  if (r->python == NULL && lt_python_new(&options, &r->python, err) != LT_OK) {
    return NULL;
  }
  return lt_python_runner(r->python);
}

/* Whoever runs the first program is told what is wrong. */
static void on_warm_fiber(void *arg) {
  lt_runners *r = arg;
  if (python(r, NULL) != NULL) {
    (void)lt_python_warm(r->python, NULL);
  }
  r->warming = false;
  lt_wait_wake(&r->warmed, LT_OK);
}

void lt_runners_warm(lt_runners *r) {
  r->lasts = true;
  if (r->config->python.given && !r->warming) {
    r->warming = lt_loop_spawn(r->loop, on_warm_fiber, r, NULL) == LT_OK;
  }
}

static lt_deno_check check_of(const lt_config *c) {
  return c->typescript.check < 0    ? LT_DENO_CHECK_IF_FOUND
         : c->typescript.check == 0 ? LT_DENO_CHECK_NEVER
                                    : LT_DENO_CHECK_ALWAYS;
}

static lt_runner *deno(lt_runners *r, lt_err *err) {
  const lt_config *c = r->config;
  const lt_deno_options options = {
      .loop = r->loop,
      .door = r->door,
      .path = c->deno_path,
      .typescript_path = c->typescript.path,
      .check = check_of(c),
      .without_walls = !c->require_walls,
      .ahead_ms = r->lasts ? LT_DENO_SPARE_MS : 0,
  };
  if (r->deno == NULL && lt_deno_new(&options, &r->deno, err) != LT_OK) {
    return NULL;
  }
  return lt_deno_runner(r->deno);
}

/* --- Which -------------------------------------------------------------------------------------------------------- */
typedef struct kind {
  const char *id;
  const char *languages; /* for a message */
  lt_lang langs[2];
  lt_runner *(*open)(lt_runners *r, lt_err *err);
} kind;

/* The first that speaks a language runs it unless the configuration says otherwise. */
static const kind kinds[] = {
    {"quickjs", "js and ts", {LT_LANG_JAVASCRIPT, LT_LANG_TYPESCRIPT}, quickjs},
    {"python", "python", {LT_LANG_PYTHON, LT_LANG_PYTHON}, python},
    {"deno", "ts and js", {LT_LANG_TYPESCRIPT, LT_LANG_JAVASCRIPT}, deno},
};

#define KINDS (sizeof kinds / sizeof kinds[0])

static bool speaks(const kind *k, lt_lang lang) {
  return k->langs[0] == lang || k->langs[1] == lang;
}

static const kind *find_for(lt_lang lang) {
  const kind *k = kinds;
  while (k < kinds + KINDS && !speaks(k, lang)) {
    k++;
  }
  LT_CHECK(k < kinds + KINDS);
  return k;
}

static const kind *find_named(const char *id) {
  for (size_t i = 0; i < KINDS; i++) {
    if (strcmp(id, kinds[i].id) == 0) {
      return &kinds[i];
    }
  }
  return NULL;
}

const char *lt_runners_language(lt_lang lang) {
  return lang == LT_LANG_PYTHON ? "python" : lang == LT_LANG_TYPESCRIPT ? "ts" : "js";
}

lt_status lt_runners_check(const char *id, lt_lang lang, lt_err *err) {
  const kind *k = id != NULL ? find_named(id) : find_for(lang);
  if (k == NULL) {
    return lt_fail(err, LT_E_INVALID, "there is no runner \"%s\": it is quickjs, deno or python", id);
  }
  if (!speaks(k, lang)) {
    return lt_fail(err, LT_E_INVALID, "the %s runner runs %s programs, not %s: use --runner %s, or another --lang", id,
                   k->languages, lt_runners_language(lang), find_for(lang)->id);
  }
  return LT_OK;
}

lt_runner *lt_runners_get(lt_runners *r, const char *id, lt_lang lang, lt_err *err) {
  if (lt_runners_check(id, lang, err) != LT_OK) {
    return NULL;
  }
  if (id == NULL && lang == LT_LANG_TYPESCRIPT && r->config->typescript.runner == LT_CONFIG_DENO) {
    id = "deno";
  }
  return (id != NULL ? find_named(id) : find_for(lang))->open(r, err);
}
