#include "app/runners.h"

#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "runner/deno/deno.h"
#include "runner/python/python.h"
#include "runner/quickjs/quickjs.h"
#include "runner/typecheck/typecheck.h"

/* One row of the table below. */
typedef struct runner_kind {
  const char *id;
  const char *languages; /* for a message */
  lt_lang langs[2];
  /* Makes the runner with its part of the configuration. */
  lt_status (*open)(lt_runners *runners, lt_runner **ret_runner, lt_err *err);
} runner_kind;

#define RUNNER_ONE(id, languages, first, second) +1
enum { RUNNER_COUNT = 0 LT_RUNNERS(RUNNER_ONE) };

struct lt_runners {
  lt_loop *loop;
  lt_door *door;
  const lt_config *config;
  const lt_report *report;
  lt_monitor *monitor;             /* NULL: nobody is told of programs */
  lt_typecheck *typecheck;         /* NULL: not needed yet, or never */
  lt_runner *opened[RUNNER_COUNT]; /* by index in the table; NULL: not needed yet */
  const char *helper;              /* NULL: our own program */
  bool checks_types_if_asked;
  bool lasts; /* more programs may come after the first one */
  bool is_warming;
  lt_wait warmed; /* woken when the warm-up has ended */
};

/* --- The runners -------------------------------------------------------------------------------------------------- */
static void runners_on_line(void *arg, bool is_warning, lt_str line) {
  lt_report_line(((lt_runners *)arg)->report, is_warning ? LT_REPORT_WARNING : LT_REPORT_INFO, line);
}

/* 1, 0, -1: always, never, if there is a compiler; as in the configuration. */
static int runners_type_checks(const lt_runners *r) {
  const lt_config *c = r->config;
  bool is_asked = c->typescript.check > 0 || (c->typescript.check < 0 && c->typescript.path != NULL);
  return r->checks_types_if_asked && !is_asked ? 0 : c->typescript.check;
}

/* Makes the checks of types, if the configuration wants any: r->typecheck. */
static lt_status runners_open_typecheck(lt_runners *r, lt_err *err) {
  const lt_config *c = r->config;
  const lt_typecheck_options options = {
      .loop = r->loop,
      .path = c->typescript.path,
      .helper = r->helper,
      .is_required = c->typescript.check > 0,
      .without_walls = !c->require_walls,
      .on_line = runners_on_line,
      .arg = r,
  };
  bool is_wanted = r->typecheck == NULL && runners_type_checks(r) != 0;
  return is_wanted ? lt_typecheck_new(&options, &r->typecheck, err) : LT_OK;
}

static lt_status runners_open_quickjs(lt_runners *r, lt_runner **ret_runner, lt_err *err) {
  lt_quickjs *quickjs;
  LT_TRY(runners_open_typecheck(r, err));
  LT_TRY(lt_quickjs_new(r->loop, r->door, 0, &quickjs, err));
  lt_quickjs_check_types(quickjs, r->typecheck);
  lt_quickjs_set_time_zone(quickjs, lt_str_of(r->config->time_zone));
  *ret_runner = lt_quickjs_runner(quickjs);
  return LT_OK;
}

static lt_status runners_open_python(lt_runners *r, lt_runner **ret_runner, lt_err *err) {
  const lt_config *c = r->config;
  const lt_python_options options = {
      .loop = r->loop,
      .door = r->door,
      .path = c->python.path,
      .helper = r->helper,
      .workspace = c->python.workspace,
      .time_zone = c->time_zone,
      .env = c->python.env,
      .env_passthrough = c->python.passthrough.all,
      .without_walls = !c->require_walls,
  };
  lt_python *python;
  LT_TRY(lt_python_new(&options, &python, err));
  *ret_runner = lt_python_runner(python);
  return LT_OK;
}

static lt_deno_check runners_deno_check(const lt_runners *r) {
  int checks = runners_type_checks(r);
  return checks < 0 ? LT_DENO_CHECK_IF_FOUND : checks == 0 ? LT_DENO_CHECK_NEVER : LT_DENO_CHECK_ALWAYS;
}

static lt_status runners_open_deno(lt_runners *r, lt_runner **ret_runner, lt_err *err) {
  const lt_config *c = r->config;
  const lt_deno_options options = {
      .loop = r->loop,
      .door = r->door,
      .path = c->deno_path,
      .helper = r->helper,
      .typescript_path = c->typescript.path,
      .time_zone = c->time_zone,
      .check = runners_deno_check(r),
      .without_walls = !c->require_walls,
      .ahead_ms = r->lasts ? LT_DENO_SPARE_MS : 0,
  };
  lt_deno *deno;
  LT_TRY(lt_deno_new(&options, &deno, err));
  *ret_runner = lt_deno_runner(deno);
  return LT_OK;
}

/* --- The table ---------------------------------------------------------------------------------------------------- */
#define RUNNER_ROW(id, languages, first, second) {#id, languages, {first, second}, runners_open_##id},
static const runner_kind runner_kinds[] = {LT_RUNNERS(RUNNER_ROW)};

static bool runners_kind_speaks(const runner_kind *kind, lt_lang lang) {
  return kind->langs[0] == lang || kind->langs[1] == lang;
}

