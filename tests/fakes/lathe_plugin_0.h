/* What an older include/lathe_plugin.h would look like: the first one, with less of everything that may grow. There was
 * none; tests/fakes/plugin_old.c is built against this to see that such a plugin works in today's host. */
#ifndef LATHE_PLUGIN_H
#define LATHE_PLUGIN_H

#include <stddef.h>
#include <stdint.h>

#define LATHE_EXPORT            __attribute__((visibility("default")))
#define LATHE_HAS(host, member) ((host)->size >= offsetof(lathe_host, member) + sizeof((host)->member))
#define LATHE_TEXT(literal)     ((lathe_text){"" literal, sizeof(literal) - 1})

typedef struct lathe_text {
  const char *p;
  size_t n;
} lathe_text;

typedef struct lathe_call lathe_call;
typedef struct lathe_host lathe_host;

typedef void lathe_function_fn(const lathe_host *host, lathe_call *call, lathe_text in, void *arg);

typedef struct lathe_tool {
  size_t size;
  const char *name;
  const char *description;
  const char *input_schema;
  const char *output_schema;
  const char *annotations;
  lathe_function_fn *invoke;
  void *arg;
} lathe_tool;

typedef struct lathe_function {
  size_t size;
  const char *name;
  const char *signature;
  const char *description;
  lathe_function_fn *invoke;
  void *arg;
} lathe_function;

enum { LATHE_LOG_INFO = 0, LATHE_LOG_WARNING = 1 };

struct lathe_host {
  size_t size;
  void (*answer)(lathe_call *call, lathe_text json);
  void (*fail)(lathe_call *call, const char *format, ...) __attribute__((format(printf, 2, 3)));
  lathe_text (*error)(lathe_call *call);
  lathe_text (*config)(lathe_call *call);
  lathe_text (*user)(lathe_call *call);
  lathe_text (*conversation)(lathe_call *call);
  int (*cancelled)(lathe_call *call);
  void *(*memory)(lathe_call *call, size_t size);
  void (*log)(lathe_call *call, int level, const char *format, ...) __attribute__((format(printf, 3, 4)));
  int (*add_tool)(lathe_call *call, const lathe_tool *tool);
  int (*add_function)(lathe_call *call, const lathe_function *function);
  int (*add_module)(lathe_call *call, const char *name, lathe_text source);
  int (*add_context)(lathe_call *call, lathe_text item);
  int (*state)(lathe_call *call, lathe_text *ret_json);
  int (*set_state)(lathe_call *call, lathe_text json);
  int (*migrate)(lathe_call *call, const char *const *scripts, size_t count);
  int (*sql)(lathe_call *call, lathe_text statement, lathe_text params, lathe_text *ret_rows);
  int (*call_tool)(lathe_call *call, lathe_text id, lathe_text input, lathe_text *ret_value);
};

enum { LATHE_ON_LOOP = 1 };

typedef struct lathe_plugin {
  size_t size;
  const char *id;
  const char *name;
  const char *description;
  const char *config_schema;
  const char *state_schema;
  unsigned flags;
  lathe_function_fn *setup;
  lathe_function_fn *ready;
  lathe_function_fn *prepare;
} lathe_plugin;

typedef const lathe_plugin *lathe_plugin_entry_fn(void);
LATHE_EXPORT lathe_plugin_entry_fn lathe_plugin_entry;

#endif
