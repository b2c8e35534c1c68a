#include "serve/serve_routes.h"

#include "base/clock.h"
#include "base/mem.h"
#include "json/schema.h"
#include "serve/serve_limits.h"
#include "serve/serve_log.h"
#include "serve/serve_metrics.h"
#include "serve/serve_origin.h"
#include "serve/serve_users.h"
#include "text/secrets.h"

#define ROUTE_TABLE(name) lt_route_##name##_rows,
static const lt_serve_route *const route_tables[] = {LT_SERVE_ROUTES(ROUTE_TABLE)};
enum { ROUTE_TABLES = sizeof route_tables / sizeof route_tables[0] };

const lt_serve_route *lt_serve_routes_at(size_t i) {
  for (size_t t = 0; t < ROUTE_TABLES; t++) {
    for (const lt_serve_route *route = route_tables[t]; route->method != NULL; route++) {
      if (i-- == 0) {
        return route;
      }
    }
  }
  return NULL;
}

static size_t routes_count(void) {
  size_t count = 0;
  while (lt_serve_routes_at(count) != NULL) {
    count++;
  }
  return count;
}

static size_t routes_index_of(const lt_serve_route *route) {
  size_t i = 0;
  while (lt_serve_routes_at(i) != route) {
    i++;
  }
  return i;
}

/* --- Opening ------------------------------------------------------------------------------------------------------ */
lt_status lt_serve_routes_open(lt_serve *serve, lt_err *err) {
  const lt_serve_route *route;
  serve->bodies = lt_mem_zalloc(routes_count() + 1, sizeof *serve->bodies);
  if (serve->bodies == NULL) {
    return lt_fail(err, LT_E_NOMEM, "out of memory");
  }
  for (size_t i = 0; (route = lt_serve_routes_at(i)) != NULL; i++) {
    if (route->body != NULL) {
      LT_TRY(lt_schema_new(lt_str_of(route->body), &serve->bodies[i], err));
    }
  }
  return LT_OK;
}

void lt_serve_routes_close(lt_serve *serve) {
  for (size_t i = 0; serve->bodies != NULL && i < routes_count(); i++) {
    lt_schema_free(serve->bodies[i]);
  }
  lt_mem_free(serve->bodies);
  serve->bodies = NULL;
}

/* --- Finding ------------------------------------------------------------------------------------------------------ */
/* The path's next part, without its "/". */
static lt_str route_take_part(lt_str *path) {
  size_t end = lt_str_find(*path, LT_STR("/"), 1);
  lt_str part = lt_str_sub(*path, 1, end);
  *path = end == SIZE_MAX ? LT_STR_NULL : lt_str_sub(*path, end, path->n);
  return part;
}

/* `ret_id`: what stands in the place of {id}, undecoded. */
static bool route_matches(const lt_serve_route *route, lt_str path, lt_str *ret_id) {
  lt_str wanted = lt_str_of(route->path);
  while (wanted.n > 0 && path.n > 0 && path.p[0] == '/') {
    lt_str a = route_take_part(&wanted), b = route_take_part(&path);
    if (lt_str_eq(a, LT_STR("{id}")) && b.n > 0) {
      *ret_id = b;
    } else if (!lt_str_eq(a, b)) {
      return false;
    }
  }
  return wanted.n == 0 && path.n == 0;
}

typedef struct route_search {
  const lt_serve_route *route; /* NULL: none has the method */
  lt_str id;
  bool is_path_known;
} route_search;

static bool route_has_method(const lt_serve_route *route, lt_str method) {
  bool is_head = lt_str_eqc(method, "HEAD") && lt_str_eqc(LT_STR("GET"), route->method);
  return is_head || lt_str_eqc(method, route->method);
}

static route_search routes_find(const lt_http_call *call) {
  route_search found = {.route = NULL};
  const lt_serve_route *route;
  for (size_t i = 0; (route = lt_serve_routes_at(i)) != NULL; i++) {
    lt_str id = LT_STR_NULL;
    if (route_matches(route, call->path, &id)) {
      found.is_path_known = true;
      if (found.route == NULL && route_has_method(route, call->method)) {
        found.route = route;
        found.id = id;
      }
    }
  }
  return found;
}

static void routes_put_allow(const lt_http_call *call, lt_http_answer *answer) {
  LT_AUTO_BUF(allow, LT_KIB);
  const lt_serve_route *route;
  for (size_t i = 0; (route = lt_serve_routes_at(i)) != NULL; i++) {
    lt_str id;
    if (route_matches(route, call->path, &id)) {
      lt_buf_addc(&allow, allow.n > 0 ? ", " : "");
      lt_buf_addc(&allow, route->method);
      lt_buf_addc(&allow, lt_str_eqc(LT_STR("GET"), route->method) ? ", HEAD" : "");
    }
  }
  lt_http_answer_header(answer, "Allow", lt_buf_view(&allow));
}

