/* Loading plugins from shared objects: good ones, older and newer ones, and all that can be wrong with one. */
#include "fakes/host_fix.h"

#define PLUGIN(name) LT_TEST_PLUGINS "/" name ".so"

static lt_status load(host_fix *f, const char *path, const char *config) {
  f->err = LT_ERR_INIT;
  return lt_host_load(f->host, path, lt_str_of(config), &f->err);
}

/* --- Good ones ---------------------------------------------------------------------------------------------------- */
static void good(host_fix *f) {
  assert_int_equal(load(f, PLUGIN("good"), "{\"path\":\"x\"}"), LT_OK);
  assert_int_equal(host_fix_call(f, "good.add", "{\"a\":1}"), LT_OK);
  assert_out(f, "[1,{\"path\":\"x\"}]");
  assert_int_equal(host_fix_call(f, "good.add", "{\"a\":\"one\"}"), LT_E_INVALID);
  size_t count;
  const lt_run_module *modules = lt_host_modules(f->host, &count);
  assert_int_equal(count, 1);
  assert_true(lt_str_eqc(modules[0].name, "sums"));
  const lt_run_function *functions = lt_host_functions(f->host, &count);
  assert_int_equal(count, 1);
  assert_true(lt_str_eqc(functions[0].name, "plus"));
  assert_int_equal(functions[0].call(functions[0].arg, LT_STR("[2]"), NULL, &f->out, &f->err), LT_OK);
  assert_has(f->out.p, "[2]");
  assert_has(f->lines, "plugin good: set up\n");
  assert_int_equal(f->warnings, 0);
}

static void test_good(void **state) {
  host_fix_run(*state, good);
}

static void old(host_fix *f) {
  assert_int_equal(load(f, PLUGIN("old"), ""), LT_OK);
  assert_int_equal(host_fix_call(f, "old.note", "{}"), LT_OK);
  assert_out(f, "{\"rows\":[{\"text\":\"n\"}],\"state\":{\"n\":1},\"arg\":7}");
  lt_catalog *catalog;
  assert_int_equal(lt_door_catalog(f->door, &catalog, &f->err), LT_OK);
  assert_false(lt_catalog_find(catalog, LT_STR("old.note"))->needs_approval);
  lt_catalog_unref(catalog);
}

static void test_built_against_an_older_header(void **state) {
  host_fix_run(*state, old);
}

static void newer(host_fix *f) {
  assert_int_equal(load(f, PLUGIN("new"), ""), LT_OK);
  assert_int_equal(host_fix_call(f, "new.has", "{}"), LT_OK);
  assert_out(f, "{\"runs\":1,\"paints\":0}");
}

static void test_built_against_a_newer_header(void **state) {
  host_fix_run(*state, newer);
}

static void cpp(host_fix *f) {
  assert_int_equal(load(f, PLUGIN("cpp"), ""), LT_OK);
  assert_int_equal(host_fix_call(f, "cpp.greet", "{\"a\":1}"), LT_OK);
  assert_out(f, "{\"hello\":{\"a\":1}}");
}

static void test_in_cpp(void **state) {
  if (access(PLUGIN("cpp"), F_OK) != 0) {
    skip();
  }
  host_fix_run(*state, cpp);
}

/* --- Bad ones ----------------------------------------------------------------------------------------------------- */
static const struct {
  const char *path;
  const char *config;
  lt_status status;
  const char *says;
} bad[] = {
    {PLUGIN("is-not-there"), "", LT_E_NOTFOUND, "is-not-there.so: there is no such file"},
    {"tests/unit/test_host_load.c", "", LT_E_INVALID, "cannot be loaded"},
    {"/dev/null", "", LT_E_INVALID, "cannot be loaded"},
    {"/", "", LT_E_INVALID, "cannot be loaded"},
    {PLUGIN("unresolved"), "", LT_E_INVALID, "nobody_has_this_function"},
    {PLUGIN("no_entry"), "", LT_E_INVALID, "exports no function lathe_plugin_entry"},
    {PLUGIN("null_entry"), "", LT_E_UNSUPPORTED, "cannot work here"},
    {PLUGIN("small"), "", LT_E_INVALID, "sizeof(lathe_plugin)"},
    {PLUGIN("huge_size"), "", LT_E_INVALID, "sizeof(lathe_plugin)"},
    {PLUGIN("bad_id"), "", LT_E_INVALID, "its id \"Bad Id\""},
    {PLUGIN("no_id"), "", LT_E_INVALID, "its id \"\""},
    {PLUGIN("flags"), "", LT_E_UNSUPPORTED, "needs a newer one"},
    {PLUGIN("bad_schema"), "", LT_E_INVALID, "its config_schema cannot be used"},
    {PLUGIN("setup_fails"), "", LT_E_TOOL, "the moon is in the wrong house"},
};

static void refuses(host_fix *f) {
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
    lt_status status = load(f, bad[i].path, bad[i].config);
    if (status != bad[i].status || strstr(lt_err_msg(&f->err), bad[i].says) == NULL) {
      FAIL_WITH("%s: %s: %s\n", bad[i].path, lt_status_name(status), lt_err_msg(&f->err));
    }
  }
  /* The others still load, and a bad one's tools say why they are not there. */
  assert_int_equal(load(f, PLUGIN("good"), ""), LT_OK);
  assert_int_equal(host_fix_call(f, "good.add", "{\"a\":1}"), LT_OK);
  assert_int_equal(host_fix_call(f, "bad.t", "{}"), LT_E_CLOSED);
  assert_has(f->out.p, "plugin \"bad\" is not available: the moon is in the wrong house");
  assert_int_equal(load(f, PLUGIN("good"), ""), LT_E_INVALID);
  assert_has(lt_err_msg(&f->err), "a plugin \"good\" already");
}

