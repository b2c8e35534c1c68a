/* Names of tools in programs: the rules for one name, and what happens when two tools want the same. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "tool/catalog.h"
#include "tool/identifier.h"

typedef void (*name_fn)(lt_buf *out, lt_str s);

static void expect_n(name_fn fn, lt_str in, const char *want) {
  lt_buf out;
  lt_buf_init(&out, 1024);
  fn(&out, in);
  lt_buf_byte(&out, '\0');
  assert_int_equal(out.status, LT_OK);
  assert_string_equal(out.p, want);
  lt_buf_release(&out);
}

static void expect(name_fn fn, const char *in, const char *want) {
  expect_n(fn, lt_str_of(in), want);
}

static void javascript_is_camel_case(void **state) {
  (void)state;
  expect(lt_identifier_js, "weather.get-weather", "weatherGetWeather");
  expect(lt_identifier_js, "home-assistant.call-service", "homeAssistantCallService");
  expect(lt_identifier_js, "conversation.getActive", "conversationGetActive");
  expect(lt_identifier_js, "conversation.get_active", "conversationGetActive");
  expect(lt_identifier_js, "GitHub.listPRs", "GitHubListPRs");
  expect(lt_identifier_js, "x:y", "xY");
  expect(lt_identifier_js, "a b/c.d", "aBCD");
  expect(lt_identifier_js, "trigger.", "trigger");
  expect(lt_identifier_js, "_ns.__tool__", "nsTool");
  expect(lt_identifier_js, "v.2x", "v2x");
  expect(lt_identifier_js, "a.$b", "a$b");
}

static void snake_case_divides_words(void **state) {
  (void)state;
  expect(lt_identifier_snake, "shop_getOrder", "shop_get_order");
  expect(lt_identifier_snake, "getHTTPPage2List", "get_http_page2_list");
  expect(lt_identifier_snake, "Shop_ListPRs", "shop_list_p_rs");
  expect(lt_identifier_snake, "already_snake", "already_snake");
  expect(lt_identifier_snake, "", "");
}

static void javascript_mends_what_is_no_identifier(void **state) {
  (void)state;
  expect(lt_identifier_js, "2fast", "_2fast");
  expect(lt_identifier_js, ".2fast.go", "_2fastGo");
  expect(lt_identifier_js, "", "_");
  expect(lt_identifier_js, "...", "_");
  expect(lt_identifier_js, "\xF0\x9F\x98\x80", "_");                       /* an emoji is no letter */
  expect(lt_identifier_js, "wetter.\xC3\xA4ndern", "wetter\xC3\xA4ndern"); /* a letter is */
  expect(lt_identifier_js, "\xE5\xA4\xA9\xE6\xB0\x97.get", "\xE5\xA4\xA9\xE6\xB0\x97Get");
  expect(lt_identifier_js, "a.\xFFz\xC3", "aZ"); /* bytes that are not UTF-8 */
  expect(lt_identifier_js, "a\xC3.b", "aB");
  expect_n(lt_identifier_js, lt_str_from("a\0b", 3), "aB");
}

