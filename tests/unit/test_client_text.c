/* Files of other MCP clients: a server is put in and taken out, and no cut of a file makes that go wrong. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/limits.h"
#include "base/mem.h"
#include "clients/client_server.h"
#include "clients/client_text.h"
#include "json/jsonc.h"

#define SERVER "{\"command\":\"/l\",\"args\":[\"mcp\",\"a b\"],\"env\":{\"K\":\"1\"}}"

static const lt_client *client_of(const char *name) {
  const char *nearest;
  const lt_client *client = lt_client_table_find(name, &nearest);
  assert_non_null(client);
  return client;
}

static lt_status put(const lt_client *client, lt_str text, const char *name, const char *server, lt_buf *out) {
  lt_client_text file;
  lt_status status = lt_client_text_read(client, "f", text, &file, NULL);
  if (status == LT_OK) {
    status = lt_client_text_put(&file, lt_str_of(name), lt_str_of(server), out, NULL);
  }
  lt_client_text_release(&file);
  return status;
}

static lt_status drop(const lt_client *client, lt_str text, const char *name, lt_buf *out) {
  lt_client_text file;
  lt_status status = lt_client_text_read(client, "f", text, &file, NULL);
  if (status == LT_OK) {
    status = lt_client_text_drop(&file, lt_str_of(name), out, NULL);
  }
  lt_client_text_release(&file);
  return status;
}

static const struct {
  const char *client, *text;
} files[] = {
    {"cursor",
     "// a\n{\n  \"x\": \"// no\", /* y */\n  \"mcpServers\": { // c\n    \"o\": {\"command\": \"x\",}, // d\n"
     "  },\n}\n"},
    {"cursor", "\xEF\xBB\xBF{\"mcpServers\":{\"o\":{\"command\":\"x\\\"\\u00e9\"}},\"z\":[1,2.50,1e3]}"},
    {"zed", "{\r\n\t\"context_servers\": {},\r\n\t\"a\": 1\r\n}\r\n"},
    {"codex",
     "a = 1 # b\n\"q.r\" = 'l'\n[mcp_servers.o]\ncommand = \"x\\u00e9\"\nargs = [\n 'a', # c\n \"\"\"b\nc\"\"\"]\n"
     "[mcp_servers.o.env]\nA.B = 1979-05-27\n\n[[t]]\nn = 0x1f\n[[t]]\nn = {a = 1, b = [true]}\n"},
    {"continue", "name: me # c\nmcpServers:\n- name: o\n  command: x\n  args: [a,\n    b]\n\n# end\nmodels: []\n"},
    {"goose", "extensions:\n  o:\n    cmd: x\n    text: |\n      # not a comment\n\n      more\n# end\nz: 1\n"},
};
#define FILES (sizeof files / sizeof files[0])

static void what_is_put_in_comes_out_again(void **state) {
  (void)state;
  for (size_t i = 0; i < FILES; i++) {
    const lt_client *client = client_of(files[i].client);
    LT_AUTO_BUF(made, LT_MIB);
    LT_AUTO_BUF(again, LT_MIB);
    LT_AUTO_BUF(back, LT_MIB);
    const char *server = client->is_list ? "{\"name\":\"lathe\",\"command\":\"/l\"}" : SERVER;
    assert_int_equal(put(client, lt_str_of(files[i].text), "lathe", server, &made), LT_OK);
    assert_int_equal(put(client, lt_buf_view(&made), "lathe", server, &again), LT_OK);
    assert_string_equal(again.p, made.p);
    /* Another binary: its place stays. */
    const char *moved =
        client->is_list ? "{\"name\":\"lathe\",\"command\":\"/m\",\"args\":[]}" : "{\"command\":\"/m\"}";
    lt_buf_clear(&again);
    assert_int_equal(put(client, lt_buf_view(&made), "lathe", moved, &again), LT_OK);
    assert_true(lt_str_find(lt_buf_view(&again), LT_STR("/m"), 0) < again.n);
    assert_int_equal(drop(client, lt_buf_view(&again), "lathe", &back), LT_OK);
    assert_string_equal(back.p, files[i].text);
  }
}

