/* A plugin with an execution mode, "relay": it tells the model the summary of the conversation, if there is one, and
 * the input with its attachments. It is a loop that asks the model, puts out what it says, makes the calls it asks for
 * and tells it what came of them, until it asks for none. The input "fail" fails, "ask" asks without end. */
#include <string.h>

#include "lathe_plugin.h"

#ifndef FLAGS
#define FLAGS 0
#endif

/* Appends to an array that is JSON text. */
static lathe_text with(const lathe_host *host, lathe_call *call, lathe_text array, lathe_text item) {
  return host->format(call, "%.*s%s%s]", (int)array.n - 1, array.p, array.n > 2 ? "," : "", item.p);
}

static lathe_text call_one(const lathe_host *host, lathe_call *call, lathe_text asked) {
  lathe_text value;
  lathe_text tool = host->characters(call, host->member(call, asked, "tool"));
  lathe_text input = host->characters(call, host->member(call, asked, "arguments"));
  if (tool.n == 0) {
    return LATHE_TEXT("there is no such tool");
  }
  return host->call_tool(call, tool, input, &value) == 0 ? value : host->error(call);
}

/* The reply as an assistant's message, and an answer for each of its calls. */
static lathe_text answer_calls(const lathe_host *host, lathe_call *call, lathe_text messages, lathe_text reply) {
  lathe_text calls = host->member(call, reply, "calls");
  lathe_text asked, told = LATHE_TEXT("[]");
  for (int i = 0; (asked = host->member(call, calls, host->format(call, "%d", i).p)).n > 0; i++) {
    told = with(host, call, told,
                host->format(call, "{\"id\":%s,\"type\":\"function\",\"function\":{\"name\":%s,\"arguments\":%s}}",
                             host->member(call, asked, "id").p, host->member(call, asked, "name").p,
                             host->member(call, asked, "arguments").p));
  }
  messages = with(host, call, messages,
                  host->format(call, "{\"role\":\"assistant\",\"content\":%s,\"tool_calls\":%s}",
                               host->member(call, reply, "text").p, told.p));
  for (int i = 0; (asked = host->member(call, calls, host->format(call, "%d", i).p)).n > 0; i++) {
    lathe_text answer = host->quote(call, call_one(host, call, asked));
    messages = with(host, call, messages,
                    host->format(call, "{\"role\":\"tool\",\"tool_call_id\":%s,\"content\":%s}",
                                 host->member(call, asked, "id").p, answer.p));
  }
  return messages;
}

/* The first messages: the summary, and the input behind its attachments. */
static lathe_text begin(const lathe_host *host, lathe_call *call, lathe_text in) {
  lathe_text input = host->member(call, in, "input"), files = host->member(call, in, "attachments");
  lathe_text summary = host->member(call, host->member(call, in, "summary"), "text"), messages = LATHE_TEXT("[]");
  lathe_text text = host->format(call, "{\"type\":\"text\",\"text\":%s}", input.p);
  lathe_text content = files.n > 0 ? with(host, call, files, text) : input;
  if (summary.n > 0) {
    messages = with(host, call, messages, host->format(call, "{\"role\":\"user\",\"content\":%s}", summary.p));
  }
  return with(host, call, messages, host->format(call, "{\"role\":\"user\",\"content\":%s}", content.p));
}

static void relay(const lathe_host *host, lathe_call *call, lathe_text in, void *arg) {
  (void)arg;
  lathe_text reply, words = host->characters(call, host->member(call, in, "input"));
  lathe_text messages = begin(host, call, in);
  int without_end = strcmp(words.p, "ask") == 0;
  if (strcmp(words.p, "fail") == 0) {
    host->fail(call, "it cannot be done with %s", "this");
    return;
  }
  for (;;) {
    if (host->ask_model(call, messages, host->member(call, in, "definitions"), &reply) != 0) {
      host->fail(call, "no reply: %s", host->error(call).p);
      return;
    }
    lathe_text text = host->characters(call, host->member(call, reply, "text"));
    if (text.n > 0 && host->put_text(call, text) != 0) {
      host->fail(call, "%s", host->error(call).p);
      return;
    }
    if (!without_end && host->member(call, host->member(call, reply, "calls"), "0").n == 0) {
      return;
    }
    messages = answer_calls(host, call, messages, reply);
  }
}

/* A tool that tries what only modes may. */
static void pry(const lathe_host *host, lathe_call *call, lathe_text in, void *arg) {
  (void)in, (void)arg;
  lathe_text reply;
  if (host->put_text(call, LATHE_TEXT("x")) == 0 ||
      host->ask_model(call, LATHE_TEXT("[]"), (lathe_text){0}, &reply) == 0) {
    host->answer(call, LATHE_TEXT("\"done\""));
  } else {
    host->answer(call, host->quote(call, host->error(call)));
  }
}

static void setup(const lathe_host *host, lathe_call *call, lathe_text in, void *arg) {
  (void)in, (void)arg;
  const lathe_mode mode = {
      .size = sizeof mode, .id = "relay", .name = "Relay (a plugin's)", .rounds = 4, .invoke = relay};
  const lathe_tool tool = {.size = sizeof tool, .name = "pry", .invoke = pry};
  if (!LATHE_HAS(host, add_mode)) {
    host->fail(call, "this Lathe has no modes of plugins: take a newer one");
  } else if (host->add_mode(call, &mode) != 0 || host->add_tool(call, &tool) != 0) {
    host->fail(call, "%s", host->error(call).p);
  }
}

const lathe_plugin *lathe_plugin_entry(void) {
  static const lathe_plugin plugin = {.size = sizeof plugin, .id = "relayer", .flags = FLAGS, .setup = setup};
  return &plugin;
}
