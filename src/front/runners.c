#include "front/runners.h"

#include <string.h>

#include "base/mem.h"
#include "runner/quickjs.h"

struct lt_runners {
  lt_loop *loop;
  lt_door *door;
  const lt_config *config;
  lt_quickjs *quickjs;
};

lt_status lt_runners_new(lt_loop *loop, lt_door *door, const lt_config *config, lt_runners **ret_runners, lt_err *err) {
  lt_runners *r = lt_mem_zalloc(1, sizeof *r);
  if (r == NULL) {
    return lt_fail(err, LT_E_NOMEM, "out of memory");
  }
  *r = (lt_runners){.loop = loop, .door = door, .config = config};
  *ret_runners = r;
  return LT_OK;
}

void lt_runners_free(lt_runners *r) {
  if (r != NULL) {
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

/* --- Which ------------------------------------------------------------------------------------ */
static const struct {
  const char *id;
  const char *languages; /* for a message */
  lt_lang langs[2];
  lt_runner *(*open)(lt_runners *r, lt_err *err);
} kinds[] = {
    {"quickjs", "js and ts", {LT_LANG_JAVASCRIPT, LT_LANG_TYPESCRIPT}, quickjs},
};

#define KINDS (sizeof kinds / sizeof kinds[0])

static bool speaks(size_t kind, lt_lang lang) {
  return kinds[kind].langs[0] == lang || kinds[kind].langs[1] == lang;
}

lt_runner *lt_runners_get(lt_runners *r, const char *id, lt_lang lang, lt_err *err) {
  for (size_t i = 0; i < KINDS; i++) {
    if (id == NULL ? speaks(i, lang) : strcmp(id, kinds[i].id) == 0) {
      if (speaks(i, lang)) {
        return kinds[i].open(r, err);
      }
      lt_fail(err, LT_E_INVALID, "the %s runner runs %s programs only", id, kinds[i].languages);
      return NULL;
    }
  }
  lt_fail(err, LT_E_INVALID, id != NULL ? "there is no runner \"%s\"" : "there is no runner for this language", id);
  return NULL;
}
