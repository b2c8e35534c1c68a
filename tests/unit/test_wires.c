/* The wires: what they make of their providers' streams (tests/fakes/streams), whole, in every cut and cut off
 * anywhere, and how they write a conversation. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/file.h"
#include "base/limits.h"
#include "model/completion_wire.h"
#include "model/dialect.h"
#include "text/sse.h"

/* --- Streams ------------------------------------------------------------------------------------------------------ */
typedef struct stream_case {
  const char *file;
  const lt_completion_wire *wire;
  const char *text;
  const char *reasoning;
  const char *calls; /* ID NAME ARGUMENTS; for each call */
  lt_finish finish;
  lt_usage usage;
  const char *kept;
} stream_case;

#define MESSAGES  &lt_anthropic_messages_wire
#define RESPONSES &lt_openai_responses_wire
#define CHAT      &lt_chat_completions_wire

static const stream_case cases[] = {
    {"chat-thoughts",
     CHAT,
     "I look.",
     "The wörld:\none city.",
     "call_9a weather {\"city\": \"Oslo\"};",
     LT_FINISH_TOOLS,
     {.input_tokens = 320, .output_tokens = 40, .cached_input_tokens = 256, .reasoning_tokens = 12},
     "{\"api\":\"chat\",\"parts\":[{\"own\":{\"type\":\"thinking\",\"thinking\":\"The wörld:\\none "
     "city.\",\"signature\":"
     "\"\"}}]}"},
    {"messages-text", MESSAGES, "Hello, wörld", "", "", LT_FINISH_STOP, {.input_tokens = 12, .output_tokens = 5}, ""},
    {"messages-tools",
     MESSAGES,
     "I look both up.",
     "The user wants\ntwo cities.",
     "toolu_01A weather {\"city\": \"Paris\"};toolu_01B weather {\"city\":\"Rome\"};",
     LT_FINISH_TOOLS,
     {.input_tokens = 1320, .output_tokens = 89, .cached_input_tokens = 1000, .cache_write_tokens = 300},
     "{\"api\":\"messages\",\"parts\":[{\"own\":{\"type\":\"thinking\",\"thinking\":\"The user wants\\ntwo cities.\","
     "\"signature\":\"EqQBCgIYAhIM1gbcDa9GJwZA2b3hGgxBdjrkzLoky3dl1pk=\"}},{\"own\":{\"type\":\"redacted_thinking\","
     "\"data\":\"EmwKAhgBEgy3va3pzix/LafPsn4aDFIT2Xlxh0L5L8rLVyIw\"}},{\"text\":\"I look both up.\"},{\"call\":true},"
     "{\"own\":{\"type\":\"thinking\",\"thinking\":\"\",\"signature\":\"Second==\"}},{\"call\":true}]}"},
    {"messages-refusal", MESSAGES, "I can", "", "", LT_FINISH_FILTERED, {.input_tokens = 12, .output_tokens = 3}, ""},
    {"messages-limit",
     MESSAGES,
     "",
     "",
     "toolu_01C write {\"text\":\"half of;",
     LT_FINISH_LENGTH,
     {.input_tokens = 12, .output_tokens = 4096},
     ""},
    {"messages-no-input",
     MESSAGES,
     "",
     "",
     "toolu_01D now ;",
     LT_FINISH_TOOLS,
     {.input_tokens = 12, .output_tokens = 9},
     ""},
    {"messages-same-ids",
     MESSAGES,
     "",
     "",
     "toolu_x a {};* b {\"z\":1};",
     LT_FINISH_TOOLS,
     {.input_tokens = 12, .output_tokens = 9},
     ""},
    {"responses-text", RESPONSES, "Hello, wörld", "", "", LT_FINISH_STOP, {.input_tokens = 12, .output_tokens = 5}, ""},
    {"responses-tools",
     RESPONSES,
     "I look both up.",
     "Two cities.",
     "call_A weather {\"city\":\"Paris\"};call_B weather {\"city\":\"Rome\"};",
     LT_FINISH_TOOLS,
     {.input_tokens = 1320,
      .output_tokens = 89,
      .cached_input_tokens = 1000,
      .cache_write_tokens = 300,
      .reasoning_tokens = 40},
     "{\"api\":\"responses\",\"parts\":[{\"own\":{\"id\":\"rs_01\",\"type\":\"reasoning\",\"encrypted_content\":"
     "\"gAAAAABpJ0whole==\",\"summary\":[{\"type\":\"summary_text\",\"text\":\"Two cities.\"}]}},{\"text\":"
     "\"I look both up.\"},{\"call\":true},{\"call\":true}]}"},
    {"responses-custom",
     RESPONSES,
     "",
     "",
     "call_A exec {\"code\":\"// @exec: {\\\"yield_time_ms\\\": 5000}\\ntext(\\\"wörld\\\");\"};call_B exec "
     "{\"code\":\"1\"};",
     LT_FINISH_TOOLS,
     {.input_tokens = 12, .output_tokens = 9},
     ""},
    {"responses-limit", RESPONSES, "I can", "", "", LT_FINISH_LENGTH, {.input_tokens = 12, .output_tokens = 4096}, ""},
    {"responses-filtered", RESPONSES, "", "", "", LT_FINISH_FILTERED, {.input_tokens = 12, .output_tokens = 3}, ""},
    {"responses-refusal",
     RESPONSES,
     "I will not",
     "",
     "",
     LT_FINISH_FILTERED,
     {.input_tokens = 12, .output_tokens = 3},
     ""},
};

