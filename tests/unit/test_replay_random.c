/* Programs made up at random, killed at random places, several times each: they come to what they would have come to.
 *
 * LATHE_SEED=N for other ones. */
#include "replay_fix.h"

enum { PROGRAMS = 150, STATEMENTS = 6, DEATHS = 3 };

/* --- Chance ------------------------------------------------------------------------------------------------------- */
static uint64_t chance;

static unsigned pick(unsigned count) {
  chance = chance * 6364136223846793005u + 1442695040888963407u;
  return (unsigned)(chance >> 33) % count;
}

static uint64_t seed(void) {
  const char *text = getenv("LATHE_SEED");
  return text != NULL ? strtoull(text, NULL, 10) : 20261122;
}

/* --- Programs ----------------------------------------------------------------------------------------------------- */
typedef struct author {
  lt_buf code;
  unsigned n;    /* the next effect that must not come twice: 1 to 31 */
  unsigned free; /* what may come twice: 32 on */
} author;

/* A call whose outcome is put into `got`, as a number, or as "i" when it was interrupted. */
static void put_call(author *a, const char *wait) {
  bool once = pick(2) == 0 && a->n < 31;
  unsigned n = once ? a->n++ : 32 + a->free++ % 32;
  unsigned ms = pick(3) == 0 ? pick(4) : 0;
  const char *fail = pick(6) == 0 ? ", fail: 1" : pick(5) == 0 ? ", at: Date.now()" : "";
  switch (pick(4)) {
    case 0:
      lt_buf_printf(&a->code, "%skeep(%u, () => %s(%u))", wait, n, once ? "once" : "often", n);
      break;
    case 1:
      lt_buf_printf(&a->code, "%skeep(%u, () => tools['e.%s']({n: %u, ms: %u%s}))", wait, n, once ? "act" : "read", n,
                    ms, fail);
      break;
    default:
      lt_buf_printf(&a->code, "%skeep(%u, () => %s({n: %u, ms: %u%s}))", wait, n, once ? "eAct" : "eRead", n, ms, fail);
  }
}

static void put_several(author *a, const char *how) {
  lt_buf_printf(&a->code, "%s[", how);
  for (unsigned i = pick(3) + 2; i > 0; i--) {
    put_call(a, "");
    lt_buf_addc(&a->code, ", ");
  }
  lt_buf_addc(&a->code, "]);\n");
}

static void put_statement(author *a) {
  unsigned what = pick(13);
  switch (what) {
    case 0:
      put_several(a, "await Promise.all(");
      break;
    case 1:
      put_several(a, "output('first ' + await Promise.race(");
      a->code.n -= 2;
      lt_buf_addc(&a->code, ");\n");
      break;
    case 2:
      lt_buf_addc(&a->code, "left.push(");
      put_call(a, "");
      lt_buf_addc(&a->code, ");\n");
      break;
    case 3:
      lt_buf_printf(&a->code, "await new Promise((go) => setTimeout(go, %u));\n", pick(4));
      break;
    case 4:
      lt_buf_printf(&a->code, "setTimeout(() => output('ticked'), %u);\n", pick(5));
      break;
    case 5:
      lt_buf_printf(&a->code, "{ const t = setTimeout(() => output('no'), %u); ", pick(40));
      put_call(a, "await ");
      lt_buf_addc(&a->code, "; clearTimeout(t); }\n");
      break;
    case 6:
      lt_buf_addc(&a->code, "output(Math.random()); output(Date.now()); output(performance.now());\n");
      break;
    case 7:
      lt_buf_addc(&a->code,
                  "store('k' + Object.keys(got).length, Object.keys(got)); output(recall('k1') ?? 'none');\n");
      break;
    case 8:
      lt_buf_addc(&a->code, "if (Math.random() < 0.5) { ");
      put_call(a, "await ");
      lt_buf_addc(&a->code, " } else { ");
      put_call(a, "await ");
      lt_buf_addc(&a->code, " }\n");
      break;
    case 9:
      lt_buf_addc(&a->code, "for (let i = 0; i < 100000; i++);\n");
      break;
    case 10:
      lt_buf_printf(&a->code, "{ const t = Date.now(); while (Date.now() - t < %u); output(Date.now() - t) }\n",
                    pick(12));
      break;
    default:
      put_call(a, "await ");
      lt_buf_addc(&a->code, ";\n");
  }
}

