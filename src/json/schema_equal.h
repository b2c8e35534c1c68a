/* Equality of JSON values.
 */
#ifndef LT_JSON_SCHEMA_EQUAL_H
#define LT_JSON_SCHEMA_EQUAL_H

#include "json/schema_run.h"

/* JSON Schema 2020-12, Core 4.2.2. False also when the run has failed. */
bool lt_schema_equal(lt_schema_run *run, lt_json a, lt_json b);
/* Finds two equal items: their places. */
bool lt_schema_find_equal(lt_schema_run *run, lt_json array, uint32_t *ret_first, uint32_t *ret_second);

#endif
