/* What a person may answer to a question about a call, and the words that explain it. */
#ifndef LT_CLI_APPROVAL_ANSWER_H
#define LT_CLI_APPROVAL_ANSWER_H

#include "base/buf.h"
#include "base/str.h"

typedef enum lt_answer {
  LT_ANSWER_UNCLEAR,
  LT_ANSWER_YES,
  LT_ANSWER_NO,
  LT_ANSWER_SHOW,    /* first show the whole input */
  LT_ANSWER_EDIT,    /* first edit the input */
  LT_ANSWER_ALWAYS,  /* yes, and for longer: for how long is asked */
  LT_ANSWER_CALL,    /* yes, also later for this tool with this input */
  LT_ANSWER_TOOL,    /* yes, also later for this tool */
  LT_ANSWER_SESSION, /* the same for the whole conversation */
  LT_ANSWER_RULE,    /* yes, and by a rule of the configuration from now on */
  LT_ANSWER_NEVER,   /* no, also later for this tool */
  LT_ANSWER_HELP,
} lt_answer;

/* How long decisions are remembered, in the words of the command that asks. */
typedef struct lt_answer_scope {
  const char *until_end;     /* of LT_REMEMBER_CALL and LT_REMEMBER_TOOL: "until this run ends" */
  const char *until_session; /* of LT_REMEMBER_SESSION; NULL: not offered */
} lt_answer_scope;

/* Of an agent's prompt. */
lt_answer_scope lt_approval_answer_prompt_scope(void);

/* Reads a line. A reason may follow a "no": `ret_reason`, a part of the line. Borrows: the line. */
lt_answer lt_approval_answer_read(lt_str line, lt_str *ret_reason);
/* Appends a line for each answer. `has_call`: LT_ANSWER_CALL is offered. */
void lt_approval_answer_put_help(lt_buf *out, const lt_answer_scope *scope, bool has_call);
/* Appends the choices behind "always", and the line that asks for one. */
void lt_approval_answer_put_choices(lt_buf *out, const lt_answer_scope *scope, bool has_call);
const char *lt_approval_answer_choice_line(const lt_answer_scope *scope, bool has_call);

#endif
