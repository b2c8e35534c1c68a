/* Several calls of tools side by side, for a plugin: each on a fiber, so many of them at once. */
#include "base/limits.h"
#include "base/mem.h"
#include "json/json.h"
#include "plugin/nested.h"
#include "tool/answer_spill.h"

typedef struct many many;

typedef struct step {
  many *of;
  lt_str name; /* as it was written */
  lt_str id;
  lt_str input;
  lt_buf out;
  lt_status status;
} step;

struct many {
  lathe_call *call;
  lt_nested nested;
  lt_arena arena;
  lt_json_doc doc;
  step *steps;
  size_t count;
  size_t next; /* step that is begun next */
  size_t open; /* fibers that have not ended */
  size_t busy; /* steps that are under way and wait for nobody's approval */
  size_t at_once;
  uint64_t first; /* number of the first step */
  lt_wait ended;
};

/* --- Carrying out ------------------------------------------------------------------------------------------------- */
static void start_more(many *m);

/* Who waits for a person holds nobody else up. */
static void on_approval(void *arg, bool waiting) {
  step *s = arg;
  many *m = s->of;
  lt_nested_on_approval(m->call, waiting);
  if (waiting) {
    m->busy--;
    start_more(m);
  } else {
    m->busy++;
  }
}

static void carry_out(step *s) LT_YIELDS {
  many *m = s->of;
  uint64_t seq = m->first > 0 ? m->first + (uint64_t)(s - m->steps) : 0;
  const lt_invoke_options how = {.seq = seq, .on_approval = on_approval, .arg = s};
  lt_err err = LT_ERR_INIT;
  s->status = lt_nested_call(&m->nested, m->call, s->id, s->input, &how, &s->out, &err);
  if (s->status != LT_OK && s->out.n == 0) {
    lt_buf_addc(&s->out, lt_err_msg(&err)[0] != '\0' ? lt_err_msg(&err) : lt_status_text(s->status));
  }
}

static step *take_next(many *m) {
  if (m->next == m->count || m->busy >= m->at_once) {
    return NULL;
  }
  m->busy++;
  return &m->steps[m->next++];
}

/* One after another, as long as there are some. */
static void carry_out_all(many *m, step *s) LT_YIELDS {
  for (; s != NULL; s = take_next(m)) {
    carry_out(s);
    m->busy--;
  }
}

static void on_fiber(void *arg) {
  step *s = arg;
  many *m = s->of;
  carry_out_all(m, s);
  if (--m->open == 0) {
    lt_wait_wake(&m->ended, LT_OK);
  }
}

/* A step for which there is no fiber goes back: whoever ends takes it. */
static void start_more(many *m) {
  for (step *s = take_next(m); s != NULL; s = take_next(m)) {
    m->open++;
    if (lt_loop_spawn(m->call->plugin->host->options.loop, on_fiber, s, NULL) != LT_OK) {
      m->open--;
      m->busy--;
      m->next--;
      return;
    }
  }
}

static void run_all(many *m) LT_YIELDS {
  m->first = lt_nested_count(&m->nested, m->call, m->count);
  lt_wait_init(&m->ended, m->call->plugin->host->options.loop);
  start_more(m);
  while (m->open > 0 || m->next < m->count) {
    if (m->open > 0) {
      lt_wait_on(&m->ended, UINT64_MAX);
    } else { /* there is not one fiber: here, then */
      carry_out_all(m, take_next(m));
    }
  }
}

/* --- Reading ------------------------------------------------------------------------------------------------------ */
/* The id that a name means to this caller; a name that means nothing is the door's to refuse. */
static lt_str id_of(const lt_catalog *catalog, lt_str name) {
  const lt_tool *tool = lt_catalog_find_any(catalog, name);
  return tool != NULL ? tool->id : name;
}

static lt_status read_step(many *m, lt_json v, const lt_catalog *catalog, lt_err *err) {
  step *s = &m->steps[m->count];
  if (!lt_json_str(lt_json_get(v, "tool"), &m->arena, &s->name)) {
    return lt_fail(err, LT_E_INVALID, "call %zu of several names no tool: {\"tool\": \"...\", \"input\": {...}}",
                   m->count);
  }
  s->of = m;
  s->id = id_of(catalog, s->name);
  s->input = lt_json_text(lt_json_get(v, "input"));
  lt_buf_init(&s->out, LT_JSON_MAX_BYTES);
  m->count++;
  return LT_OK;
}

static lt_status read_steps(many *m, lt_str calls, const lt_catalog *catalog, lt_err *err) {
  LT_TRY(lt_json_parse(&m->arena, calls, &m->doc, err));
  lt_json list = lt_json_root(&m->doc);
  if (lt_json_typeof(list) != LT_JSON_ARRAY || lt_json_count(list) > LT_RUN_OPEN_CALLS_MAX) {
    return lt_fail(err, LT_E_INVALID, "several calls are an array of %d at most", LT_RUN_OPEN_CALLS_MAX);
  }
  m->steps = lt_arena_zalloc(&m->arena, lt_json_count(list) + 1, sizeof *m->steps);
  if (m->steps == NULL) {
    return lt_fail(err, LT_E_NOMEM, "no memory for several calls");
  }
  lt_json_iter it = lt_json_each(list);
  while (lt_json_next(&it)) {
    LT_TRY(read_step(m, it.value, catalog, err));
  }
  return LT_OK;
}

