#include "fakes/fake_host.h"

#include <string.h>

#include "json/json.h"

static const fake_tool echo = {.id = NULL};

static const fake_tool *rule_of(const fake_host *fake, lt_str tool) {
  const fake_tool *rule = fake->tools;
  while (rule != NULL && rule->id != NULL && !lt_str_eqc(tool, rule->id)) {
    rule++;
  }
  return rule != NULL && rule->id != NULL ? rule : &echo;
}

static void keep_key(char *to, lt_str key) {
  size_t n = key.n < FAKE_KEY_MAX - 1 ? key.n : FAKE_KEY_MAX - 1;
  if (n > 0) {
    memcpy(to, key.p, n);
  }
  to[n] = 0;
}

static void note(lt_buf *buf, lt_str first, lt_str second) {
  lt_buf_add(buf, first);
  lt_buf_byte(buf, ' ');
  lt_buf_add(buf, second);
  lt_buf_byte(buf, '\n');
}

static void suspend(fake_host *fake, unsigned times) {
  for (unsigned i = 0; i < times; i++) {
    fake->suspended++;
    lt_fiber_yield();
  }
}

static lt_outcome outcome_of(fake_host *fake, const fake_tool *rule, lt_str tool, lt_str input) {
  lt_buf_clear(&fake->answer);
  if (rule->bytes.p != NULL) {
    lt_buf_add(&fake->answer, rule->bytes);
  } else if (rule->text != NULL) {
    lt_buf_addc(&fake->answer, rule->text);
  } else {
    lt_buf_addc(&fake->answer, "{\"tool\":\"");
    lt_buf_add(&fake->answer, tool);
    lt_buf_addc(&fake->answer, "\",\"input\":");
    lt_buf_add(&fake->answer, input.n > 0 ? input : LT_STR("null"));
    lt_buf_byte(&fake->answer, '}');
  }
  return (lt_outcome){.ok = !rule->fails && !rule->refused, .text = lt_buf_view(&fake->answer)};
}

static uint32_t open_one(fake_host *fake, const fake_tool *rule, uint64_t ms, lt_str tool, lt_str input) {
  LT_CHECK(fake->open_count < FAKE_OPEN_MAX);
  fake_open *open = &fake->open[fake->open_count++];
  *open = (fake_open){.id = ++fake->last_id, .due_ms = fake->now_ms + ms, .rule = rule};
  keep_key(open->tool, tool);
  lt_buf_init(&open->input, LT_JSON_MAX_BYTES);
  lt_buf_add(&open->input, input);
  fake->most_open = fake->open_count > fake->most_open ? fake->open_count : fake->most_open;
  return open->id;
}

static bool do_start(void *arg, lt_str tool, lt_str input, bool is_object, lt_outcome *ret) {
  fake_host *fake = arg;
  const fake_tool *rule = rule_of(fake, tool);
  LT_CHECK(!is_object || (lt_str_starts(input, LT_STR("{")) && lt_json_check(input, NULL) == LT_OK));
  note(&fake->calls, tool, input);
  if (rule->refused) {
    ret->text = lt_str_of(rule->text);
    return false;
  }
  ret->id = open_one(fake, rule, rule->ms, tool, input);
  return true;
}

static uint32_t do_timer(void *arg, uint64_t ms) {
  return open_one(arg, NULL, ms, LT_STR_NULL, LT_STR_NULL);
}

/* The one that is due first. */
static unsigned next_open(const fake_host *fake, uint32_t id) {
  unsigned best = fake->open_count;
  for (unsigned i = 0; i < fake->open_count; i++) {
    const fake_open *open = &fake->open[i];
    if (id != 0) {
      best = open->id == id ? i : best;
    } else if (best == fake->open_count || open->due_ms < fake->open[best].due_ms ||
               (fake->last_first && open->due_ms == fake->open[best].due_ms)) {
      best = i;
    }
  }
  return best;
}

static void close_one(fake_host *fake, unsigned i) {
  lt_buf_release(&fake->open[i].input);
  fake->open_count--;
  memmove(&fake->open[i], &fake->open[i + 1], (fake->open_count - i) * sizeof fake->open[0]);
}

