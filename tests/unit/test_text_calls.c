/* Tool calls that a model writes as text: whole, one byte at a time, and in random cuts. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/limits.h"
#include "base/mem.h"
#include "model/completion_wire.h"

#define TOOLS                                                                                                          \
  "[{\"type\":\"function\",\"function\":{\"name\":\"files_read\",\"parameters\":{\"type\":\"object\",\"properties\":{" \
  "\"path\":{\"type\":\"string\"},\"lines\":{\"type\":\"integer\"},\"note\":{\"type\":[\"string\",\"null\"]}}}}},"     \
  "{\"type\":\"function\",\"function\":{\"name\":\"look\"}}]"

typedef struct text_case {
  const char *text;  /* what the model says */
  const char *shown; /* what the user sees */
  const char *calls; /* NAME ARGUMENTS; for each call */
} text_case;

static const text_case cases[] = {
    /* Hermes, Qwen */
    {"I look.\n<tool_call>\n{\"name\": \"look\", \"arguments\": {\"a\": 1}}\n</tool_call>", "I look.",
     "look {\"a\": 1};"},
    {"<tool_call>{\"name\":\"look\",\"arguments\":{\"a\":\"x </tool_call> "
     "}\\\"\"}}</tool_call>\n<tool_call>\n{\"name\":"
     "\"files.read\",\"arguments\":\"{\\\"path\\\": \\\"b\\\"}\"}\n</tool_call>\n",
     "", "look {\"a\":\"x </tool_call> }\\\"\"};files.read {\"path\": \"b\"};"},
    {"<tool_call>[{\"name\": \"look\"}, {\"function\": {\"name\": \"look\", \"arguments\": {}}}]</tool_call>", "",
     "look {};look {};"},
    {"<tool_call>{\"name\": \"look\", \"arguments\": {}}", "", "look {};"},
    {"<tool_call>{\"name\": \"look\", \"arguments\": {}}</tool_call> And then?", "And then?", "look {};"},
    /* Mistral */
    {"[TOOL_CALLS][{\"name\": \"look\", \"arguments\": {\"a\": [1, {\"b\": \"]\"}]}}]", "",
     "look {\"a\": [1, {\"b\": \"]\"}]};"},
    {"[TOOL_CALLS] look[ARGS]{\"a\": 1}", "", "look {\"a\": 1};"},
    /* Llama */
    {"<function=look>{\"a\": 1}</function>", "", "look {\"a\": 1};"},
    {"<|python_tag|>{\"type\": \"function\", \"name\": \"look\", \"parameters\": {\"a\": 1}}<|eom_id|>", "",
     "look {\"a\": 1};"},
    /* Qwen coder: the schema says what is text */
    {"So:\n\n<tool_call>\n<function=files_read>\n<parameter=path>\n12\n</parameter>\n<parameter=lines>\n12\n"
     "</parameter>\n<parameter=note>\na <b>\n\n\"c\"\n</parameter>\n</function>\n</tool_call>",
     "So:", "files_read {\"path\":\"12\",\"lines\":12,\"note\":\"a <b>\\n\\n\\\"c\\\"\"};"},
    {"<function=look></function>", "", "look {};"},
    {"<function=look><parameter=a>x y<parameter=b>{\"c\": 1}</function>", "", "look {\"a\":\"x y\",\"b\":{\"c\": 1}};"},
    /* Anthropic's XML */
    {"<function_calls>\n<invoke name=\"files_read\">\n<parameter name=\"path\">a</parameter>\n</invoke>\n<invoke "
     "name=\"look\">\n</invoke>\n</function_calls>",
     "", "files_read {\"path\":\"a\"};look {};"},
    {"<invoke name=\"look\"><parameter name=\"a\">true</parameter></invoke>", "", "look {\"a\":true};"},
    /* broken: the model is told */
    {"<tool_call>{\"name\": \"look\", \"arguments\": {\"a\": }}</tool_call>", "",
     "look {\"name\": \"look\", \"arguments\": {\"a\": }};"},
    {"<tool_call>{\"name\": \"look\", \"arguments\": {\"a\": \"cut of", "",
     "look {\"name\": \"look\", \"arguments\": {\"a\": \"cut of;"},
    {"<tool_call>{'name': 'look', 'arguments': {}}</tool_call>", "", "look {'name': 'look', 'arguments': {}};"},
    {"<function=files_read><parameter=path>/etc/pas", "", "files_read <parameter=path>/etc/pas;"},
    /* text */
    {"<tool_call>{\"name\": \"other\", \"arguments\": {}}</tool_call>",
     "<tool_call>{\"name\": \"other\", \"arguments\": {}}</tool_call>", ""},
    {"```xml\n<tool_call>{\"name\": \"look\"}</tool_call>\n```\n",
     "```xml\n<tool_call>{\"name\": \"look\"}</tool_call>\n```\n", ""},
    {"~~~\na\n~~~\n<tool_call>{\"name\": \"look\"}</tool_call>", "~~~\na\n~~~", "look {};"},
    {"It begins with `<tool_call>{\"name\": \"look\"}`.", "It begins with `<tool_call>{\"name\": \"look\"}`.", ""},
    {"A <tool_call> has JSON, <function= a name, [TOOL_CALLS]\n nothing, a < b, <tool, [T", /* to the last byte */
     "A <tool_call> has JSON, <function= a name, [TOOL_CALLS]\n nothing, a < b, <tool, [T", ""},
    {"<tool_call>{\"a\": 1}</tool_call>", "<tool_call>{\"a\": 1}</tool_call>", ""},
    {"<<tool_call>{\"name\": \"look\"}</tool_call>", "<", "look {};"},
    {" \n text with spaces \n\n", " \n text with spaces \n\n", ""},
    {"<tool_call>", "<tool_call>", ""},
};

