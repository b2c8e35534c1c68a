/* A real `lathe serve` for tests in one process: on a unix socket, with a store in memory, artifacts as its tools, a
 * proxy that names the users, and a model that answers with what it was told. Its loop is turned by the test.
 *
 * Nothing is outside of the process but the model's port on loopback. Failures of the world itself abort.
 */
#ifndef FAKES_SERVE_WORLD_H
#define FAKES_SERVE_WORLD_H

#include "io/http_server.h"
#include "serve/serve_state.h"

#define SERVE_WORLD_PROXY_SECRET "the-secret-of-the-worlds-proxy"
#define SERVE_WORLD_MODEL_KEY    "the-key-of-the-worlds-model"
#define SERVE_WORLD_TOKEN        "the-token-of-the-worlds-owner"
#define SERVE_WORLD_OWNER        "owner" /* whose token it is */

enum { SERVE_WORLD_PROMPTS = 256 };

/* A prompt that has begun and has not ended. */
typedef struct serve_world_prompt {
  char user[LT_SERVE_USER_BYTES + 1];
  char id[LT_STORE_ID_BYTES + 1]; /* "": the place is free */
} serve_world_prompt;

typedef struct serve_world {
  lt_session session;
  lt_serve *serve;
  lt_http_server *model;
  lt_monitor monitor; /* notes the prompts */
  serve_world_prompt prompts[SERVE_WORLD_PROMPTS];
  char folder[64], socket[96];
  bool is_open;
} serve_world;

void serve_world_open(serve_world *world);
void serve_world_close(serve_world *world);
/* Turns the loop once: waits until something happens. */
void serve_world_turn(serve_world *world);
/* The same, but does not wait. */
void serve_world_look(serve_world *world);
/* Whether nothing goes on: what there is waits for somebody, or for a time. */
bool serve_world_is_calm(const serve_world *world);
/* Whether a prompt waits for a decision. */
bool serve_world_is_waiting(const serve_world *world);
/* Cancels all prompts. */
void serve_world_cancel(serve_world *world);
/* Whether no prompt runs or waits and no client is connected. */
bool serve_world_is_idle(const serve_world *world);
/* Fibers that have not ended. */
unsigned serve_world_fibers(const serve_world *world);

#endif
