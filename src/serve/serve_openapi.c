/* The description of the routes (OpenAPI 3.1.1), written from their table. */
#include "serve/serve_routes.h"

static void openapi_put_text(lt_json_writer *w, const char *key, const char *text) {
  lt_json_key(w, key);
  lt_json_put_cstr(w, text);
}

static void openapi_put_raw(lt_json_writer *w, const char *key, const char *json) {
  lt_json_key(w, key);
  lt_json_put_raw(w, lt_str_of(json));
}

/* --- Operations --------------------------------------------------------------------------------------------------- */
static void openapi_put_parameter(lt_json_writer *w, const char *name, const char *in, const char *schema,
                                  const char *doc) {
  lt_json_begin_object(w);
  openapi_put_text(w, "name", name);
  openapi_put_text(w, "in", in);
  openapi_put_text(w, "description", doc);
  lt_json_key(w, "required");
  lt_json_put_bool(w, lt_str_eqc(LT_STR("path"), in));
  openapi_put_raw(w, "schema", schema);
  lt_json_end_object(w);
}

static void openapi_put_parameters(lt_json_writer *w, const lt_serve_route *route) {
  lt_json_key(w, "parameters");
  lt_json_begin_array(w);
  if (lt_str_find(lt_str_of(route->path), LT_STR("{id}"), 0) != SIZE_MAX) {
    openapi_put_parameter(w, "id", "path", "{\"type\":\"string\"}", "the id");
  }
  for (const lt_serve_parameter *p = route->query; p != NULL && p->name != NULL; p++) {
    openapi_put_parameter(w, p->name, "query", p->schema, p->doc);
  }
  for (const lt_serve_parameter *p = route->headers; p != NULL && p->name != NULL; p++) {
    openapi_put_parameter(w, p->name, "header", p->schema, p->doc);
  }
  lt_json_end_array(w);
}

static void openapi_put_type(lt_json_writer *w, const char *type, const char *schema) {
  lt_json_key(w, type);
  lt_json_begin_object(w);
  openapi_put_raw(w, "schema", schema);
  lt_json_end_object(w);
}

static void openapi_put_content(lt_json_writer *w, const char *type, const char *schema) {
  lt_json_key(w, "content");
  lt_json_begin_object(w);
  openapi_put_type(w, type, schema);
  lt_json_end_object(w);
}

static void openapi_put_body(lt_json_writer *w, const lt_serve_route *route) {
  if (route->body != NULL) {
    lt_json_key(w, "requestBody");
    lt_json_begin_object(w);
    lt_json_key(w, "required");
    lt_json_put_bool(w, (route->flags & LT_SERVE_BODY_OPTIONAL) == 0);
    openapi_put_content(w, "application/json", route->body);
    lt_json_end_object(w);
  }
}

static void openapi_put_answer(lt_json_writer *w, const lt_serve_route *route) {
  bool has_own_type = (route->flags & LT_SERVE_HAS_OWN_TYPE) != 0;
  const char *own_type = route->type != NULL ? route->type : "*/*";
  lt_json_key(w, "content");
  lt_json_begin_object(w);
  if (has_own_type) {
    openapi_put_type(w, own_type, "{\"type\":\"string\"}");
  } else {
    openapi_put_type(w, "application/json", route->answer != NULL ? route->answer : "{}");
  }
  if ((route->flags & LT_SERVE_CAN_STREAM) != 0) {
    openapi_put_type(w, "text/event-stream", "{\"type\":\"string\"}");
  }
  lt_json_end_object(w);
}

static void openapi_put_later(lt_json_writer *w, const lt_serve_route *route) {
  lt_json_key(w, "202");
  lt_json_begin_object(w);
  openapi_put_text(w, "description", "it has not ended");
  openapi_put_content(w, "application/json", route->later != NULL ? route->later : route->answer);
  lt_json_end_object(w);
}

static void openapi_put_error(lt_json_writer *w, const char *status, bool may_happen) {
  if (may_happen) {
    openapi_put_raw(w, status, "{\"$ref\":\"#/components/responses/Error\"}");
  }
}

