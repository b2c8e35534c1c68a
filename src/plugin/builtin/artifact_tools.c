/* Artifacts: data that a program or a model stores and fetches by id. Each user sees only their own artifacts. */
#include <string.h>

#include "base/limits.h"
#include "plugin/builtin/builtin_plugins.h"
#include "plugin/builtin/builtin_support.h"

#define NOTHING   "there is nothing to store: data is missing"
#define NOT_FOUND "Artifact not found: "
/* Bytes of long data, unless the caller asks for another length. With its quotes the part must not be long itself. */
#define PIECE_BYTES 16384

static void artifact_put_pair(lt_json_writer *w, const char *key, lathe_text json) {
  lt_json_key(w, key);
  lt_json_put_raw(w, lt_builtin_str(json));
}

/* {KEY: JSON} in a buffer. */
static void artifact_put_object(lt_buf *out, const char *key, lathe_text json) {
  lt_json_writer w = lt_json_writer_on(out);
  lt_json_begin_object(&w);
  artifact_put_pair(&w, key, json);
  lt_json_end_object(&w);
}

/* --- Tools -------------------------------------------------------------------------------------------------------- */
static void artifact_store_tool(const lathe_host *host, lathe_call *call, lathe_text in, void *arg) {
  (void)arg;
  lathe_text type = host->characters(call, host->member(call, in, "type"));
  lathe_text description = host->characters(call, host->member(call, in, "description"));
  lathe_text data = host->member(call, in, "data");
  lathe_text id;
  if (data.n == 0) {
    host->fail(call, NOTHING);
  } else if (host->artifact_put(call, type.n > 0 ? type.p : "data", description, data, &id) != 0) {
    lt_builtin_fail_with_error(host, call);
  } else {
    LT_AUTO_BUF(answer, LT_JSON_MAX_BYTES);
    artifact_put_object(&answer, "id", host->quote(call, id));
    lt_builtin_answer(host, call, &answer);
  }
}

/* The last beginning of a character at or before `at`. */
static size_t artifact_character_start(lathe_text text, size_t at) {
  while (at < text.n && at > 0 && ((unsigned char)text.p[at] & 0xC0) == 0x80) {
    at--;
  }
  return at < text.n ? at : text.n;
}

/* A model reads long data in parts: the characters of a text, or the JSON of other values. */
static void artifact_answer_piece(const lathe_host *host, lathe_call *call, lathe_text in, lathe_text found) {
  lathe_text data = host->member(call, found, "data");
  lathe_text text = lt_builtin_type(data) == LT_JSON_STRING ? host->characters(call, data) : data;
  size_t max = (size_t)lt_builtin_number(host->member(call, in, "length"), PIECE_BYTES);
  size_t from = artifact_character_start(text, (size_t)lt_builtin_number(host->member(call, in, "offset"), 0));
  size_t rest = text.n - from;
  size_t to = max < rest ? artifact_character_start(text, from + max) : text.n;
  if (to == from && rest > 0) { /* less than one character was asked for */
    to = artifact_character_start(text, from + 4 < text.n ? from + 4 : text.n);
  }
  LT_AUTO_BUF(answer, LT_JSON_MAX_BYTES);
  lt_json_writer w = lt_json_writer_on(&answer);
  lt_json_begin_object(&w);
  artifact_put_pair(&w, "id", host->member(call, found, "id"));
  lt_json_key(&w, "bytes");
  lt_json_put_int(&w, (int64_t)text.n);
  lt_json_key(&w, "offset");
  lt_json_put_int(&w, (int64_t)from);
  lt_json_key(&w, "data");
  lt_json_put_str(&w, lt_str_from(text.p + from, to - from));
  if (to < text.n) {
    lt_json_key(&w, "next");
    lt_json_put_int(&w, (int64_t)to);
  }
  lt_json_end_object(&w);
  lt_builtin_answer(host, call, &answer);
}

