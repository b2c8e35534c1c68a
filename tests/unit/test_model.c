/* Completions: what comes back of what servers send, in all their dialects. */
#include "unit/model_fix.h"

#define HELLO "Hello, w\xC3\xB6rld"

/* --- The usual ---------------------------------------------------------------------------------------------------- */

static void body_normal(void) {
  asked k;
  prepare(&k, "normal", "plain");
  ask(&k);
  expect_ok(&k, HELLO, LT_FINISH_STOP);
  assert_int_equal(k.deltas, 2);
  assert_int_equal(k.done.call_count, 0);
  assert_int_equal(k.done.usage.input_tokens, 12);
  assert_int_equal(k.done.usage.output_tokens, 3);
  assert_int_equal(k.done.usage.reasoning_tokens, 1);
  assert_false(k.done.usage.estimated);
  assert_true(lt_str_eqc(k.done.model, "fake-2026"));
  assert_int_equal(k.done.retries, 0);
  release(&k);
  char *sent = asked_under("plain");
  expect_in(sent, "\"path\":\"/normal/plain/v1/chat/completions\"");
  expect_in(sent, "\"authorization\":\"Bearer " KEY "\"");
  expect_in(sent, "\"model\":\"fake-model\"");
  expect_in(sent, "\"messages\":[{\"role\":\"user\",\"content\":\"hi there, model\"}]");
  expect_in(sent, "\"max_tokens\":4096");
  expect_in(sent, "\"stream\":true");
  expect_in(sent, "\"stream_options\":{\"include_usage\":true}");
  expect_not_in(sent, "response_format");
  expect_not_in(sent, "\"tools\"");
  lt_mem_free(sent);
}

static void body_asked_for_more(void) {
  asked k;
  prepare(&k, "normal", "more");
  k.model.name = LT_STR("openai/gpt-5-mini");
  k.model.api_key = LT_STR("");
  k.model.max_tokens = 100;
  k.request.tools = LT_STR("[{\"type\":\"function\",\"function\":{\"name\":\"f\"}}]");
  k.request.json = true;
  ask(&k);
  expect_ok(&k, HELLO, LT_FINISH_STOP);
  k.request.max_tokens = 7;
  lt_completion_release(&k.done);
  lt_completion_init(&k.done);
  ask(&k);
  release(&k);
  char *sent = asked_under("more");
  expect_in(sent, "\"max_completion_tokens\":100");
  expect_in(sent, "\"max_completion_tokens\":7");
  expect_not_in(sent, "\"max_tokens\"");
  expect_in(sent, "\"response_format\":{\"type\":\"json_object\"}");
  expect_in(sent, "\"tools\":[{\"type\":\"function\",\"function\":{\"name\":\"f\"}}]");
  expect_not_in(sent, "authorization");
  lt_mem_free(sent);
}

/* Base URLs as people write them. */
static void body_addresses(void) {
  const char *tails[] = {"", "/", "//", "/chat/completions", "?version=1"};
  asked k;
  for (size_t i = 0; i < 5; i++) {
    prepare(&k, "normal", "address");
    snprintf(k.url, sizeof k.url, " http://127.0.0.1:%d/normal/address/v1%s\n", server.port, tails[i]);
    k.model.base_url = lt_str_of(k.url);
    k.model.api_key = LT_STR(" " KEY "\n"); /* as files have it */
    ask(&k);
    expect_ok(&k, HELLO, LT_FINISH_STOP);
    release(&k);
  }
  char *sent = asked_under("address");
  assert_int_equal(count_in(sent, "\"/normal/address/v1/chat/completions\""), 4);
  expect_in(sent, "\"/normal/address/v1/chat/completions?version=1\"");
  lt_mem_free(sent);
}

/* --- Dialects ----------------------------------------------------------------------------------------------------- */