static const runner_kind *runners_kind_for(lt_lang lang) {
  const runner_kind *kind = runner_kinds;
  while (kind < runner_kinds + RUNNER_COUNT && !runners_kind_speaks(kind, lang)) {
    kind++;
  }
  LT_CHECK(kind < runner_kinds + RUNNER_COUNT);
  return kind;
}

static const runner_kind *runners_kind_named(const char *id) {
  for (size_t i = 0; i < RUNNER_COUNT; i++) {
    if (strcmp(id, runner_kinds[i].id) == 0) {
      return &runner_kinds[i];
    }
  }
  return NULL;
}

static lt_runner *runners_open(lt_runners *r, const runner_kind *kind, lt_err *err) {
  lt_runner **runner = &r->opened[kind - runner_kinds];
  if (*runner == NULL && kind->open(r, runner, err) == LT_OK) {
    (*runner)->monitor = r->monitor;
  }
  return *runner;
}

/* --- Opening and closing ------------------------------------------------------------------------------------------ */
lt_status lt_runners_new(lt_loop *loop, lt_door *door, const lt_config *config, const lt_report *report,
                         lt_runners **ret_runners, lt_err *err) {
  lt_runners *r = lt_mem_zalloc(1, sizeof *r);
  if (r == NULL) {
    return lt_fail(err, LT_E_NOMEM, "out of memory");
  }
  *r = (lt_runners){.loop = loop, .door = door, .config = config, .report = report};
  lt_wait_init(&r->warmed, loop);
  *ret_runners = r;
  return LT_OK;
}

void lt_runners_set_monitor(lt_runners *r, lt_monitor *monitor) {
  r->monitor = monitor;
}

void lt_runners_set_helper(lt_runners *r, const char *helper) {
  r->helper = helper;
}

void lt_runners_check_types_if_asked(lt_runners *r) {
  r->checks_types_if_asked = true;
}

void lt_runners_free(lt_runners *r) {
  if (r == NULL) {
    return;
  }
  while (r->is_warming) {
    lt_wait_on(&r->warmed, UINT64_MAX);
  }
  for (size_t i = RUNNER_COUNT; i > 0; i--) {
    if (r->opened[i - 1] != NULL) {
      r->opened[i - 1]->free(r->opened[i - 1]);
    }
  }
  lt_typecheck_free(r->typecheck);
  lt_mem_free(r);
}

lt_runner_boxes lt_runners_count_boxes(const lt_runners *r) {
  lt_runner_boxes boxes = {.used = 0};
  for (size_t i = 0; i < RUNNER_COUNT; i++) {
    if (r->opened[i] != NULL && r->opened[i]->count_boxes != NULL) {
      r->opened[i]->count_boxes(r->opened[i], &boxes);
    }
  }
  return boxes;
}

/* The first program reports a failure. */
static void runners_on_warm_fiber(void *arg) {
  lt_runners *r = arg;
  lt_runner *python = runners_open(r, runners_kind_named("python"), NULL);
  if (python != NULL) {
    (void)python->warm(python, NULL);
  }
  r->is_warming = false;
  lt_wait_wake(&r->warmed, LT_OK);
}

void lt_runners_warm(lt_runners *r) {
  r->lasts = true;
  if (r->config->python.given && !r->is_warming) {
    r->is_warming = lt_loop_spawn(r->loop, runners_on_warm_fiber, r, NULL) == LT_OK;
  }
}

void lt_runners_warm_types(lt_runners *r) {
  if (r->config->typescript.runner == LT_CONFIG_QUICKJS && runners_open_typecheck(r, NULL) == LT_OK &&
      r->typecheck != NULL) {
    lt_typecheck_warm(r->typecheck);
  }
}

/* "quickjs, deno or python" */
static void runners_put_ids(lt_buf *out) {
  for (size_t i = 0; i < RUNNER_COUNT; i++) {
    lt_buf_addc(out, i == 0 ? "" : i + 1 < RUNNER_COUNT ? ", " : " or ");
    lt_buf_addc(out, runner_kinds[i].id);
  }
}

static const char *runners_language(lt_lang lang) {
  return lang == LT_LANG_PYTHON ? "python" : lang == LT_LANG_TYPESCRIPT ? "ts" : "js";
}

lt_status lt_runners_check(const char *id, lt_lang lang, lt_err *err) {
  const runner_kind *kind = id != NULL ? runners_kind_named(id) : runners_kind_for(lang);
  if (kind == NULL) {
    LT_AUTO_BUF(ids, LT_KIB);
    runners_put_ids(&ids);
    return lt_fail(err, LT_E_INVALID, "there is no runner \"%s\": it is %.*s", id, LT_STR_ARG(lt_buf_view(&ids)));
  }
  if (!runners_kind_speaks(kind, lang)) {
    return lt_fail(err, LT_E_INVALID, "the %s runner runs %s programs, not %s: use --runner %s, or another --lang", id,
                   kind->languages, runners_language(lang), runners_kind_for(lang)->id);
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
  return runners_open(r, id != NULL ? runners_kind_named(id) : runners_kind_for(lang), err);
}