/* --- Telling ------------------------------------------------------------------------------------------------------ */
/* As the door does with an answer of its own: what is put aside is stored without secrets. */
static void put_aside(many *m, step *s) LT_YIELDS {
  const lt_secrets *secrets = m->call->plugin->host->options.secrets;
  lt_err err = LT_ERR_INIT;
  if (lt_secrets_in(secrets, lt_buf_view(&s->out))) {
    lt_buf masked;
    lt_buf_init(&masked, s->out.max);
    lt_secrets_mask_json(secrets, lt_buf_view(&s->out), &masked);
    lt_buf_release(&s->out);
    s->out = masked;
  }
  (void)lt_answer_spill(&m->nested.caller, s->id, &s->out, &err); /* it says itself whether it could be kept */
}

/* What is too long for a model together is so for some of it, which then does not take the rest along. */
static void shorten(many *m) LT_YIELDS {
  const lt_invoke_options *options = m->call->options;
  size_t max = options != NULL ? options->max_answer_bytes : 0;
  size_t all = 0;
  for (size_t i = 0; i < m->count; i++) {
    all += m->steps[i].out.n;
  }
  for (size_t i = 0; max > 0 && all > max && i < m->count; i++) {
    step *s = &m->steps[i];
    if (s->status == LT_OK && s->out.n > max / m->count && s->out.n > LT_ANSWER_PREVIEW_BYTES) {
      put_aside(m, s);
    }
  }
}

static void put_result(lt_json_writer *w, size_t i, const step *s) {
  bool good = s->status == LT_OK;
  lt_json_begin_object(w);
  lt_json_key(w, "step");
  lt_json_put_int(w, (int64_t)i);
  lt_json_key(w, "tool");
  lt_json_put_str(w, s->name);
  lt_json_key(w, "status");
  lt_json_put_cstr(w, good ? "ok" : "error");
  lt_json_key(w, good ? "result" : "error");
  if (good) {
    lt_json_put_raw(w, lt_buf_view(&s->out));
  } else {
    lt_json_put_str(w, lt_buf_view(&s->out));
  }
  lt_json_end_object(w);
}

static lt_status put_results(const many *m, lt_buf *out, lt_err *err) {
  lt_json_writer w = lt_json_writer_on(out);
  lt_json_begin_array(&w);
  for (size_t i = 0; i < m->count; i++) {
    put_result(&w, i, &m->steps[i]);
    out->status = out->status == LT_OK ? m->steps[i].out.status : out->status;
  }
  lt_json_end_array(&w);
  return out->status == LT_OK ? LT_OK : lt_fail(err, out->status, "the answers of several calls are too long together");
}

/* --- All of it ---------------------------------------------------------------------------------------------------- */
typedef struct many_ask {
  lt_str calls;
  size_t at_once;
  lt_buf out;
} many_ask;

static lt_status call_many(many *m, many_ask *a, lt_err *err) LT_YIELDS {
  lt_catalog *catalog = NULL; /* until the end: the ids are its */
  LT_TRY(lt_door_catalog_of(m->call->plugin->host->options.door, &m->nested.caller, &catalog, err));
  lt_status status = read_steps(m, a->calls, catalog, err);
  if (status == LT_OK) {
    m->at_once = a->at_once > 0 ? a->at_once : LT_RUN_OPEN_CALLS_MAX;
    run_all(m);
    shorten(m);
    status = put_results(m, &a->out, err);
  }
  for (size_t i = 0; i < m->count; i++) {
    lt_buf_release(&m->steps[i].out);
  }
  lt_catalog_unref(catalog);
  return status;
}

static lt_status call_tools(lathe_call *call, void *arg, lt_err *err) LT_YIELDS {
  many *m = lt_mem_zalloc(1, sizeof *m);
  if (m == NULL) {
    return lt_fail(err, LT_E_NOMEM, "no memory for several calls");
  }
  m->call = call;
  lt_arena_init(&m->arena, LT_CALL_INDEX_MAX_BYTES);
  lt_status status = lt_nested_init(&m->nested, call, err);
  if (status == LT_OK) {
    status = call_many(m, arg, err);
  }
  lt_arena_release(&m->arena);
  lt_mem_free(m);
  return status;
}

int lt_api_call_tools(lathe_call *call, lathe_text calls, unsigned at_once, lathe_text *ret_results) {
  many_ask a = {.calls = lt_of_text(calls), .at_once = at_once};
  lt_buf_init(&a.out, LT_JSON_MAX_BYTES);
  int rc = lt_ask_loop(call, &(lt_ask){.fn = call_tools, .arg = &a, .borrows = true});
  if (rc == 0 && !lt_call_keep(call, lt_buf_view(&a.out), ret_results)) {
    rc = -1;
  }
  lt_buf_release(&a.out);
  return rc;
}