static void openapi_put_answers(lt_json_writer *w, const lt_serve_route *route) {
  bool is_empty = lt_str_eqc(LT_STR("DELETE"), route->method), has_body = route->body != NULL;
  bool has_id = lt_str_find(lt_str_of(route->path), LT_STR("{id}"), 0) != SIZE_MAX;
  lt_json_key(w, "responses");
  lt_json_begin_object(w);
  lt_json_key(w, is_empty ? "204" : "200");
  lt_json_begin_object(w);
  openapi_put_text(w, "description", "done");
  if (!is_empty) {
    openapi_put_answer(w, route);
  }
  lt_json_end_object(w);
  if ((route->flags & LT_SERVE_MAY_WAIT) != 0) {
    openapi_put_later(w, route);
  }
  openapi_put_error(w, "400", has_body || has_id || route->query != NULL);
  openapi_put_error(w, "401", (route->flags & LT_SERVE_IS_PUBLIC) == 0);
  openapi_put_error(w, "404", has_id);
  openapi_put_error(w, "409", (route->flags & LT_SERVE_MAY_CONFLICT) != 0);
  openapi_put_error(w, "413", has_body);
  openapi_put_error(w, "415", has_body);
  openapi_put_error(w, "default", true);
  lt_json_end_object(w);
}

static void openapi_put_operation(lt_json_writer *w, const lt_serve_route *route) {
  char method[16] = "";
  for (size_t i = 0; route->method[i] != '\0' && i + 1 < sizeof method; i++) {
    method[i] = (char)(route->method[i] | ' ');
  }
  lt_json_key(w, method);
  lt_json_begin_object(w);
  openapi_put_text(w, "operationId", route->name);
  openapi_put_text(w, "summary", route->doc);
  if ((route->flags & LT_SERVE_IS_PUBLIC) != 0) {
    openapi_put_raw(w, "security", "[]");
  }
  openapi_put_parameters(w, route);
  openapi_put_body(w, route);
  openapi_put_answers(w, route);
  lt_json_end_object(w);
}

/* --- The document ------------------------------------------------------------------------------------------------- */
static bool openapi_is_same_path(const lt_serve_route *a, const lt_serve_route *b) {
  return lt_str_eq(lt_str_of(a->path), lt_str_of(b->path));
}

/* The first route of a path writes all of its operations. */
static bool openapi_has_path_before(size_t i) {
  for (size_t k = 0; k < i; k++) {
    if (openapi_is_same_path(lt_serve_routes_at(k), lt_serve_routes_at(i))) {
      return true;
    }
  }
  return false;
}

static void openapi_put_paths(lt_json_writer *w) {
  const lt_serve_route *route, *other;
  lt_json_begin_object(w);
  for (size_t i = 0; (route = lt_serve_routes_at(i)) != NULL; i++) {
    if (openapi_has_path_before(i)) {
      continue;
    }
    lt_json_key(w, route->path);
    lt_json_begin_object(w);
    for (size_t k = i; (other = lt_serve_routes_at(k)) != NULL; k++) {
      if (openapi_is_same_path(route, other)) {
        openapi_put_operation(w, other);
      }
    }
    lt_json_end_object(w);
  }
  lt_json_end_object(w);
}

#define OUTPUT_MEMBERS "\"id\":{\"type\":\"string\"},\"start\":{\"type\":\"string\"},\"end\":{\"type\":\"string\"}"