typedef struct answer {
  lt_model model;
  lt_completion_request request;
  lt_completion done;
  lt_assembly assembly;
} answer;

static void begin(answer *x, const lt_completion_wire *wire) {
  *x = (answer){.model = {.name = LT_STR("m"), .api = lt_str_of(wire->name)}};
  x->request = (lt_completion_request){.model = &x->model, .messages = LT_STR("[]")};
  lt_completion_init(&x->done);
  lt_assembly_init(&x->assembly, wire, &x->request, &x->done);
}

static void release(answer *x) {
  lt_assembly_release(&x->assembly);
  lt_completion_release(&x->done);
}

static void read_file(const char *name, lt_buf *out) {
  char path[128];
  snprintf(path, sizeof path, "tests/fakes/streams/%s.sse", name);
  assert_int_equal(lt_file_read(path, out, NULL), LT_OK);
}

/* `step`: bytes of a piece; 0: random. */
static lt_status feed(answer *x, lt_str stream, size_t step, lt_err *err) {
  lt_sse sse;
  lt_sse_event event;
  lt_status status = LT_OK;
  lt_sse_init(&sse, LT_MIB);
  for (size_t at = 0, n; at < stream.n && status == LT_OK; at += n) {
    n = step > 0 ? step : 1 + (size_t)rand() % 200;
    status = lt_sse_add(&sse, lt_str_sub(stream, at, at + n));
    while (status == LT_OK && lt_sse_next(&sse, &event)) {
      status = lt_assembly_event(&x->assembly, event.event, event.data, err);
    }
  }
  lt_sse_release(&sse);
  return status;
}

static void expect_text(const lt_buf *buf, const char *text) {
  if (!lt_str_eqc(lt_buf_view(buf), text)) {
    fail_msg("%.*s instead of %s", LT_STR_ARG(lt_buf_view(buf)), text);
  }
}

/* An id that was given twice is another one the second time: "*" stands for it. */
static void expect_calls(const answer *x, const char *expected) {
  LT_AUTO_BUF(calls, LT_MIB);
  for (size_t i = 0; i < x->done.call_count; i++) {
    const lt_requested_call *call = &x->done.calls[i];
    lt_buf_add(&calls, lt_str_starts(call->id, LT_STR("call_0")) || call->id.n == 21 ? LT_STR("*") : call->id);
    lt_buf_printf(&calls, " %.*s %.*s;", LT_STR_ARG(call->name), LT_STR_ARG(call->arguments));
  }
  expect_text(&calls, expected);
}

