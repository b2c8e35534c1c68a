/* The error text for a value that does not fit: path, fault, alternatives. */
#ifndef LT_JSON_SCHEMA_FAULTS_H
#define LT_JSON_SCHEMA_FAULTS_H

#include "json/schema_run.h"

/* The kind of a fault. It helps to guess which of several alternatives was meant. */
typedef enum lt_schema_fault {
  LT_FAULT_TYPE,
  LT_FAULT_VALUE, /* not the constant, not in the list */
  LT_FAULT_MISSING,
  LT_FAULT_UNKNOWN, /* a property that is not known */
  LT_FAULT_OTHER,
} lt_schema_fault;

/* Where faults go. */
struct lt_schema_sink {
  lt_buf *out;
  const char *separator;
  uint32_t max;   /* this many faults are written ... */
  uint32_t count; /* ... of this many found */
  uint32_t depth; /* of the place where alternatives are compared */
  uint32_t weight;
  uint32_t kinds; /* bits of the faults at that place itself */
};

/* Counts a fault and writes its path. Returns the buffer for the fault's text, or NULL when it is not written. */
lt_buf *lt_schema_fault_at(lt_schema_run *run, const lt_schema_place *at, lt_schema_fault kind);
/* The same for a member that `at`'s object may not have. */
lt_buf *lt_schema_fault_member(lt_schema_run *run, const lt_schema_place *at, lt_str name, lt_schema_fault kind);
/* A fault that is `text` alone. Returns false, for a rule to return. */
bool lt_schema_fault_text(lt_schema_run *run, const lt_schema_place *at, lt_schema_fault kind, const char *text);
/* "expected number, got string". */
void lt_schema_fault_type(lt_schema_run *run, const lt_schema_place *at, uint32_t types);
/* "is not a known property (did you mean ...)"; `at` is the property's place, `object` may be NULL. */
void lt_schema_fault_unknown(lt_schema_run *run, const lt_schema_place *at, const lt_schema_object *object);
/* "string, integer or null". */
void lt_schema_put_types(lt_buf *out, uint32_t types);
/* A value as JSON, on one line, cut. */
void lt_schema_put_value(lt_buf *out, lt_json value);
/* ", got " and the value, or its type. */
void lt_schema_put_got(lt_buf *out, lt_json value);
/* Writes one character in a form that is safe on a terminal. Returns the bytes read. `p` is before `end`. */
size_t lt_schema_put_char(lt_buf *out, const char *p, const char *end);
/* Characters, cut. */
void lt_schema_put_plain(lt_buf *out, lt_str chars);
/* Characters in quotes, cut. */
void lt_schema_put_quoted(lt_buf *out, lt_str chars);
/* The items of a list of values, `"a", "b" or 3`, cut at LT_TOOL_LISTED_MAX. */
void lt_schema_put_values(lt_buf *out, lt_json list);
/* ", " or " or " before item `i` of `count`; nothing before the first. */
void lt_schema_put_or(lt_buf *out, uint32_t i, uint32_t count);

#endif