static bool do_wait(void *arg, uint32_t id, lt_outcome *ret) {
  fake_host *fake = arg;
  unsigned i = next_open(fake, id);
  if (i == fake->open_count) {
    return false;
  }
  fake_open *open = &fake->open[i];
  suspend(fake, open->rule != NULL ? open->rule->yields : 1);
  if (open->rule != NULL) {
    *ret = outcome_of(fake, open->rule, lt_str_of(open->tool), lt_buf_view(&open->input));
  } else {
    *ret = (lt_outcome){.ok = true, .text = LT_STR("null")};
  }
  ret->id = open->id;
  fake->now_ms = open->due_ms > fake->now_ms ? open->due_ms : fake->now_ms;
  close_one(fake, i);
  return true;
}

static void do_output(void *arg, lt_str text) {
  fake_host *fake = arg;
  lt_buf_add(&fake->outputs, text);
  lt_buf_byte(&fake->outputs, '\n');
}

static void do_log(void *arg, lt_log_level level, lt_str text) {
  static const char *const names[] = {"log", "warn", "error"};
  fake_host *fake = arg;
  note(&fake->logs, level <= LT_LOG_ERROR ? lt_str_of(names[level]) : LT_STR("?"), text);
}

static void do_done(void *arg) {
  fake_host *fake = arg;
  fake->done++;
}

static fake_stored *stored_at(fake_host *fake, lt_str key, bool make) {
  for (unsigned i = 0; i < FAKE_STORED_MAX; i++) {
    fake_stored *s = &fake->stored[i];
    if (s->key[0] != 0 && lt_str_eqc(key, s->key)) {
      return s;
    }
  }
  for (unsigned i = 0; make && i < FAKE_STORED_MAX; i++) {
    fake_stored *s = &fake->stored[i];
    if (s->key[0] == 0) {
      keep_key(s->key, key);
      return s;
    }
  }
  return NULL;
}

static bool do_store(void *arg, lt_str key, lt_str json, lt_outcome *ret) {
  fake_stored *s = stored_at(arg, key, true);
  if (s == NULL || key.n == 0 || key.n >= FAKE_KEY_MAX) {
    ret->text = LT_STR("store(): no room");
    return false;
  }
  lt_buf_clear(&s->json);
  lt_buf_add(&s->json, json);
  return true;
}

static lt_str do_recall(void *arg, lt_str key) {
  fake_stored *s = stored_at(arg, key, false);
  return s == NULL ? LT_STR_NULL : lt_buf_view(&s->json);
}

static lt_outcome do_discover(void *arg, lt_str query) {
  fake_host *fake = arg;
  note(&fake->asked, LT_STR("discover"), query);
  return (lt_outcome){.ok = true, .text = LT_STR("[{\"id\":\"a.b\"}]")};
}

static lt_outcome do_schema(void *arg, lt_str tool) {
  fake_host *fake = arg;
  note(&fake->asked, LT_STR("schema"), tool);
  bool ok = !lt_str_eqc(tool, "nope");
  return (lt_outcome){.ok = ok, .text = ok ? LT_STR("{\"type\":\"object\"}") : LT_STR("Tool \"nope\" not found")};
}

static bool do_resolve(void *arg, lt_str name, lt_outcome *ret) {
  fake_host *fake = arg;
  note(&fake->asked, LT_STR("resolve"), name);
  if (lt_str_starts(name, LT_STR("nope"))) {
    ret->text = LT_STR("Tool \"nope\" not found. Did you mean: a.b?");
    return false;
  }
  lt_buf_clear(&fake->answer);
  lt_buf_add(&fake->answer, lt_str_eqc(name, "aB") ? LT_STR("a.b") : name);
  ret->text = lt_buf_view(&fake->answer);
  return true;
}

