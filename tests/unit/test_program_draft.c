/* Programs while a model writes them: what readers get in which mode, when it begins again, and when it is no program.
 */
#include "agent_fix.h"

static void prompt_in(world *w, const char *mode, const char *input) {
  start_in(w, "", mode, input);
  wait_end(w);
}

/* The pieces without their marks, since the last restart: what a reader shows. */
static void assert_shown(world *w, const char *expected) {
  const char *from = w->drafts.n > 0 ? strrchr(w->drafts.p, '|') : NULL;
  lt_buf shown;
  lt_buf_init(&shown, LT_GIB);
  for (; from != NULL && *from != '\0'; from++) {
    if (*from != '|' && *from != '~') {
      lt_buf_byte(&shown, *from);
    }
  }
  assert_string_equal(shown.n > 0 ? shown.p : "", expected);
  lt_buf_release(&shown);
}

IN_WORLD(a_reply_of_code_mode_is_shown_while_it_arrives) {
  script_texts("output('one'); 7", "const two = 'zwölf'; output(two); done()", NULL);
  prompt(w, "go");
  assert_string_equal(w->drafts.p, "|output~('one'~); 7|const two = 'z~wölf'; output(~two); done()");
  assert_string_equal(w->streams.p, "onezwölf");
  assert_stored(w, "output.0.input.code", "output('one'); 7");
}

/* A program in a fence: the pieces are what the output has as its code. */
IN_WORLD(a_fence_is_shown_as_it_is) {
  script_texts("```js\noutput(1); done()\n```", NULL);
  prompt(w, "go");
  assert_shown(w, "```js\noutput(1); done()\n```");
  assert_stored(w, "output.0.input.code", "```js\noutput(1); done()\n```");
}

IN_WORLD(the_code_of_a_call_is_shown_without_its_json) {
  script(
      "[{\"text\":\"I look.\",\"calls\":[{\"name\":\"execute_typescript\",\"arguments\":"
      "\"{\\\"timeout\\\": 9000, \\\"code\\\": \\\"const s = "
      "\\\\\\\"\\\\u00e9\\\\ud83d\\\\ude00\\\\\\\";\\\\nconsole.log(s)\\\"}\"}]},\"There.\"]");
  prompt_in(w, "typescript", "go");
  assert_shown(w, "const s = \"é😀\";\nconsole.log(s)");
  assert_string_equal(w->streams.p, "I look.There.");
  assert_stored(w, "output.1.input.code", "const s = \"é😀\";\nconsole.log(s)");
}

IN_WORLD(programs_of_one_reply_have_numbers) {
  script(
      "[{\"calls\":[{\"name\":\"execute_typescript\",\"arguments\":{\"code\":\"1\"}},"
      "{\"name\":\"nothing\",\"arguments\":{\"code\":\"no program\"}},"
      "{\"name\":\"execute_typescript\",\"arguments\":{\"code\":\"console.log(2)\"}}]},\"There.\"]");
  prompt_in(w, "typescript", "go");
  assert_string_equal(w->drafts.p, "|11~console.l1~og(2)");
}

IN_WORLD(in_classic_mode_the_tools_that_run_programs) {
  script(
      "[{\"calls\":[{\"name\":\"weather_echo\",\"arguments\":{\"code\":\"no program\"}},"
      "{\"name\":\"interpreter_run-code\",\"arguments\":{\"code\":\"1 + 1\"}}]},\"There.\"]");
  prompt_in(w, "classic", "go");
  assert_shown(w, "1 + 1");
  assert_stored(w, "output.1.input.code", "1 + 1");
}

/* The connection breaks in the middle: what was shown does not count, and the next attempt is shown from its start. */
IN_WORLD(a_reply_that_breaks_off_is_shown_anew) {
  script("[{\"text\":\"output('first')\",\"cut\":true},\"output('second'); done()\"]");
  prompt(w, "go");
  assert_string_equal(w->drafts.p, "|outpu~t('fi~rst')||output('~second')~; done()");
  assert_string_equal(w->streams.p, "second");
  assert_stored(w, "state", "completed");
}

/* The first reply that is prose is recorded as a program that failed; the second one is the answer, and is no program
 * for a reader any more when its text comes. */
IN_WORLD(prose_is_taken_back) {
  script_texts("I would rather talk to you about it.", "It is really nothing but a text.", NULL);
  prompt(w, "go");
  assert_shown(w, "");
  assert_has(w->drafts.p, "|I would rat");
  assert_true(lt_str_ends(lt_buf_view(&w->drafts), LT_STR("a text.|")));
  assert_string_equal(w->streams.p, "It is really nothing but a text.");
}

IN_WORLD(a_filtered_reply_is_taken_back) {
  script("[{\"text\":\"output('\",\"finish\":\"content_filter\"}]");
  prompt(w, "go");
  assert_shown(w, "");
  assert_has(w->drafts.p, "|");
}

/* A secret is masked although its parts come in different pieces, in code and in the escapes of arguments. */
IN_WORLD(a_secret_is_masked_across_pieces) {
  script(
      "[\"output('hunter2-hunter2')\","
      "{\"text\":\"done() // ends with hunter2-hu\"}]");
  prompt(w, "go");
  assert_null(strstr(w->drafts.p, "hunter2"));
  assert_shown(w, "done() // ends with ***");
}

IN_WORLD(a_secret_is_masked_in_the_code_of_a_call) {
  script(
      "[{\"calls\":[{\"name\":\"execute_typescript\",\"arguments\":\"{\\\"code\\\":\\\"'hunt\\\\u0065r2-hunter2' + "
      "1\\\"}\"}]},"
      "\"There.\"]");
  prompt_in(w, "typescript", "go");
  assert_shown(w, "'***' + 1");
}

IN_WORLD(a_secret_in_a_text_is_masked_across_pieces) {
  script("[{\"text\":\"It is hunter2-hunter2, and it ends with hunter2-hu\"}]");
  prompt_in(w, "classic", "go");
  assert_string_equal(w->streams.p, "It is ***, and it ends with ***");
  assert_stored(w, "output.0.content", "It is ***, and it ends with ***");
}

/* A mode of a plugin, llm() and replies on record are not shown as programs. */
IN_WORLD(what_is_no_program_is_not_shown_as_one) {
  script("[\"output(llm('hello')); done()\",\"an answer of three words\"]");
  prompt(w, "go");
  assert_shown(w, "output(llm('hello')); done()");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_reply_of_code_mode_is_shown_while_it_arrives),
      cmocka_unit_test(a_fence_is_shown_as_it_is),
      cmocka_unit_test(the_code_of_a_call_is_shown_without_its_json),
      cmocka_unit_test(programs_of_one_reply_have_numbers),
      cmocka_unit_test(in_classic_mode_the_tools_that_run_programs),
      cmocka_unit_test(a_reply_that_breaks_off_is_shown_anew),
      cmocka_unit_test(prose_is_taken_back),
      cmocka_unit_test(a_filtered_reply_is_taken_back),
      cmocka_unit_test(a_secret_is_masked_across_pieces),
      cmocka_unit_test(a_secret_is_masked_in_the_code_of_a_call),
      cmocka_unit_test(a_secret_in_a_text_is_masked_across_pieces),
      cmocka_unit_test(what_is_no_program_is_not_shown_as_one),
  };
  return run_all_tests(tests, sizeof tests / sizeof *tests);
}