static void expect_case(answer *x, const stream_case *one) {
  const lt_usage *usage = &x->done.usage;
  assert_true(x->assembly.finished && x->assembly.done);
  assert_int_equal(lt_assembly_end(&x->assembly, NULL), LT_OK);
  expect_text(&x->done.text, one->text);
  expect_text(&x->done.reasoning, one->reasoning);
  expect_text(&x->done.kept, one->kept);
  expect_calls(x, one->calls);
  assert_int_equal(x->done.finish, one->finish);
  assert_false(usage->estimated);
  assert_int_equal(usage->input_tokens, one->usage.input_tokens);
  assert_int_equal(usage->output_tokens, one->usage.output_tokens);
  assert_int_equal(usage->cached_input_tokens, one->usage.cached_input_tokens);
  assert_int_equal(usage->cache_write_tokens, one->usage.cache_write_tokens);
  assert_int_equal(usage->reasoning_tokens, one->usage.reasoning_tokens);
  assert_true(lt_model_may_keep(&x->model, lt_buf_view(&x->done.kept)) == (one->kept[0] != '\0'));
}

static void every_stream_in_every_cut(void **state) {
  (void)state;
  srand(7);
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    LT_AUTO_BUF(stream, LT_MIB);
    read_file(cases[i].file, &stream);
    for (int round = 0; round < 20; round++) {
      answer x;
      begin(&x, cases[i].wire);
      assert_int_equal(feed(&x, lt_buf_view(&stream), round == 0 ? LT_MIB : round == 1 ? 1 : 0, NULL), LT_OK);
      expect_case(&x, &cases[i]);
      release(&x);
    }
  }
}

/* Where the event with the reason of the end begins. */
static size_t place_of_reason(const lt_completion_wire *wire, lt_str stream) {
  return wire == MESSAGES ? lt_str_find(stream, LT_STR("event: message_delta"), 0)
         : wire == CHAT   ? lt_str_find(stream, LT_STR("\"finish_reason\":\""), 0)
                          : lt_str_find(stream, LT_STR("response\":{\"id"), stream.n - 1500);
}

/* A stream that ends too early is never taken for a whole answer, and what came of it is the answer's beginning. */
static void streams_that_end_anywhere(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    LT_AUTO_BUF(stream, LT_MIB);
    read_file(cases[i].file, &stream);
    size_t reason = place_of_reason(cases[i].wire, lt_buf_view(&stream));
    for (size_t end = 0; end < stream.n; end++) {
      answer x;
      begin(&x, cases[i].wire);
      assert_int_equal(feed(&x, lt_str_sub(lt_buf_view(&stream), 0, end), LT_MIB, NULL), LT_OK);
      assert_true(!x.assembly.finished || end > reason);
      assert_int_equal(lt_assembly_end(&x.assembly, NULL), LT_OK);
      assert_true(lt_str_starts(lt_str_of(cases[i].text), lt_buf_view(&x.done.text)));
      release(&x);
    }
  }
}

static void expect_error(const char *file, const lt_completion_wire *wire, const char *text, const char *code) {
  answer x;
  lt_err err = LT_ERR_INIT;
  LT_AUTO_BUF(stream, LT_MIB);
  read_file(file, &stream);
  begin(&x, wire);
  assert_int_equal(feed(&x, lt_buf_view(&stream), LT_MIB, &err), LT_E_TOOL);
  assert_string_equal(err.msg, text);
  assert_true(lt_str_eqc(x.assembly.fault.code, code));
  release(&x);
}

static void errors_inside_a_stream(void **state) {
  (void)state;
  expect_error("messages-overloaded", MESSAGES, "Overloaded", "overloaded_error");
  expect_error("responses-failed", RESPONSES, "Rate limit reached for gpt-5.1", "rate_limit_exceeded");
  expect_error("responses-error", RESPONSES, "The server had an error", "server_error");
}