static void body_dialects(void) {
  const char *same[] = {"bytes",     "crlf",    "comments",      "one-newline", "no-last-newline", "no-done",
                        "no-finish", "choices", "empty-choices", "no-usage",    "calls-none"};
  for (size_t i = 0; i < sizeof same / sizeof same[0]; i++) {
    says(same[i], HELLO, LT_FINISH_STOP);
  }
  says("no-done-hanging", HELLO, LT_FINISH_STOP);
  says("length", HELLO, LT_FINISH_LENGTH);
  says("filtered", HELLO, LT_FINISH_FILTERED);
  says("refusal", "I will not", LT_FINISH_FILTERED);
  says("repeated", HELLO HELLO, LT_FINISH_STOP);
  says("whole", "All at once", LT_FINISH_STOP);
  says("bad-bytes", "a\xEF\xBF\xBD", LT_FINISH_STOP);
  says("bad-whole",
       "a\xEF\xBF\xBD"
       "z",
       LT_FINISH_STOP);
  says("surrogates",
       "a\xF0\x9F\x98\x80"
       "b",
       LT_FINISH_STOP);
}

static void body_reasoning(void) {
  const char *behaviours[] = {"reasoning", "reasoning-other", "parts", "whole"};
  const char *texts[] = {HELLO, HELLO, "Hello", "All at once"};
  const char *thoughts[] = {"Let me think", "Hm", "Hm", "hm"};
  for (size_t i = 0; i < 4; i++) {
    asked k;
    prepare(&k, behaviours[i], "thinks");
    ask(&k);
    expect_ok(&k, texts[i], LT_FINISH_STOP);
    assert_string_equal(text_of(&k.done.reasoning), thoughts[i]);
    release(&k);
  }
}

/* Thoughts that come as text, whole and in pieces; the rest of the text is nobody's business. */
static void body_thoughts_in_the_text(void) {
  static const struct {
    const char *behaviour, *text, *thoughts;
    lt_finish finish;
  } cases[] = {
      {"think", HELLO, "\nLet me think\n", LT_FINISH_STOP},
      {"think-pieces", HELLO, "a </b> </thin ", LT_FINISH_STOP},
      {"think-once", "<think>x</think> is a tag", "", LT_FINISH_STOP},
      {"think-open", "", "so long, </thin", LT_FINISH_LENGTH},
      {"think-later", "\n Use <think>x</think>", "", LT_FINISH_STOP},
      {"think-not", " <thin", "", LT_FINISH_STOP},
      {"think-whole", "All at once", "hm", LT_FINISH_STOP},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    asked k;
    prepare(&k, cases[i].behaviour, "thinks");
    ask(&k);
    expect_ok(&k, cases[i].text, cases[i].finish);
    assert_string_equal(text_of(&k.done.reasoning), cases[i].thoughts);
    release(&k);
  }
  asked k;
  for (int i = 0; i < 3; i++) { /* as it is shown at first; then not; and not where nothing is shown */
    prepare(&k, "think-unopened", "thinks");
    k.request.on_text = i < 2 ? k.request.on_text : NULL;
    ask(&k);
    assert_string_equal(text_of(&k.done.text), i == 0 ? "so </thin </think>\n\nHello" : "Hello");
    assert_string_equal(text_of(&k.done.reasoning), i == 0 ? "" : "so </thin ");
    release(&k);
  }
  prepare(&k, "think-quoted", "thinks");
  k.request.on_text = NULL;
  ask(&k);
  assert_string_equal(text_of(&k.done.text), "it is `</think>` </think>");
  release(&k);
  prepare(&k, "blank", "thinks");
  ask(&k);
  assert_int_equal(k.done.text.n, 2000 + strlen("<think>"));
  release(&k);
}

static void body_usage(void) {
  asked k;
  prepare(&k, "no-usage", "usage");
  ask(&k);
  assert_true(k.done.usage.estimated);
  assert_in_range(k.done.usage.input_tokens, 5, 40);
  assert_in_range(k.done.usage.output_tokens, 2, 8);
  release(&k);
  prepare(&k, "whole", "usage");
  ask(&k);
  assert_false(k.done.usage.estimated);
  assert_int_equal(k.done.usage.output_tokens, 6);
  assert_int_equal(k.done.usage.cached_input_tokens, 0);
  release(&k);
  static const struct {
    const char *behaviour;
    int cached;
  } all[] = {{"cached", 8}, {"cached-other", 7}, {"cached-too-many", 12}};
  for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
    prepare(&k, all[i].behaviour, "usage");
    ask(&k);
    assert_int_equal(k.done.usage.input_tokens, 12);
    assert_int_equal(k.done.usage.cached_input_tokens, all[i].cached);
    release(&k);
  }
}

