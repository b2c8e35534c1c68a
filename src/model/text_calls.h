/* Tool calls that a model writes as text, because its server has no parser for them:
 *
 *   <tool_call>{"name": "f", "arguments": {...}}</tool_call>                          Hermes, Qwen
 *   <function=f><parameter=x>...</parameter></function>, also in <tool_call>          Qwen coder
 *   <function=f>{...}</function>, <|python_tag|>{"name": "f", "parameters": {...}}    Llama
 *   [TOOL_CALLS][{"name": "f", "arguments": {...}}], [TOOL_CALLS]f[ARGS]{...}         Mistral
 *   <invoke name="f"><parameter name="x">...</parameter></invoke>, also in <function_calls>
 *
 * Only names of tools that the request offers count; any other markup, and markup in a code fence or behind a backtick,
 * stays text. Markup that may become a call is held back until that is known, so a call is never shown. Arguments that
 * are broken make a call with broken arguments. Where the answer has calls of its own as well, they alone count.
 *
 * Pure, but for what it hands on to lt_assembly_take_text. Private to model/.
 */
#ifndef LT_MODEL_TEXT_CALLS_H
#define LT_MODEL_TEXT_CALLS_H

#include "base/buf.h"

typedef struct lt_assembly lt_assembly;

typedef enum lt_text_calls_form {
  LT_TEXT_CALLS_TAG,      /* <tool_call> */
  LT_TEXT_CALLS_LIST,     /* [TOOL_CALLS] */
  LT_TEXT_CALLS_FUNCTION, /* <function= */
  LT_TEXT_CALLS_PYTHON,   /* <|python_tag|> */
  LT_TEXT_CALLS_INVOKE,   /* <invoke name=" */
  LT_TEXT_CALLS_INVOKES,  /* <function_calls> */
} lt_text_calls_form;

typedef struct lt_text_calls {
  int state;       /* text_calls.c */
  lt_buf held;     /* what may be markup */
  lt_buf said;     /* text that is not handed on yet; between pieces white space only, which a call drops */
  size_t said_end; /* where its last word ends */
  lt_text_calls_form form;
  size_t body;    /* where in `held` the opening markup ends */
  int body_state; /* text_calls.c */
  size_t depth;   /* of the JSON in the body */
  bool in_string, is_escaped;
  char fence;   /* the mark of the open code fence; 0: none */
  char mark;    /* the mark with which the line begins ... */
  size_t marks; /* ... and how many there are */
  bool in_line; /* the line has anything but marks */
  char before;  /* the last character of the text */
} lt_text_calls;

void lt_text_calls_init(lt_text_calls *calls);
void lt_text_calls_release(lt_text_calls *calls);

/* Takes text of the answer, cut anywhere. */
void lt_text_calls_take(lt_assembly *a, lt_str text);
/* The text has ended. What is held becomes a call or text. */
void lt_text_calls_end(lt_assembly *a);

/* text_call_read.c: adds the calls in the body of a form, and returns false when they are none. `is_whole`: it has its
 * end. */
bool lt_text_call_read(lt_assembly *a, lt_text_calls_form form, lt_str body, bool is_whole);

#endif
