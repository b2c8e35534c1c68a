#include "serve/serve_limits.h"

#include <string.h>

#include "base/mem.h"
#include "base/rate.h"
#include "io/open_files.h"
#include "serve/serve_proxy.h"

enum { BUCKETS = 1024, KINDS = 3 };

typedef enum guest_kind {
  GUEST_USER,
  GUEST_LOCAL,  /* the user of a server without tokens */
  GUEST_ADDRESS /* ... from which no user is known */
} guest_kind;

typedef struct lt_serve_guest {
  struct lt_serve_guest *next; /* in its bucket */
  guest_kind kind;
  lt_rate rate;
  size_t taken[LT_SERVE_SEATS];
  size_t name_bytes;
  char name[];
} lt_serve_guest;

/* What guests of one kind may use. 0 in a second: any number. */
typedef struct guest_bounds {
  unsigned per_second, burst;
  size_t seats[LT_SERVE_SEATS];
} guest_bounds;

struct lt_serve_limits {
  guest_bounds bounds[KINDS];
  size_t taken[LT_SERVE_SEATS]; /* of all guests */
  size_t guest_count;
  lt_serve_guest *buckets[BUCKETS];
  lt_serve_guest *others; /* all for whom there is no room here: they share one rate */
};

/* --- What the configuration says ---------------------------------------------------------------------------------- */
static unsigned bound_or(int64_t configured, unsigned standard) {
  return configured > 0 ? (unsigned)configured : standard;
}

static void bounds_set_rate(guest_bounds *bounds, int64_t per_second, int64_t burst, unsigned standard,
                            unsigned bursts) {
  bounds->per_second = bound_or(per_second, standard);
  bounds->burst = bound_or(burst, bursts * bounds->per_second);
}

static void bounds_set_seats(guest_bounds *bounds, const lt_config_limits *c, bool is_own) {
  bounds->seats[LT_SERVE_SEAT_REQUEST] = bound_or(c->requests, is_own ? UINT32_MAX : LT_SERVE_USER_REQUESTS);
  bounds->seats[LT_SERVE_SEAT_PROMPT] = bound_or(c->prompts, is_own ? UINT32_MAX : LT_SERVE_USER_PROMPTS);
  bounds->seats[LT_SERVE_SEAT_READER] = bound_or(c->readers, is_own ? LT_SERVE_READERS_MAX : LT_SERVE_USER_READERS);
  bounds->seats[LT_SERVE_SEAT_QUEUED] = bound_or(c->queued, is_own ? LT_SERVE_QUEUED_MAX : LT_SERVE_USER_QUEUED);
}

static void limits_configure(lt_serve_limits *limits, const lt_config_limits *c) {
  guest_bounds *user = &limits->bounds[GUEST_USER], *local = &limits->bounds[GUEST_LOCAL];
  guest_bounds *address = &limits->bounds[GUEST_ADDRESS];
  bounds_set_rate(user, c->requests_per_second, c->requests_burst, LT_SERVE_USER_RATE, 2);
  bounds_set_rate(local, c->requests_per_second, c->requests_burst, 0, 2);
  bounds_set_rate(address, c->address_requests_per_second, c->address_requests_burst, LT_SERVE_ADDRESS_RATE, 5);
  bounds_set_seats(user, c, false);
  bounds_set_seats(local, c, true);
  for (size_t i = 0; i < LT_SERVE_SEATS; i++) {
    address->seats[i] = UINT32_MAX; /* addresses get nothing that lasts */
  }
}

/* --- Opening, closing --------------------------------------------------------------------------------------------- */
static lt_serve_guest *guest_new(guest_kind kind, lt_str name) {
  lt_serve_guest *guest = lt_mem_zalloc(1, sizeof *guest + name.n);
  if (guest != NULL) {
    guest->kind = kind;
    guest->name_bytes = name.n;
    memcpy(guest->name, name.n > 0 ? name.p : "", name.n);
  }
  return guest;
}

lt_status lt_serve_limits_open(lt_serve *serve, lt_err *err) {
  lt_serve_limits *limits = lt_mem_zalloc(1, sizeof *limits);
  lt_serve_guest *others = guest_new(GUEST_ADDRESS, LT_STR_NULL);
  if (limits == NULL || others == NULL) {
    lt_mem_free(limits);
    lt_mem_free(others);
    return lt_fail(err, LT_E_NOMEM, "out of memory");
  }
  limits->others = others;
  limits_configure(limits, &serve->session->config.server.limits);
  serve->limits = limits;
  return LT_OK;
}