static void body_giant(void) {
  asked k;
  prepare(&k, "giant", "giant");
  ask(&k);
  assert_int_equal(k.status, LT_OK);
  assert_int_equal(k.done.text.n, 3 << 20);
  release(&k);
}

/* --- Calls -------------------------------------------------------------------------------------------------------- */

typedef struct wanted {
  const char *id; /* NULL: made up */
  const char *name;
  const char *arguments;
} wanted;

static void expect_call(const lt_requested_call *call, const wanted *want) {
  assert_true(lt_str_eqc(call->name, want->name));
  assert_true(lt_str_eqc(call->arguments, want->arguments));
  if (want->id != NULL) {
    assert_true(lt_str_eqc(call->id, want->id));
  } else {
    assert_true(lt_str_starts(call->id, LT_STR("call_")));
    assert_int_equal(call->id.n, 21);
  }
}

static void calls(const char *behaviour, const wanted *want, size_t n, lt_finish finish) {
  asked k;
  prepare(&k, behaviour, "calls");
  ask(&k);
  expect_ok(&k, "", finish);
  if (k.done.call_count != n) {
    fail_msg("%s: %zu calls", behaviour, k.done.call_count);
  }
  for (size_t i = 0; i < n; i++) {
    expect_call(&k.done.calls[i], &want[i]);
    assert_true(i == 0 || !lt_str_eq(k.done.calls[i].id, k.done.calls[i - 1].id));
  }
  release(&k);
}

static void body_calls(void) {
  const wanted two[] = {{"call_a", "weather", "{\"city\":\"Paris\"}"}, {"call_b", "time", "{\"zone\":1}"}};
  calls("calls", two, 2, LT_FINISH_TOOLS);
  const wanted made_up[] = {{NULL, "weather", "{}"}, {NULL, "time", "{}"}};
  calls("calls-no-ids", made_up, 2, LT_FINISH_TOOLS);
  const wanted one_made_up[] = {{"x", "weather", "{}"}, {NULL, "time", "{}"}};
  calls("calls-same-ids", one_made_up, 2, LT_FINISH_TOOLS);
  const wanted object = {NULL, "weather", "{\"city\":\"Rome\"}"};
  calls("calls-objects", &object, 1, LT_FINISH_TOOLS);
  const wanted no_index[] = {{"a", "weather", "{\"c\":1}"}, {"b", "time", "{}"}};
  calls("calls-no-index", no_index, 2, LT_FINISH_TOOLS);
  const wanted zero[] = {{"a", "weather", "{}"}, {"b", "time", "{}"}};
  calls("calls-all-zero", zero, 2, LT_FINISH_TOOLS);
  const wanted again = {"a", "weather", "{\"c\":1}"};
  calls("calls-named-again", &again, 1, LT_FINISH_TOOLS);
  const wanted legacy = {NULL, "weather", "{\"city\":1}"};
  calls("calls-legacy", &legacy, 1, LT_FINISH_TOOLS);
  const wanted broken = {"a", "weather", "{\"city\": \"Par"};
  calls("calls-broken", &broken, 1, LT_FINISH_LENGTH);
  const wanted whole = {"a", "f", "{\"x\":1}"};
  calls("whole-calls", &whole, 1, LT_FINISH_TOOLS);
}

/* --- Drafts ------------------------------------------------------------------------------------------------------- */
static void on_draft(void *arg, const lt_draft_piece *piece) {
  asked *k = arg;
  if (piece->kind == LT_DRAFT_AGAIN) {
    lt_buf_addc(&k->shown, "<again>");
  } else if (piece->kind == LT_DRAFT_TEXT) {
    lt_buf_add(&k->shown, piece->text);
  } else {
    lt_buf_printf(&k->shown, "<%zu %.*s>", piece->call, LT_STR_ARG(piece->name));
    lt_buf_add(&k->shown, piece->text);
  }
  k->deltas++;
}

