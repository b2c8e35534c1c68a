#include "source/source.h"

#define SOURCE_ROW(name) &lt_##name##_source,
static const lt_source_type *const source_types[] = {LT_SOURCES(SOURCE_ROW)};

const lt_source_type *const *lt_source_types(size_t *ret_count) {
  *ret_count = sizeof source_types / sizeof source_types[0];
  return source_types;
}
