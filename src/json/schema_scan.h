/* Scanning: finds the schemas of a document with their identifiers and anchors. */
#ifndef LT_JSON_SCHEMA_SCAN_H
#define LT_JSON_SCHEMA_SCAN_H

#include "json/schema_compiler.h"

/* Scans the nodes found since the last call for subschemas, identifiers and anchors. */
void lt_schema_scan(lt_schema_compiler *c);

#endif
