/* Completions: asking a language model, over any of the wires (completion_wire.h).
 *
 * Messages and tools are JSON text in the form of that API; what comes back is text, requested tool calls and usage.
 * This module assembles streamed answers and handles differences between servers (dialect.h). A request is repeated on
 * 429, 5xx and broken connections, with growing waits, never after text has been shown. Loop thread only.
 */
#ifndef LT_MODEL_MODEL_H
#define LT_MODEL_MODEL_H

#include "base/arena.h"
#include "base/buf.h"
#include "io/http.h"
#include "trace/trace_context.h"

/* In US dollars for a million tokens. */
typedef struct lt_price {
  double input, output, cached_input, cache_write;
  bool is_known; /* one of them is configured */
} lt_price;

/* One model, from the configuration. Strings are borrowed, and must outlive its requests. */
typedef struct lt_model {
  lt_str ref;                 /* what users call it: "normal", "high", ... */
  lt_str name;                /* what the provider calls it */
  lt_str base_url;            /* such as https://api.openai.com/v1 */
  lt_str api_key;             /* empty: no Authorization header */
  lt_str key_name;            /* the variable that has the key, for messages; empty: none has */
  lt_str start;               /* the command that starts a server on this machine, for messages; empty: it is none */
  const char *const *headers; /* "Name: value", NULL last: others than Lathe's, or in place of them; may be NULL */
  lt_str body;                /* a JSON object of members likewise, or empty; null leaves one out */
  lt_str api;                 /* a wire's name (completion_wire.h); empty: the address says which */
  lt_str temperature;         /* a JSON number; empty: the provider's own */
  lt_str
      effort; /* of reasoning: "none", "minimal", "low", "medium", "high", "xhigh", "max"; empty: the provider's own */
  int64_t max_tokens;     /* of an answer, without its reasoning; 0: LT_MODEL_MAX_TOKENS */
  int64_t context_tokens; /* of a request and its answer together; 0: not known */
  bool no_images;         /* it takes none: messages say so in their place ... */
  bool no_files;          /* ... and no documents (PDF) */
  lt_price price;
  uint64_t answer_ms; /* timeout until the answer begins; 0: LT_HTTP_ANSWER_MS */
  uint64_t idle_ms;   /* timeout between its pieces; 0: LT_HTTP_IDLE_MS */
} lt_model;

/* A piece of an answer while it is written, for readers who watch. */
typedef enum lt_draft_kind {
  LT_DRAFT_AGAIN, /* what was told does not count: the answer begins again */
  LT_DRAFT_TEXT,
  LT_DRAFT_ARGUMENTS,
} lt_draft_kind;
typedef struct lt_draft_piece {
  lt_draft_kind kind;
  size_t call; /* ARGUMENTS: tells the calls of the answer apart; ascending */
  lt_str name; /* ARGUMENTS: as the model wrote it */
  lt_str text; /* TEXT; ARGUMENTS: JSON text, cut anywhere */
} lt_draft_piece;

/* Why and when a request is repeated, for readers who wait. */
typedef struct lt_retry_notice {
  const char *why; /* a few words: "rate limited" */
  uint64_t wait_ms;
  unsigned next_try, tries_max; /* counted from 1 */
} lt_retry_notice;

/* Appends what a person reads: "rate limited, trying again in 8 s, 2 of 6". */
void lt_model_put_retry(const lt_retry_notice *notice, lt_buf *out);

/* A tool that takes a text where the wire has such tools. Elsewhere it is what the request's tools say, a function with
 * one string, `code`; and everywhere its calls' arguments are {"code": text}. */
typedef struct lt_freeform_tool {
  const char *name;
  const char *grammar; /* of the text, in Lark's notation */
} lt_freeform_tool;

