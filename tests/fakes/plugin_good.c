/* A plugin that registers one of everything. */
#include "lathe_plugin.h"

static void add(const lathe_host *host, lathe_call *call, lathe_text in, void *arg) {
  (void)arg;
  host->answer(call, host->format(call, "[%s,%s]", host->member(call, in, "a").p, host->config(call).p));
}

static void plus(const lathe_host *host, lathe_call *call, lathe_text in, void *arg) {
  (void)arg;
  host->answer(call, in);
}

static void setup(const lathe_host *host, lathe_call *call, lathe_text in, void *arg) {
  (void)in, (void)arg;
  const lathe_tool tool = {.size = sizeof tool,
                           .name = "add",
                           .description = "Adds",
                           .input_schema = "{\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"number\"}}}",
                           .output_schema = "{}",
                           .annotations = "{\"readOnlyHint\":true}",
                           .invoke = add};
  const lathe_function function = {.size = sizeof function, .name = "plus", .signature = "(a) → list", .invoke = plus};
  if (host->add_tool(call, &tool) != 0 || host->add_function(call, &function) != 0 ||
      host->add_module(call, "sums", LATHE_TEXT("export const two = 2;")) != 0 ||
      host->add_context(call, LATHE_TEXT("{\"type\":\"note\",\"content\":\"sums are there\"}")) != 0) {
    host->fail(call, "%s", host->error(call).p);
  }
  host->log(call, LATHE_LOG_INFO, "set up");
}

const lathe_plugin *lathe_plugin_entry(void) {
  static const lathe_plugin plugin = {
      .size = sizeof plugin,
      .id = "good",
      .config_schema = "{\"type\":\"object\",\"properties\":{\"path\":{\"type\":\"string\"}}}",
      .state_schema = "{\"type\":\"object\"}",
      .setup = setup};
  return &plugin;
}
