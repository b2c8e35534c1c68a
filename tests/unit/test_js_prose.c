/* Which texts are prose, and which are programs with or without mistakes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/limits.h"
#include "js/js_prose.h"

static const char *const prose[] = {
    "I am afraid I cannot do that.",
    "Hello! How can I help you today?",
    "Done.",
    "Hello",
    "Yes, sure!",
    "I've read it. The file has 3 lines, and it doesn't mention a licence.",
    "Answer: 42",
    "The answer: 42",
    "Sure! Here is what I found: call done() when you are finished.",
    "Let me know if you need more.",
    "- item one\n- item two of the list\n- and a third",
    "# Summary\n\nThe tool `files.read` returned *nothing* (see above).",
    "\xE4\xBD\xA0\xE5\xA5\xBD\xEF\xBC\x8C\xE4\xB8\x96\xE7\x95\x8C\xE3\x80\x82",
    "For more details you can ask the server again.",
    "Ich habe die Datei gelesen; sie hat drei Zeilen.",
    "import the file and export the table",
    "Let x be 5",
    "It is 42.",
    "The result of the call is as follows: 3 of 4.",
};
static const char *const programs[] = {
    "",
    "// there is nothing to do",
    "done()",
    "x",
    "42",
    "'hello there my friend'",
    "const a = 1\nconst b = 2\na + b",
    "output('It is done, and nothing else is there to say.'); done()",
    "output(\"he said \"hello my dear old friend of mine\" to me\");",
    "cosnt x = 5;\noutput(x); done()",
    "let result = get weather('x')",
    "const files = filesList({ path: '.' })\nfor (const f of files) { output(f.name) }\ndone()",
    "async function main() {\n  const r = await toolsGet({ id: 1 })\n  return r\n}",
    "import x from 'lodash'\nexport default async () => { return 1 }",
    "outer: for (const a of [1, 2]) { break outer }",
    "const is = (x: unknown): x is string => typeof x === 'string'",
    "type A = { b: string }\ninterface C extends D { e: number }\nconst f = (x: A): C => x as C",
    "return weatherGet({ city: `the old town of ${name}` }).text",
    "output(JSON.stringify(filesRead({ path: 'a' }), null, 2))",
    "if (a in b) output('yes it is')\nelse output('no it is not')",
    "x = typeof y === 'string' ? y.length : 0",
    "def main():\n    print(1)\n",
    "class A extends B { static async get name() { return new C } }",
    "a.b.c\n  .map((d) => d.e)\n  .filter(Boolean)",
    "throw new Error('it does not work at all')",
};

static bool is_prose(const char *text) {
  LT_AUTO_BUF(scratch, LT_MIB);
  return lt_js_prose_is(lt_str_of(text), &scratch);
}

static void prose_is_found(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof prose / sizeof prose[0]; i++) {
    if (!is_prose(prose[i])) {
      fail_msg("not found to be prose: %s", prose[i]);
    }
  }
}

static void programs_are_not(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof programs / sizeof programs[0]; i++) {
    if (is_prose(programs[i])) {
      fail_msg("taken for prose: %s", programs[i]);
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(prose_is_found),
      cmocka_unit_test(programs_are_not),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