static void artifact_get_tool(const lathe_host *host, lathe_call *call, lathe_text in, void *arg) {
  (void)arg;
  lathe_text id = host->characters(call, host->member(call, in, "id"));
  lathe_text found;
  if (host->artifact_get(call, id, &found) != 0) {
    lt_builtin_fail_with_error(host, call);
  } else if (found.n == 0) {
    host->fail(call, NOT_FOUND "%s", id.p);
  } else if (host->member(call, in, "offset").n > 0) {
    artifact_answer_piece(host, call, in, found);
  } else {
    host->answer(call, found);
  }
}

static void artifact_list_tool(const lathe_host *host, lathe_call *call, lathe_text in, void *arg) {
  (void)in, (void)arg;
  lathe_text list;
  if (host->artifact_list(call, &list) != 0) {
    lt_builtin_fail_with_error(host, call);
  } else {
    host->answer(call, list);
  }
}

/* --- Functions of programs ---------------------------------------------------------------------------------------- */
/* `in` is the array of arguments. The functions call the tools, so that the policy also applies to programs, and the
 * calls are recorded. */

/* storeArtifact(data, description?) → id */
static void artifact_store_function(const lathe_host *host, lathe_call *call, lathe_text in, void *arg) {
  (void)arg;
  lathe_text data = host->member(call, in, "0");
  lathe_text description = host->characters(call, host->member(call, in, "1"));
  lathe_text stored;
  if (data.n == 0) {
    host->fail(call, NOTHING);
    return;
  }
  LT_AUTO_BUF(input, LT_JSON_MAX_BYTES);
  lt_json_writer w = lt_json_writer_on(&input);
  lt_json_begin_object(&w);
  lt_json_key(&w, "type");
  lt_json_put_cstr(&w, "code-output");
  lt_json_key(&w, "description");
  lt_json_put_str(&w, lt_builtin_str(description));
  artifact_put_pair(&w, "data", data);
  lt_json_end_object(&w);
  if (input.status != LT_OK) {
    host->fail(call, "there was no memory for the artifact");
  } else if (host->call_tool(call, LATHE_TEXT("artifact.store"), (lathe_text){input.p, input.n}, &stored) != 0) {
    lt_builtin_fail_with_error(host, call);
  } else {
    host->answer(call, host->member(call, stored, "id"));
  }
}

/* getArtifact(id) → the artifact, or undefined */
static void artifact_get_function(const lathe_host *host, lathe_call *call, lathe_text in, void *arg) {
  (void)arg;
  lathe_text id = host->member(call, in, "0");
  lathe_text found;
  LT_AUTO_BUF(input, LT_JSON_MAX_BYTES);
  artifact_put_object(&input, "id", id.n > 0 ? id : LATHE_TEXT("null"));
  if (input.status != LT_OK) {
    host->fail(call, "there was no memory for the artifact's id");
  } else if (host->call_tool(call, LATHE_TEXT("artifact.get"), (lathe_text){input.p, input.n}, &found) == 0) {
    host->answer(call, found);
  } else if (strstr(host->error(call).p, NOT_FOUND) == NULL) {
    lt_builtin_fail_with_error(host, call);
  }
}

static void artifact_list_function(const lathe_host *host, lathe_call *call, lathe_text in, void *arg) {
  (void)in, (void)arg;
  lathe_text list;
  if (host->call_tool(call, LATHE_TEXT("artifact.list"), LATHE_TEXT("{}"), &list) != 0) {
    lt_builtin_fail_with_error(host, call);
  } else {
    host->answer(call, list);
  }
}

/* --- The plugin --------------------------------------------------------------------------------------------------- */
#define ABOUT                                                                                          \
  "\"id\":{\"type\":\"string\"},\"type\":{\"type\":\"string\"},\"description\":{\"type\":\"string\"}," \
  "\"mimeType\":{\"type\":\"string\"},\"bytes\":{\"type\":\"integer\"},\"createdAt\":{\"type\":\"string\"}"