typedef struct lt_completion_request {
  const lt_model *model;
  lt_str messages;                  /* a JSON array of {"role", "content", "kept"? (of an assistant), ...} */
  lt_str tools;                     /* a JSON array of {"type": "function", ...}, or empty */
  const lt_freeform_tool *freeform; /* one of the tools; NULL: none */
  bool has_parts;                   /* a message has images or files, or texts in their place */
  size_t media_bytes;               /* of the messages: what the data of images and documents takes */
  size_t media_count;               /* how many of them there are */
  bool json;                        /* asks for a JSON object (response_format) */
  int64_t max_tokens;               /* 0: the model's */
  lt_cancel *cancel;                /* may be NULL */
  const lt_trace_context *trace;    /* the span that asks; sent as traceparent. NULL or without one: it is not traced */
  /* Gets the text as it arrives; may be NULL. Must not yield. */
  void (*on_text)(void *arg, lt_str delta);
  /* Gets the answer's text and the arguments of its calls as they arrive; may be NULL. Must not yield. It is no
   * promise: a request is repeated although on_draft has got a part of its answer, and LT_DRAFT_AGAIN says so. The end
   * of an answer may be missing, and all of one that does not come in pieces: the completion has it. */
  void (*on_draft)(void *arg, const lt_draft_piece *piece);
  /* Called before each wait for another try; may be NULL. Must not yield. */
  void (*on_retry)(void *arg, const lt_retry_notice *notice);
  void *arg;
  /* For who watches; the model is not told: */
  const char *purpose; /* "round", "llm", "title", "sampling" */
  lt_str run;          /* the prompt's id or the run's name; may be empty */
  lt_str conversation; /* the prompt's; may be empty */
} lt_completion_request;

typedef struct lt_requested_call {
  lt_str id;        /* generated when the model gave none; unique within the completion */
  lt_str name;      /* as the model wrote it */
  lt_str arguments; /* as the model wrote them; may be invalid JSON */
} lt_requested_call;

typedef struct lt_usage {
  int64_t input_tokens; /* estimated when the provider gives none; then `estimated` */
  int64_t output_tokens;
  int64_t cached_input_tokens; /* of the input: what the provider still knew, which costs less */
  int64_t cache_write_tokens;  /* of the input: what the provider wrote down for later, which may cost more */
  int64_t reasoning_tokens;    /* of the output */
  bool estimated;
  double cost; /* in US dollars, by the models' prices; of what has no price: 0 */
} lt_usage;

/* What these tokens cost. Cached and written tokens have their own prices. */
double lt_model_cost(const lt_usage *usage, const lt_price *price);

typedef enum lt_finish { LT_FINISH_STOP, LT_FINISH_TOOLS, LT_FINISH_LENGTH, LT_FINISH_FILTERED } lt_finish;

typedef struct lt_completion {
  lt_buf text;      /* may be empty */
  lt_buf reasoning; /* reasoning_content and similar members; not part of the text */
  /* A JSON object, or empty: parts of the answer that its provider wants back exactly as they came, thoughts with their
   * signatures and the like, with the places of texts and calls between them. Goes into the message that repeats the
   * answer, as its member "kept", while that answer's calls are being answered. */
  lt_buf kept;
  const lt_requested_call *calls;
  size_t call_count;
  lt_usage usage;
  lt_finish finish;
  lt_str model;      /* the provider's name of the model; may be empty */
  unsigned retries;  /* number of repeated attempts */
  uint64_t first_us; /* until the first piece of this answer came, earlier attempts included; 0: none came */
  bool too_long;     /* the provider refused the messages for their length ... */
  bool no_media;     /* ... or for their images or documents: it does not take such, or not these */
  lt_arena arena;
} lt_completion;

/* The names of the wires, NULL last. */
extern const char *const lt_model_apis[];
/* Whether requests to the model may have what was kept of an answer: it is of the wire that the model uses. */
bool lt_model_may_keep(const lt_model *model, lt_str kept);

/* Whether a model may be sent images, or documents: neither its configuration nor an answer of its provider has said
 * that it takes none. */
bool lt_model_takes_images(const lt_model *model);
bool lt_model_takes_files(const lt_model *model);

void lt_completion_init(lt_completion *completion);
void lt_completion_release(lt_completion *completion);
/* A sentence for the user that says why a reply is incomplete; empty: it is complete. */
lt_str lt_completion_incomplete_reason(lt_finish finish);

/* Asks a model. LT_YIELDS. `completion` is initialised and unused; on failure it has the text that arrived before.
 * Errors; each message is one sentence and says what to do: LT_E_CONFIG (401, 403, 404: key, address, model name),
 * LT_E_INVALID (400 and the like, the provider's words), LT_E_LIMIT (429 or 5xx at the last try; a context that is too
 * long), LT_E_IO, LT_E_NOTFOUND and LT_E_DENIED (no connection: http.h), LT_E_UNSUPPORTED (no libcurl), LT_E_PROTOCOL
 * (HTML, no JSON, broken events), LT_E_CLOSED (the stream broke after text was shown, or every time), LT_E_TIMEOUT
 * (never tried again), LT_E_CANCELLED (or what the cancel was fired with), LT_E_NOMEM. No message contains the key. */
lt_status lt_model_complete(lt_http *http, const lt_completion_request *request, lt_completion *completion,
                            lt_err *err) LT_YIELDS;

#endif