/* What a reader is told of an answer that is not shown as text, and the text that it has in the end. */
static void drafts(const char *behaviour, const char *told, const char *text) {
  asked k;
  prepare(&k, behaviour, "drafts");
  k.request.on_text = NULL;
  k.request.on_draft = on_draft;
  ask(&k);
  assert_int_equal(k.status, LT_OK);
  assert_string_equal(text_of(&k.shown), told);
  assert_string_equal(text_of(&k.done.text), text);
  release(&k);
}

static void body_drafts(void) {
  drafts("normal", "Hello, wörld", "Hello, wörld");
  drafts("bytes", "Hello, wörld", "Hello, wörld");
  drafts("whole", "", "All at once");
  drafts("cut-once", "Hello, wörld<again>Hello, wörld", "Hello, wörld");
  drafts("think", "Hello, wörld", "Hello, wörld");
  drafts("think-unopened", "so </thin </think<again>Hello", "Hello"); /* all of it may be thoughts ... */
  drafts("think-unopened", "Hello", "Hello");                         /* ... as is known the second time */
  drafts("calls", "<0 weather>{\"city\":<1 time>{\"z<0 weather>\"Paris\"}<1 time>one\":1}", "");
  drafts("calls-objects", "", "");
  drafts("surrogates",
         "a\xed\xa0\xbd\xed\xb8\x80"
         "b", /* two halves, but in one piece */
         "a\xed\xa0\xbd\xed\xb8\x80"
         "b");
}

static void body_too_many_calls(void) {
  fails("calls-many", LT_E_LIMIT, "calls");
}

/* --- Errors ------------------------------------------------------------------------------------------------------- */

static void body_refusals(void) {
  fails("401", LT_E_CONFIG, "the API key was not accepted by 127.0.0.1");
  fails("403", LT_E_CONFIG, "no access");
  fails("404", LT_E_CONFIG, "model \"nope\" not found, try pulling it first; check the model's name");
  fails("301", LT_E_CONFIG, "redirect");
  fails("402", LT_E_LIMIT, "credit");
  fails("429-money", LT_E_LIMIT, "credit");
  fails("400", LT_E_INVALID, "messages: field required");
  fails("400-html", LT_E_INVALID, "a web page");
  fails("400-long", LT_E_LIMIT, "too long for this model");
  fails("400-list", LT_E_INVALID, "API key not valid? No: [31mred");
  fails("too-many", LT_E_INVALID, "max_tokens is too large");
  asked k;
  prepare(&k, "401", "keyless");
  k.model.api_key = LT_STR("");
  ask(&k);
  expect_failed(&k, LT_E_CONFIG, "wants an API key");
  release(&k);
  prepare(&k, "normal", "bad-key");
  k.model.api_key = LT_STR(KEY "\nX-Evil: 1");
  ask(&k);
  expect_failed(&k, LT_E_CONFIG, "line break");
  release(&k);
}

/* The asker may send less and be answered. */
static void body_too_long(void) {
  asked k;
  prepare(&k, "400-long", "too-long");
  ask(&k);
  expect_failed(&k, LT_E_LIMIT, "8192");
  assert_true(k.done.too_long);
  release(&k);
  prepare(&k, "429-money", "too-long");
  ask(&k);
  assert_false(k.done.too_long);
  release(&k);
}

static void body_nonsense(void) {
  fails("html", LT_E_PROTOCOL, "a web page");
  fails("not-json", LT_E_PROTOCOL, "no JSON");
  fails("half-json", LT_E_PROTOCOL, "no JSON");
  fails("array", LT_E_PROTOCOL, "no JSON object");
  fails("whole-nothing", LT_E_PROTOCOL, "choices");
  fails("whole-error", LT_E_INVALID, "127.0.0.1");
  fails("whole-error", LT_E_INVALID, "reported an error: model crashed");
  fails("error-event", LT_E_INVALID, "not good");
  fails("giant-line", LT_E_LIMIT, "16 MiB");
}

