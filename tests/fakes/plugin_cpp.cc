// A plugin in C++: the header is C++ too, and its structs are filled in place.
#include "lathe_plugin.h"

#include <string>

static void greet(const lathe_host *host, lathe_call *call, lathe_text in, void *) {
  const std::string text = "{\"hello\":" + std::string(in.p, in.n) + "}";
  host->answer(call, lathe_text{text.data(), text.size()});
}

static void setup(const lathe_host *host, lathe_call *call, lathe_text, void *) {
  lathe_tool tool{};
  tool.size = sizeof tool;
  tool.name = "greet";
  tool.invoke = greet;
  if (host->add_tool(call, &tool) != 0) {
    host->fail(call, "%s", host->error(call).p);
  }
}

const lathe_plugin *lathe_plugin_entry() {
  static lathe_plugin plugin{};
  plugin.size = sizeof plugin;
  plugin.id = "cpp";
  plugin.setup = setup;
  return &plugin;
}
