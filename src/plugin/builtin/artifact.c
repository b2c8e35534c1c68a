/* Artifacts: what a program or a model keeps beyond itself, fetched again by id. Each user sees their own. */
#include <stdlib.h>
#include <string.h>

#include "plugin/builtin/plugins.h"

#define NOTHING     "there is nothing to store: data is missing"
#define NOT_FOUND   "Artifact not found: "
#define PIECE_BYTES 16384 /* of long data, where nothing else is asked for; quoted it must not be long itself */

static void fail_as_said(const lathe_host *host, lathe_call *call) {
  lathe_text why = host->error(call);
  host->fail(call, "%.*s", (int)why.n, why.p);
}

/* --- Tools -------------------------------------------------------------------------------------------------------- */
static void store_tool(const lathe_host *host, lathe_call *call, lathe_text in, void *arg) {
  (void)arg;
  lathe_text type = host->characters(call, host->member(call, in, "type"));
  lathe_text description = host->characters(call, host->member(call, in, "description"));
  lathe_text data = host->member(call, in, "data");
  lathe_text id;
  if (data.n == 0) {
    host->fail(call, NOTHING);
  } else if (host->artifact_put(call, type.n > 0 ? type.p : "data", description, data, &id) != 0) {
    fail_as_said(host, call);
  } else {
    host->answer(call, host->format(call, "{\"id\":%s}", host->quote(call, id).p));
  }
}

/* Where a character begins, at or before `at`. */
static size_t between_characters(lathe_text text, size_t at) {
  while (at < text.n && at > 0 && ((unsigned char)text.p[at] & 0xC0) == 0x80) {
    at--;
  }
  return at < text.n ? at : text.n;
}

/* A model reads what is long piece by piece: of a text its characters, of anything else its JSON. */
static void answer_piece(const lathe_host *host, lathe_call *call, lathe_text in, lathe_text found) {
  lathe_text data = host->member(call, found, "data");
  lathe_text text = data.n > 0 && data.p[0] == '"' ? host->characters(call, data) : data;
  lathe_text length = host->member(call, in, "length");
  size_t most = length.n > 0 ? (size_t)strtoull(length.p, NULL, 10) : PIECE_BYTES;
  size_t from = between_characters(text, (size_t)strtoull(host->member(call, in, "offset").p, NULL, 10));
  size_t rest = text.n - from;
  size_t to = most < rest ? between_characters(text, from + most) : text.n;
  if (to == from && rest > 0) { /* less than one character was asked for */
    to = between_characters(text, from + 4 < text.n ? from + 4 : text.n);
  }
  lathe_text piece = host->quote(call, (lathe_text){text.p + from, to - from});
  lathe_text id = host->member(call, found, "id");
  if (to < text.n) {
    host->answer(call, host->format(call, "{\"id\":%s,\"bytes\":%zu,\"offset\":%zu,\"data\":%s,\"next\":%zu}", id.p,
                                    text.n, from, piece.p, to));
  } else {
    host->answer(
        call, host->format(call, "{\"id\":%s,\"bytes\":%zu,\"offset\":%zu,\"data\":%s}", id.p, text.n, from, piece.p));
  }
}

static void get_tool(const lathe_host *host, lathe_call *call, lathe_text in, void *arg) {
  (void)arg;
  lathe_text id = host->characters(call, host->member(call, in, "id"));
  lathe_text found;
  if (host->artifact_get(call, id, &found) != 0) {
    fail_as_said(host, call);
  } else if (found.n == 0) {
    host->fail(call, NOT_FOUND "%s", id.p);
  } else if (host->member(call, in, "offset").n > 0) {
    answer_piece(host, call, in, found);
  } else {
    host->answer(call, found);
  }
}

static void list_tool(const lathe_host *host, lathe_call *call, lathe_text in, void *arg) {
  (void)in, (void)arg;
  lathe_text list;
  if (host->artifact_list(call, &list) != 0) {
    fail_as_said(host, call);
  } else {
    host->answer(call, list);
  }
}

/* --- Functions of programs: `in` is the array of arguments -------------------------------------
 * By way of the tools, so that what the policy says of these holds for programs, too, and that it is recorded. */
