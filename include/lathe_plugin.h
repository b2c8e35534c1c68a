/* Lathe plugins: tools, functions, modules, context and execution modes in C, from a shared object.
 *
 * A plugin is one file that includes this header and exports one function:
 *
 *   LATHE_EXPORT const lathe_plugin *lathe_plugin_entry(void) {
 *     static const lathe_plugin plugin = {.size = sizeof plugin, .id = "todo", .setup = setup};
 *     return &plugin;
 *   }
 *
 * Compile it with `cc -shared -fPIC -o todo.so todo.c` and name it in the configuration: `plugins: [{path: todo.so}]`.
 * examples/todo/ is a whole one to start from; docs/guide/plugins.md explains more.
 *
 * Everything goes in and out as JSON text. Every function of a plugin is given a *call*, and every function of the host
 * takes it. The call says who calls, for which user, and where the answer goes.
 *
 * Memory. A text that the host gives lives until the call it was given in has returned. It ends with a NUL that is not
 * counted. What a plugin gives to the host is copied.
 *
 * Threads. Each plugin has a thread of its own, on which its functions are called one after another. They may block,
 * may use libraries that block, and need no locks. A plugin that says LATHE_ON_LOOP is called on Lathe's own loop
 * instead. There other calls go on while a function of the host waits, so that many calls of the plugin may be under
 * way at once, each on a small stack (128 KiB are yours). Such a plugin must never block. One thread at a time turns
 * the loop, and not always the same one: what is thread-local, as errno, does not outlive a function of the host.
 *
 * Versions. Structs begin with their size and only ever grow at their end; a member that is missing counts as 0. A
 * plugin built against an older header works in a newer Lathe as it is. A plugin that wants functions of a newer Lathe
 * tests for them with LATHE_HAS.
 *
 * Licence: MIT, like Lathe; a plugin may have any.
 */
#ifndef LATHE_PLUGIN_H
#define LATHE_PLUGIN_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define LATHE_PLUGIN_API 4 /* what this header describes; grows with it */

#define LATHE_EXPORT __attribute__((visibility("default")))
/* Whether the host has a function that older hosts do not have: `if (LATHE_HAS(host, run_program)) ...`. */
#define LATHE_HAS(host, member) ((host)->size >= offsetof(lathe_host, member) + sizeof((host)->member))
/* A text of a string literal. */
#define LATHE_TEXT(literal) ((lathe_text){"" literal, sizeof(literal) - 1})

typedef struct lathe_text {
  const char *p; /* may be NULL when n is 0 */
  size_t n;      /* bytes */
} lathe_text;

typedef struct lathe_call lathe_call;
typedef struct lathe_host lathe_host;

/* A function of a plugin. `in` is its input, JSON text; `arg` is what it was registered with. It answers with
 * host->answer or host->fail and returns. Without either its answer is null. */
typedef void lathe_function_fn(const lathe_host *host, lathe_call *call, lathe_text in, void *arg);

/* --- What a plugin registers -------------------------------------------------------------------------------------- */
enum {
  LATHE_NOT_FOR_PROGRAMS = 1, /* models call it one by one; programs neither see it nor can call it. Since API 3. */
  /* It only calls tools and runs programs, which are recorded by themselves, and does nothing else: `lathe replay`
   * calls it again and compares the result. Since API 4. */
  LATHE_ONLY_CALLS = 2,
};

/* A tool: called by programs and models as `<plugin id>.<name>`. */
typedef struct lathe_tool {
  size_t size;               /* sizeof(lathe_tool) */
  const char *name;          /* such as "add" */
  const char *description;   /* for the model: what the tool does, when to use it */
  const char *input_schema;  /* JSON Schema of an object; NULL: anything */
  const char *output_schema; /* JSON Schema; NULL: unknown */
  const char *annotations;   /* as in MCP, such as {"readOnlyHint": true}; may be NULL */
  lathe_function_fn *invoke; /* `in` is the input, an object that fits the schema */
  void *arg;
  const char *approval; /* not NULL: a person has to agree to each call, for this reason */
  /* Decides for each call whether a person has to agree. Its answer is the reason, a JSON string, or null for no. May
   * be NULL. */
  lathe_function_fn *needs_approval;
  unsigned flags; /* since API 3 */
} lathe_tool;

/* A function that programs can call beside the tools. `in` is an array of its arguments. The answer null is null in the
 * program; no answer is undefined. */
typedef struct lathe_function {
  size_t size;
  const char *name;        /* a JavaScript identifier, such as "storeArtifact" */
  const char *signature;   /* for the model, such as "(data, description?) → id" */
  const char *description; /* likewise; may be NULL */
  lathe_function_fn *invoke;
  void *arg;
} lathe_function;