static const char openapi_components[] =
    "{\"securitySchemes\":{\"token\":{\"type\":\"http\",\"scheme\":\"bearer\"}},"
    "\"responses\":{\"Error\":{\"description\":\"why it was not done\",\"content\":{\"application/json\":{\"schema\":"
    "{\"$ref\":\"#/components/schemas/Error\"}}}}},"
    "\"schemas\":{"
    "\"Error\":{\"type\":\"object\",\"required\":[\"error\"],\"properties\":{\"error\":{\"type\":\"object\","
    "\"required\":"
    "[\"code\",\"message\"],\"properties\":{\"code\":{\"type\":\"string\"},\"message\":{\"type\":\"string\"}}}}},"
    "\"PromptOutput\":{\"oneOf\":["
    "{\"type\":\"object\",\"required\":[\"type\",\"id\"],\"properties\":{\"type\":{\"const\":\"text\"},"
    "\"content\":{\"type\":\"string\"}," OUTPUT_MEMBERS
    "}},"
    "{\"type\":\"object\",\"required\":[\"type\",\"id\",\"function\",\"result\"],\"properties\":{\"type\":{\"const\":"
    "\"tool\"},\"function\":{\"type\":\"string\"},\"parent\":{\"type\":\"string\"},\"input\":{},\"result\":{\"type\":"
    "\"object\",\"required\":[\"type\"],\"properties\":{\"type\":{\"enum\":[\"success\",\"error\",\"pending\"]},"
    "\"output\":{},\"error\":{},\"reason\":{\"type\":\"string\"}}},\"decided\":{\"type\":\"string\"}," OUTPUT_MEMBERS
    "}},"
    "{\"type\":\"object\",\"required\":[\"type\",\"id\"],\"properties\":{\"type\":{\"const\":\"file\"},\"path\":"
    "{\"type\":\"string\"},\"mimeType\":{\"type\":\"string\"},\"artifact\":{\"type\":\"string\"}," OUTPUT_MEMBERS
    "}}]},"
    "\"Conversation\":{\"type\":\"object\",\"required\":[\"id\",\"title\",\"createdAt\",\"updatedAt\","
    "\"prompts\"],\"properties\":{\"id\":{\"type\":\"string\"},\"title\":{\"type\":[\"string\",\"null\"]},"
    "\"firstMessage\":{\"type\":\"string\"},\"createdAt\":{\"type\":\"string\"},\"updatedAt\":{\"type\":\"string\"},"
    "\"prompts\":{\"type\":\"integer\"}}},"
    "\"Artifact\":{\"type\":\"object\",\"required\":[\"id\",\"type\",\"description\",\"mimeType\",\"bytes\","
    "\"createdAt\"],\"properties\":{\"id\":{\"type\":\"string\"},\"type\":{\"type\":\"string\"},\"description\":"
    "{\"type\":\"string\"},\"mimeType\":{\"type\":\"string\"},\"bytes\":{\"type\":\"integer\"},\"createdAt\":"
    "{\"type\":\"string\"}}},"
    "\"Prompt\":{\"type\":\"object\",\"required\":[\"id\",\"userId\",\"conversationId\",\"model\",\"mode\",\"state\","
    "\"output\"],\"properties\":{\"id\":{\"type\":\"string\"},\"userId\":{\"type\":\"string\"},\"conversationId\":"
    "{\"type\":\"string\"},\"model\":{\"type\":\"string\"},\"mode\":{\"type\":\"string\"},\"visible\":{\"type\":"
    "\"boolean\"},\"state\":{\"enum\":[\"running\",\"waiting_for_approval\",\"completed\",\"failed\",\"cancelled\"]},"
    "\"input\":{\"type\":\"string\"},\"output\":{\"type\":\"array\",\"items\":{\"$ref\":"
    "\"#/components/schemas/PromptOutput\"}},\"usage\":{\"type\":\"object\",\"properties\":{\"inputTokens\":"
    "{\"type\":\"integer\"},\"outputTokens\":{\"type\":\"integer\"},\"totalTokens\":{\"type\":\"integer\"},"
    "\"requests\":{\"type\":\"integer\"},\"cachedInputTokens\":{\"type\":\"integer\"},\"cacheWriteTokens\":"
    "{\"type\":\"integer\"},\"cost\":{\"type\":\"number\",\"description\":\"in US dollars\"},\"reasoningTokens\":"
    "{\"type\":\"integer\"},\"estimated\":{\"type\":\"boolean\"},\"resolvedModel\":{\"type\":\"string\"}}},"
    "\"error\":{\"type\":\"string\"},"
    "\"createdAt\":{\"type\":\"string\"},\"completedAt\":{\"type\":\"string\"}}}}}";

void lt_serve_openapi_put(lt_json_writer *w) {
  lt_json_begin_object(w);
  openapi_put_text(w, "openapi", "3.1.1");
  lt_json_key(w, "info");
  lt_json_begin_object(w);
  openapi_put_text(w, "title", "Lathe");
  openapi_put_text(w, "version", LT_VERSION);
  lt_json_end_object(w);
  openapi_put_raw(w, "security", "[{},{\"token\":[]}]");
  lt_json_key(w, "paths");
  openapi_put_paths(w);
  openapi_put_raw(w, "components", openapi_components);
  lt_json_end_object(w);
}
