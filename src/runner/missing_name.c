#include "runner/missing_name.h"

/* What a program lacks that a tool may give. */
typedef enum missing_need {
  MISSING_NOTHING, /* no tool would do */
  MISSING_NETWORK,
  MISSING_FILES,
  MISSING_PROCESSES,
} missing_need;

enum { IN_JS = 1, IN_PYTHON = 2, IN_BOTH = 3 };

typedef struct missing_row {
  const char *name;
  unsigned languages;
  missing_need need;
  const char *advice;
} missing_row;

#define NO_NETWORK   "there is no network in a program"
#define NO_FILES     "there are no files in a program"
#define NO_PROCESSES "a program starts no processes"
#define NO_BROWSER   "this is not a browser"

static const missing_row missing_globals[] = {
    {"fetch", IN_BOTH, MISSING_NETWORK, NO_NETWORK},
    {"axios", IN_JS, MISSING_NETWORK, NO_NETWORK},
    {"XMLHttpRequest", IN_JS, MISSING_NETWORK, NO_NETWORK},
    {"WebSocket", IN_JS, MISSING_NETWORK, NO_NETWORK},
    {"requests", IN_PYTHON, MISSING_NETWORK, NO_NETWORK},
    {"require", IN_JS, MISSING_NOTHING, "there are no Node modules: import a registered module or call a tool"},
    {"__dirname", IN_JS, MISSING_FILES, NO_FILES},
    {"__filename", IN_JS, MISSING_FILES, NO_FILES},
    {"fs", IN_JS, MISSING_FILES, NO_FILES},
    {"path", IN_JS, MISSING_NOTHING, "there are no Node modules: join paths as strings"},
    {"process", IN_JS, MISSING_NOTHING,
     "there is no process or environment in a program: use `input` or call a tool; a program is done when it ends"},
    {"Deno", IN_JS, MISSING_NOTHING, "this is not Deno: call a tool"},
    {"Bun", IN_JS, MISSING_NOTHING, "this is not Bun: call a tool"},
    {"Buffer", IN_JS, MISSING_NOTHING, "this is not Node: use Uint8Array, TextEncoder, atob() or btoa()"},
    {"setImmediate", IN_JS, MISSING_NOTHING, "use setTimeout(f, 0)"},
    {"window", IN_JS, MISSING_NOTHING, NO_BROWSER ": use globalThis"},
    {"document", IN_JS, MISSING_NOTHING, NO_BROWSER},
    {"localStorage", IN_JS, MISSING_NOTHING, NO_BROWSER ": use store(key, value) and recall(key)"},
    {"sessionStorage", IN_JS, MISSING_NOTHING, NO_BROWSER ": use store(key, value) and recall(key)"},
    {"alert", IN_JS, MISSING_NOTHING, "use output()"},
    {"prompt", IN_JS, MISSING_NOTHING, "nobody can be asked while a program runs: use `input`"},
    {"_", IN_JS, MISSING_NOTHING,
     "there is no lodash: use the methods of arrays, Object.groupBy() and Object.entries()"},
    {"moment", IN_JS, MISSING_NOTHING, "there is no moment: use Date and toLocaleString()"},
    {"dayjs", IN_JS, MISSING_NOTHING, "there is no dayjs: use Date and toLocaleString()"},
    {"None", IN_JS, MISSING_NOTHING, "JavaScript's word is null"},
    {"True", IN_JS, MISSING_NOTHING, "JavaScript's word is true"},
    {"False", IN_JS, MISSING_NOTHING, "JavaScript's word is false"},
    {"len", IN_JS, MISSING_NOTHING, "use .length"},
    {"set_result", IN_JS, MISSING_NOTHING, "return the value, or make it the last expression"},
    {"input_data", IN_JS, MISSING_NOTHING, "use `input`"},
    {"llm", IN_JS, MISSING_NOTHING, "no model is configured"},
    {"llmJson", IN_JS, MISSING_NOTHING, "no model is configured"},
    {"null", IN_PYTHON, MISSING_NOTHING, "Python's word is None"},
    {"undefined", IN_PYTHON, MISSING_NOTHING, "Python's word is None"},
    {"true", IN_PYTHON, MISSING_NOTHING, "Python's word is True"},
    {"false", IN_PYTHON, MISSING_NOTHING, "Python's word is False"},
    {"console", IN_PYTHON, MISSING_NOTHING, "use print()"},
    {"log", IN_PYTHON, MISSING_NOTHING, "use print()"},
    {"output", IN_PYTHON, MISSING_NOTHING, "use set_result() for the answer, print() for a log line"},
    {"done", IN_PYTHON, MISSING_NOTHING, "a program is done when it ends; use set_result() for the answer"},
    {"complete", IN_PYTHON, MISSING_NOTHING, "use set_result() for the answer"},
    {"JSON", IN_PYTHON, MISSING_NOTHING, "use the module json"},
    {"parallel", IN_PYTHON, MISSING_NOTHING, "use call_tools_parallel([(name, args), ...])"},
    {"require", IN_PYTHON, MISSING_NOTHING, "use import"},
};

