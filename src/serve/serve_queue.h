/* Requests that wait until their conversation is free, in the order in which they came. Internal to serve/.
 *
 * A place is in the waiting handler's frame. Nothing is stored: a request that waits has no answer yet, and its client
 * knows that it was not taken when the server ends.
 */
#ifndef LT_SERVE_SERVE_QUEUE_H
#define LT_SERVE_SERVE_QUEUE_H

#include "serve/serve_request.h"

typedef struct lt_serve_place {
  struct lt_serve_place *next;
  lt_serve *serve;
  lt_str user, conversation;
  lt_wait wait;
} lt_serve_place;

/* Takes the last place. Borrows the request's texts. */
void lt_serve_queue_enter(lt_serve_place *place, const lt_serve_request *request, lt_str conversation);
/* Waits until no earlier request wants the same conversation. LT_YIELDS. Errors: what the cancel says. */
lt_status lt_serve_queue_await_turn(lt_serve_place *place, lt_cancel *cancel) LT_YIELDS;
/* How many requests have a place. */
size_t lt_serve_queue_count(const lt_serve *serve);
/* Gives the place up; the next one has its turn. */
void lt_serve_queue_leave(lt_serve_place *place);

#endif
