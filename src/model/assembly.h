/* Assembles an answer from the events of a stream or from one JSON document. Pure, except that it calls
 * request->on_text. Private to model/.
 */
#ifndef LT_MODEL_ASSEMBLY_H
#define LT_MODEL_ASSEMBLY_H

#include "json/json.h"
#include "model/model.h"
#include "model/provider_error.h"
#include "model/text_calls.h"

/* The parts of a call that have arrived. */
typedef struct lt_call_parts {
  int64_t index;  /* the stream's index of the call; -1: none */
  bool is_text;   /* the model wrote the call as text */
  bool is_object; /* the arguments came as an object, not as text */
  size_t drafted; /* bytes of the arguments that on_draft has got */
  lt_buf id;
  lt_buf name;
  lt_buf arguments;
} lt_call_parts;

/* Position of the text relative to thoughts that are written into it (assembly_think.c). */
typedef enum lt_think {
  LT_THINK_BEFORE,
  LT_THINK_WITHIN,
  LT_THINK_UNOPENED, /* all text so far may be thoughts without a begin tag */
  LT_THINK_AFTER,
  LT_THINK_NONE
} lt_think;

/* A part of an answer, in the order of the answer (assembly_parts.c). */
typedef enum lt_answer_part_kind {
  LT_ANSWER_TEXT,
  LT_ANSWER_CALL,
  LT_ANSWER_THINKING, /* text and a signature */
  LT_ANSWER_OWN,      /* JSON text of the wire's own form */
} lt_answer_part_kind;
typedef struct lt_answer_part {
  int64_t index; /* the stream's index of the part */
  lt_answer_part_kind kind;
  lt_buf text;
  lt_buf signature; /* THINKING */
} lt_answer_part;

typedef struct lt_completion_wire lt_completion_wire; /* completion_wire.h */

struct lt_assembly {
  const lt_completion_wire *wire;
  const lt_completion_request *request;
  lt_completion *completion;
  lt_arena event; /* memory of one event's JSON */
  lt_call_parts *calls;
  size_t call_count;
  size_t bytes;          /* size of all calls */
  lt_answer_part *parts; /* of wires that keep them (lt_completion.kept) */
  size_t part_count;
  lt_status part_status;
  char held[3]; /* the first half of a character that was cut in two */
  size_t held_n;
  lt_think think;
  lt_buf held_text;      /* text that may be a tag or the beginning of a tag */
  bool expects_unopened; /* the model's text begins with thoughts that have an end tag only: it waits for the tag */
  bool has_unopened;     /* it did */
  bool shown;            /* on_text got text: the request cannot be repeated */
  bool finished;         /* the reason for the end has arrived */
  bool has_usage;
  bool done; /* the stream has ended */
  bool refused;
  bool failed;             /* the provider sent an error inside the stream: `fault` */
  lt_provider_error fault; /* in the completion's arena */
  lt_text_calls text_calls;
  size_t drafted;     /* bytes of the text that on_draft has got */
  bool is_draft_held; /* they were of `held_text` */
  bool has_draft;     /* on_draft has got something since it was told to begin again */
};

void lt_assembly_init(lt_assembly *a, const lt_completion_wire *wire, const lt_completion_request *request,
                      lt_completion *completion);
void lt_assembly_release(lt_assembly *a);

/* Reads one event's data. Errors: LT_E_PROTOCOL, LT_E_LIMIT, LT_E_NOMEM; LT_E_TOOL: `failed`, see `fault`. */
lt_status lt_assembly_event(lt_assembly *a, lt_str name, lt_str data, lt_err *err);
/* Grows with everything that the answer gets: text, thoughts, calls, its end. Comments and empty events add nothing. */
size_t lt_assembly_size(const lt_assembly *a);
/* Reads a whole answer that was not streamed. Same errors. */
lt_status lt_assembly_whole(lt_assembly *a, lt_str body, lt_err *err);
/* Ends the answer: writes calls, usage and the reason for the end. Errors: LT_E_NOMEM. */
lt_status lt_assembly_end(lt_assembly *a, lt_err *err);