static const missing_row missing_modules[] = {
    {"fs", IN_JS, MISSING_FILES, NO_FILES},
    {"fs/promises", IN_JS, MISSING_FILES, NO_FILES},
    {"http", IN_JS, MISSING_NETWORK, NO_NETWORK},
    {"https", IN_JS, MISSING_NETWORK, NO_NETWORK},
    {"net", IN_JS, MISSING_NETWORK, NO_NETWORK},
    {"axios", IN_JS, MISSING_NETWORK, NO_NETWORK},
    {"node-fetch", IN_JS, MISSING_NETWORK, NO_NETWORK},
    {"got", IN_JS, MISSING_NETWORK, NO_NETWORK},
    {"undici", IN_JS, MISSING_NETWORK, NO_NETWORK},
    {"child_process", IN_JS, MISSING_PROCESSES, NO_PROCESSES},
    {"crypto", IN_JS, MISSING_NOTHING, "`crypto` is a global: crypto.randomUUID(), crypto.subtle"},
    {"url", IN_JS, MISSING_NOTHING, "`URL` and `URLSearchParams` are globals"},
    {"util", IN_JS, MISSING_NOTHING, "`console`, `structuredClone` and `TextEncoder` are globals"},
    {"buffer", IN_JS, MISSING_NOTHING, "use Uint8Array, TextEncoder, atob() or btoa()"},
    {"timers", IN_JS, MISSING_NOTHING, "`setTimeout` and sleep(ms) are globals"},
    {"timers/promises", IN_JS, MISSING_NOTHING, "sleep(ms) is a global"},
    {"process", IN_JS, MISSING_NOTHING, "there is no process or environment in a program: use `input`"},
    {"lodash", IN_JS, MISSING_NOTHING, "use the methods of arrays, Object.groupBy() and Object.entries()"},
    {"moment", IN_JS, MISSING_NOTHING, "use Date and toLocaleString()"},
    {"dayjs", IN_JS, MISSING_NOTHING, "use Date and toLocaleString()"},
    {"date-fns", IN_JS, MISSING_NOTHING, "use Date and toLocaleString()"},
    {"uuid", IN_JS, MISSING_NOTHING, "use crypto.randomUUID()"},
    {"requests", IN_PYTHON, MISSING_NETWORK, NO_NETWORK},
    {"httpx", IN_PYTHON, MISSING_NETWORK, NO_NETWORK},
    {"aiohttp", IN_PYTHON, MISSING_NETWORK, NO_NETWORK},
    {"urllib3", IN_PYTHON, MISSING_NETWORK, NO_NETWORK},
    {"numpy", IN_PYTHON, MISSING_NOTHING, "it is not installed: use lists, `statistics` and `math`"},
    {"pandas", IN_PYTHON, MISSING_NOTHING, "it is not installed: use lists of dicts, `csv` and `collections`"},
    {"bs4", IN_PYTHON, MISSING_NOTHING, "it is not installed: use `html.parser` or `re`"},
    {"yaml", IN_PYTHON, MISSING_NOTHING, "it is not installed: use `json`"},
    {"dateutil", IN_PYTHON, MISSING_NOTHING, "it is not installed: use `datetime`"},
    {"pytz", IN_PYTHON, MISSING_NOTHING, "it is not installed: use `zoneinfo`"},
};

static const missing_row *missing_find(const missing_row *rows, size_t count, lt_lang lang, lt_str name) {
  unsigned language = lang == LT_LANG_PYTHON ? IN_PYTHON : IN_JS;
  for (size_t i = 0; i < count; i++) {
    if ((rows[i].languages & language) != 0 && lt_str_eqc(name, rows[i].name)) {
      return &rows[i];
    }
  }
  return NULL;
}

