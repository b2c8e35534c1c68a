/* The Python names of tools: server_tool, as in the generated stubs. */
#include <stdlib.h>

#include "base/mem.h"
#include "json/json.h"
#include "types/typegen.h"
#include "types/typegen_schema.h"
#include "runner/python/python_names.h"
#include "runner/python/python_state.h"

typedef struct python_name_entry {
  lt_str name;
  uint32_t tool; /* its index in the catalog */
  size_t rank;   /* lt_typegen_name_rank */
} python_name_entry;

struct lt_python_names {
  lt_catalog *catalog;
  lt_arena arena;
  python_name_entry *entries; /* sorted by name, then by rank, then by the tool's index */
  size_t count;
};

static lt_str python_names_copy_name(lt_arena *arena, lt_str name) {
  LT_AUTO_BUF(buf, 2 * name.n + 2);
  lt_typegen_py_name(name, &buf);
  return lt_arena_dup_buf(arena, &buf);
}

static int python_names_compare(const void *a, const void *b) {
  const python_name_entry *x = a;
  const python_name_entry *y = b;
  int order = lt_str_cmp(x->name, y->name);
  order = order != 0 ? order : (x->rank < y->rank) - (x->rank > y->rank);
  return order != 0 ? order : (x->tool > y->tool) - (x->tool < y->tool);
}

static bool python_names_fill(lt_python_names *names) {
  names->count = lt_catalog_count(names->catalog);
  names->entries = lt_arena_zalloc(&names->arena, names->count + 1, sizeof *names->entries);
  for (uint32_t i = 0; names->entries != NULL && i < names->count; i++) {
    const lt_tool *tool = lt_catalog_at(names->catalog, i);
    names->entries[i] =
        (python_name_entry){python_names_copy_name(&names->arena, tool->id), i, lt_typegen_name_rank(tool->ns)};
    if (names->entries[i].name.p == NULL) {
      return false;
    }
  }
  if (names->count > 0 && names->entries != NULL) {
    qsort(names->entries, names->count, sizeof *names->entries, python_names_compare);
  }
  return names->entries != NULL;
}

void lt_python_names_free(lt_python_names *names) {
  if (names != NULL) {
    lt_catalog_unref(names->catalog);
    lt_arena_release(&names->arena);
    lt_mem_free(names);
  }
}

const lt_python_names *lt_python_names_of(lt_python *p, lt_catalog *catalog) {
  if (p->names != NULL && p->names->catalog == catalog) {
    return p->names;
  }
  lt_python_names_free(p->names);
  p->names = NULL;
  lt_python_names *names = lt_mem_zalloc(1, sizeof *names);
  if (names == NULL) {
    return NULL;
  }
  names->catalog = lt_catalog_ref(catalog);
  lt_arena_init(&names->arena, LT_PYTHON_NAMES_BYTES);
  if (!python_names_fill(names)) {
    lt_python_names_free(names);
    return NULL;
  }
  p->names = names;
  return names;
}

/* The index of the first entry with that name; `count`: none. */
static size_t python_names_find_index(const lt_python_names *names, lt_str name) {
  size_t low = 0, high = names->count;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (lt_str_cmp(names->entries[middle].name, name) < 0) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low < names->count && lt_str_eq(names->entries[low].name, name) ? low : names->count;
}

const lt_tool *lt_python_names_find(const lt_python_names *names, lt_str name) {
  size_t i = python_names_find_index(names, name);
  return i < names->count ? lt_catalog_at(names->catalog, names->entries[i].tool) : NULL;
}

/* --- The names that a program uses -------------------------------------------------------------------------------- */

static void python_names_put_pair(lt_arena *arena, lt_str key, lt_json_writer *w) {
  lt_json_begin_array(w);
  lt_json_put_str(w, python_names_copy_name(arena, key));
  lt_json_put_str(w, key);
  lt_json_end_array(w);
}

/* Writes [Python name, key] for each argument, the required ones first, as in the stubs. */
static void python_names_put_parameters(const lt_tool *tool, lt_json_writer *w) {
  lt_typegen_doc doc;
  lt_typegen_props props = {0};
  LT_AUTO_ARENA(arena, LT_TYPEGEN_MEMORY_BYTES);
  lt_json_begin_array(w);
  if (tool->input_schema.n <= LT_TYPEGEN_SCHEMA_MAX_BYTES &&
      lt_typegen_parse(&arena, tool->input_schema, &doc, NULL) == LT_OK &&
      lt_typegen_props_read(lt_json_root(&doc.json), &arena, &props) == LT_OK) {
    for (size_t i = 0; i < 2 * props.count; i++) {
      const lt_typegen_prop *prop = &props.at[i % props.count];
      if (prop->required == (i < props.count)) {
        python_names_put_pair(&arena, prop->key, w);
      }
    }
  }
  lt_json_end_array(w);
}

static void python_names_put_tool(const lt_tool *tool, lt_str name, lt_json_writer *w) {
  lt_json_key_str(w, name);
  lt_json_begin_object(w);
  lt_json_key(w, "id");
  lt_json_put_str(w, tool->id);
  lt_json_key(w, "parameters");
  python_names_put_parameters(tool, w);
  lt_json_end_object(w);
}

/* The tool that a word of the program names, by a name of Python or else of another language. `ret_mark` is one bit for
 * each kind of name. */
static const lt_tool *python_names_find_word(const lt_python_names *names, lt_str word, unsigned *ret_mark) {
  const lt_tool *own = lt_python_names_find(names, word);
  lt_tool_match match = {own, LT_TOOL_NAME_NONE};
  if (own == NULL) {
    match = lt_catalog_find_word(names->catalog, LT_TOOL_PYTHON, word);
  }
  *ret_mark = 1U << match.kind;
  return match.tool;
}

static bool python_names_is_name_char(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/* The next word at or after `*at`; empty at the end. */
static lt_str python_names_next_word(lt_str text, size_t *at) {
  while (*at < text.n && !python_names_is_name_char(text.p[*at])) {
    (*at)++;
  }
  size_t begin = *at;
  while (*at < text.n && python_names_is_name_char(text.p[*at])) {
    (*at)++;
  }
  return lt_str_sub(text, begin, *at);
}

void lt_python_names_write(const lt_python_names *names, lt_str text, lt_str hidden, lt_json_writer *w) {
  unsigned char *seen = lt_mem_zalloc(names->count + 1, 1); /* a mark for each kind of name */
  size_t at = 0;
  lt_json_begin_object(w);
  for (lt_str word = python_names_next_word(text, &at); word.n > 0 && seen != NULL;
       word = python_names_next_word(text, &at)) {
    unsigned mark;
    const lt_tool *tool = python_names_find_word(names, word, &mark);
    size_t i = tool != NULL ? (size_t)(tool - lt_catalog_at(names->catalog, 0)) : 0;
    if (tool == NULL || (seen[i] & mark) != 0) {
      continue;
    }
    seen[i] |= (unsigned char)mark;
    if (hidden.n == 0 || !lt_str_eq(tool->id, hidden)) {
      python_names_put_tool(tool, word, w);
    }
  }
  lt_json_end_object(w);
  lt_mem_free(seen);
}
