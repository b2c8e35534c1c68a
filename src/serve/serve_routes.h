/* The table of routes: everything that a request can reach. Dispatch, 404, 405 with Allow, the checks of bodies and
 * query parameters, and /openapi.json come from its rows. Internal to serve/.
 */
#ifndef LT_SERVE_SERVE_ROUTES_H
#define LT_SERVE_SERVE_ROUTES_H

#include "serve/serve_request.h"

enum {
  LT_SERVE_IS_PUBLIC = 1,     /* no token is needed, and no user is known */
  LT_SERVE_BODY_OPTIONAL = 2, /* an empty body counts as {} */
  LT_SERVE_HAS_OWN_TYPE = 4,  /* the handler sets the content type */
  LT_SERVE_IS_CACHED = 8,     /* holds nothing of a user: the handler says what caches may do */
  LT_SERVE_MAY_WAIT = 16,     /* 202: it has not ended */
  LT_SERVE_MAY_CONFLICT = 32, /* 409 */
  LT_SERVE_CAN_STREAM = 64,   /* with Accept: text/event-stream the answer is a stream of events */
};

typedef struct lt_serve_parameter {
  const char *name;
  const char *schema; /* JSON */
  const char *doc;
} lt_serve_parameter;

typedef struct lt_serve_route {
  const char *method;
  const char *path; /* with at most one {id} */
  const char *name; /* the operation's id for generated clients */
  const char *doc;  /* one line */
  unsigned flags;
  const char *body;                  /* the JSON Schema of an object; NULL: none is read */
  const char *answer;                /* the JSON Schema of the answer; NULL: any JSON */
  const char *later;                 /* the same of a 202; NULL: `answer` */
  const char *type;                  /* of the answer with LT_SERVE_HAS_OWN_TYPE; NULL: of many types */
  const lt_serve_parameter *query;   /* {NULL} last; NULL: none */
  const lt_serve_parameter *headers; /* that the handler reads, likewise: for the description */
  lt_status (*handle)(lt_serve_request *request, lt_err *err) LT_YIELDS;
} lt_serve_route;

/* One table for each file of routes, {NULL} last: route_NAME.c defines lt_route_NAME_rows. */
#define LT_SERVE_ROUTES(ROW)          ROW(prompts) ROW(conversations) ROW(programs) ROW(tools) ROW(about) ROW(page)
#define LT_SERVE_DECLARE_ROUTES(name) extern const lt_serve_route lt_route_##name##_rows[];
LT_SERVE_ROUTES(LT_SERVE_DECLARE_ROUTES)

/* The routes by index; NULL after the last one. */
const lt_serve_route *lt_serve_routes_at(size_t i);

/* Compiles the schemas of all bodies: lt_serve.bodies. Errors: LT_E_NOMEM. The caller calls lt_serve_routes_close, also
 * after an error. */
lt_status lt_serve_routes_open(lt_serve *serve, lt_err *err);
void lt_serve_routes_close(lt_serve *serve);

/* Decides on a request's head: the host, the origin, the path, the method. False: `answer` says why not. */
bool lt_serve_routes_admit(void *serve, const lt_http_call *call, lt_http_answer *answer);
/* Carries out a request. LT_YIELDS. */
void lt_serve_routes_handle(void *serve, const lt_http_call *call, lt_http_answer *answer) LT_YIELDS;

/* Appends the description of all routes: an OpenAPI 3.1 document. */
void lt_serve_openapi_put(lt_json_writer *w);

#endif