/* Servers that do not stream, and bodies that are something else. */
static void whole_answers(void **state) {
  (void)state;
  answer x;
  begin(&x, MESSAGES);
  assert_int_equal(
      lt_assembly_whole(&x.assembly,
                        LT_STR("{\"type\":\"message\",\"model\":\"c\",\"content\":[{\"type\":\"thinking\",\"thinking\":"
                               "\"hm\",\"signature\":\"s\"},{\"type\":\"tool_use\",\"id\":\"t1\",\"name\":\"f\","
                               "\"input\":{\"a\":[1]}}],\"stop_reason\":\"tool_use\",\"usage\":{\"input_tokens\":3,"
                               "\"output_tokens\":4}}"),
                        NULL),
      LT_OK);
  assert_int_equal(lt_assembly_end(&x.assembly, NULL), LT_OK);
  expect_calls(&x, "t1 f {\"a\":[1]};");
  expect_text(&x.done.kept,
              "{\"api\":\"messages\",\"parts\":[{\"own\":{\"type\":\"thinking\",\"thinking\":\"hm\","
              "\"signature\":\"s\"}},{\"call\":true}]}");
  assert_int_equal(x.done.usage.output_tokens, 4);
  release(&x);
  begin(&x, RESPONSES);
  assert_int_equal(
      lt_assembly_whole(&x.assembly,
                        LT_STR("{\"object\":\"response\",\"status\":\"completed\",\"output\":[{\"type\":\"message\","
                               "\"content\":[{\"type\":\"output_text\",\"text\":\"All at once\"}]},{\"type\":"
                               "\"function_call\",\"call_id\":\"c1\",\"name\":\"f\",\"arguments\":\"{}\"}]}"),
                        NULL),
      LT_OK);
  assert_int_equal(lt_assembly_end(&x.assembly, NULL), LT_OK);
  expect_text(&x.done.text, "All at once");
  expect_calls(&x, "c1 f {};");
  assert_true(x.done.usage.estimated);
  release(&x);
  for (int i = 0; i < 2; i++) {
    begin(&x, i == 0 ? MESSAGES : RESPONSES);
    assert_int_equal(lt_assembly_whole(&x.assembly, LT_STR("{\"choices\":[]}"), NULL), LT_E_PROTOCOL);
    release(&x);
  }
}

/* More parts, or more bytes of them, than an answer may have are an error, not memory. */
static void answers_without_an_end(void **state) {
  (void)state;
  for (int kind = 0; kind < 2; kind++) {
    answer x;
    lt_err err = LT_ERR_INIT;
    lt_status status = LT_OK;
    LT_AUTO_BUF(event, 4 * LT_MIB);
    begin(&x, MESSAGES);
    for (int i = 0; i < 5000 && status == LT_OK; i++) {
      lt_buf_clear(&event);
      lt_buf_printf(&event, "{\"type\":\"content_block_delta\",\"index\":%d,\"delta\":{\"type\":\"signature_delta\",",
                    i);
      lt_buf_addc(&event, "\"signature\":\"");
      for (int j = 0; kind == 1 && j < (int)LT_MIB / 64; j++) {
        lt_buf_addc(&event, "0123456789012345678901234567890123456789012345678901234567890123");
      }
      lt_buf_addc(&event, "\"}}");
      status = lt_assembly_event(&x.assembly, LT_STR(""), lt_buf_view(&event), &err);
    }
    assert_int_equal(status, LT_E_LIMIT);
    release(&x);
  }
}

/* --- Requests ----------------------------------------------------------------------------------------------------- */
#define SYSTEM "{\"role\":\"system\",\"content\":\"Be brief.\"},"
#define ASKED  "{\"role\":\"user\",\"content\":\"Paris and Rome?\"},"
#define CALLS                                                                                                \
  "\"tool_calls\":[{\"id\":\"a\",\"type\":\"function\",\"function\":{\"name\":\"weather\",\"arguments\":\"{" \
  "\\\"city\\\":"                                                                                            \
  "1}\"}},{\"id\":\"b\",\"type\":\"function\",\"function\":{\"name\":\"now\",\"arguments\":\"{}\"}}]"
#define RESULTS                                                                                               \
  "{\"role\":\"tool\",\"tool_call_id\":\"a\",\"content\":\"sun\"},{\"role\":\"tool\",\"tool_call_id\":\"b\"," \
  "\"content\":\"noon\"},{\"role\":\"user\",\"content\":\"I changed a.\"}"
