/* Goes down one path of the library, so many times: `lt_paths NAME COUNT`. scripts/instructions.mjs counts its
 * instructions for two numbers of times, and so has what one time takes, without the start and the end of the process.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lathe.h"

enum { TOOLS = 1000, NAME_BYTES = 64, ITEMS = 2000, ITEM_BYTES = 64, SCRIPT_BYTES = 8192, FILE_BYTES = 4096 };
enum { TIMEOUT_MS = 600000, FOUND = 10 };

typedef struct path {
  const char *name;
  const char *language;
  const char *code;   /* what is run each time, or */
  const char *script; /* the file below programs/ that it is in, or */
  const char *query;  /* what is searched for */
  bool has_many_tools;
} path;

static const path paths[] = {
    {.name = "start", .code = "1+2"},
    {.name = "start-many-tools", .code = "1+2", .has_many_tools = true},
    {.name = "call", .code = "add({a: 1, b: 2})"},
    {.name = "calls", .code = "let n = 0; for (let i = 0; i < 100; i++) n += add({a: i, b: 2}); n"},
    {.name = "calls-at-once",
     .code = "(await Promise.all(Array.from({length: 100}, (_, i) => add({a: i, b: 2})))).length"},
    {.name = "json", .code = "list({}).reduce((sum, item) => sum + item.stars, 0)"},
    {.name = "compute",
     .code = "const fib = (n) => n < 2 ? n : fib(n - 1) + fib(n - 2);\n"
             "const words = Array.from({length: 500}, (_, i) => `word ${(i * 7919) % 500}`).sort();\n"
             "[fib(15), JSON.parse(JSON.stringify(words)).join().replace(/\\d+/g, (n) => n + 1).length]"},
    {.name = "intl", .code = "new URL('https://x.test/?a=1').searchParams.get('a') + (1234.5).toLocaleString('de')"},
    {.name = "typescript", .script = "report.ts", .language = "ts"},
    {.name = "search", .query = "close an issue", .has_many_tools = true},
};

static char items[ITEMS * ITEM_BYTES]; /* what the tool "list" answers: about 80 kB */

static void make_items(void) {
  char *at = items;
  for (int i = 0; i < ITEMS; i++) {
    at += sprintf(at, "%s{\"name\": \"repository %d\", \"stars\": %d}", i == 0 ? "[" : ", ", i, i % 100);
  }
  strcpy(at, "]");
}

static void on_event(lathe_env *env, const lathe_event *event, void *arg) {
  (void)arg;
  if (event->type == LATHE_EVENT_CALL) {
    lathe_answer(env, event->call, strcmp(event->tool, "list") == 0 ? items : "3", NULL);
  }
}

/* Ends the process when the library has failed: what is counted then is something else. */
static void check(lathe_status status, const lathe_error *error) {
  if (status != LATHE_OK) {
    fprintf(stderr, "lt_paths: %s\n", error->message);
    exit(EXIT_FAILURE);
  }
}

static void add_tools(lathe_env *env, const path *p) {
  char name[NAME_BYTES];
  lathe_tool_options tool = {.size = sizeof tool, .name = "add"};
  lathe_error error = {.size = sizeof error};
  check(lathe_add_tool(env, &tool, &error), &error);
  tool.name = "list";
  check(lathe_add_tool(env, &tool, &error), &error);
  tool.name = name;
  tool.description = "Closes an issue of a repository, with a comment that says why.";
  tool.input_schema = "{\"type\": \"object\", \"properties\": {\"issue\": {\"type\": \"integer\"}}}";
  for (int i = 0; i < TOOLS && p->has_many_tools; i++) {
    snprintf(name, sizeof name, "forge.close_%d", i);
    check(lathe_add_tool(env, &tool, &error), &error);
  }
}

/* The text lives as long as the process. */
static const char *read_script(const char *name) {
  static char text[SCRIPT_BYTES];
  char file[FILE_BYTES];
  snprintf(file, sizeof file, LT_BENCH_DIR "/programs/%s", name);
  FILE *from = fopen(file, "r");
  if (from == NULL || fread(text, 1, sizeof text - 1, from) == 0) {
    fprintf(stderr, "lt_paths: there is no %s\n", file);
    exit(EXIT_FAILURE);
  }
  fclose(from);
  return text;
}

static void go(lathe_env *env, const path *p, int times) {
  const lathe_run_options run = {.size = sizeof run,
                                 .code = p->script != NULL ? read_script(p->script) : p->code,
                                 .language = p->language,
                                 .timeout_ms = TIMEOUT_MS};
  lathe_error error = {.size = sizeof error};
  char *json;
  for (int i = 0; i < times; i++) {
    check(p->query != NULL ? lathe_tools(env, p->query, FOUND, &json, &error)
                           : lathe_run(env, &run, on_event, NULL, &json, &error),
          &error);
    lathe_free(json);
  }
}

int main(int argc, char **argv) {
  const path *p = NULL;
  for (unsigned i = 0; i < sizeof paths / sizeof paths[0] && argc == 3; i++) {
    p = strcmp(paths[i].name, argv[1]) == 0 ? &paths[i] : p;
  }
  if (p == NULL) {
    fprintf(stderr, "usage: lt_paths NAME COUNT, with a name of %s\n", __FILE__);
    return EXIT_FAILURE;
  }
  lathe_error error = {.size = sizeof error};
  lathe_env *env = NULL;
  check(lathe_open(NULL, &env, &error), &error);
  make_items();
  add_tools(env, p);
  go(env, p, atoi(argv[2]));
  lathe_close(env);
}
