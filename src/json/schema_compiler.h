/* The state of a compilation, and its nodes: schemas that were found in the document. */
#ifndef LT_JSON_SCHEMA_COMPILER_H
#define LT_JSON_SCHEMA_COMPILER_H

#include "json/schema_node.h"

typedef struct lt_schema_compiler {
  lt_schema *schema;
  lt_arena *arena;   /* the schema's */
  lt_arena *scratch; /* used only while compiling */
  lt_err *err;
  lt_status status;         /* the first failure */
  lt_schema_node **by_json; /* the schema node of each JSON node, once it is known to be a schema */
  lt_schema_node *first;
  lt_schema_node *last;
  lt_schema_node *scanned; /* the last one whose identifiers are known */
  uint32_t node_count;
  lt_schema_resource *resources;
  uint32_t resource_count;
  uint32_t resource_cap;
  lt_schema_anchor *anchors;
  uint32_t anchor_count;
  uint32_t anchor_cap;
  uint32_t pattern_count;
  size_t program_size;
  uint64_t steps;
  lt_buf notes;
  uint32_t note_count;
} lt_schema_compiler;

/* Finds or creates the node of the schema at `json`; it is compiled later. NULL: the compiler has failed. */
lt_schema_node *lt_schema_node_at(lt_schema_compiler *c, lt_json json, uint32_t resource);
/* Whether this node's draft ignores the keywords beside a $ref. */
bool lt_schema_ref_is_alone(const lt_schema_compiler *c, const lt_schema_node *node);

/* Fails with LT_E_INVALID: "#/where: what". */
void lt_schema_fail(lt_schema_compiler *c, lt_json where, const char *what);
void lt_schema_fail_memory(lt_schema_compiler *c);
/* Notes that something is not checked: "#/where: what", with `detail`, cut, in quotes after it. */
void lt_schema_note(lt_schema_compiler *c, lt_json where, const char *what, lt_str detail);
/* A JSON string's characters in the schema's arena. False: no string, or no memory (failed then). */
bool lt_schema_text(lt_schema_compiler *c, lt_json json, lt_str *ret);

#endif