#define TOOLS                                                                                               \
  "[{\"type\":\"function\",\"function\":{\"name\":\"now\"}},{\"type\":\"function\",\"function\":{\"name\":" \
  "\"weather\","                                                                                            \
  "\"description\":\"It\",\"parameters\":{\"type\":\"object\"}}}]"

static void expect_request(const lt_completion_wire *wire, const lt_model *model, const char *messages,
                           const char *tools, unsigned quirks, const char *expected) {
  LT_AUTO_BUF(body, LT_MIB);
  const lt_completion_request request = {.model = model,
                                         .messages = lt_str_of(messages),
                                         .tools = lt_str_of(tools),
                                         .conversation = LT_STR("conversation-1")};
  wire->write_request(&request, quirks, &body);
  assert_int_equal(body.status, LT_OK);
  expect_text(&body, expected);
}

static void conversations_as_messages(void **state) {
  (void)state;
  const lt_model model = {.name = LT_STR("claude-x")};
  expect_request(
      MESSAGES, &model,
      "[" SYSTEM ASKED "{\"role\":\"assistant\",\"content\":\"I look.\"," CALLS
      ",\"kept\":{\"api\":\"messages\",\"parts\":[{\"own\":{\"type\":\"thinking\",\"thinking\":\"hm\",\"signature\":"
      "\"s\"}},{\"text\":\"I \"},{\"call\":true},{\"own\":{\"type\":\"redacted_thinking\",\"data\":\"d\"}}]}}," RESULTS
      "]",
      TOOLS, 0,
      "{\"model\":\"claude-x\",\"tools\":[{\"name\":\"now\",\"input_schema\":{\"type\":\"object\"}},{\"name\":"
      "\"weather\",\"description\":\"It\",\"input_schema\":{\"type\":\"object\"},\"cache_control\":{\"type\":"
      "\"ephemeral\"}}],\"system\":[{\"type\":\"text\",\"text\":\"Be "
      "brief.\",\"cache_control\":{\"type\":\"ephemeral\"}}"
      "],\"messages\":[{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"Paris and "
      "Rome?\",\"cache_control\":"
      "{\"type\":\"ephemeral\"}}]},{\"role\":\"assistant\",\"content\":[{\"type\":\"thinking\",\"thinking\":\"hm\","
      "\"signature\":\"s\"},{\"type\":\"text\",\"text\":\"I "
      "\"},{\"type\":\"tool_use\",\"id\":\"a\",\"name\":\"weather\","
      "\"input\":{\"city\":1}},{\"type\":\"redacted_thinking\",\"data\":\"d\"},{\"type\":\"tool_use\",\"id\":\"b\","
      "\"name\":\"now\",\"input\":{}}]},{\"role\":\"user\",\"content\":[{\"type\":\"tool_result\",\"tool_use_id\":"
      "\"a\","
      "\"content\":\"sun\"},{\"type\":\"tool_result\",\"tool_use_id\":\"b\",\"content\":\"noon\"},{\"type\":\"text\","
      "\"text\":\"I changed a.\",\"cache_control\":{\"type\":\"ephemeral\"}}]}],\"max_tokens\":4096,\"stream\":true}");
  expect_request(
      MESSAGES, &model,
      "[{\"role\":\"user\",\"content\":[{\"type\":\"image_url\",\"image_url\":{\"url\":"
      "\"data:image/png;base64,AAAA\"}},{\"type\":\"text\",\"text\":\"What?\"}]},{\"role\":\"assistant\","
      "\"content\":null,\"tool_calls\":[{\"id\":\"a\",\"function\":{\"name\":\"f\",\"arguments\":\"[1\"}}]}]",
      "", LT_QUIRK_NO_STREAM,
      "{\"model\":\"claude-x\",\"messages\":[{\"role\":\"user\",\"content\":[{\"type\":\"image\",\"source\":{"
      "\"type\":\"base64\",\"media_type\":\"image/png\",\"data\":\"AAAA\"}},{\"type\":\"text\",\"text\":"
      "\"What?\",\"cache_control\":{\"type\":\"ephemeral\"}}]},{\"role\":\"assistant\",\"content\":[{\"type\":"
      "\"tool_use\",\"id\":\"a\",\"name\":\"f\",\"input\":{}}]}],\"max_tokens\":4096,\"stream\":false}");
}

