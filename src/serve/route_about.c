/* What the server is and has: modes, models, health, its own description, and its events. */
#include "serve/serve_events.h"
#include "serve/serve_metrics.h"
#include "serve/serve_routes.h"
#include "store/store_decisions.h"
#include "store/store_upkeep.h"

static lt_status about_modes(lt_serve_request *r, lt_err *err) {
  (void)err;
  LT_AUTO_BUF(modes, LT_MIB);
  lt_agent_modes(r->serve->agent, &modes);
  lt_json_begin_object(&r->w);
  lt_json_key(&r->w, "modes");
  lt_json_put_raw(&r->w, lt_buf_view(&modes));
  lt_json_end_object(&r->w);
  return LT_OK;
}

static void about_put_price_of(lt_json_writer *w, const char *key, const char *number) {
  if (number != NULL) {
    lt_json_key(w, key);
    lt_json_put_raw(w, lt_str_of(number));
  }
}

static void about_put_price(lt_json_writer *w, const lt_config_price *price) {
  if (price->input == NULL && price->output == NULL && price->cached_input == NULL && price->cache_write == NULL) {
    return;
  }
  lt_json_key(w, "price");
  lt_json_begin_object(w);
  about_put_price_of(w, "input", price->input);
  about_put_price_of(w, "output", price->output);
  about_put_price_of(w, "cachedInput", price->cached_input);
  about_put_price_of(w, "cacheWrite", price->cache_write);
  lt_json_end_object(w);
}

static lt_status about_models(lt_serve_request *r, lt_err *err) {
  (void)err;
  const lt_models *models = &r->serve->models;
  lt_json_begin_object(&r->w);
  lt_json_key(&r->w, "models");
  lt_json_begin_array(&r->w);
  for (size_t i = 0; i < models->count; i++) {
    lt_json_begin_object(&r->w);
    lt_json_key(&r->w, "ref");
    lt_json_put_str(&r->w, models->list[i].ref);
    lt_json_key(&r->w, "model");
    lt_json_put_str(&r->w, models->list[i].name);
    lt_json_key(&r->w, "isDefault");
    lt_json_put_bool(&r->w, lt_str_eq(models->list[i].ref, models->default_ref));
    lt_json_key(&r->w, "isUsable");
    lt_json_put_bool(&r->w, models->missing[i] == NULL);
    about_put_price(&r->w, &models->prices[i]);
    lt_json_end_object(&r->w);
  }
  lt_json_end_array(&r->w);
  lt_json_end_object(&r->w);
  return LT_OK;
}

/* --- Health ------------------------------------------------------------------------------------------------------- */
static lt_status about_put_ok(lt_serve_request *r) {
  lt_json_begin_object(&r->w);
  lt_json_key(&r->w, "ok");
  lt_json_put_bool(&r->w, true);
  lt_json_end_object(&r->w);
  return LT_OK;
}

static lt_status about_health(lt_serve_request *r, lt_err *err) {
  (void)err;
  return about_put_ok(r);
}

typedef struct about_room {
  const lt_store *store;
  bool is_writable;
} about_room;

static void about_look_for_room(void *arg) {
  about_room *room = arg;
  room->is_writable = lt_store_is_writable(room->store);
}

/* Ready: it does not end, the store answers and can be written, and what was left by an earlier process has been
 * resumed. */
static lt_status about_readiness(lt_serve_request *r, lt_err *err) LT_YIELDS {
  int64_t ignored;
  about_room room = {.store = lt_serve_store(r->serve)};
  if (r->serve->is_finishing || r->serve->closing.why != LT_OK) {
    return lt_serve_request_refuse(r, 503, "ending", "the server ends: it takes no further prompts");
  }
  if (!r->serve->has_resumed) {
    return lt_serve_request_refuse(r, 503, "starting", "prompts of an earlier process are being resumed");
  }
  if (lt_store_decision_version(lt_serve_store(r->serve), &ignored, NULL) != LT_OK) {
    return lt_serve_request_refuse(r, 503, "store", "the store cannot be read");
  }
  LT_TRY(lt_loop_offload(r->serve->session->loop, about_look_for_room, &room, err));
  if (!room.is_writable) {
    return lt_serve_request_refuse(r, 503, "store", "the store cannot be written, or its disk is full");
  }
  return about_put_ok(r);
}

static lt_status about_openapi(lt_serve_request *r, lt_err *err) {
  (void)err;
  lt_serve_openapi_put(&r->w);
  return LT_OK;
}