static void javascript_spares_the_programs_world(void **state) {
  (void)state;
  static const char *const taken[] = {
      "break",
      "case",
      "catch",
      "class",
      "const",
      "continue",
      "debugger",
      "default",
      "delete",
      "do",
      "else",
      "enum",
      "export",
      "extends",
      "false",
      "finally",
      "for",
      "function",
      "if",
      "implements",
      "import",
      "in",
      "instanceof",
      "interface",
      "let",
      "new",
      "null",
      "package",
      "private",
      "protected",
      "public",
      "return",
      "static",
      "super",
      "switch",
      "this",
      "throw",
      "true",
      "try",
      "typeof",
      "var",
      "void",
      "while",
      "with",
      "yield",
      "await",
      "arguments",
      "eval",
      "output",
      "done",
      "complete",
      "log",
      "console",
      "store",
      "recall",
      "discoverTools",
      "toolSchema",
      "parallel",
      "llm",
      "llmJson",
      "storeArtifact",
      "getArtifact",
      "listArtifacts",
      "tools",
      "input",
      "setTimeout",
      "clearTimeout",
      "sleep",
      "Object",
      "Function",
      "Array",
      "Number",
      "Boolean",
      "String",
      "Symbol",
      "Date",
      "Promise",
      "RegExp",
      "Error",
      "AggregateError",
      "EvalError",
      "RangeError",
      "ReferenceError",
      "SyntaxError",
      "TypeError",
      "URIError",
      "InternalError",
      "globalThis",
      "JSON",
      "Math",
      "Reflect",
      "Proxy",
      "Map",
      "Set",
      "WeakMap",
      "WeakSet",
      "WeakRef",
      "FinalizationRegistry",
      "ArrayBuffer",
      "SharedArrayBuffer",
      "DataView",
      "Atomics",
      "BigInt",
      "BigInt64Array",
      "BigUint64Array",
      "Int8Array",
      "Int16Array",
      "Int32Array",
      "Uint8Array",
      "Uint8ClampedArray",
      "Uint16Array",
      "Uint32Array",
      "Float16Array",
      "Float32Array",
      "Float64Array",
      "Iterator",
      "Infinity",
      "NaN",
      "undefined",
      "isFinite",
      "isNaN",
      "parseFloat",
      "parseInt",
      "decodeURI",
      "decodeURIComponent",
      "encodeURI",
      "encodeURIComponent",
      "escape",
      "unescape",
      "performance",
      "queueMicrotask",
      "structuredClone",
      "DOMException",
      "toString",
      "constructor",
      "hasOwnProperty",
      "valueOf",
      "fetch",
  };
  for (size_t i = 0; i < sizeof taken / sizeof taken[0]; i++) {
    char want[64];
    snprintf(want, sizeof want, "%s_", taken[i]);
    expect(lt_identifier_js, taken[i], want);
  }
  expect(lt_identifier_js, "get-artifact", "getArtifact_");
  expect(lt_identifier_js, "store.artifact", "storeArtifact_");
  expect(lt_identifier_js, "outputs", "outputs");
  expect(lt_identifier_js, "Store", "Store");
}

static void typescript_keeps_the_tools_name(void **state) {
  (void)state;
  expect(lt_identifier_ts, "get-weather", "get_weather");
  expect(lt_identifier_ts, "getWeather", "getWeather");
  expect(lt_identifier_ts, "weather.get", "weather_get");
  expect(lt_identifier_ts, "a--b", "a__b");
  expect(lt_identifier_ts, "2fast", "_2fast");
  expect(lt_identifier_ts, "", "_");
  expect(lt_identifier_ts, "\xF0\x9F\x98\x80x", "_x");
  expect(lt_identifier_ts, "sleep", "sleep"); /* no built-in there */
  static const char *const taken[] = {"delete",    "default", "await", "fetch",     "console",  "output",     "log",
                                      "store",     "recall",  "input", "Result",    "ToolCall", "ToolResult", "Promise",
                                      "undefined", "process", "eval",  "interface", "Deno"};
  for (size_t i = 0; i < sizeof taken / sizeof taken[0]; i++) {
    char want[64];
    snprintf(want, sizeof want, "%s_", taken[i]);
    expect(lt_identifier_ts, taken[i], want);
  }
}

static void typescript_types_are_pascal_case(void **state) {
  (void)state;
  expect(lt_identifier_ts_type, "get_weather", "GetWeather");
  expect(lt_identifier_ts_type, "getWeather", "GetWeather");
  expect(lt_identifier_ts_type, "a__b", "AB");
  expect(lt_identifier_ts_type, "_2fast", "_2fast");
  expect(lt_identifier_ts_type, "delete_", "Delete");
  expect(lt_identifier_ts_type, "_", "_");
}

/* --- Several tools ------------------------------------------------------------------------------------------------ */
/* Builds a catalog of ids "ns.name". */
static lt_catalog *catalog_of(const char *const *ids, size_t count) {
  lt_catalog_source sources[16];
  lt_tool_spec specs[16] = {0};
  for (size_t i = 0; i < count; i++) {
    lt_str id = lt_str_of(ids[i]);
    size_t dot = lt_str_find(id, LT_STR("."), 0);
    specs[i].name = lt_str_sub(id, dot + 1, id.n);
    sources[i] = (lt_catalog_source){lt_str_sub(id, 0, dot), NULL, &specs[i], 1};
  }
  lt_catalog *catalog = NULL;
  assert_int_equal(lt_catalog_new(sources, count, &catalog, NULL), LT_OK);
  return catalog;
}