static void write_program(author *a) {
  lt_buf_clear(&a->code);
  a->n = 1;
  a->free = 0;
  lt_buf_addc(&a->code,
              "const got = {}, left = [];\n"
              "async function keep(n, call) {\n"
              "  try { const x = await call(); got[n] = x.n } catch (e) { got[n] = /interrupted/.test(e.message) ? 'i' "
              ": /went wrong/.test(e.message) ? 'f' : e.message }\n"
              "  output(n); return n;\n"
              "}\n");
  for (unsigned i = pick(STATEMENTS) + 2; i > 0; i--) {
    put_statement(a);
  }
  lt_buf_addc(&a->code, "await Promise.all(left);\noutput('end');\nObject.entries(got).map(([n, x]) => n + x).join()");
  lt_buf_byte(&a->code, '\0');
  a->code.n--;
}

/* --- What must hold ----------------------------------------------------------------------------------------------- */
/* `n` + what came of it, for each call: its own number, f, or i; nothing else can come of one. */
static void check_outcome(const scene *s) {
  if (strncmp(s->end.p, "string ", 7) != 0 && strncmp(s->end.p, "undefined", 9) != 0) {
    fail_msg("%s\nended as %s", s->request.code.p, s->end.p);
  }
  for (const char *at = s->end.p + 7; strncmp(s->end.p, "string ", 7) == 0 && *at >= '0' && *at <= '9';) {
    char *end;
    unsigned long both = strtoul(at, &end, 10);
    unsigned long n = both < 100 ? both : both < 1000 ? both / 10 : both / 100;
    bool good = *end == 'i' || *end == 'f' ? both < EFFECTS : both == (n < 10 ? n * 11 : n * 101) || both % 11 == 0;
    if (!good) {
      fail_msg("%s\nended as %s", s->request.code.p, s->end.p);
    }
    at = end + (*end == 'i' || *end == 'f');
    at += *at == ',';
  }
  for (unsigned n = 1; n < 32; n++) {
    if (s->done[n] > 1) {
      fail_msg("call %u was made %u times by\n%s", n, s->done[n], s->request.code.p);
    }
  }
}

static void check_said(const scene *s, const char *told) {
  const char *said = s->said.n > 0 ? s->said.p : "";
  if (strncmp(said, told, strlen(told)) != 0) {
    fail_msg("%s\ntold\n%s\nand said\n%s", s->request.code.p, told, said);
  }
}

static void play_and_kill(world *w, author *a) {
  scene s;
  char *told[DEATHS];
  scene_open(&s, w, a->code.p);
  for (unsigned k = 0; k < DEATHS; k++) {
    s.prompt = pick(2) == 0;
    if (k > 0 && pick(4) == 0) {
      wait_a_little(&s);
    }
    assert_int_equal(play(&s, k > 0, pick(k == 0 ? 25 : 12)), LT_OK);
    told[k] = strndup(s.told.n > 0 ? s.told.p : "", s.told.n);
  }
  assert_int_equal(play(&s, true, FOR_EVER), LT_OK);
  check_outcome(&s);
  char *end = strndup(s.end.p, s.end.n);
  for (unsigned k = 0; k < DEATHS; k++) {
    check_said(&s, told[k]);
    free(told[k]);
  }
  play_strictly(&s);
  assert_string_equal(s.end.p, end);
  assert_int_equal(play(&s, true, FOR_EVER), LT_OK);
  assert_int_equal(s.invoked, 0);
  assert_string_equal(s.end.p, end);
  free(end);
  scene_close(&s);
}

static void play_many(world *w) {
  author a = {0};
  lt_buf_init(&a.code, LT_MIB);
  chance = seed();
  for (int i = 0; i < PROGRAMS; i++) {
    write_program(&a);
    play_and_kill(w, &a);
  }
  lt_buf_release(&a.code);
}

IN_WORLD(test_random_programs_come_to_what_they_would_have, 2) {
  play_many(w);
}

static void test_the_same_where_those_that_wait_are_dropped(void **state) {
  (void)state;
  assert_int_equal(setenv("LATHE_DROP_WAITING", "1", 1), 0);
  in_world(play_many, 2);
  unsetenv("LATHE_DROP_WAITING");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_random_programs_come_to_what_they_would_have),
      cmocka_unit_test(test_the_same_where_those_that_wait_are_dropped),
  };
  return run_all_tests(tests, sizeof tests / sizeof tests[0]);
}
