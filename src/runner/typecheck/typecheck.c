#include "runner/typecheck/typecheck.h"

#include <string.h>

#include "base/mem.h"
#include "js/jsscan.h"
#include "runner/typecheck/tsc_find.h"
#include "runner/typecheck/tsc_server.h"
#include "runner/typecheck/typecheck_declare.h"
#include "runner/typecheck/typecheck_report.h"

extern const char lt_typecheck_globals_data[], lt_typecheck_globals_end[];

/* A program that waits while another one is checked. */
typedef struct typecheck_turn {
  struct typecheck_turn *next;
  lt_wait wait;
} typecheck_turn;

struct lt_typecheck {
  lt_typecheck_options options; /* its texts are copies */
  char *path;
  char *helper;
  char *tsc; /* NULL: not found yet */
  bool is_missing;
  bool has_told;         /* the user knows that types are not checked */
  lt_tsc_server *server; /* NULL: none; it may have ended */
  unsigned failures;     /* in a row */
  bool is_busy;
  typecheck_turn *turns; /* who waits, in order */
  lt_timer *idle;
};

lt_str lt_typecheck_globals(void) {
  return lt_str_from(lt_typecheck_globals_data, (size_t)(lt_typecheck_globals_end - lt_typecheck_globals_data));
}

/* --- Its life ----------------------------------------------------------------------------------------------------- */

/* Nobody has asked for long. The next check starts another compiler. */
static void typecheck_on_idle(void *arg) {
  lt_typecheck *t = arg;
  if (t->server != NULL && !t->is_busy) {
    lt_tsc_server_kill(t->server);
  }
}

lt_status lt_typecheck_new(const lt_typecheck_options *options, lt_typecheck **ret_typecheck, lt_err *err) {
  lt_typecheck *t = lt_mem_zalloc(1, sizeof *t);
  if (t == NULL) {
    return lt_fail(err, LT_E_NOMEM, "no memory for the checks of types");
  }
  t->options = *options;
  t->path = options->path != NULL ? lt_mem_strdup(lt_str_of(options->path)) : NULL;
  t->helper = lt_mem_strdup(lt_str_of(options->helper != NULL ? options->helper : "/proc/self/exe"));
  bool has_copies = t->helper != NULL && (t->path != NULL || options->path == NULL);
  if (!has_copies || lt_timer_new(options->loop, typecheck_on_idle, t, &t->idle, err) != LT_OK) {
    lt_typecheck_free(t); /* no LT_YIELDS: there is nothing to end */
    return lt_fail(err, LT_E_NOMEM, "no memory for the checks of types");
  }
  *ret_typecheck = t;
  return LT_OK;
}

void lt_typecheck_free(lt_typecheck *t) {
  if (t == NULL) {
    return;
  }
  LT_CHECK(!t->is_busy);
  lt_tsc_server_close(t->server);
  lt_timer_free(t->idle);
  lt_mem_free(t->path);
  lt_mem_free(t->helper);
  lt_mem_free(t->tsc);
  lt_mem_free(t);
}

/* --- What the user is told ---------------------------------------------------------------------------------------- */

static void typecheck_tell(const lt_typecheck *t, bool is_warning, const lt_buf *line) {
  if (t->options.on_line != NULL && line->status == LT_OK) {
    t->options.on_line(t->options.arg, is_warning, lt_buf_view(line));
  }
}

static void typecheck_tell_missing(lt_typecheck *t) {
  LT_AUTO_BUF(line, LT_KIB);
  if (!t->has_told) {
    t->has_told = true;
    lt_buf_addc(&line,
                "types are not checked: there is no TypeScript compiler (npm install typescript, or say where its "
                "tsc is: typescript.path; --no-check or typescript.check: false do without)");
    typecheck_tell(t, false, &line);
  }
}

static void typecheck_tell_failure(const lt_typecheck *t, const lt_err *why) {
  LT_AUTO_BUF(line, LT_KIB);
  lt_buf_printf(&line, "the program runs unchecked: %s", lt_err_msg(why));
  if (t->failures == LT_TYPECHECK_FAILURES_MAX) {
    lt_buf_addc(&line, "; types are not checked any more (typescript.path says which tsc)");
  }
  typecheck_tell(t, true, &line);
}

/* --- The compiler ------------------------------------------------------------------------------------------------- */

/* Finds the compiler: t->tsc, or NULL where a program may run without. */
static lt_status typecheck_find(lt_typecheck *t, lt_err *err) {
  if (t->tsc == NULL && !t->is_missing) {
    t->tsc = lt_tsc_find(t->path);
    t->is_missing = t->tsc == NULL;
  }
  if (t->tsc != NULL || (!t->options.is_required && t->path == NULL)) {
    return LT_OK;
  }
  return lt_fail(err, LT_E_NOTFOUND,
                 "TypeScript's compiler was not found (%s): install version 7 (npm install typescript), say where its "
                 "tsc is (typescript.path), or do without (--no-check, typescript.check: false)",
                 t->path != NULL ? t->path : "PATH or node_modules/.bin");
}