static const lathe_tool artifact_tools[] = {
    {.size = sizeof(lathe_tool),
     .name = "store",
     .description = "Store data as an artifact for later retrieval",
     .input_schema = "{\"type\":\"object\",\"properties\":{"
                     "\"type\":{\"type\":\"string\",\"description\":\"What kind of data it is\",\"default\":\"data\"},"
                     "\"description\":{\"type\":\"string\",\"description\":\"What it is, for whoever lists it\"},"
                     "\"data\":{\"description\":\"Any JSON value\"}},\"required\":[\"data\"]}",
     .output_schema = "{\"type\":\"object\",\"properties\":{\"id\":{\"type\":\"string\"}},\"required\":[\"id\"]}",
     .annotations = "{\"destructiveHint\":false,\"openWorldHint\":false}",
     .invoke = artifact_store_tool},
    {.size = sizeof(lathe_tool),
     .name = "get",
     .description = "Get a stored artifact with its data, or a piece of it",
     .input_schema = "{\"type\":\"object\",\"properties\":{\"id\":{\"type\":\"string\"},"
                     "\"offset\":{\"type\":\"integer\",\"minimum\":0,\"description\":\"Of data that is long: the byte "
                     "that a piece of it "
                     "begins with\"},\"length\":{\"type\":\"integer\",\"minimum\":1,\"description\":\"Bytes of the "
                     "piece; 16384 unless "
                     "said\"}},\"required\":[\"id\"]}",
     .output_schema = "{\"type\":\"object\",\"properties\":{" ABOUT ",\"data\":{},\"offset\":{\"type\":\"integer\"},"
                      "\"next\":{\"type\":\"integer\"}},\"required\":[\"id\",\"data\"]}",
     .annotations = "{\"readOnlyHint\":true,\"openWorldHint\":false}",
     .invoke = artifact_get_tool},
    {.size = sizeof(lathe_tool),
     .name = "list",
     .description = "List all stored artifacts with metadata, newest first",
     .input_schema = "{\"type\":\"object\",\"properties\":{}}",
     .output_schema =
         "{\"type\":\"array\",\"items\":{\"type\":\"object\",\"properties\":{" ABOUT "},\"required\":[\"id\"]}}",
     .annotations = "{\"readOnlyHint\":true,\"openWorldHint\":false}",
     .invoke = artifact_list_tool},
};

static const lathe_function artifact_functions[] = {
    {.size = sizeof(lathe_function),
     .name = "storeArtifact",
     .signature = "(data, description?) → id",
     .description = "Store data as an artifact",
     .invoke = artifact_store_function},
    {.size = sizeof(lathe_function),
     .name = "getArtifact",
     .signature = "(id) → {id, type, description, data, createdAt} | undefined",
     .description = "Get a stored artifact",
     .invoke = artifact_get_function},
    {.size = sizeof(lathe_function),
     .name = "listArtifacts",
     .signature = "() → [{id, type, description, createdAt}]",
     .description = "List stored artifacts",
     .invoke = artifact_list_function},
};

static void artifact_setup(const lathe_host *host, lathe_call *call, lathe_text in, void *arg) {
  (void)in, (void)arg;
  int rc = 0;
  for (size_t i = 0; i < sizeof artifact_tools / sizeof artifact_tools[0]; i++) {
    rc |= host->add_tool(call, &artifact_tools[i]);
  }
  for (size_t i = 0; i < sizeof artifact_functions / sizeof artifact_functions[0]; i++) {
    rc |= host->add_function(call, &artifact_functions[i]);
  }
  if (rc != 0) {
    lt_builtin_fail_with_error(host, call);
  }
}

const lathe_plugin *lt_builtin_artifact(void) {
  static const lathe_plugin plugin = {
      .size = sizeof plugin,
      .id = "artifact",
      .name = "Artifacts",
      .description = "Data that is kept for the user and fetched by id",
      .flags = LATHE_ON_LOOP,
      .setup = artifact_setup,
  };
  return &plugin;
}
