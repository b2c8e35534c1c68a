/* Puts an answer together, from the events of a stream or from one JSON document. Pure but for request->on_text.
 * Private to model/.
 */
#ifndef LT_MODEL_ASSEMBLY_H
#define LT_MODEL_ASSEMBLY_H

#include "json/json.h"
#include "model/model.h"
#include "model/provider_error.h"

/* A call, as much of it as has arrived. */
typedef struct lt_call_parts {
  int64_t index; /* as the stream numbers it; -1: it does not */
  lt_buf id;
  lt_buf name;
  lt_buf arguments;
} lt_call_parts;

/* Where the text is, of thoughts that are written into it (assembly_think.c). */
typedef enum lt_think { LT_THINK_BEFORE, LT_THINK_WITHIN, LT_THINK_AFTER, LT_THINK_NONE } lt_think;

typedef struct lt_completion_wire lt_completion_wire; /* completion_wire.h */

typedef struct lt_assembly {
  const lt_completion_wire *wire;
  const lt_completion_request *request;
  lt_completion *completion;
  lt_arena event; /* one event's document */
  lt_call_parts *calls;
  size_t call_count;
  size_t bytes; /* of all calls */
  char held[3]; /* the first half of a character that was cut in two */
  size_t held_n;
  lt_think think;
  lt_buf held_text; /* which may be a tag, or the beginning of one */
  bool shown;       /* text was passed on: it cannot be asked again */
  bool finished;    /* the reason for the end has come */
  bool has_usage;
  bool done; /* the end of the stream itself */
  bool refused;
  bool failed;             /* the provider sent an error in the middle: `fault` */
  lt_provider_error fault; /* in the completion's arena */
} lt_assembly;

void lt_assembly_init(lt_assembly *a, const lt_completion_wire *wire, const lt_completion_request *request,
                      lt_completion *completion);
void lt_assembly_release(lt_assembly *a);

/* One event's data. Errors: LT_E_PROTOCOL, LT_E_LIMIT, LT_E_NOMEM; LT_E_TOOL: `failed`, see `fault`. */
lt_status lt_assembly_event(lt_assembly *a, lt_str name, lt_str data, lt_err *err);
/* An answer that was not streamed, whole. Same errors. */
lt_status lt_assembly_whole(lt_assembly *a, lt_str body, lt_err *err);
/* Nothing more comes: writes calls, usage and the reason for the end. Errors: LT_E_NOMEM. */
lt_status lt_assembly_end(lt_assembly *a, lt_err *err);

/* --- For wires ---------------------------------------------------------------------------------------------------- */
/* A string's characters, in the event's arena; empty for anything else. */
lt_str lt_assembly_str(lt_assembly *a, lt_json value);
/* The provider has sent an error in place of an answer, or in the middle of one. LT_E_TOOL. */
lt_status lt_assembly_take_error(lt_assembly *a, lt_json json, lt_err *err);
/* Why something could not be taken. LT_E_LIMIT, LT_E_NOMEM. */
lt_status lt_assembly_check(const lt_assembly *a, lt_err *err);

/* assembly_text.c: text of the answer itself, and its end. */
void lt_assembly_take_text(lt_assembly *a, lt_str text);
void lt_assembly_end_text(lt_assembly *a);

/* assembly_think.c: text as it comes, from which thoughts before the answer are taken apart, and its end. */
void lt_assembly_take_said(lt_assembly *a, lt_str text);
void lt_assembly_end_said(lt_assembly *a);

/* assembly_calls.c */

/* "tool_calls" of a delta or a message, and the older "function_call". */
void lt_assembly_take_calls(lt_assembly *a, lt_json delta);
void lt_assembly_release_calls(lt_assembly *a);
/* Why calls could not be taken, LT_OK when they could. */
lt_status lt_assembly_calls_status(const lt_assembly *a);
/* Copies them into the completion. */
lt_status lt_assembly_end_calls(lt_assembly *a);

#endif