static void on_text(void *arg, lt_str delta) {
  lt_buf_add(arg, delta);
}

static void take(lt_assembly *a, lt_str piece) {
  LT_AUTO_BUF(event, LT_MIB);
  lt_json_writer w = lt_json_writer_on(&event);
  lt_buf_addc(&event, "{\"choices\":[{\"delta\":{\"content\":");
  lt_json_put_str(&w, piece);
  lt_buf_addc(&event, "}}]}");
  assert_int_equal(lt_assembly_event(a, LT_STR(""), lt_buf_view(&event), NULL), LT_OK);
}

/* `step`: bytes of a piece; 0: random. */
static void check(const text_case *one, size_t step, const char *tools) {
  lt_assembly a;
  lt_completion done;
  lt_model model = {.name = LT_STR("m")};
  LT_AUTO_BUF(shown, LT_MIB);
  LT_AUTO_BUF(calls, LT_MIB);
  lt_completion_request request = {
      .model = &model, .messages = LT_STR("[]"), .tools = lt_str_of(tools), .on_text = on_text, .arg = &shown};
  lt_completion_init(&done);
  lt_assembly_init(&a, &lt_chat_completions_wire, &request, &done);
  lt_str text = lt_str_of(one->text);
  for (size_t at = 0; at < text.n;) {
    size_t n = step > 0 ? step : 1 + (size_t)rand() % 12;
    take(&a, lt_str_sub(text, at, at + n));
    at += n;
  }
  assert_int_equal(lt_assembly_end(&a, NULL), LT_OK);
  for (size_t i = 0; i < done.call_count; i++) {
    lt_buf_add(&calls, done.calls[i].name);
    lt_buf_byte(&calls, ' ');
    lt_buf_add(&calls, done.calls[i].arguments);
    lt_buf_byte(&calls, ';');
  }
  lt_buf_byte(&calls, '\0');
  lt_buf_byte(&shown, '\0');
  lt_buf_byte(&done.text, '\0');
  assert_string_equal(calls.p, tools[0] != '\0' ? one->calls : "");
  assert_string_equal(shown.p, tools[0] != '\0' ? one->shown : one->text);
  assert_string_equal(done.text.p, shown.p);
  assert_int_equal(done.finish, done.call_count > 0 ? LT_FINISH_TOOLS : LT_FINISH_STOP);
  lt_assembly_release(&a);
  lt_completion_release(&done);
}

static void every_form_in_every_cut(void **state) {
  (void)state;
  srand(7);
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    check(&cases[i], SIZE_MAX / 2, TOOLS);
    check(&cases[i], 1, TOOLS);
    for (int round = 0; round < 50; round++) {
      check(&cases[i], 0, TOOLS);
    }
  }
}

static void without_tools_all_is_text(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    check(&cases[i], 3, "");
  }
}

/* Some servers read the calls, and leave them in the text as well. */
static void calls_of_the_answer_alone_count(void **state) {
  (void)state;
  lt_assembly a;
  lt_completion done;
  lt_model model = {.name = LT_STR("m")};
  lt_completion_request request = {.model = &model, .messages = LT_STR("[]"), .tools = LT_STR(TOOLS)};
  lt_completion_init(&done);
  lt_assembly_init(&a, &lt_chat_completions_wire, &request, &done);
  const char *body =
      "{\"choices\":[{\"message\":{\"content\":\"<tool_call>{\\\"name\\\": \\\"look\\\"}</tool_call>\",\"tool_calls\":"
      "[{\"id\":\"1\",\"function\":{\"name\":\"look\",\"arguments\":\"{}\"}}]},\"finish_reason\":\"stop\"}]}";
  assert_int_equal(lt_assembly_whole(&a, lt_str_of(body), NULL), LT_OK);
  assert_int_equal(lt_assembly_end(&a, NULL), LT_OK);
  assert_int_equal(done.call_count, 1);
  assert_true(lt_str_eqc(done.calls[0].id, "1"));
  assert_int_equal(done.text.n, 0);
  lt_assembly_release(&a);
  lt_completion_release(&done);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_form_in_every_cut),
      cmocka_unit_test(without_tools_all_is_text),
      cmocka_unit_test(calls_of_the_answer_alone_count),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