/* An execution mode: how a prompt is carried out, beside "classic", "code" and "typescript". `in` is {"input": the
 * user's words, "attachments"?: [the user's files, as parts of a message's content], "history": [the conversation's
 * earlier prompts, as they are stored], "summary"?: {"upTo": the id of a prompt, "text": what a model has written of
 * the prompts up to that one, to be told in their place}, "tools": [ids], "definitions": [the same tools, as ask_model
 * takes them], "context": [context items of plugins, as in add_context]}. The mode asks the model, calls tools and puts
 * text out as often as it likes. When it returns, the prompt is completed; its answer is not used. host->fail makes the
 * prompt fail with that message. Text that was put out stays. Prompts of a plugin with a thread of its own wait for
 * each other: a mode that many people use belongs in a LATHE_ON_LOOP plugin. Since API 2. */
typedef struct lathe_mode {
  size_t size;
  const char *id;   /* [a-z0-9-]+, such as "plan"; what `lathe chat -m` takes */
  const char *name; /* for people; NULL: the id */
  uint32_t rounds;  /* how often it may ask the model, per prompt; 0: 25 */
  lathe_function_fn *invoke;
  void *arg;
} lathe_mode;

/* --- The host ----------------------------------------------------------------------------------------------------- */
enum { LATHE_LOG_INFO = 0, LATHE_LOG_WARNING = 1 };

/* A program for run_program. */
typedef struct lathe_program {
  size_t size;
  lathe_text code;
  const char *language; /* "js", "ts" or, since API 3, "python"; NULL: js */
  lathe_text input;     /* JSON text: what the program finds in `input`; may be empty */
  uint64_t timeout_ms;  /* 0: what is configured */
  const char *hidden;   /* the id of a tool that the program does not get; NULL: it gets all tools for programs
                           that the call's own caller has */
  int without_output;   /* 1: no output(), done() and complete() */
} lathe_program;

/* The host's functions. Those that return int return 0 for success, or -1; then host->error says why. Texts that they
 * return live until the call returns. A plugin passes them the call that its own function was given, on the same
 * thread, before that function returns. */
struct lathe_host {
  size_t size; /* of the host's own struct: members beyond it do not exist */

  /* --- Answering */
  void (*answer)(lathe_call *call, lathe_text json); /* JSON text; anything else fails the call */
  void (*fail)(lathe_call *call, const char *format, ...) __attribute__((format(printf, 2, 3)));
  lathe_text (*error)(lathe_call *call); /* why the last of these functions failed */

  /* --- About the call */
  lathe_text (*config)(lathe_call *call);         /* the plugin's `config` in the configuration, JSON; {} when none */
  lathe_text (*user)(lathe_call *call);           /* for whom: "local" at the command line */
  lathe_text (*conversation)(lathe_call *call);   /* its id, or empty */
  int (*cancelled)(lathe_call *call);             /* 1: no caller waits for the answer any more */
  void *(*memory)(lathe_call *call, size_t size); /* zeroed, until the call returns; NULL when there is none left */
  /* A line on standard error, or in the server's log; secrets are masked. */
  void (*log)(lathe_call *call, int level, const char *format, ...) __attribute__((format(printf, 3, 4)));

  /* --- Registering. In setup and ready, for good; tools and context items in prepare, too, for one prompt. */
  int (*add_tool)(lathe_call *call, const lathe_tool *tool);
  int (*add_function)(lathe_call *call, const lathe_function *function);
  int (*add_module)(lathe_call *call, const char *name, lathe_text source); /* `import` in programs; JavaScript */
  /* A context item, which the model reads beside the tools: {"type": "...", "id"?: "...", "content": "..."}. */
  int (*add_context)(lathe_call *call, lathe_text item);

  /* --- Keeping */
  /* One JSON value for each plugin, user and conversation; empty when there is none. It must fit the state_schema. */
  int (*state)(lathe_call *call, lathe_text *ret_json);
  int (*set_state)(lathe_call *call, lathe_text json);
  /* Tables in Lathe's own database, whose names begin with the plugin's id ("-" written as "_") and two "_", such as
   * todo__items. Scripts are run once each, in order, and remembered: add new ones at the end, never change old ones.
   */
  int (*migrate)(lathe_call *call, const char *const *scripts, size_t count);
  /* One statement; `params` is a JSON array for its "?", or empty. The rows are an array of objects. */
  int (*sql)(lathe_call *call, lathe_text statement, lathe_text params, lathe_text *ret_rows);