static lt_status typecheck_open(lt_typecheck *t, lt_err *err) {
  const lt_tsc_server_options options = {.loop = t->options.loop,
                                         .tsc = t->tsc,
                                         .helper = t->helper,
                                         .without_walls = t->options.without_walls,
                                         .globals = lt_typecheck_globals()};
  return lt_tsc_server_open(&options, &t->server, err);
}

static void typecheck_drop_server(lt_typecheck *t) LT_YIELDS {
  lt_tsc_server *server = t->server;
  t->server = NULL;
  lt_tsc_server_close(server);
}

void lt_typecheck_warm(lt_typecheck *t) {
  bool is_of_use = t != NULL && t->server == NULL && t->failures < LT_TYPECHECK_FAILURES_MAX;
  if (is_of_use && typecheck_find(t, NULL) == LT_OK && t->tsc != NULL) {
    (void)typecheck_open(t, NULL);
  }
}

/* --- A check ------------------------------------------------------------------------------------------------------ */

static void typecheck_take_turn(lt_typecheck *t) LT_YIELDS {
  if (!t->is_busy) {
    t->is_busy = true;
    return;
  }
  typecheck_turn turn = {.next = NULL};
  lt_wait_init(&turn.wait, t->options.loop);
  typecheck_turn **at = &t->turns;
  while (*at != NULL) {
    at = &(*at)->next;
  }
  *at = &turn;
  lt_wait_on(&turn.wait, UINT64_MAX); /* whoever wakes it hands over `is_busy` */
}

static void typecheck_end_turn(lt_typecheck *t) {
  typecheck_turn *next = t->turns;
  if (next == NULL) {
    t->is_busy = false;
    lt_timer_start(t->idle, LT_TYPECHECK_IDLE_MS);
  } else {
    t->turns = next->next;
    lt_wait_wake(&next->wait, LT_OK);
  }
}

/* A program that is one function is its module's default export: a function without a name is no statement. */
static size_t typecheck_put_text(lt_str source, lt_buf *out) {
  lt_jsscan scan = lt_jsscan_program(source);
  if (scan.is_function && !scan.has_import && !scan.has_export) {
    lt_buf_addc(out, "export default ");
  }
  size_t prefix = out->n;
  lt_buf_add(out, source);
  return prefix;
}

static lt_status typecheck_ask(lt_typecheck *t, const lt_typecheck_program *program, lt_run_result *result,
                               lt_err *err) LT_YIELDS {
  LT_AUTO_BUF(tools, 2 * LT_TYPECHECK_TYPES_MAX_BYTES);
  LT_AUTO_BUF(text, 2 * LT_RUN_CODE_MAX_BYTES);
  lt_str reply;
  LT_TRY(lt_typecheck_declare(program, &tools, err));
  size_t prefix = typecheck_put_text(program->source, &text);
  LT_TRY(lt_buf_check(&text, err, "no memory for another program"));
  LT_TRY(
      lt_tsc_server_check(t->server, lt_buf_view(&tools), lt_buf_view(&text), program->request->cancel, &reply, err));
  lt_status status = lt_typecheck_report(program, prefix, reply, result);
  return status == LT_E_INVALID ? lt_fail(err, status, "tsc gave an answer that cannot be read") : status;
}

/* A compiler that has ended meanwhile (idle, killed) is replaced first. */
static lt_status typecheck_ask_server(lt_typecheck *t, const lt_typecheck_program *program, lt_run_result *result,
                                      lt_err *err) LT_YIELDS {
  lt_timer_stop(t->idle);
  if (t->server != NULL && lt_tsc_server_has_ended(t->server)) {
    typecheck_drop_server(t);
  }
  LT_TRY(t->server == NULL ? typecheck_open(t, err) : LT_OK);
  return typecheck_ask(t, program, result, err);
}

/* The check itself failed: the program runs unchecked, unless the check is required. */
static lt_status typecheck_fail(lt_typecheck *t, const lt_err *why, lt_err *err) LT_YIELDS {
  t->failures++;
  typecheck_drop_server(t);
  if (t->options.is_required) {
    return lt_fail(err, LT_E_IO, "the program's types could not be checked: %s (typescript.check: true asks for it)",
                   lt_err_msg(why));
  }
  typecheck_tell_failure(t, why);
  return LT_OK;
}

static lt_status typecheck_in_turn(lt_typecheck *t, const lt_typecheck_program *program, lt_run_result *result,
                                   lt_err *err) LT_YIELDS {
  if (t->failures >= LT_TYPECHECK_FAILURES_MAX && !t->options.is_required) {
    return LT_OK;
  }
  LT_ERR_VAR(why);
  lt_status status = typecheck_ask_server(t, program, result, &why);
  if (status == LT_OK || status == LT_E_PROGRAM) {
    t->failures = 0;
    return status;
  }
  return status == LT_E_CANCELLED ? LT_OK : typecheck_fail(t, &why, err);
}

lt_status lt_typecheck_run(lt_typecheck *t, const lt_typecheck_program *program, lt_run_result *result, lt_err *err) {
  LT_TRY(typecheck_find(t, err));
  if (t->tsc == NULL) {
    if (!program->only_names) {
      typecheck_tell_missing(t);
    }
    return LT_OK;
  }
  typecheck_take_turn(t);
  lt_status status = typecheck_in_turn(t, program, result, err);
  typecheck_end_turn(t);
  return status;
}
