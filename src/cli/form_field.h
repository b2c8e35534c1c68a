/* One field of a server's form (MCP, Elicitation: a flat object of primitive types): shown to a person, and the line
 * that they type read as its value. The server's words stand behind a margin only. Pure. */
#ifndef LT_CLI_FORM_FIELD_H
#define LT_CLI_FORM_FIELD_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "json/json.h"

typedef enum lt_form_kind {
  LT_FORM_TEXT,
  LT_FORM_NUMBER,
  LT_FORM_INTEGER,
  LT_FORM_BOOLEAN,
  LT_FORM_CHOICE,
  LT_FORM_CHOICES, /* any number of them */
} lt_form_kind;

typedef struct lt_form_field {
  lt_form_kind kind;
  lt_str name;
  lt_json schema;
  lt_json choices; /* the list of them, for the last two kinds */
  bool is_required;
} lt_form_field;

/* Reads one property of a form. Borrows: the document, and `arena` for the name. Errors: LT_E_INVALID (a type that a
 * form may not have, too many choices), LT_E_NOMEM. */
lt_status lt_form_field_read(lt_json form, lt_json key, lt_json schema, lt_arena *arena, lt_form_field *ret_field,
                             lt_err *err);
/* Appends lines about the field: what it wants, in our words, and the server's words behind "  | ". */
void lt_form_field_put(const lt_form_field *field, lt_buf *out);
/* The line that asks for it. */
const char *lt_form_field_prompt(const lt_form_field *field);
/* Appends the JSON text of what a person has typed; nothing: the field is left out. Errors: LT_E_INVALID says in one
 * sentence what is wrong; LT_E_NOMEM. */
lt_status lt_form_field_take(const lt_form_field *field, lt_str line, lt_buf *ret_value, lt_err *err);

#endif