/* --- Heads -------------------------------------------------------------------------------------------------------- */
static bool route_is_sent_as_json(const lt_http_call *call) {
  lt_str type = lt_http_call_header(call, "Content-Type");
  lt_str name = lt_str_trim(lt_str_sub(type, 0, lt_str_find(type, LT_STR(";"), 0)));
  return lt_str_eq_fold(name, LT_STR("application/json"));
}

static bool route_has_body(const lt_http_call *call) {
  lt_str length = lt_http_call_header(call, "Content-Length");
  return (length.n > 0 && !lt_str_eqc(length, "0")) || lt_http_call_header(call, "Transfer-Encoding").n > 0;
}

/* Answers of routes hold what people said: no cache keeps them, and no page of another site may read or show them. */
static void routes_put_headers(lt_serve_request *r, const lt_serve_route *route) {
  if (route == NULL || (route->flags & LT_SERVE_IS_CACHED) == 0) {
    lt_http_answer_header(r->answer, "Cache-Control", LT_STR("no-store"));
  }
  lt_http_answer_header(r->answer, "X-Content-Type-Options", LT_STR("nosniff"));
  lt_serve_origin_put_headers(r);
}

/* /mcp is no row of the table: its bodies and answers are those of another protocol. */
static const lt_serve_route route_mcp = {.path = "/mcp"};

static bool route_admit_mcp(lt_serve_request *r) {
  lt_serve_origin_put_headers(r);
  if (lt_str_eqc(r->call->method, "OPTIONS")) {
    lt_serve_origin_put_preflight(r);
    return false;
  }
  r->route = &route_mcp;
  return lt_serve_users_identify(r);
}

static bool route_admit(lt_serve_request *r) {
  route_search found = routes_find(r->call);
  if (!lt_serve_origin_admit(r, found.route != NULL && (found.route->flags & LT_SERVE_IS_PUBLIC) != 0)) {
    return false;
  }
  if (lt_str_eqc(r->call->path, route_mcp.path)) {
    return route_admit_mcp(r);
  }
  routes_put_headers(r, found.route);
  if (!found.is_path_known) {
    lt_serve_request_refuse(r, 404, "notfound", "there is nothing at %.*s: GET /openapi.json lists what there is",
                            LT_STR_ARG(lt_str_sub(r->call->path, 0, 200)));
    return false;
  }
  if (lt_str_eqc(r->call->method, "OPTIONS")) {
    routes_put_allow(r->call, r->answer);
    lt_serve_origin_put_preflight(r);
    return false;
  }
  if (found.route == NULL) {
    routes_put_allow(r->call, r->answer);
    lt_serve_request_refuse(r, 405, "method", "%.*s is not possible here: the header Allow says what is",
                            LT_STR_ARG(lt_str_sub(r->call->method, 0, 32)));
    return false;
  }
  r->route = found.route;
  if (route_has_body(r->call) && found.route->body != NULL && !route_is_sent_as_json(r->call)) {
    lt_serve_request_refuse(r, 415, "type", "send the body as Content-Type: application/json");
    return false;
  }
  return lt_serve_users_identify(r);
}

static void route_count(const lt_serve_request *r, uint64_t began_us) {
  uint64_t took_us = lt_clock_monotonic_us() - began_us;
  lt_serve_metrics_take_request(r->serve->metrics, r->route, r->answer, took_us);
  lt_serve_log_request(r, took_us);
}

bool lt_serve_routes_admit(void *serve, const lt_http_call *call, lt_http_answer *answer) {
  LT_AUTO_ARENA(arena, LT_MIB);
  lt_serve_request r = {.serve = serve, .call = call, .answer = answer, .arena = &arena};
  r.w = lt_json_writer_on(&answer->body);
  uint64_t began_us = lt_clock_monotonic_us();
  bool is_admitted = route_admit(&r);
  is_admitted = lt_serve_limits_charge(&r) && is_admitted;
  if (is_admitted) { /* the handler starts with an empty answer */
    lt_buf_clear(&answer->headers);
  } else {
    route_count(&r, began_us);
  }
  return is_admitted;
}