static bool do_module(void *arg, lt_str name, lt_str *ret_source) {
  fake_host *fake = arg;
  for (const fake_module *m = fake->modules; m != NULL && m->name != NULL; m++) {
    if (lt_str_eqc(name, m->name)) {
      *ret_source = lt_str_of(m->source);
      return true;
    }
  }
  return false;
}

static bool do_poll(void *arg) {
  fake_host *fake = arg;
  if (fake->poll_yields) {
    suspend(fake, 1);
  }
  return fake->polls++ == fake->stop_at_poll;
}

void fake_host_init(fake_host *fake) {
  *fake = (fake_host){.stop_at_poll = -1,
                      .host = {.arg = fake,
                               .start = do_start,
                               .timer = do_timer,
                               .wait = do_wait,
                               .output = do_output,
                               .log = do_log,
                               .done = do_done,
                               .store = do_store,
                               .recall = do_recall,
                               .discover = do_discover,
                               .schema = do_schema,
                               .resolve = do_resolve,
                               .module = do_module,
                               .poll = do_poll}};
  lt_buf *notes[] = {&fake->calls, &fake->logs, &fake->outputs, &fake->asked, &fake->answer};
  for (unsigned i = 0; i < sizeof notes / sizeof notes[0]; i++) {
    lt_buf_init(notes[i], 256 * LT_MIB);
  }
  for (unsigned i = 0; i < FAKE_STORED_MAX; i++) {
    lt_buf_init(&fake->stored[i].json, LT_JSON_MAX_BYTES);
  }
}

void fake_host_clear(fake_host *fake) {
  lt_buf *notes[] = {&fake->calls, &fake->logs, &fake->outputs, &fake->asked, &fake->answer};
  for (unsigned i = 0; i < sizeof notes / sizeof notes[0]; i++) {
    lt_buf_release(notes[i]);
  }
  while (fake->open_count > 0) {
    close_one(fake, fake->open_count - 1);
  }
  for (unsigned i = 0; i < FAKE_STORED_MAX; i++) {
    lt_buf_release(&fake->stored[i].json);
    fake->stored[i].key[0] = 0;
  }
  fake->done = fake->suspended = fake->most_open = 0;
  fake->polls = 0;
  fake->now_ms = 0;
  fake->last_id = 0;
}

void fake_host_release(fake_host *fake) {
  fake_host_clear(fake);
}

typedef struct run_args {
  fake_host *fake;
  lt_box *box;
  const lt_program *program;
  lt_engine_result *result;
} run_args;

static void run_on_fiber(void *arg) {
  run_args *args = arg;
  lt_engine_run(args->box, args->program, &args->fake->host, args->result);
}

unsigned fake_run(fake_host *fake, lt_box *box, const lt_program *program, lt_engine_result *result) {
  run_args args = {fake, box, program, result};
  lt_fiber fiber;
  unsigned resumed = 1;
  lt_fiber_init(&fiber, box->stack, lt_box_stack_bytes(box), run_on_fiber, &args);
  while (lt_fiber_resume(&fiber)) {
    resumed++;
  }
  lt_fiber_release(&fiber);
  return resumed;
}

void fake_text(const lt_engine_result *result, lt_buf *out) {
  lt_str text = lt_buf_view(&result->text);
  switch (result->ending) {
    case LT_END_VALUE:
      lt_buf_add(out, text);
      return;
    case LT_END_STRING:
      lt_buf_byte(out, '\'');
      lt_buf_add(out, text);
      lt_buf_byte(out, '\'');
      return;
    case LT_END_UNDEFINED:
      lt_buf_addc(out, "undefined");
      return;
    case LT_END_ERROR:
      lt_buf_add(out, result->name.n > 0 ? lt_buf_view(&result->name) : LT_STR("thrown"));
      lt_buf_addc(out, ": ");
      lt_buf_add(out, text);
      return;
    case LT_END_MEMORY:
      lt_buf_addc(out, "memory");
      return;
    case LT_END_STOPPED:
      lt_buf_addc(out, "stopped");
      return;
    case LT_END_TRAP:
      lt_buf_addc(out, "trap: ");
      lt_buf_add(out, text);
      return;
  }
}