static void body_endless(void) {
  asked k;
  prepare(&k, "endless", "endless");
  ask(&k);
  expect_failed(&k, LT_E_LIMIT, "8 MiB");
  assert_true(k.done.text.n <= LT_MODEL_TEXT_MAX_BYTES);
  release(&k);
}

static void body_nobody_there(void) {
  asked k;
  prepare(&k, "normal", "x");
  k.model.base_url = LT_STR("http://user:s3cret@127.0.0.1:1/v1?k=s3cret");
  ask(&k);
  expect_failed(&k, LT_E_IO, "is it running");
  expect_in(k.err.msg, "127.0.0.1:1");
  expect_not_in(k.err.msg, "s3cret");
  assert_int_equal(k.done.retries, LT_MODEL_CONNECT_TRIES_MAX - 1);
  release(&k);
  prepare(&k, "normal", "x");
  k.model.base_url = LT_STR("api.example.com/v1");
  ask(&k);
  expect_failed(&k, LT_E_CONFIG, "check the base URL");
  release(&k);
}

/* --- Many --------------------------------------------------------------------------------------------------------- */

static size_t good;

static void ask_one(size_t i) {
  asked k;
  prepare(&k, i % 2 == 0 ? "slow" : "normal", "many");
  ask(&k);
  expect_ok(&k, HELLO, LT_FINISH_STOP);
  release(&k);
  good++;
}

static void body_many(void) {
  good = 0;
  run_many(200, ask_one);
  assert_int_equal(good, 200);
}

/* --- Memory ------------------------------------------------------------------------------------------------------- */

static void sweep(const char *behaviour) {
  for (long n = 0;; n++) {
    assert_true(n < 2000);
    asked k;
    prepare(&k, behaviour, "memory");
    k.request.on_text = NULL;
    lt_mem_fail_at(n);
    k.status = lt_model_complete(http, &k.request, &k.done, &k.err);
    int failed = lt_mem_failed();
    lt_mem_fail_at(-1);
    if (k.status != LT_OK && k.status != LT_E_NOMEM) {
      fail_msg("%s, allocation %ld: %s: %s", behaviour, n, lt_status_name(k.status), k.err.msg);
    }
    release(&k);
    if (!failed) {
      assert_int_equal(k.status, LT_OK);
      return;
    }
  }
}

static void body_no_memory(void) {
  says("normal", HELLO, LT_FINISH_STOP); /* libcurl is there now */
  sweep("normal");
  sweep("calls");
  sweep("whole");
  sweep("whole-calls");
  sweep("think-pieces");
}

FLOW(normal)
FLOW(asked_for_more)
FLOW(addresses)
FLOW(dialects)
FLOW(reasoning)
FLOW(thoughts_in_the_text)
FLOW(usage)
FLOW(giant)
FLOW(calls)
FLOW(drafts)
FLOW(too_many_calls)
FLOW(refusals)
FLOW(too_long)
FLOW(nonsense)
FLOW(endless)
FLOW(nobody_there)
FLOW(many)
FLOW(no_memory)

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_normal),         cmocka_unit_test(test_asked_for_more),
      cmocka_unit_test(test_addresses),      cmocka_unit_test(test_dialects),
      cmocka_unit_test(test_reasoning),      cmocka_unit_test(test_thoughts_in_the_text),
      cmocka_unit_test(test_usage),          cmocka_unit_test(test_giant),
      cmocka_unit_test(test_drafts),         cmocka_unit_test(test_calls),
      cmocka_unit_test(test_too_many_calls), cmocka_unit_test(test_refusals),
      cmocka_unit_test(test_too_long),       cmocka_unit_test(test_nonsense),
      cmocka_unit_test(test_endless),        cmocka_unit_test(test_nobody_there),
      cmocka_unit_test(test_many),           cmocka_unit_test(test_no_memory),
  };
  return cmocka_run_group_tests(tests, setup_server, teardown_server);
}