/* --- Bodies ------------------------------------------------------------------------------------------------------- */
static lt_status route_check_body(lt_serve_request *r, lt_json_doc *doc, lt_err *err) {
  lt_str text = r->call->body;
  bool is_absent = text.n == 0 && (r->route->flags & LT_SERVE_BODY_OPTIONAL) != 0;
  if (is_absent) {
    text = LT_STR("{}");
  }
  lt_status status = lt_json_parse(r->arena, text, doc, err);
  if (status != LT_OK) {
    return lt_err_prefix(err, "the body is no JSON");
  }
  LT_AUTO_BUF(mended, 2 * LT_SERVE_BODY_MAX_BYTES);
  lt_json_mend_utf8(&mended, text);
  if (!lt_str_eq(lt_buf_view(&mended), text)) {
    return lt_fail(err, LT_E_SYNTAX, "the body is not UTF-8");
  }
  LT_AUTO_BUF(faults, LT_ERR_MSG_MAX);
  status =
      lt_schema_check(r->serve->bodies[routes_index_of(r->route)], lt_json_root(doc), LT_STR("body"), &faults, err);
  r->body = lt_json_root(doc);
  return status == LT_E_INVALID ? lt_fail(err, LT_E_INVALID, "%.*s", LT_STR_ARG(lt_buf_view(&faults))) : status;
}

static bool route_has_parameter(const lt_serve_route *route, lt_str name) {
  for (const lt_serve_parameter *p = route->query; p != NULL && p->name != NULL; p++) {
    if (lt_str_eqc(name, p->name)) {
      return true;
    }
  }
  return false;
}

static lt_status route_check_query(const lt_serve_request *r, lt_err *err) {
  lt_str query = r->call->query;
  for (size_t at = 0; at < query.n;) {
    size_t end = lt_str_find(query, LT_STR("&"), at);
    lt_str part = lt_str_sub(query, at, end), decoded;
    lt_str name = lt_str_sub(part, 0, lt_str_find(part, LT_STR("="), 0));
    if (!lt_serve_request_decode(part, r->arena, &decoded)) {
      return lt_fail(err, LT_E_INVALID, "the query has a broken percent escape, a NUL, or is not UTF-8");
    }
    if (!route_has_parameter(r->route, name)) {
      return lt_fail(err, LT_E_INVALID, "query.%.*s: is not known here", LT_STR_ARG(lt_str_sub(name, 0, 100)));
    }
    at = end == SIZE_MAX ? query.n : end + 1;
  }
  return LT_OK;
}

static lt_status route_call(lt_serve_request *r, lt_err *err) LT_YIELDS {
  lt_json_doc doc;
  lt_str id = routes_find(r->call).id;
  if (id.n > 0 && !lt_serve_request_decode(id, r->arena, &r->id)) {
    return lt_fail(err, LT_E_INVALID, "the path has a broken percent escape, a NUL, or is not UTF-8");
  }
  LT_TRY(route_check_query(r, err));
  if (r->route->body != NULL) {
    LT_TRY(route_check_body(r, &doc, err));
  }
  return r->route->handle(r, err);
}

/* What comes from the store or an event is masked already; a tool's answer, and what a handler takes from elsewhere, is
 * not. */
static void route_mask(const lt_serve_request *r) {
  const char *type = r->answer->content_type;
  if (type != NULL && lt_str_eqc(lt_str_of(type), "application/json")) {
    lt_secrets_mask_json_buf(r->serve->session->secrets, &r->answer->body);
  }
}

static void route_handle(lt_serve_request *r) LT_YIELDS {
  lt_http_answer *answer = r->answer;
  LT_ERR_VAR(err);
  if (r->route == &route_mcp) {
    answer->content_type = NULL;
    lt_gateway_http_handle(r->serve->mcp, r->call, r->user, &r->trace, answer);
    return;
  }
  lt_status status = route_call(r, &err);
  route_mask(r);
  if (status == LT_OK && answer->body.status != LT_OK) {
    status = lt_fail(&err, answer->body.status, "the answer is too long, or there is no memory for it");
  }
  if (status != LT_OK) {
    lt_serve_request_fail(r, &err);
  }
}

static void routes_answer(lt_serve_request *r) LT_YIELDS {
  if (route_admit(r) && lt_serve_limits_take(r, LT_SERVE_SEAT_REQUEST)) {
    lt_serve_users_enter(r);
    route_handle(r);
    lt_serve_users_leave(r);
    lt_serve_limits_give_all(r);
  }
}

void lt_serve_routes_handle(void *serve, const lt_http_call *call, lt_http_answer *answer) {
  LT_AUTO_ARENA(arena, 2 * LT_GIB);
  lt_serve_request r = {.serve = serve, .call = call, .answer = answer, .arena = &arena};
  lt_telemetry *telemetry = r.serve->session->telemetry;
  lt_telemetry_request span = {.method = call->method, .path = call->path};
  r.w = lt_json_writer_on(&answer->body);
  uint64_t began_us = lt_clock_monotonic_us();
  answer->content_type = "application/json";
  lt_telemetry_begin_request(telemetry, lt_http_call_header(call, "traceparent"),
                             lt_http_call_header(call, "tracestate"), &span);
  r.trace = span.trace;
  routes_answer(&r);
  route_count(&r, began_us);
  span.route = r.route != NULL ? r.route->path : NULL;
  span.status = answer->status;
  lt_telemetry_end_request(telemetry, &span);
}