  /* --- Calling others. Policy, approval and journal apply, as to every caller. */
  int (*call_tool)(lathe_call *call, lathe_text id, lathe_text input, lathe_text *ret_value);
  /* Runs a program with the caller's tools. Success also when the program failed: {"result"?, "logs": [...],
   * "logsCut"?, "outputs": [...], "error"?, "line"?, "column"?, "context"?, "stack"?, "calls"?, "timeout"?}. "calls"
   * lists the calls that a program had made before it failed: ["mail.send", "mail.list (failed)"]. A Python program
   * that failed may have a result, too: what it had set before. */
  int (*run_program)(lathe_call *call, const lathe_program *program, lathe_text *ret_result);

  /* --- Artifacts: data that is kept for the user and fetched by id. */
  int (*artifact_put)(lathe_call *call, const char *type, lathe_text description, lathe_text json, lathe_text *ret_id);
  int (*artifact_get)(lathe_call *call, lathe_text id, lathe_text *ret_json); /* empty: there is none */
  int (*artifact_list)(lathe_call *call, lathe_text *ret_json);               /* an array, newest first, without data */

  /* --- JSON, for plugins without a library for it */
  lathe_text (*quote)(lathe_call *call, lathe_text characters); /* as a JSON string */
  lathe_text (*characters)(lathe_call *call, lathe_text json);  /* of a JSON string; empty for anything else */
  /* The member of an object (or item of an array, by its number), as JSON text; empty when there is none. */
  lathe_text (*member)(lathe_call *call, lathe_text json, const char *key);
  lathe_text (*format)(lathe_call *call, const char *format, ...) __attribute__((format(printf, 2, 3)));

  /* --- Modes. Since API 2: LATHE_HAS(host, add_mode) stands for all three. */
  int (*add_mode)(lathe_call *call, const lathe_mode *mode); /* in setup and ready, for good */
  /* The next two work only in a call of a mode's `invoke`. There call_tool also records its calls as outputs of the
   * prompt.
   *
   * Asks the prompt's model. `messages`: [{"role", "content", ...}] as in chat completions, with the parts of
   * attachments as they are in `in`: the model gets their data, or words that say why not; `tools`: the definitions it
   * may call, such as those of `in`, or empty. The reply is {"text", "calls": [{"id", "name", "tool"?, "arguments"}],
   * "usage": {"inputTokens", "outputTokens"}, "cut"?: true when it reached its limit of tokens}. `name` and `arguments`
   * (a string) are as the model wrote them, so they may be no JSON; `tool` is the id of the tool that `name` means. */
  int (*ask_model)(lathe_call *call, lathe_text messages, lathe_text tools, lathe_text *ret_reply);
  int (*put_text)(lathe_call *call, lathe_text text); /* for the user: stored, then shown */

  /* --- Many calls at once. Since API 3. */
  /* Calls several tools side by side, `at_once` of them at most (0: all). A call that waits for an approval does not
   * count. `calls` is [{"tool", "input"?}]: the tool's id, or its name in any language. The results are in the same
   * order, [{"step": 0, "tool", "status": "ok", "result"} or {"step", "tool", "status": "error", "error"}]. Success
   * also when some of them failed, or all. Where the call's own answer goes to a model and is too long for it, the long
   * results are stored as artifacts. */
  int (*call_tools)(lathe_call *call, lathe_text calls, unsigned at_once, lathe_text *ret_results);
};

/* --- The plugin --------------------------------------------------------------------------------------------------- */
enum {
  LATHE_ON_LOOP = 1,      /* called on the loop: see "Threads" above */
  LATHE_NO_NAMESPACE = 2, /* the ids of its tools are their names alone. Since API 3. */
};

typedef struct lathe_plugin {
  size_t size;    /* sizeof(lathe_plugin) */
  const char *id; /* [a-z0-9-]+: the namespace of its tools, unless its flags say otherwise, and of its tables */
  const char *name;
  const char *description;
  const char *config_schema; /* JSON Schema of its `config`; NULL: anything */
  const char *state_schema;  /* JSON Schema of its state; NULL: anything */
  unsigned flags;
  /* Each may be NULL. host->fail in setup or ready disables the plugin, with that reason. */
  lathe_function_fn *setup; /* once, before anything else; `in` is the config */
  /* Once, when all plugins and servers have been started; `in` is {"tools": [ids], "functions": [{"name", "signature",
   * "description"?}], "modules": [names]}. */
  lathe_function_fn *ready;
  lathe_function_fn *prepare;  /* before a prompt, in classic mode before every model call; `in` also has "mode" */
  lathe_function_fn *teardown; /* once, at the end */
  void *arg;
} lathe_plugin;

/* What a shared object exports. It returns NULL when the plugin cannot work here. */
typedef const lathe_plugin *lathe_plugin_entry_fn(void);
LATHE_EXPORT lathe_plugin_entry_fn lathe_plugin_entry;

#ifdef __cplusplus
}
#endif

#endif
