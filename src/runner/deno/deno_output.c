/* Deno's standard output: the records of boot.js, between the lines of the program itself. */
#include "base/limits.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "json/json.h"
#include "runner/deno/deno_output.h"
#include "runner/deno/deno_run.h"

#define RECORD_BYTE '\x1e'

/* --- Texts -------------------------------------------------------------------------------------------------------- */

static void deno_output_append(lt_deno_run *run, lt_said said, lt_str content) {
  lt_run_text *text = lt_mem_alloc(sizeof *text + content.n);
  if (text == NULL) {
    return;
  }
  char *bytes = (char *)(text + 1);
  memcpy(bytes, content.p != NULL ? content.p : "", content.n);
  *text = (lt_run_text){.said = said, .text = lt_str_from(bytes, content.n)};
  *run->output.texts_end = text;
  run->output.texts_end = &text->next;
  if (run->request->on_text != NULL) {
    run->request->on_text(run->request->arg, said, text->text);
  }
}

/* Adds a text, or where there is no room the beginning of a log line. After a cut, no further text is added. */
static void deno_output_add_fitting(lt_deno_run *run, lt_said said, lt_str text, size_t *used, size_t max,
                                    bool *was_cut) {
  size_t room = max > *used ? max - *used : 0;
  size_t costs = text.n > 0 ? text.n : 1;
  if (*was_cut) {
    return;
  }
  *was_cut = costs > room;
  *used += costs;
  text = !*was_cut || said != LT_SAID_OUTPUT ? lt_utf8_cut(text, room) : LT_STR_NULL;
  if (!*was_cut || text.n > 0) {
    deno_output_append(run, said, text);
  }
}

void lt_deno_output_add(lt_deno_run *run, lt_said said, lt_str text) {
  if (said == LT_SAID_OUTPUT) {
    deno_output_add_fitting(run, said, text, &run->output.output_bytes, lt_run_request_output_bytes(run->request),
                            &run->result->output_cut);
  } else {
    deno_output_add_fitting(run, said, text, &run->output.log_bytes, lt_run_request_log_bytes(run->request),
                            &run->result->log_cut);
  }
}

/* Adds a line that the program itself printed. */
static void deno_output_add_line(lt_deno_run *run, lt_str text, bool ended) {
  lt_said said = run->is_typescript && !run->request->without_output ? LT_SAID_OUTPUT : LT_SAID_LOG;
  lt_deno_output_add(run, said, text);
  if (said == LT_SAID_OUTPUT && ended) {
    lt_deno_output_add(run, said, LT_STR("\n"));
  }
}

/* --- Records ------------------------------------------------------------------------------------------------------ */

typedef struct deno_record {
  lt_deno_run *run;
  lt_str line;
  lt_arena arena;
  lt_json_doc doc;
  bool is_json;
} deno_record;

static lt_str deno_output_text_of(deno_record *r, const char *key) {
  lt_str text = LT_STR_NULL;
  lt_json_str(lt_json_get(lt_json_root(&r->doc), key), &r->arena, &text);
  return text;
}

static void deno_output_on_output(deno_record *r) {
  lt_deno_output_add(r->run, LT_SAID_OUTPUT, deno_output_text_of(r, "text"));
}

static void deno_output_on_log(deno_record *r) {
  lt_deno_output_add(r->run, LT_SAID_LOG, deno_output_text_of(r, "text"));
}

static void deno_output_on_warning(deno_record *r) {
  lt_deno_output_add(r->run, LT_SAID_WARNING, deno_output_text_of(r, "text"));
}

static void deno_output_on_error(deno_record *r) {
  lt_deno_output_add(r->run, LT_SAID_ERROR, deno_output_text_of(r, "text"));
}

static void deno_output_on_hello(deno_record *r) {
  r->run->has_begun = true;
}

static void deno_output_on_done(deno_record *r) {
  r->run->result->done = true;
}

static void deno_output_on_store(deno_record *r) {
  lt_deno_run *run = r->run;
  lt_str json = deno_output_text_of(r, "json");
  LT_ERR_VAR(err);
  if (run->values == NULL) {
    run->values = run->own_values = lt_stored_values_new();
  }
  if (json.n > 0 && lt_json_check(json, NULL) != LT_OK) {
    return;
  }
  if (run->values == NULL || lt_stored_values_put(run->values, deno_output_text_of(r, "key"), json, &err) != LT_OK) {
    lt_deno_output_add(run, LT_SAID_WARNING,
                       lt_str_of(run->values == NULL ? "store(): out of memory" : lt_err_msg(&err)));
  }
}

