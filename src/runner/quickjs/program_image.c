#include "runner/quickjs/program_image.h"

#include "runner/quickjs/run.h"

#define MODULES_MAX 64 /* modules whose words are read; a program that imports more gets the greatest image */

typedef struct image_reader {
  const lt_run *run;
  lt_image_kind kind;
  bool has_modules;            /* there are modules, so that strings may name one */
  bool is_importing;           /* the word import or export was there */
  lt_str modules[MODULES_MAX]; /* sources that the texts so far may import */
  size_t count;
} image_reader;

bool lt_program_image_find_module(const lt_run *run, lt_str name, lt_str *ret_source) {
  const lt_run_request *request = run->request;
  if (lt_tape_find_module(&run->tape, name, ret_source)) {
    return true;
  }
  for (size_t i = 0; i < request->module_count; i++) {
    if (lt_str_eq(request->modules[i].name, name)) {
      *ret_source = request->modules[i].source;
      return true;
    }
  }
  return false;
}

static void image_reader_add_module(image_reader *r, lt_str source) {
  for (size_t i = 0; i < r->count; i++) {
    if (r->modules[i].p == source.p) {
      return;
    }
  }
  if (r->count == MODULES_MAX) {
    r->kind = LT_IMAGE_INTL;
    return;
  }
  r->modules[r->count++] = source;
}

static bool image_reader_has_modules(const lt_run *run) {
  for (size_t i = 0; i < run->tape.record.note_count; i++) {
    if (run->tape.record.notes[i].kind == LT_NOTE_MODULE) {
      return true;
    }
  }
  return run->request->module_count > 0;
}

/* A module's name is a string, which may stand anywhere after the word import. */
static void on_image_name(void *arg, lt_str name, bool is_string) {
  image_reader *r = arg;
  lt_image_kind kind = lt_image_choice_of(name);
  r->kind = kind > r->kind ? kind : r->kind;
  if (!r->has_modules) {
    return;
  }
  lt_str source;
  r->is_importing |= !is_string && (lt_str_eqc(name, "import") || lt_str_eqc(name, "export"));
  if (is_string && r->is_importing && lt_program_image_find_module(r->run, name, &source)) {
    image_reader_add_module(r, source);
  }
}

lt_jsscan lt_program_image_scan(const lt_run *run, lt_str code, lt_image_kind *ret_kind) {
  image_reader r = {.run = run, .kind = LT_IMAGE_BASE, .has_modules = image_reader_has_modules(run)};
  const lt_jsscan_visitor visitor = {.on_name = on_image_name, .arg = &r};
  lt_jsscan scan = lt_jsscan_visit(code, &visitor);
  for (size_t i = 0; i < r.count; i++) {
    (void)lt_jsscan_visit(r.modules[i], &visitor);
  }
  *ret_kind = r.kind;
  return scan;
}