void lt_serve_limits_reload(lt_serve *serve) {
  limits_configure(serve->limits, &serve->session->config.server.limits);
}

/* Removes guests from a bucket; `is_all` false: only those that would be the same if they came anew. */
static void limits_sweep(lt_serve_limits *limits, size_t bucket, uint64_t now_ms, bool is_all) {
  lt_serve_guest **place = &limits->buckets[bucket];
  while (*place != NULL) {
    lt_serve_guest *guest = *place;
    size_t held = 0;
    for (size_t i = 0; i < LT_SERVE_SEATS; i++) {
      held += guest->taken[i];
    }
    if (is_all || (held == 0 && lt_rate_is_full(&guest->rate, now_ms))) {
      *place = guest->next;
      lt_mem_free(guest);
      limits->guest_count--;
    } else {
      place = &guest->next;
    }
  }
}

void lt_serve_limits_close(lt_serve_limits *limits) {
  if (limits != NULL) {
    for (size_t i = 0; i < BUCKETS; i++) {
      limits_sweep(limits, i, 0, true);
    }
    lt_mem_free(limits->others);
    lt_mem_free(limits);
  }
}

/* --- Connections -------------------------------------------------------------------------------------------------- */
unsigned lt_serve_limits_connections(lt_serve *serve) {
  unsigned wanted = (unsigned)serve->session->config.server.limits.connections;
  uint64_t files = lt_open_files_now();
  unsigned possible = (unsigned)(files / 2 < wanted ? files / 2 : wanted); /* as io/http_server.h has it */
  if (possible == wanted || (wanted == LT_SERVE_CONNECTIONS && possible >= LT_SERVE_CONNECTIONS_FEW)) {
    return possible;
  }
  lt_report_warning(&serve->session->report,
                    "%u connections at once are possible, not %u (server.limits.connections): this process may open "
                    "%llu files only; raise that (`ulimit -Hn`, LimitNOFILE= of systemd) to %u",
                    possible, wanted, (unsigned long long)files, 2 * wanted);
  return possible;
}

unsigned lt_serve_limits_connections_of(void *arg, lt_str peer) {
  const lt_serve *serve = arg;
  int64_t configured = serve->session->config.server.limits.connections_per_address;
  bool is_exempt = lt_serve_proxy_is_from(&serve->proxy, peer) || (configured == 0 && lt_address_is_local(peer));
  return is_exempt ? UINT32_MAX : bound_or(configured, LT_SERVE_ADDRESS_CONNECTIONS);
}

/* --- Guests ------------------------------------------------------------------------------------------------------- */
static size_t guest_bucket(guest_kind kind, lt_str name) {
  return (lt_str_hash(name) ^ (uint64_t)kind) % BUCKETS;
}

/* A bucket is swept whenever it gets a guest, so that those who are gone do not stay. */
static lt_serve_guest *limits_find(lt_serve_limits *limits, guest_kind kind, lt_str name, uint64_t now_ms) {
  size_t bucket = guest_bucket(kind, name);
  for (lt_serve_guest *guest = limits->buckets[bucket]; guest != NULL; guest = guest->next) {
    if (guest->kind == kind && lt_str_eq(lt_str_from(guest->name, guest->name_bytes), name)) {
      return guest;
    }
  }
  limits_sweep(limits, bucket, now_ms, false);
  lt_serve_guest *guest = limits->guest_count < LT_SERVE_GUESTS_MAX ? guest_new(kind, name) : NULL;
  if (guest == NULL) {
    return limits->others;
  }
  guest->next = limits->buckets[bucket];
  limits->buckets[bucket] = guest;
  limits->guest_count++;
  return guest;
}