/* A later value replaces an earlier one. */
static void deno_output_set_value(lt_deno_run *run, lt_value_kind kind, lt_str text) {
  lt_buf_clear(&run->result->value);
  lt_buf_add(&run->result->value, text);
  run->result->kind = kind;
  run->output.has_value = true;
}

static void deno_output_on_string(deno_record *r) {
  deno_output_set_value(r->run, LT_VALUE_STRING, deno_output_text_of(r, "text"));
}

static void deno_output_on_json(deno_record *r) {
  lt_str text = deno_output_text_of(r, "text");
  if (lt_json_check(text, NULL) == LT_OK) {
    deno_output_set_value(r->run, LT_VALUE_JSON, text);
  }
}

static void deno_output_on_failed(deno_record *r) {
  lt_deno_failure *failure = &r->run->output.failure;
  lt_buf_clear(&failure->name);
  lt_buf_clear(&failure->message);
  lt_buf_clear(&failure->stack);
  lt_buf_add(&failure->name, deno_output_text_of(r, "name"));
  lt_buf_add(&failure->message, deno_output_text_of(r, "message"));
  lt_buf_add(&failure->stack, deno_output_text_of(r, "stack"));
  failure->is_reported = true;
}

static void deno_output_on_unread(deno_record *r) {
  lt_buf_clear(&r->run->result->unread);
  lt_buf_add(&r->run->result->unread, deno_output_text_of(r, "text"));
}

static void deno_output_read_record(void *arg) {
  deno_record *r = arg;
  r->is_json = lt_json_parse(&r->arena, lt_str_sub(r->line, 1, r->line.n), &r->doc, NULL) == LT_OK;
}

/* Handles the record that begins at `at` in the line. False: there is no record. LT_YIELDS when it is long. */
static bool deno_output_take_record(lt_deno_run *run, lt_str line, size_t at) LT_YIELDS {
  static const struct {
    const char *type;
    void (*fn)(deno_record *r);
  } types[] = {
      {"output", deno_output_on_output}, {"log", deno_output_on_log},       {"warning", deno_output_on_warning},
      {"error", deno_output_on_error},   {"hello", deno_output_on_hello},   {"done", deno_output_on_done},
      {"store", deno_output_on_store},   {"string", deno_output_on_string}, {"json", deno_output_on_json},
      {"failed", deno_output_on_failed}, {"unread", deno_output_on_unread}};
  deno_record r = {.run = run, .line = lt_str_sub(line, at, line.n)};
  lt_arena_init(&r.arena, LT_GIB);
  if (r.line.n <= LT_CALL_INLINE_BYTES || lt_loop_offload(run->loop, deno_output_read_record, &r, NULL) != LT_OK) {
    deno_output_read_record(&r);
  }
  bool known = false;
  lt_str type = r.is_json ? deno_output_text_of(&r, "t") : LT_STR_NULL;
  for (size_t i = 0; i < sizeof types / sizeof types[0] && !known; i++) {
    known = lt_str_eqc(type, types[i].type);
    if (known) {
      if (at > 0) {
        deno_output_add_line(run, lt_str_sub(line, 0, at), false);
      }
      types[i].fn(&r);
    }
  }
  lt_arena_release(&r.arena);
  return known;
}

/* A record extends to the end of its line. Its first byte cannot occur in JSON, so the search is for the last one in
 * the line. Text before the record is from the program, without a line end. */
static void deno_output_take_line(lt_deno_run *run, lt_str line) LT_YIELDS {
  const char *begin = line.n > 0 ? memrchr(line.p, RECORD_BYTE, line.n) : NULL;
  if (begin == NULL || !deno_output_take_record(run, line, (size_t)(begin - line.p))) {
    deno_output_add_line(run, line, true);
  }
}

/* --- Fibers ------------------------------------------------------------------------------------------------------- */

static void deno_output_end_reader(lt_deno_run *run) {
  run->readers--;
  lt_wait_wake(&run->wait, LT_OK);
}

void lt_deno_output_await_exit(lt_deno_run *run, const lt_process *process) {
  while (!lt_process_exited(process) && run->stop_reason == LT_OK) {
    lt_loop_sleep(run->loop, LT_DENO_EXIT_POLL_MS);
  }
}

void lt_deno_output_on_fiber(void *arg) {
  lt_deno_run *run = arg;
  lt_str line;
  lt_status status = LT_OK;
  while (status != LT_E_CLOSED) {
    status = lt_process_read_line(run->instance.process, &line, NULL);
    if (status == LT_OK) {
      deno_output_take_line(run, line);
    } else if (status == LT_E_LIMIT) {
      run->result->output_cut = true;
    }
  }
  lt_deno_output_await_exit(run, run->instance.process);
  run->has_ended = true;
  lt_cancel_fire(&run->cancel, LT_E_CANCELLED);
  deno_output_end_reader(run);
}