static void conversations_as_responses(void **state) {
  (void)state;
  const lt_model model = {.name = LT_STR("gpt-5"), .effort = LT_STR("low"), .max_tokens = 1000};
  expect_request(
      RESPONSES, &model,
      "[" SYSTEM ASKED "{\"role\":\"assistant\",\"content\":null," CALLS
      ",\"kept\":{\"api\":\"responses\",\"parts\":[{\"own\":{\"type\":\"reasoning\",\"id\":\"rs\"}},{\"call\":true}]}}"
      "," RESULTS "]",
      TOOLS, 0,
      "{\"model\":\"gpt-5\",\"tools\":[{\"type\":\"function\",\"name\":\"now\",\"parameters\":null,\"strict\":false},{"
      "\"type\":\"function\",\"name\":\"weather\",\"description\":\"It\",\"parameters\":{\"type\":\"object\"},"
      "\"strict\":"
      "false}],\"instructions\":\"Be brief.\",\"input\":[{\"role\":\"user\",\"content\":\"Paris and Rome?\"},{\"type\":"
      "\"reasoning\",\"id\":\"rs\"},{\"type\":\"function_call\",\"call_id\":\"a\",\"name\":\"weather\",\"arguments\":"
      "\"{\\\"city\\\":1}\"},{\"type\":\"function_call\",\"call_id\":\"b\",\"name\":\"now\",\"arguments\":\"{}\"},{"
      "\"type\":\"function_call_output\",\"call_id\":\"a\",\"output\":\"sun\"},{\"type\":\"function_call_output\","
      "\"call_id\":\"b\",\"output\":\"noon\"},{\"role\":\"user\",\"content\":\"I changed a.\"}],\"max_output_tokens\":"
      "3048,\"reasoning\":{\"effort\":\"low\"},\"include\":[\"reasoning.encrypted_content\"],\"prompt_cache_key\":"
      "\"conversation-1\",\"store\":false,\"stream\":true}");
  const lt_model plain = {.name = LT_STR("gpt-4.1"), .temperature = LT_STR("0.5")};
  expect_request(RESPONSES, &plain, "[{\"role\":\"user\",\"content\":\"Hi\"}]", "", 0,
                 "{\"model\":\"gpt-4.1\",\"input\":[{\"role\":\"user\",\"content\":\"Hi\"}],\"max_output_tokens\":4096,"
                 "\"temperature\":0.5,\"prompt_cache_key\":\"conversation-1\",\"store\":false,\"stream\":true}");
}

/* A tool that takes a text, its call and its result; a server that knows no such tools gets the function. */
static void tools_that_take_a_text(void **state) {
  (void)state;
  const lt_model model = {.name = LT_STR("gpt-4.1")};
  const lt_freeform_tool exec = {.name = "exec", .grammar = "start: /x/"};
  const lt_completion_request request = {
      .model = &model,
      .freeform = &exec,
      .messages =
          LT_STR("[{\"role\":\"assistant\",\"content\":null,\"tool_calls\":[{\"id\":\"a\",\"type\":"
                 "\"function\",\"function\":{\"name\":\"exec\",\"arguments\":\"{\\\"code\\\":\\\"1\\\\n\\\"}\"}}]},"
                 "{\"role\":\"tool\",\"tool_call_id\":\"a\",\"content\":\"ok\"}]"),
      .tools = LT_STR(
          "[{\"type\":\"function\",\"function\":{\"name\":\"exec\",\"description\":\"Runs\",\"parameters\":{}}}]")};
  LT_AUTO_BUF(custom, LT_MIB);
  LT_AUTO_BUF(function, LT_MIB);
  lt_openai_responses_wire.write_request(&request, 0, &custom);
  lt_openai_responses_wire.write_request(&request, LT_QUIRK_NO_FREEFORM, &function);
  assert_true(lt_str_starts(
      lt_buf_view(&custom),
      LT_STR("{\"model\":\"gpt-4.1\",\"tools\":[{\"type\":\"custom\",\"name\":\"exec\",\"description\":\"Runs\","
             "\"format\":{"
             "\"type\":\"grammar\",\"syntax\":\"lark\",\"definition\":\"start: /x/\"}}],\"input\":[{\"type\":"
             "\"custom_tool_call\",\"call_id\":\"a\",\"name\":\"exec\",\"input\":\"1\\n\"},{\"type\":"
             "\"custom_tool_call_output\",\"call_id\":\"a\",\"output\":\"ok\"}]")));
  assert_true(lt_str_find(lt_buf_view(&function), LT_STR("custom"), 0) == SIZE_MAX);
}