/* The first and the last of three servers, on lines of their own and in one line. */
static void any_server_can_be_taken_out(void **state) {
  (void)state;
  static const struct {
    const char *client, *text, *name, *left;
  } cases[] = {
      {"cursor", "{\"mcpServers\":{\"a\":{},\"b\":{},\"c\":{}}}", "a", "{\"mcpServers\":{\"b\":{},\"c\":{}}}"},
      {"cursor", "{\"mcpServers\":{\"a\":{},\"b\":{},\"c\":{}}}", "b", "{\"mcpServers\":{\"a\":{},\"c\":{}}}"},
      {"cursor", "{\"mcpServers\":{\"a\":{},\"b\":{},\"c\":{}}}", "c", "{\"mcpServers\":{\"a\":{},\"b\":{}}}"},
      {"cursor", "{\"mcpServers\": {\n  \"a\": {},\n  \"b\": {} // c\n}}", "a",
       "{\"mcpServers\": {\n  \"b\": {} // c\n}}"},
      {"cursor", "{\"mcpServers\": {\n  \"a\": {}, // d\n  \"b\": {}\n}}", "b",
       "{\"mcpServers\": {\n  \"a\": {} // d\n}}"},
      {"codex", "[mcp_servers.a]\nx=1\n\n[mcp_servers.a.env]\ny=1\n\n[mcp_servers.b]\nx=2\n", "a",
       "\n\n[mcp_servers.b]\nx=2\n"},
      {"codex", "[mcp_servers.a]\nx=1\n\n# b\n[mcp_servers.\"b c\"]\nx=2\n", "b c", "[mcp_servers.a]\nx=1\n\n# b\n"},
      {"goose", "extensions:\n  a:\n    x: 1\n  b:\n    x: 2\n", "a", "extensions:\n  b:\n    x: 2\n"},
      {"goose", "extensions:\n  a:\n    x: 1\n  'b':\n    x: 2\n", "b", "extensions:\n  a:\n    x: 1\n"},
      {"continue", "mcpServers:\n  - name: a\n    x: 1\n  - x: 2\n    name: b\n", "b",
       "mcpServers:\n  - name: a\n    x: 1\n"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    LT_AUTO_BUF(out, LT_MIB);
    assert_int_equal(drop(client_of(cases[i].client), lt_str_of(cases[i].text), cases[i].name, &out), LT_OK);
    assert_string_equal(out.p, cases[i].left);
  }
}

/* A file that ends anywhere: an error, or a new text that reads as the old one with the server. lt_client_text_put
 * checks that itself; here it must not crash, and what was made must be readable. */
static void a_file_may_end_anywhere(void **state) {
  (void)state;
  for (size_t i = 0; i < FILES; i++) {
    const lt_client *client = client_of(files[i].client);
    lt_str text = lt_str_of(files[i].text);
    for (size_t n = 0; n <= text.n; n++) {
      LT_AUTO_BUF(made, LT_MIB);
      LT_AUTO_BUF(back, LT_MIB);
      char *exact = lt_mem_alloc(n > 0 ? n : 1); /* the sanitizer sees a read behind it */
      memcpy(exact, text.p, n);
      const char *server = client->is_list ? "{\"name\":\"lathe\",\"command\":\"/l\"}" : SERVER;
      if (put(client, lt_str_from(exact, n), "lathe", server, &made) == LT_OK) {
        assert_int_equal(drop(client, lt_buf_view(&made), "lathe", &back), LT_OK);
      }
      lt_mem_free(exact);
    }
  }
}

static void without_memory_there_is_an_error(void **state) {
  (void)state;
  for (size_t i = 0; i < FILES; i++) {
    const lt_client *client = client_of(files[i].client);
    const char *server = client->is_list ? "{\"name\":\"lathe\",\"command\":\"/l\"}" : SERVER;
    lt_status status = LT_E_NOMEM;
    for (long n = 0; status != LT_OK && n < 10000; n++) {
      LT_AUTO_BUF(made, LT_MIB);
      lt_mem_fail_at(n);
      status = put(client, lt_str_of(files[i].text), "lathe", server, &made);
      lt_mem_fail_at(-1);
      assert_true(status == LT_OK || made.n == 0);
    }
    assert_int_equal(status, LT_OK);
  }
}

static void toml_is_read_as_json(void **state) {
  (void)state;
  static const struct {
    const char *toml, *json;
  } cases[] = {
      {"", "{}"},
      {"a = 'x\\n'\nb.c = \"\\t\\u00e9\\U0001F600\"",
       "{\"a\":\"x\\\\n\",\"b\":{\"c\":\"\\t\xC3\xA9\xF0\x9F\x98\x80\"}}"},
      {"a = \"\"\"\nx\\\n   y\"\"\"\"\n", "{\"a\":\"xy\\\"\"}"},
      {"a = [1, -2.5, true,]\nb = {}\nc = 1_000\nd = 1979-05-27T07:32:00Z",
       "{\"a\":[1,-2.5,true],\"b\":{},\"c\":\"1_000\",\"d\":\"1979-05-27T07:32:00Z\"}"},
      {"[a.b]\nc=1\n[a]\nd=2\n[[l]]\nx=1\n[[l]]\n[l.y]\nz=1",
       "{\"a\":{\"b\":{\"c\":1},\"d\":2},\"l\":[{\"x\":1},{\"y\":{\"z\":1}}]}"},
  };
  static const char *const wrong[] = {"a",         "a =",           "a = x",    "a = \"x",     "a = 1 2",
                                      "[a",        "[a]]",          "a=1\na=2", "a=1\n[a]",    "a={}\n[a]",
                                      "a = [1 2]", "a = {b=1 c=2}", "= 1",      "a = \"\\q\"", "a = \"\\uD800\""};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    LT_AUTO_ARENA(arena, LT_MIB);
    LT_AUTO_BUF(json, LT_MIB);
    lt_toml_table *tables;
    assert_int_equal(lt_toml_parse(&arena, lt_str_of(cases[i].toml), "f", &json, &tables, NULL), LT_OK);
    assert_string_equal(json.p, cases[i].json);
  }
  for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
    LT_AUTO_ARENA(arena, LT_MIB);
    LT_AUTO_BUF(json, LT_MIB);
    lt_toml_table *tables;
    assert_int_equal(lt_toml_parse(&arena, lt_str_of(wrong[i]), "f", &json, &tables, NULL), LT_E_CONFIG);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(what_is_put_in_comes_out_again),   cmocka_unit_test(any_server_can_be_taken_out),
      cmocka_unit_test(a_file_may_end_anywhere),          cmocka_unit_test(toml_is_read_as_json),
      cmocka_unit_test(without_memory_there_is_an_error),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