/* --- For wires ---------------------------------------------------------------------------------------------------- */
/* A string's characters, in the event's arena; empty for anything else. */
lt_str lt_assembly_str(lt_assembly *a, lt_json value);
/* Reads an error that the provider sent instead of an answer or inside one. Returns LT_E_TOOL. */
lt_status lt_assembly_take_error(lt_assembly *a, lt_json json, lt_err *err);
/* Reads a count of tokens; false: there is none, or a nonsensical one. */
bool lt_assembly_read_count(lt_json usage, const char *key, int64_t *ret);
/* Makes what came from the cache at most what was sent at all. */
void lt_assembly_bound_cached(lt_assembly *a);
/* Takes the provider's name of the model, the first time. */
void lt_assembly_take_model(lt_assembly *a, lt_json name);
/* Returns why text or calls could not be stored: LT_E_LIMIT, LT_E_NOMEM; LT_OK: they were. */
lt_status lt_assembly_check(const lt_assembly *a, lt_err *err);

/* assembly_text.c: adds text of the answer; ends the text. */
void lt_assembly_take_text(lt_assembly *a, lt_str text);
void lt_assembly_end_text(lt_assembly *a);

/* 3 where the text ends in the first half of a character, as WTF-8 has it; else 0. */
size_t lt_assembly_half_bytes(lt_str text);

/* assembly_draft.c: tells on_draft what has been added since the last time; tells it to begin again. */
void lt_assembly_draft(lt_assembly *a);
void lt_assembly_draft_again(lt_assembly *a);

/* assembly_think.c: adds text from the server, and separates thoughts from the answer; ends that text. */
void lt_assembly_take_said(lt_assembly *a, lt_str text);
void lt_assembly_end_said(lt_assembly *a);

/* assembly_calls.c */

/* Reads "tool_calls" of a delta or a message, and the older "function_call". */
void lt_assembly_take_calls(lt_assembly *a, lt_json delta);
/* Adds a piece of a call. `index`: the stream's, -1: none. `id` and `name` may be empty. `arguments`: a piece of their
 * text as a string, all of them as an object, or nothing. */
void lt_assembly_take_call(lt_assembly *a, int64_t index, lt_str id, lt_str name, lt_json arguments);
/* Adds a piece of a text that is the whole input of a call (lt_freeform_tool): the arguments become {"code": text} when
 * its end is added, with `is_last`. */
void lt_assembly_take_code(lt_assembly *a, int64_t index, lt_str piece, bool is_last);
/* Whether the call with that index has arguments. */
bool lt_assembly_has_arguments(lt_assembly *a, int64_t index);
void lt_assembly_release_calls(lt_assembly *a);
/* Adds a call that the model wrote as text (text_calls.h). */
void lt_assembly_add_text_call(lt_assembly *a, lt_str name, lt_str arguments);
/* Why calls could not be stored; LT_OK: they were. */
lt_status lt_assembly_calls_status(const lt_assembly *a);
/* Copies the calls into the completion. */
lt_status lt_assembly_end_calls(lt_assembly *a);

/* assembly_parts.c */

/* The part with that index and kind, which is added when there is none. NULL: too many, or no memory;
 * lt_assembly_check reports it. */
lt_answer_part *lt_assembly_part(lt_assembly *a, int64_t index, lt_answer_part_kind kind);
/* The size of all parts. */
size_t lt_assembly_parts_size(const lt_assembly *a);
void lt_assembly_release_parts(lt_assembly *a);
/* Why parts could not be stored; LT_OK: they were. */
lt_status lt_assembly_parts_status(const lt_assembly *a);
/* Writes lt_completion.kept, when the answer has a part that is neither text nor a call. */
void lt_assembly_end_parts(lt_assembly *a);

#endif