/* Thoughts go back with the calls that they led to, unless the server refuses them; a space stands for those that are
 * not known, where the server wants some. */
static void thoughts_as_chat(void **state) {
  (void)state;
  const lt_model model = {.name = LT_STR("m")};
  static const struct {
    unsigned quirks;
    const char *first, *second;
  } rows[] = {{0, "", ",\"reasoning_content\":\"hm\""},
              {LT_QUIRK_NO_REASONING, "", ""},
              {LT_QUIRK_ALL_REASONING, ",\"reasoning_content\":\" \"", ",\"reasoning_content\":\"hm\""}};
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    char expected[1000];
    snprintf(
        expected, sizeof expected,
        "{\"model\":\"m\",\"messages\":[{\"role\":\"assistant\",\"content\":\"Hi\"%s},{\"role\":\"user\",\"content\":"
        "\"A\"},{\"role\":\"assistant\",\"content\":null,\"tool_calls\":[{\"id\":\"a\"}]%s}],\"max_tokens\":4096,"
        "\"stream\":true,\"stream_options\":{\"include_usage\":true}}",
        rows[i].first, rows[i].second);
    expect_request(
        CHAT, &model,
        "[{\"role\":\"assistant\",\"content\":\"Hi\"},{\"role\":\"user\",\"content\":\"A\"},{\"role\":"
        "\"assistant\",\"content\":null,\"tool_calls\":[{\"id\":\"a\"}],\"kept\":{\"api\":\"chat\",\"parts\":[{"
        "\"own\":{\"type\":\"thinking\",\"thinking\":\"hm\",\"signature\":\"\"}}]}}]",
        "", rows[i].quirks, expected);
  }
}

/* What another wire kept means nothing to this one. */
static void what_another_wire_kept(void **state) {
  (void)state;
  const lt_model model = {.name = LT_STR("m"), .api = LT_STR("messages")};
  expect_request(
      MESSAGES, &model,
      "[{\"role\":\"assistant\",\"content\":\"Hi\",\"kept\":{\"api\":\"responses\",\"parts\":[{\"own\":1}]}}]", "", 0,
      "{\"model\":\"m\",\"messages\":[{\"role\":\"assistant\",\"content\":[{\"type\":\"text\",\"text\":"
      "\"Hi\"}]}],\"max_tokens\":4096,\"stream\":true}");
  assert_false(lt_model_may_keep(&model, LT_STR("{\"api\":\"responses\",\"parts\":[]}")));
  assert_false(lt_model_may_keep(&model, LT_STR("")));
}

static bool is_in_request(const lt_model *model, const char *messages, unsigned quirks, const char *part) {
  LT_AUTO_BUF(body, LT_MIB);
  const lt_completion_request request = {.model = model, .messages = lt_str_of(messages)};
  lt_anthropic_messages_wire.write_request(&request, quirks, &body);
  return lt_str_find(lt_buf_view(&body), lt_str_of(part), 0) != SIZE_MAX;
}

