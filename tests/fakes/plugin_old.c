/* A plugin built against an older header (lathe_plugin_0.h): it uses everything that had. */
#include "lathe_plugin_0.h"

#include <stdio.h>

static const char *const scripts[] = {"CREATE TABLE old__notes (text TEXT NOT NULL)"};

static void note(const lathe_host *host, lathe_call *call, lathe_text in, void *arg) {
  (void)in;
  lathe_text rows, state;
  if (host->sql(call, LATHE_TEXT("INSERT INTO old__notes VALUES ('n') RETURNING text"), LATHE_TEXT(""), &rows) != 0 ||
      host->set_state(call, LATHE_TEXT("{\"n\":1}")) != 0 || host->state(call, &state) != 0) {
    host->fail(call, "%s", host->error(call).p);
    return;
  }
  size_t size = rows.n + state.n + 100;
  char *text = host->memory(call, size);
  int n = snprintf(text, size, "{\"rows\":%s,\"state\":%s,\"arg\":%d}", rows.p, state.p, *(int *)arg);
  host->answer(call, (lathe_text){text, (size_t)n});
}

static void setup(const lathe_host *host, lathe_call *call, lathe_text in, void *arg) {
  (void)in, (void)arg;
  static int seven = 7;
  /* Right behind it lies something that must not be taken for members it had not. */
  struct {
    lathe_tool tool;
    const char *next[2];
  } t = {.tool = {.size = sizeof(lathe_tool), .name = "note", .invoke = note, .arg = &seven},
         .next = {"not an approval", "not a function"}};
  if (!LATHE_HAS(host, call_tool) || host->migrate(call, scripts, 1) != 0 || host->add_tool(call, &t.tool) != 0) {
    host->fail(call, "%s", host->error(call).p);
  }
}

const lathe_plugin *lathe_plugin_entry(void) {
  static const struct {
    lathe_plugin plugin;
    const char *next[2];
  } p = {.plugin = {.size = sizeof(lathe_plugin), .id = "old", .setup = setup},
         .next = {"not a teardown", "not an argument"}};
  return &p.plugin;
}
