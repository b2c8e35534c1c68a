/* What tools are called in Python. */
#ifndef LT_RUNNER_PYTHON_PYTHON_NAMES_H
#define LT_RUNNER_PYTHON_PYTHON_NAMES_H

#include "runner/python/python_state.h"
#include "json/json.h"

/* The Python names of a catalog's tools; kept for the next run. NULL: no memory. Borrows: until the next call. */
const lt_python_names *lt_python_names_of(lt_python *python, lt_catalog *catalog);
void lt_python_names_free(lt_python_names *names); /* NULL is allowed */
/* The tool of a Python name; NULL: none. */
const lt_tool *lt_python_names_find(const lt_python_names *names, lt_str name);
/* Writes the member "tools": those whose names occur in the text, with their arguments. */
void lt_python_names_put(const lt_python_names *names, lt_str text, lt_str hidden, lt_json_writer *w);

#endif