/* --- Events ------------------------------------------------------------------------------------------------------- */
/* The header is what a browser sends when it comes back. LT_E_INVALID. */
static lt_status events_read_position(const lt_serve_request *r, int64_t *ret_after, lt_err *err) {
  lt_json_doc doc;
  lt_str text = lt_http_call_header(r->call, "Last-Event-ID");
  *ret_after = -1;
  if (text.n == 0) {
    return lt_serve_request_number(r, "after", 0, INT64_MAX, -1, ret_after, err);
  }
  bool is_number = lt_json_parse(r->arena, text, &doc, NULL) == LT_OK && lt_json_int(lt_json_root(&doc), ret_after);
  return is_number && *ret_after >= 0 ? LT_OK : lt_fail(err, LT_E_INVALID, "Last-Event-ID is the id of an event");
}

static lt_status about_events(lt_serve_request *r, lt_err *err) LT_YIELDS {
  int64_t after;
  lt_serve_reader reader;
  lt_str prompt = lt_serve_request_query(r, "promptId");
  LT_TRY(events_read_position(r, &after, err));
  if (prompt.n > LT_STORE_ID_BYTES) {
    return lt_fail(err, LT_E_INVALID, "query.promptId: the id of a prompt");
  }
  if (lt_serve_events_join(&reader, r, prompt, after)) {
    lt_serve_events_send(&reader);
    lt_serve_events_leave(&reader);
  }
  return LT_OK;
}

/* --- The table ---------------------------------------------------------------------------------------------------- */
static const lt_serve_parameter events_query[] = {
    {"promptId", "{\"type\":\"string\"}", "only the events of this prompt"},
    {"after", "{\"type\":\"integer\",\"minimum\":0}", "the same as the header Last-Event-ID; 0: from the first one"},
    {NULL},
};

static const lt_serve_parameter events_headers[] = {
    {"Last-Event-ID", "{\"type\":\"string\"}", "the id of the last event that the reader has got"},
    {NULL},
};

#define TEXT "{\"type\":\"string\"}"
#define FLAG "{\"type\":\"boolean\"}"
#define OF_LIST(name, required, members)                                     \
  "{\"type\":\"object\",\"required\":[\"" name "\"],\"properties\":{\"" name \
  "\":{\"type\":\"array\",\"items\":{\"type\":"                              \
  "\"object\",\"required\":[" required "],\"properties\":{" members "}}}}}"
#define IS_OK "{\"type\":\"object\",\"required\":[\"ok\"],\"properties\":{\"ok\":{\"const\":true}}}"
#define PRICE "{\"type\":\"number\",\"minimum\":0}"

const lt_serve_route lt_route_about_rows[] = {
    {"GET", "/modes", "listModes", "The modes in which prompts are carried out.",
     .answer =
         OF_LIST("modes", "\"id\",\"name\",\"isDefault\"", "\"id\":" TEXT ",\"name\":" TEXT ",\"isDefault\":" FLAG),
     .handle = about_modes},
    {"GET", "/models", "listModels", "The models that prompts may ask.",
     .answer = OF_LIST("models", "\"ref\",\"model\",\"isDefault\",\"isUsable\"",
                       "\"ref\":" TEXT ",\"model\":" TEXT ",\"isDefault\":" FLAG ",\"isUsable\":" FLAG
                       ",\"price\":{\"type\":\"object\",\"description\":\"in US dollars for a million tokens\","
                       "\"properties\":{\"input\":" PRICE ",\"output\":" PRICE ",\"cachedInput\":" PRICE
                       ",\"cacheWrite\":" PRICE "}}"),
     .handle = about_models},
    {"GET", "/events/stream", "streamEvents",
     "Server-sent events of the user's prompts; Last-Event-ID goes on after that event.",
     .flags = LT_SERVE_HAS_OWN_TYPE, .type = "text/event-stream", .query = events_query, .headers = events_headers,
     .handle = about_events},
    {"GET", "/healthz", "getHealth", "The process runs.", .flags = LT_SERVE_IS_PUBLIC, .answer = IS_OK,
     .handle = about_health},
    {"GET", "/readyz", "getReadiness", "The process can take prompts.", .flags = LT_SERVE_IS_PUBLIC, .answer = IS_OK,
     .handle = about_readiness},
    {"GET", "/metrics", "getMetrics", "Counters and sizes, in the text format of Prometheus.",
     .flags = LT_SERVE_HAS_OWN_TYPE, .type = "text/plain", .handle = lt_serve_metrics_answer},
    {"GET", "/openapi.json", "getDescription", "This description.", .flags = LT_SERVE_IS_PUBLIC,
     .answer = "{\"type\":\"object\",\"required\":[\"openapi\",\"info\",\"paths\"]}", .handle = about_openapi},
    {NULL},
};