#define CATALOG(...) \
  catalog_of((const char *const[]){__VA_ARGS__}, sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *))

static void expect_names(const lt_catalog *catalog, const char *id, const char *js, const char *ts, const char *type) {
  const lt_tool *tool = lt_catalog_find(catalog, lt_str_of(id));
  assert_non_null(tool);
  assert_true(lt_str_eqc(tool->js_name, js));
  assert_true(lt_str_eqc(tool->ts_name, ts));
  assert_true(lt_str_eqc(tool->ts_type, type));
  assert_ptr_equal(lt_catalog_find_ts(catalog, lt_str_of(ts)), tool);
  if (js[0] != '\0') {
    assert_ptr_equal(lt_catalog_find_js(catalog, lt_str_of(js)), tool);
  }
}

static void expect_warnings(const lt_catalog *catalog, size_t count, const char *const *parts) {
  const lt_str *warnings;
  assert_int_equal(lt_catalog_warnings(catalog, &warnings), count);
  for (size_t i = 0; i < count; i++) {
    if (lt_str_find(warnings[i], lt_str_of(parts[i]), 0) == SIZE_MAX) {
      fail_msg("warning \"%.*s\" lacks \"%s\"", LT_STR_ARG(warnings[i]), parts[i]);
    }
  }
}

static void ordinary_names_warn_of_nothing(void **state) {
  (void)state;
  lt_catalog *c = CATALOG("weather.get-weather", "weather.get_alerts", "x:y.z");
  expect_names(c, "weather.get-weather", "weatherGetWeather", "get_weather", "GetWeather");
  expect_warnings(c, 0, NULL);
  lt_catalog_unref(c);
}

static void first_id_keeps_the_camel_case(void **state) {
  (void)state;
  lt_catalog *c = CATALOG("talk.get_active", "talk.getActive");
  expect_names(c, "talk.getActive", "talkGetActive", "getActive", "GetActive");
  expect_names(c, "talk.get_active", "", "get_active_2", "GetActive2");
  assert_ptr_equal(lt_catalog_find_js(c, LT_STR("talkGetActive")), lt_catalog_find(c, LT_STR("talk.getActive")));
  assert_null(lt_catalog_find_js(c, LT_STR("")));
  expect_warnings(c, 2, (const char *const[]){"tools[\"talk.get_active\"]", "get_active_2 in TypeScript"});
  lt_catalog_unref(c);
}

static void servers_come_before_typescript_names_on_collision_only(void **state) {
  (void)state;
  lt_catalog *c = CATALOG("b.search", "a.search", "a.fetch-page");
  expect_names(c, "a.search", "aSearch", "a_search", "ASearch");
  expect_names(c, "b.search", "bSearch", "b_search", "BSearch");
  expect_names(c, "a.fetch-page", "aFetchPage", "fetch_page", "FetchPage");
  expect_warnings(c, 2, (const char *const[]){"\"a.search\" is called a_search", "\"b.search\" is called b_search"});
  lt_catalog_unref(c);
}

static void reserved_names_of_two_servers_need_no_underscore(void **state) {
  (void)state;
  lt_catalog *c = CATALOG("a.delete", "b.delete");
  expect_names(c, "a.delete", "aDelete", "a_delete", "ADelete");
  expect_names(c, "b.delete", "bDelete", "b_delete", "BDelete");
  lt_catalog_unref(c);
}

static void equal_names_of_one_server_are_numbered_in_id_order(void **state) {
  (void)state;
  lt_catalog *c = CATALOG("a.get x", "a.get-x", "a.get.x", "a.get_x_2");
  expect_names(c, "a.get x", "aGetX", "get_x", "GetX");
  /* get_x_2 is a tool's own name: it keeps it, and numbers go on after it. */
  expect_names(c, "a.get_x_2", "aGetX2", "get_x_2", "GetX2");
  expect_names(c, "a.get-x", "", "get_x_3", "GetX3");
  expect_names(c, "a.get.x", "", "get_x_4", "GetX4");
  lt_catalog_unref(c);
}