/* storeArtifact(data, description?) → id */
static void store_function(const lathe_host *host, lathe_call *call, lathe_text in, void *arg) {
  (void)arg;
  lathe_text data = host->member(call, in, "0");
  lathe_text description = host->characters(call, host->member(call, in, "1"));
  lathe_text stored;
  if (data.n == 0) {
    host->fail(call, NOTHING);
    return;
  }
  lathe_text input = host->format(call, "{\"type\":\"code-output\",\"description\":%s,\"data\":%s}",
                                  host->quote(call, description).p, data.p);
  if (host->call_tool(call, LATHE_TEXT("artifact.store"), input, &stored) != 0) {
    fail_as_said(host, call);
  } else {
    host->answer(call, host->member(call, stored, "id"));
  }
}

/* getArtifact(id) → the artifact, or undefined */
static void get_function(const lathe_host *host, lathe_call *call, lathe_text in, void *arg) {
  (void)arg;
  lathe_text id = host->member(call, in, "0");
  lathe_text input = host->format(call, "{\"id\":%s}", id.n > 0 ? id.p : "null");
  lathe_text found;
  if (host->call_tool(call, LATHE_TEXT("artifact.get"), input, &found) == 0) {
    host->answer(call, found);
  } else if (strstr(host->error(call).p, NOT_FOUND) == NULL) {
    fail_as_said(host, call);
  }
}

static void list_function(const lathe_host *host, lathe_call *call, lathe_text in, void *arg) {
  (void)in, (void)arg;
  lathe_text list;
  if (host->call_tool(call, LATHE_TEXT("artifact.list"), LATHE_TEXT("{}"), &list) != 0) {
    fail_as_said(host, call);
  } else {
    host->answer(call, list);
  }
}

/* --- The plugin --------------------------------------------------------------------------------------------------- */
#define ABOUT                                                                                          \
  "\"id\":{\"type\":\"string\"},\"type\":{\"type\":\"string\"},\"description\":{\"type\":\"string\"}," \
  "\"mimeType\":{\"type\":\"string\"},\"bytes\":{\"type\":\"integer\"},\"createdAt\":{\"type\":\"string\"}"

static const lathe_tool tools[] = {
    {.size = sizeof(lathe_tool),
     .name = "store",
     .description = "Store data as an artifact for later retrieval",
     .input_schema = "{\"type\":\"object\",\"properties\":{"
                     "\"type\":{\"type\":\"string\",\"description\":\"What kind of data it is\",\"default\":\"data\"},"
                     "\"description\":{\"type\":\"string\",\"description\":\"What it is, for whoever lists it\"},"
                     "\"data\":{\"description\":\"Any JSON value\"}},\"required\":[\"data\"]}",
     .output_schema = "{\"type\":\"object\",\"properties\":{\"id\":{\"type\":\"string\"}},\"required\":[\"id\"]}",
     .annotations = "{\"destructiveHint\":false,\"openWorldHint\":false}",
     .invoke = store_tool},
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
     .invoke = get_tool},
    {.size = sizeof(lathe_tool),
     .name = "list",
     .description = "List all stored artifacts with metadata, newest first",
     .input_schema = "{\"type\":\"object\",\"properties\":{}}",
     .output_schema =
         "{\"type\":\"array\",\"items\":{\"type\":\"object\",\"properties\":{" ABOUT "},\"required\":[\"id\"]}}",
     .annotations = "{\"readOnlyHint\":true,\"openWorldHint\":false}",
     .invoke = list_tool},
};

static const lathe_function functions[] = {
    {.size = sizeof(lathe_function),
     .name = "storeArtifact",
     .signature = "(data, description?) → id",
     .description = "Store data as an artifact",
     .invoke = store_function},
    {.size = sizeof(lathe_function),
     .name = "getArtifact",
     .signature = "(id) → {id, type, description, data, createdAt} | undefined",
     .description = "Get a stored artifact",
     .invoke = get_function},
    {.size = sizeof(lathe_function),
     .name = "listArtifacts",
     .signature = "() → [{id, type, description, createdAt}]",
     .description = "List stored artifacts",
     .invoke = list_function},
};

static void setup(const lathe_host *host, lathe_call *call, lathe_text in, void *arg) {
  (void)in, (void)arg;
  int failed = 0;
  for (size_t i = 0; i < sizeof tools / sizeof tools[0]; i++) {
    failed |= host->add_tool(call, &tools[i]);
  }
  for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++) {
    failed |= host->add_function(call, &functions[i]);
  }
  if (failed) {
    fail_as_said(host, call);
  }
}

const lathe_plugin *lathe_plugin_artifact(void) {
  static const lathe_plugin plugin = {
      .size = sizeof plugin,
      .id = "artifact",
      .name = "Artifacts",
      .description = "Data that is kept for the user and fetched by id",
      .flags = LATHE_ON_LOOP,
      .setup = setup,
  };
  return &plugin;
}
