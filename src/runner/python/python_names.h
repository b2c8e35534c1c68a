/* The Python names of tools. */
#ifndef LT_RUNNER_PYTHON_PYTHON_NAMES_H
#define LT_RUNNER_PYTHON_PYTHON_NAMES_H

#include "runner/python/python_state.h"
#include "json/json.h"

/* The Python names of a catalog's tools, which the runner keeps for the next run. NULL: no memory. Borrows: until the
 * next call. */
const lt_python_names *lt_python_names_of(lt_python *python, lt_catalog *catalog);
void lt_python_names_free(lt_python_names *names); /* NULL is allowed */
/* Borrows: the tool with that Python name; NULL: none. */
const lt_tool *lt_python_names_find(const lt_python_names *names, lt_str name);
/* Writes an object with the tools whose names occur in `text`, and their arguments. `hidden` is the id of a tool that
 * the program may not see; or empty. */
void lt_python_names_write(const lt_python_names *names, lt_str text, lt_str hidden, lt_json_writer *w);

#endif