static void prefixed_names_that_are_still_equal_are_numbered(void **state) {
  (void)state;
  lt_catalog *c = CATALOG("a-b.c", "a_b.c", "z.a_b_c");
  expect_names(c, "a-b.c", "aBC", "a_b_c", "ABC");
  expect_names(c, "a_b.c", "", "a_b_c_2", "ABC2");
  expect_names(c, "z.a_b_c", "zABC", "z_a_b_c", "ZABC"); /* the name is of the others' tools, in any order */
  lt_catalog_unref(c);
}

/* A server cannot have the names of a server whose name begins with its own. */
static void the_longer_namespace_has_the_name(void **state) {
  (void)state;
  lt_catalog *c = CATALOG("git.hub_create", "git_hub.create", "git.hub-create");
  expect_names(c, "git_hub.create", "gitHubCreate", "create", "Create");
  expect_names(c, "git.hub-create", "", "hub_create", "HubCreate");
  expect_names(c, "git.hub_create", "", "hub_create_2", "HubCreate2");
  assert_true(lt_str_eqc(lt_catalog_find_js(c, LT_STR("gitHubCreate"))->id, "git_hub.create"));
  assert_true(lt_str_eqc(lt_catalog_find_any(c, LT_STR("git_hub_create"))->id, "git_hub.create"));
  lt_catalog_unref(c);
}

/* The name with its server's before it always is the tool, whoever else has a tool of this name. */
static void a_long_name_cannot_be_taken(void **state) {
  (void)state;
  lt_catalog *c = CATALOG("bank.transfer", "a.bank_transfer", "z.bank_transfer", "b.bank_x", "a.bank");
  expect_names(c, "bank.transfer", "bankTransfer", "transfer", "Transfer");
  expect_names(c, "a.bank_transfer", "aBankTransfer", "a_bank_transfer", "ABankTransfer");
  expect_names(c, "z.bank_transfer", "zBankTransfer", "z_bank_transfer", "ZBankTransfer");
  expect_names(c, "b.bank_x", "bBankX", "bank_x", "BankX"); /* there is no bank.x */
  expect_names(c, "a.bank", "aBank", "bank", "Bank");
  lt_catalog_unref(c);
  c = CATALOG("a.my_bank_pay_now", "my-bank.pay-now", "q.x");
  expect_names(c, "a.my_bank_pay_now", "aMyBankPayNow", "a_my_bank_pay_now", "AMyBankPayNow");
  expect_names(c, "my-bank.pay-now", "myBankPayNow", "pay_now", "PayNow");
  lt_catalog_unref(c);
}

static void mended_names_are_said(void **state) {
  (void)state;
  lt_catalog *c = CATALOG("get.artifact", "2fast.go", "x.delete");
  expect_names(c, "get.artifact", "getArtifact_", "artifact", "Artifact");
  expect_names(c, "2fast.go", "_2fastGo", "go", "Go");
  expect_names(c, "x.delete", "xDelete", "delete_", "Delete");
  expect_warnings(c, 3,
                  (const char *const[]){"\"2fast.go\" is called _2fastGo in JavaScript",
                                        "\"get.artifact\" is called getArtifact_ in JavaScript",
                                        "\"x.delete\" is called delete_ in TypeScript"});
  lt_catalog_unref(c);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(javascript_is_camel_case),
      cmocka_unit_test(snake_case_divides_words),
      cmocka_unit_test(javascript_mends_what_is_no_identifier),
      cmocka_unit_test(javascript_spares_the_programs_world),
      cmocka_unit_test(typescript_keeps_the_tools_name),
      cmocka_unit_test(typescript_types_are_pascal_case),
      cmocka_unit_test(ordinary_names_warn_of_nothing),
      cmocka_unit_test(first_id_keeps_the_camel_case),
      cmocka_unit_test(the_longer_namespace_has_the_name),
      cmocka_unit_test(a_long_name_cannot_be_taken),
      cmocka_unit_test(servers_come_before_typescript_names_on_collision_only),
      cmocka_unit_test(reserved_names_of_two_servers_need_no_underscore),
      cmocka_unit_test(equal_names_of_one_server_are_numbered_in_id_order),
      cmocka_unit_test(prefixed_names_that_are_still_equal_are_numbered),
      cmocka_unit_test(mended_names_are_said),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
