#include "serve/serve_queue.h"

static bool queue_is_same(const lt_serve_place *a, const lt_serve_place *b) {
  return lt_str_eq(a->conversation, b->conversation) && lt_str_eq(a->user, b->user);
}

void lt_serve_queue_enter(lt_serve_place *place, const lt_serve_request *r, lt_str conversation) {
  lt_serve_place **last = &r->serve->queue;
  *place = (lt_serve_place){.serve = r->serve, .user = r->user, .conversation = conversation};
  lt_wait_init(&place->wait, r->serve->session->loop);
  while (*last != NULL) {
    last = &(*last)->next;
  }
  *last = place;
}

static bool queue_is_first(const lt_serve_place *place) {
  const lt_serve_place *one = place->serve->queue;
  while (!queue_is_same(one, place)) {
    one = one->next;
  }
  return one == place;
}

lt_status lt_serve_queue_await_turn(lt_serve_place *place, lt_cancel *cancel) {
  lt_cancel_node node;
  lt_status status = LT_OK;
  lt_cancel_add(cancel, &node, &place->wait);
  while (status == LT_OK && !queue_is_first(place)) {
    status = lt_wait_on(&place->wait, UINT64_MAX);
  }
  lt_cancel_remove(cancel, &node);
  return status;
}

void lt_serve_queue_leave(lt_serve_place *place) {
  lt_serve_place **at = &place->serve->queue;
  while (*at != place) {
    at = &(*at)->next;
  }
  *at = place->next;
  for (lt_serve_place *one = place->serve->queue; one != NULL; one = one->next) {
    if (queue_is_same(one, place)) {
      lt_wait_wake(&one->wait, LT_OK);
    }
  }
}

size_t lt_serve_queue_count(const lt_serve *serve) {
  size_t count = 0;
  for (const lt_serve_place *one = serve->queue; one != NULL; one = one->next) {
    count++;
  }
  return count;
}