/* Two ways to ask a Claude to think. A budget needs the thinking of the answer whose calls are being answered. */
static void thinking_by_name(void **state) {
  (void)state;
  static const char budget[] = "\"thinking\":{\"type\":\"enabled\",\"budget_tokens\":16384}";
  static const char adaptive[] = "\"thinking\":{\"type\":\"adaptive\"},\"output_config\":{\"effort\":\"high\"}";
  static const char without[] = "[" ASKED "{\"role\":\"assistant\",\"content\":null," CALLS "}," RESULTS "]";
  lt_model old = {.name = LT_STR("claude-sonnet-4-5-20250929"), .effort = LT_STR("high"), .temperature = LT_STR("0.1")};
  lt_model new = {.name = LT_STR("anthropic/claude-opus-4.6"), .effort = LT_STR("high")};
  assert_true(is_in_request(&old, "[]", 0, budget));
  assert_true(is_in_request(&old, "[]", 0, "\"max_tokens\":20480"));
  assert_false(is_in_request(&old, "[]", 0, "temperature"));
  assert_true(is_in_request(&old, "[]", LT_QUIRK_OTHER_THINKING, adaptive));
  assert_false(is_in_request(&old, without, 0, "thinking"));
  assert_true(is_in_request(&old, without, 0, "\"temperature\":0.1"));
  assert_true(is_in_request(&new, without, 0, adaptive));
  assert_true(is_in_request(&new, "[]", LT_QUIRK_OTHER_THINKING, budget));
  new.effort = LT_STR("none");
  assert_true(is_in_request(&new, "[]", 0, "\"thinking\":{\"type\":\"disabled\"}"));
  static const char *const adaptives[] = {"claude-opus-4-6",
                                          "claude-sonnet-5",
                                          "claude-haiku-4-10",
                                          "claude-opus-4-7-20260401",
                                          "us.anthropic.claude-sonnet-5-5-20260101-v1:0",
                                          "claude-opus-10"};
  static const char *const others[] = {
      "claude-sonnet-4-20250514", "claude-3-7-sonnet-20250219", "claude-", "claude-x", "claude-haiku-4-5", "gpt-5", ""};
  for (size_t i = 0; i < sizeof adaptives / sizeof adaptives[0]; i++) {
    assert_true(lt_dialect_is_adaptive(lt_str_of(adaptives[i])));
  }
  for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
    assert_false(lt_dialect_is_adaptive(lt_str_of(others[i])));
  }
}

/* --- Addresses ---------------------------------------------------------------------------------------------------- */
static void expect_url(const char *api, const char *base_url, const char *url) {
  const lt_model model = {.api = lt_str_of(api), .base_url = lt_str_of(base_url)};
  LT_AUTO_BUF(out, LT_KIB);
  lt_completion_wire_put_url(lt_completion_wire_of(&model), model.base_url, &out);
  expect_text(&out, url);
}

static void addresses_and_their_wires(void **state) {
  (void)state;
  expect_url("", "https://api.anthropic.com", "https://api.anthropic.com/v1/messages");
  expect_url("", "https://api.anthropic.com/v1/", "https://api.anthropic.com/v1/messages");
  expect_url("", "https://api.openai.com/v1", "https://api.openai.com/v1/responses");
  expect_url("chat", "https://api.openai.com/v1", "https://api.openai.com/v1/chat/completions");
  expect_url("", "http://localhost:11434/v1", "http://localhost:11434/v1/chat/completions");
  expect_url("messages", "http://localhost:11434", "http://localhost:11434/v1/messages");
  expect_url("", "https://x/anthropic/v1/messages?a=1", "https://x/anthropic/v1/messages?a=1");
  expect_url("responses", "https://x/openai?v=2", "https://x/openai/responses?v=2");
  expect_url("", "https://evil.example/api.anthropic.com", "https://evil.example/api.anthropic.com/chat/completions");
  for (size_t i = 0; lt_model_apis[i] != NULL; i++) { /* the configuration's list is that of the wires */
    const lt_model model = {.api = lt_str_of(lt_model_apis[i])};
    assert_string_equal(lt_completion_wire_of(&model)->name, lt_model_apis[i]);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_stream_in_every_cut),  cmocka_unit_test(streams_that_end_anywhere),
      cmocka_unit_test(errors_inside_a_stream),     cmocka_unit_test(whole_answers),
      cmocka_unit_test(answers_without_an_end),     cmocka_unit_test(conversations_as_messages),
      cmocka_unit_test(conversations_as_responses), cmocka_unit_test(what_another_wire_kept),
      cmocka_unit_test(thoughts_as_chat),           cmocka_unit_test(tools_that_take_a_text),
      cmocka_unit_test(thinking_by_name),           cmocka_unit_test(addresses_and_their_wires),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
