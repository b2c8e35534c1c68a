/* Names that models write and that do not exist here, in every language: `fetch`, `require`, Python's `requests`. The
 * error says what to use instead: a function of the language, or the configured tool that would do.
 */
#ifndef LT_RUNNER_MISSING_NAME_H
#define LT_RUNNER_MISSING_NAME_H

#include "runner/run_request.h"
#include "tool/catalog.h"

/* What follows a syntax error at a tag of JSX. */
#define LT_MISSING_NAME_JSX ": there is no JSX here: build the text with strings"

/* Writes the name by which the program calls a tool; nothing for a tool that it does not see. */
typedef void (*lt_missing_name_put_fn)(void *arg, const lt_tool *tool, lt_buf *out);

typedef struct lt_missing_name_options {
  const lt_catalog *catalog;
  lt_lang lang;
  lt_missing_name_put_fn put;
  void *arg;
} lt_missing_name_options;

/* Appends ": there is no network in a program; call fetchFetch() instead" for a global of this name. False: nothing is
 * known about it. */
bool lt_missing_name_advise(const lt_missing_name_options *options, lt_str name, lt_buf *out);
/* The same for a module: `node:fs`, `lodash`, `requests`. An unknown module gets a general sentence. */
void lt_missing_name_advise_module(const lt_missing_name_options *options, lt_str module, lt_buf *out);
/* The same for what the sandbox refused: `need` is "network", "files" or "processes". For processes, whose error says
 * what is missing, only the tool is named, if there is one. Another need: nothing. */
void lt_missing_name_advise_need(const lt_missing_name_options *options, lt_str need, lt_buf *out);

#endif
