/* Prompts from start to end, in code mode: what the seeds' examples do, what is stored and told, in which order. */
#include "agent_fix.h"

/* --- The seeds' examples, word for word --------------------------------------------------------------------------- */
IN_WORLD(the_first_example_of_015) {
  script_texts("// No await needed — the function call suspends internally\n"
               "const weather = weatherGetWeather({ latitude: 55.67, longitude: 12.56 });\n"
               "const summary = llm(\"Summarize: \" + JSON.stringify(weather));\n"
               "output(summary);\n"
               "done();",
               "It is 27.835 degrees.", NULL);
  prompt(w, "How is the weather?");
  assert_events(w,
                "created\n"
                "output tool code.execute pending Executing...\n"
                "output tool weather.get-weather pending Executing...\n"
                "output tool weather.get-weather success {\"temperature\":27.835,\"description\":\"cloudy\"}\n"
                "output text It is 27.835 degrees.\n"
                "output tool code.execute success \n"
                "completed\n");
  assert_string_equal(w->streams.p, "It is 27.835 degrees.");
  assert_stored(w, "state", "completed");
  assert_stored(w, "mode", "code");
  assert_stored(w, "usage.inputTokens", "20"); /* llm() counts, too */
  assert_stored(w, "usage.totalTokens", "30");
  assert_stored(w, "usage.resolvedModel", "fake-2026");
  assert_asked(1, "messages.0.content", "You are a helpful assistant. Respond concisely.");
  assert_asked(1, "messages.1.content", "Summarize: {\"temperature\":27.835,\"description\":\"cloudy\"}");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_first_example_of_015),
  };
  return run_all_tests(tests, sizeof tests / sizeof tests[0]);
}
