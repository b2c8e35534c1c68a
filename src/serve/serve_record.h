/* The record of a run, as JSON for those who step through it (GET /prompts/{id}/record). Internal to serve/. */
#ifndef LT_SERVE_SERVE_RECORD_H
#define LT_SERVE_SERVE_RECORD_H

#include "json/json.h"
#include "serve/serve_state.h"

/* Writes {"run", "calls", "notes"}: calls by their numbers, notes in the order in which they were written. `prompt`:
 * the id of the prompt, whose own run has other kinds of notes than those of its programs. */
void lt_serve_record_put(lt_json_writer *w, lt_str prompt, lt_str run, const lt_record *record);

/* The JSON Schema of the whole answer. */
extern const char lt_serve_record_schema[];

#endif
