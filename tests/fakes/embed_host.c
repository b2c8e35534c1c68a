/* A host of the library for the flow tests: embed_host CONFIG LANGUAGE CODE prints the report of a program, after
 * warnings of the environment. */
#include <lathe.h>
#include <stdio.h>

int main(int argc, char **argv) {
  lathe_env *env;
  char *report;
  const lathe_event *event;
  lathe_error error = {.size = sizeof error};
  const lathe_options options = {.size = sizeof options, .config = argc > 1 ? argv[1] : NULL};
  const lathe_run_options run = {
      .size = sizeof run, .code = argc > 3 ? argv[3] : "1", .language = argc > 2 ? argv[2] : NULL};
  if (lathe_open(&options, &env, &error) != LATHE_OK) {
    puts(error.message);
    return 1;
  }
  for (; lathe_next(env, 0, &event) == LATHE_OK; lathe_event_free(event)) {
    puts(event->text);
  }
  lathe_status status = lathe_run(env, &run, NULL, NULL, &report, &error);
  puts(report != NULL ? report : error.message);
  lathe_free(report);
  lathe_close(env);
  return status == LATHE_OK ? 0 : 2;
}
