/* Runs a program that a model could have written, with two tools of this process: one answers, one needs an approval.
 *
 *   cc -o order order.c $(pkg-config --cflags --libs lathe) && ./order
 */
#include <lathe.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char program[] =
    "const stock = shopStock({item: 'tea'});\n"
    "output(`there are ${stock.count}`);\n"
    "if (stock.count < 10) { shopOrder({item: 'tea', count: 10 - stock.count}); }\n"
    "return {ordered: 10 - stock.count};";

static const lathe_tool_options tools[] = {
    {.size = sizeof tools[0],
     .name = "shop.stock",
     .description = "How many of an item there are.",
     .input_schema =
         "{\"type\": \"object\", \"properties\": {\"item\": {\"type\": \"string\"}}, \"required\": [\"item\"]}",
     .annotations = "{\"readOnlyHint\": true}"},
    {.size = sizeof tools[0],
     .name = "shop.order",
     .description = "Orders more of an item.",
     .approval = "it spends money"},
};

/* Called on the thread that called lathe_run. */
static void on_event(lathe_env *env, const lathe_event *event, void *arg) {
  (void)arg;
  if (event->type == LATHE_EVENT_CALL && strcmp(event->tool, "shop.stock") == 0) {
    lathe_answer(env, event->call, "{\"count\": 3}", NULL);
  } else if (event->type == LATHE_EVENT_CALL) {
    printf("ordering: %s\n", event->json);
    lathe_answer(env, event->call, "{\"ok\": true}", NULL);
  } else if (event->type == LATHE_EVENT_APPROVAL) {
    printf("approved, although %s: %s\n", event->text, event->json); /* a person would be asked here */
    lathe_approve(env, event->call, NULL, NULL);
  } else if (event->type == LATHE_EVENT_OUTPUT) {
    printf("output: %s\n", event->text);
  }
}

int main(void) {
  lathe_error error = {.size = sizeof error};
  lathe_env *env = NULL;
  char *report = NULL;
  lathe_status status = lathe_open(NULL, &env, &error);
  for (size_t i = 0; i < sizeof tools / sizeof tools[0] && status == LATHE_OK; i++) {
    status = lathe_add_tool(env, &tools[i], &error);
  }
  if (status == LATHE_OK) {
    const lathe_run_options run = {.size = sizeof run, .code = program};
    status = lathe_run(env, &run, on_event, NULL, &report, &error);
  }
  puts(status == LATHE_OK ? report : error.message);
  lathe_free(report);
  lathe_close(env);
  return status == LATHE_OK ? EXIT_SUCCESS : EXIT_FAILURE;
}
