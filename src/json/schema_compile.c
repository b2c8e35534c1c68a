/* Compiles a document. It finds all schemas with their identifiers first, without recursion. Then it makes the rules of
 * each. A reference may lead to a place that no keyword marks as a schema: then the schema there is compiled, too. */
#include "json/schema_compile.h"

#include "base/limits.h"
#include "json/schema_rules.h"
#include "json/schema_scan.h"

/* --- The document ------------------------------------------------------------------------------------------------- */

static void schema_compile_keep_notes(lt_schema_compiler *c) {
  if (c->note_count > LT_SCHEMA_NOTES_MAX) {
    lt_buf_printf(&c->notes, "; and %u more", c->note_count - LT_SCHEMA_NOTES_MAX);
  }
  c->schema->notes = LT_STR("");
  if (c->notes.status == LT_E_NOMEM) {
    lt_schema_fail_memory(c);
  } else if (c->notes.n > 0) {
    c->schema->notes = lt_arena_dup_buf(c->arena, &c->notes);
    if (c->schema->notes.p == NULL) {
      lt_schema_fail_memory(c);
    }
  }
}

lt_status lt_schema_compile(lt_schema_compiler *c) {
  lt_schema *schema = c->schema;
  c->by_json = lt_arena_zalloc(c->scratch, schema->doc.count, sizeof(lt_schema_node *));
  if (c->by_json == NULL) {
    lt_schema_fail_memory(c);
    return c->status;
  }
  lt_buf_init(&c->notes, LT_SCHEMA_FAULTS_MAX_BYTES);
  schema->root = lt_schema_node_at(c, lt_json_root(&schema->doc), 0);
  lt_schema_scan(c);
  for (lt_schema_node *node = c->first; node != NULL && c->status == LT_OK; node = node->next) {
    if (lt_json_typeof(node->json) == LT_JSON_OBJECT) {
      lt_schema_rules_make(c, node);
    }
  }
  if (c->status == LT_OK) {
    schema_compile_keep_notes(c);
  }
  lt_buf_release(&c->notes);
  schema->resources = c->resources;
  schema->resource_count = c->resource_count;
  schema->anchors = c->anchors;
  schema->anchor_count = c->anchor_count;
  return c->status;
}
