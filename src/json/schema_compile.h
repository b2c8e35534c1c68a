/* Compiling: from JSON to nodes with rules. */
#ifndef LT_JSON_SCHEMA_COMPILE_H
#define LT_JSON_SCHEMA_COMPILE_H

#include "json/schema_compiler.h"

/* Compiles the document of `c->schema`. */
lt_status lt_schema_compile(lt_schema_compiler *c);

#endif