/* --- The tool that would do --------------------------------------------------------------------------------------- */
/* Words in the names of tools, the best first. */
static const char *const missing_words[][6] = {
    [MISSING_NETWORK] = {"fetch", "http", "url", "download", "scrape", "browse"},
    [MISSING_FILES] = {"read_text_file", "read_file", "readfile", "file"},
    [MISSING_PROCESSES] = {"shell", "exec", "command", "bash", "terminal"},
};

static bool missing_has_word(lt_str name, const char *word) {
  lt_str wanted = lt_str_of(word);
  for (size_t i = 0; i + wanted.n <= name.n; i++) {
    if (lt_str_distance(lt_str_sub(name, i, i + wanted.n), wanted, 0) == 0) {
      return true;
    }
  }
  return false;
}

/* Appends the name of the first tool that has the word in its own name. False: there is none that the program sees. */
static bool missing_put_tool_with(const lt_missing_name_options *options, const char *word, lt_buf *out) {
  size_t before = out->n;
  for (size_t i = 0; i < lt_catalog_count(options->catalog); i++) {
    const lt_tool *tool = lt_catalog_at(options->catalog, i);
    if (missing_has_word(tool->name, word)) {
      options->put(options->arg, tool, out);
    }
    if (out->n > before) {
      return true;
    }
  }
  return false;
}

/* False: no configured tool would do. */
static bool missing_put_call(const lt_missing_name_options *options, missing_need need, lt_buf *out) {
  LT_AUTO_BUF(name, LT_KIB);
  bool found = false;
  for (size_t i = 0; i < sizeof missing_words[0] / sizeof missing_words[0][0] && !found; i++) {
    found = missing_words[need][i] != NULL && missing_put_tool_with(options, missing_words[need][i], &name);
  }
  if (found) {
    lt_buf_printf(out, ": call %.*s() instead", LT_STR_ARG(lt_buf_view(&name)));
  }
  return found;
}

static void missing_put_tool(const lt_missing_name_options *options, missing_need need, lt_buf *out) {
  if (need != MISSING_NOTHING && !missing_put_call(options, need, out)) {
    lt_buf_addc(out, ", and no configured tool does this");
  }
}

/* --- Sentences ---------------------------------------------------------------------------------------------------- */
static void missing_put(const lt_missing_name_options *options, const missing_row *row, lt_buf *out) {
  lt_buf_printf(out, ": %s", row->advice);
  missing_put_tool(options, row->need, out);
}

bool lt_missing_name_advise(const lt_missing_name_options *options, lt_str name, lt_buf *out) {
  const missing_row *row =
      missing_find(missing_globals, sizeof missing_globals / sizeof missing_globals[0], options->lang, name);
  if (row != NULL) {
    missing_put(options, row, out);
  }
  return row != NULL;
}

void lt_missing_name_advise_module(const lt_missing_name_options *options, lt_str module, lt_buf *out) {
  lt_str node = LT_STR("node:");
  lt_str name = lt_str_starts(module, node) ? lt_str_sub(module, node.n, module.n) : module;
  const missing_row *row =
      missing_find(missing_modules, sizeof missing_modules / sizeof missing_modules[0], options->lang, name);
  if (row != NULL) {
    missing_put(options, row, out);
  } else if (options->lang != LT_LANG_PYTHON) {
    lt_buf_addc(out,
                ": only registered modules can be imported, and none of Node or npm: write it out, or call a tool");
  }
}

void lt_missing_name_advise_need(const lt_missing_name_options *options, lt_str need, lt_buf *out) {
  static const missing_row refused[] = {
      {"network", IN_BOTH, MISSING_NETWORK, NO_NETWORK},
      {"files", IN_JS, MISSING_FILES, NO_FILES},
      {"files", IN_PYTHON, MISSING_FILES, "a program has no files but those of its own folder"},
  };
  const missing_row *row = missing_find(refused, sizeof refused / sizeof refused[0], options->lang, need);
  if (row != NULL) {
    missing_put(options, row, out);
  } else if (lt_str_eqc(need, "processes")) {
    (void)missing_put_call(options, MISSING_PROCESSES, out);
  }
}