static void test_refuses(void **state) {
  host_fix_run(*state, refuses);
}

static void refuses_configs(host_fix *f) {
  static const struct {
    const char *config;
    lt_status status;
    const char *says;
  } configs[] = {
      {"{\"path\":7}", LT_E_INVALID, "config.path: expected string, got number"},
      {"{\"path\":", LT_E_SYNTAX, "its config is not JSON"},
      {"[]", LT_E_INVALID, "config: expected object"},
  };
  for (size_t i = 0; i < sizeof configs / sizeof configs[0]; i++) {
    assert_int_equal(load(f, PLUGIN("good"), configs[i].config), configs[i].status);
    assert_has(lt_err_msg(&f->err), configs[i].says);
    assert_int_equal(host_fix_call(f, "good.add", "{}"), LT_E_CLOSED);
    assert_has(f->out.p, "plugin \"good\" is not available: ");
    assert_has(f->out.p, configs[i].says);
    host_fix_close_host(f);
    host_fix_open(f);
  }
}

static void test_refuses_configs(void **state) {
  host_fix_run(*state, refuses_configs);
}

/* dlopen would touch pages that are not there. */
static void cut_off(host_fix *f) {
  static char bytes[LT_MIB];
  char path[] = "/tmp/lathe-cut-XXXXXX";
  FILE *from = fopen(PLUGIN("good"), "rb");
  assert_non_null(from);
  size_t n = fread(bytes, 1, sizeof bytes, from);
  fclose(from);
  int fd = mkstemp(path);
  assert_true(fd >= 0);
  for (size_t cut = n / 2; cut > 0; cut /= 2) {
    assert_int_equal(ftruncate(fd, 0), 0);
    assert_int_equal(pwrite(fd, bytes, cut, 0), cut);
    assert_int_equal(load(f, path, ""), LT_E_INVALID);
    assert_has(lt_err_msg(&f->err), "it cannot be loaded: ");
  }
  close(fd);
  unlink(path);
}

static void test_cut_off(void **state) {
  host_fix_run(*state, cut_off);
}

static void twice(host_fix *f) {
  assert_int_equal(load(f, PLUGIN("tool_twice"), ""), LT_E_TOOL);
  assert_has(lt_err_msg(&f->err), "the tool \"t\" is there already");
}

static void test_tool_twice(void **state) {
  host_fix_run(*state, twice);
}

static void tool_schema(host_fix *f) {
  assert_int_equal(load(f, PLUGIN("tool_schema"), ""), LT_E_TOOL);
  assert_has(lt_err_msg(&f->err), "the input_schema of the tool \"u\" cannot be used");
}

static void test_tool_schema(void **state) {
  host_fix_run(*state, tool_schema);
}

static void ready_fails(host_fix *f) {
  assert_int_equal(load(f, PLUGIN("ready_fails"), ""), LT_OK);
  assert_int_equal(load(f, PLUGIN("good"), ""), LT_OK);
  assert_int_equal(host_fix_call(f, "bad.t", "{}"), LT_OK);
  lt_host_ready(f->host);
  assert_int_equal(f->warnings, 1);
  assert_has(f->lines, "the moon is in the wrong house");
  assert_int_equal(host_fix_call(f, "bad.t", "{}"), LT_E_CLOSED);
  assert_int_equal(host_fix_call(f, "good.add", "{\"a\":1}"), LT_OK);
}

static void test_ready_fails(void **state) {
  host_fix_run(*state, ready_fails);
}

static void hangs(host_fix *f) {
  assert_int_equal(load(f, PLUGIN("setup_hangs"), ""), LT_E_TIMEOUT);
  assert_has(lt_err_msg(&f->err), "has not come back from \"setup\" within 10000 ms");
  assert_int_equal(load(f, PLUGIN("good"), ""), LT_OK);
  lt_host_ready(f->host);
  assert_int_equal(host_fix_call(f, "good.add", "{\"a\":1}"), LT_OK);
  assert_int_equal(host_fix_call(f, "bad.t", "{}"), LT_E_CLOSED);
}

static void test_setup_hangs(void **state) {
  host_fix_run(*state, hangs);
}

/* --- Without memory ----------------------------------------------------------------------------------------------- */
static void sweep(host_fix *f) {
  for (long n = 0;; n++) {
    lt_mem_fail_at(n);
    lt_status status = load(f, PLUGIN("good"), "{\"path\":\"x\"}");
    bool failed = lt_mem_failed();
    lt_mem_fail_at(-1);
    if (!failed) {
      assert_int_equal(status, LT_OK);
      assert_true(n > 20);
      return;
    }
    assert_true(status == LT_OK || status == LT_E_NOMEM || status == LT_E_TOOL || status == LT_E_LIMIT);
    host_fix_close_host(f);
    host_fix_open(f);
  }
}

static void test_every_allocation_may_fail(void **state) {
  host_fix_run(*state, sweep);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      HOST_TEST(test_good),
      HOST_TEST(test_built_against_an_older_header),
      HOST_TEST(test_built_against_a_newer_header),
      HOST_TEST(test_in_cpp),
      HOST_TEST(test_refuses),
      HOST_TEST(test_refuses_configs),
      HOST_TEST(test_cut_off),
      HOST_TEST(test_tool_twice),
      HOST_TEST(test_tool_schema),
      HOST_TEST(test_ready_fails),
      HOST_TEST(test_every_allocation_may_fail),
      HOST_TEST(test_setup_hangs),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
