/* Plugins with something wrong each; BAD says what. */
#include "lathe_plugin.h"

#include <stdlib.h>
#include <unistd.h>

#define NO_ENTRY    1
#define NULL_ENTRY  2
#define SMALL       3
#define HUGE_SIZE   4
#define BAD_ID      5
#define FLAGS       6
#define BAD_SCHEMA  7
#define SETUP_FAILS 8
#define SETUP_HANGS 9
#define TOOL_TWICE  10
#define TOOL_SCHEMA 11
#define UNRESOLVED  12
#define NO_ID       13
#define READY_FAILS 14

#if BAD == NO_ENTRY
LATHE_EXPORT int lathe_other_entry(void);

int lathe_other_entry(void) {
  return 0;
}
#elif BAD == NULL_ENTRY
const lathe_plugin *lathe_plugin_entry(void) {
  return NULL;
}
#else

#if BAD == UNRESOLVED
void nobody_has_this_function(void);
#endif

static void nothing(const lathe_host *host, lathe_call *call, lathe_text in, void *arg) {
  (void)host, (void)call, (void)in, (void)arg;
}

__attribute__((unused)) static void fails(const lathe_host *host, lathe_call *call, lathe_text in, void *arg) {
  (void)in, (void)arg;
  host->fail(call, "the moon is in\nthe wrong house");
}

static void setup(const lathe_host *host, lathe_call *call, lathe_text in, void *arg) {
  (void)in, (void)arg;
  lathe_tool tool = {.size = sizeof tool, .name = "t", .invoke = nothing};
  int rc = host->add_tool(call, &tool);
#if BAD == SETUP_FAILS
  fails(host, call, in, arg);
#elif BAD == SETUP_HANGS
  for (;;) {
    sleep(1000);
  }
#elif BAD == TOOL_TWICE
  rc = host->add_tool(call, &tool);
#elif BAD == TOOL_SCHEMA
  tool.name = "u";
  tool.input_schema = "{\"type\":\"objekt\"}";
  rc = host->add_tool(call, &tool);
#elif BAD == UNRESOLVED
  nobody_has_this_function();
#endif
  if (rc != 0) {
    host->fail(call, "%s", host->error(call).p);
  }
}

const lathe_plugin *lathe_plugin_entry(void) {
  static lathe_plugin plugin = {.size = sizeof plugin, .id = "bad", .setup = setup};
#if BAD == SMALL
  plugin.size = sizeof plugin.size;
#elif BAD == HUGE_SIZE
  plugin.size = (size_t)-1;
#elif BAD == BAD_ID
  plugin.id = "Bad\x1b[31m Id";
#elif BAD == NO_ID
  plugin.id = NULL;
#elif BAD == FLAGS
  plugin.flags = 0x80;
#elif BAD == BAD_SCHEMA
  plugin.config_schema = "{\"type\":7}";
#elif BAD == READY_FAILS
  plugin.ready = fails;
#endif
  return &plugin;
}
#endif
