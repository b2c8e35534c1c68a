/* A plugin of a newer header than the host's: longer structs, and functions that it looks for before it calls them. */
#include "lathe_plugin.h"

typedef struct newer_tool {
  lathe_tool tool;
  const char *colour;
} newer_tool;

typedef struct newer_plugin {
  lathe_plugin plugin;
  const char *colour;
  lathe_function_fn *before_lunch;
} newer_plugin;

typedef struct newer_host {
  lathe_host host;
  int (*paint)(lathe_call *call, const char *colour);
} newer_host;

static void has(const lathe_host *host, lathe_call *call, lathe_text in, void *arg) {
  (void)in, (void)arg;
  int paints = host->size >= offsetof(newer_host, paint) + sizeof(((const newer_host *)(const void *)host)->paint);
  host->answer(call, host->format(call, "{\"runs\":%d,\"paints\":%d}", LATHE_HAS(host, run_program), paints));
}

static void setup(const lathe_host *host, lathe_call *call, lathe_text in, void *arg) {
  (void)in, (void)arg;
  const newer_tool tool = {.tool = {.size = sizeof tool, .name = "has", .invoke = has}, .colour = "red"};
  if (host->add_tool(call, &tool.tool) != 0) {
    host->fail(call, "%s", host->error(call).p);
  }
}

const lathe_plugin *lathe_plugin_entry(void) {
  static const newer_plugin p = {
      .plugin = {.size = sizeof p, .id = "new", .setup = setup}, .colour = "blue", .before_lunch = has};
  return &p.plugin;
}