static lt_serve_guest *limits_guest_of(lt_serve_request *r) {
  char room[LT_ADDRESS_BYTES];
  uint64_t now_ms = lt_loop_now_ms(r->serve->session->loop);
  if (r->is_known) {
    return limits_find(r->serve->limits, r->is_own ? GUEST_LOCAL : GUEST_USER, r->user, now_ms);
  }
  lt_str address = lt_serve_proxy_client(&r->serve->proxy, r->call);
  bool is_bounded = r->serve->session->config.server.limits.address_requests_per_second > 0;
  if (lt_address_is_local(address) && !is_bounded) {
    return NULL;
  }
  return limits_find(r->serve->limits, GUEST_ADDRESS, lt_address_network(address, room), now_ms);
}

/* --- Refusing ----------------------------------------------------------------------------------------------------- */
static void limits_refuse(lt_serve_request *r, int status, uint64_t wait_ms, const char *what, const char *key) {
  uint64_t seconds = (wait_ms + 999) / 1000;
  lt_serve_request_refuse(r, status, status == 429 ? "limited" : "busy",
                          "%s (server.limits.%s): try again in %llu second%s", what, key, (unsigned long long)seconds,
                          seconds == 1 ? "" : "s");
  lt_http_answer_header(r->answer, "Retry-After", lt_arena_printf(r->arena, "%llu", (unsigned long long)seconds));
}

/* --- Rates -------------------------------------------------------------------------------------------------------- */
bool lt_serve_limits_charge(lt_serve_request *r) {
  uint64_t wait_ms = 0;
  lt_serve_guest *guest = limits_guest_of(r);
  if (guest == NULL) {
    return true;
  }
  const guest_bounds *bounds = &r->serve->limits->bounds[guest->kind];
  bool is_known = guest->kind != GUEST_ADDRESS;
  if (bounds->per_second == 0 || lt_rate_take(&guest->rate, lt_loop_now_ms(r->serve->session->loop), bounds->per_second,
                                              bounds->burst, &wait_ms)) {
    return true;
  }
  limits_refuse(r, 429, wait_ms, is_known ? "too many requests of this user" : "too many requests of this address",
                is_known ? "requestsPerSecond" : "addressRequestsPerSecond");
  return false;
}

/* --- Seats -------------------------------------------------------------------------------------------------------- */
typedef struct seat_row {
  const char *key, *what;
  size_t all; /* of all guests */
} seat_row;

static const seat_row seat_rows[LT_SERVE_SEATS] = {
    [LT_SERVE_SEAT_REQUEST] = {"requests", "too many requests of this user at once", SIZE_MAX},
    [LT_SERVE_SEAT_READER] = {"readers", "too many streams of events at once", LT_SERVE_READERS_MAX},
    [LT_SERVE_SEAT_QUEUED] = {"queued", "too many requests wait for a conversation", LT_SERVE_QUEUED_MAX},
    [LT_SERVE_SEAT_PROMPT] = {"prompts", "too many prompts have not ended", SIZE_MAX},
};

static size_t seat_count(const lt_serve_request *r, lt_serve_seat seat) {
  size_t running = seat == LT_SERVE_SEAT_PROMPT ? lt_agent_count(r->serve->agent, r->user) : 0;
  return r->guest->taken[seat] + running;
}

bool lt_serve_limits_take(lt_serve_request *r, lt_serve_seat seat) {
  lt_serve_limits *limits = r->serve->limits;
  const seat_row *row = &seat_rows[seat];
  if (r->guest == NULL) {
    r->guest = limits_guest_of(r);
  }
  if (r->guest == NULL || (r->seats & 1U << seat) != 0) {
    return true;
  }
  bool is_over = seat_count(r, seat) >= limits->bounds[r->guest->kind].seats[seat];
  if (is_over || limits->taken[seat] >= row->all) {
    limits_refuse(r, is_over ? 429 : 503, 1000, row->what, row->key);
    return false;
  }
  r->guest->taken[seat]++;
  limits->taken[seat]++;
  r->seats |= 1U << seat;
  return true;
}

void lt_serve_limits_give(lt_serve_request *r, lt_serve_seat seat) {
  if ((r->seats & 1U << seat) != 0) {
    r->seats &= ~(1U << seat);
    r->guest->taken[seat]--;
    r->serve->limits->taken[seat]--;
  }
}

void lt_serve_limits_give_all(lt_serve_request *r) {
  for (unsigned seat = 0; seat < LT_SERVE_SEATS; seat++) {
    lt_serve_limits_give(r, (lt_serve_seat)seat);
  }
}
