#include "fakes/serve_world.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/sha256.h"
#include "io/loop_impl.h"
#include "store/store_events.h"

static const char world_config[] =
    "server:\n"
    "  hosts: [lathe.example]\n"
    "  origins: ['https://app.example']\n"
    "  proxy: {from: [unix, 10.0.0.0/8], userHeader: X-User, secret: " SERVE_WORLD_PROXY_SECRET
    "}\n"
    "  limits: {bodyBytes: 65536, requestsPerSecond: 1000000, addressRequestsPerSecond: 1000000}\n"
    "store: 'sqlite::memory:'\n"
    "sandbox: {timeoutMs: 200, memoryMb: 16}\n"
    "defaults: {mode: code, maxRounds: {classic: 2, code: 2, typescript: 2}}\n"
    "models: [{ref: normal, model: echo}]\n"
    "plugins: [{name: artifact}]\n"
    "tools: {policy: [{match: artifact.list, action: ask, reason: it is the world's rule}]}\n"
    "python: {path: /nonexistent/python3}\n"
    "deno: {path: /nonexistent/deno}\n"
    "typescript: {path: /nonexistent/tsc, check: false}\n";

static void world_check(bool is, const char *what, const lt_err *err) {
  if (!is) {
    fprintf(stderr, "serve_world: %s: %s\n", what, err != NULL ? lt_err_msg(err) : "failed");
    abort();
  }
}

/* --- The model ---------------------------------------------------------------------------------------------------- */
/* The last message's text. */
static lt_str model_told(lt_arena *arena, lt_str body) {
  lt_json_doc doc;
  lt_str text = LT_STR_NULL;
  if (lt_json_parse(arena, body, &doc, NULL) == LT_OK) {
    lt_json messages = lt_json_get(lt_json_root(&doc), "messages");
    uint32_t count = lt_json_count(messages);
    (void)lt_json_str(lt_json_get(lt_json_at(messages, count > 0 ? count - 1 : 0), "content"), arena, &text);
  }
  return text;
}

static void model_put_piece(lt_buf *out, lt_str text, const char *finish_reason) {
  lt_buf_addc(out, "data: ");
  lt_json_writer w = lt_json_writer_on(out);
  lt_json_begin_object(&w);
  lt_json_key(&w, "choices");
  lt_json_begin_array(&w);
  lt_json_begin_object(&w);
  lt_json_key(&w, "index");
  lt_json_put_int(&w, 0);
  lt_json_key(&w, "delta");
  lt_json_begin_object(&w);
  lt_json_key(&w, "content");
  lt_json_put_str(&w, text);
  lt_json_end_object(&w);
  if (finish_reason != NULL) {
    lt_json_key(&w, "finish_reason");
    lt_json_put_cstr(&w, finish_reason);
  }
  lt_json_end_object(&w);
  lt_json_end_array(&w);
  lt_json_end_object(&w);
  lt_buf_addc(out, "\n\n");
}

/* "refuse" is refused, everything else comes back. */
static void model_handle(void *arg, const lt_http_call *call, lt_http_answer *answer) {
  (void)arg;
  LT_AUTO_ARENA(arena, LT_GIB);
  lt_str told = model_told(&arena, call->body);
  if (lt_str_starts(told, LT_STR("refuse"))) {
    answer->status = 400;
    answer->content_type = "application/json";
    lt_buf_addc(&answer->body, "{\"error\":{\"message\":\"refused\"}}");
    return;
  }
  answer->content_type = "text/event-stream";
  model_put_piece(&answer->body, told, NULL);
  model_put_piece(&answer->body, LT_STR(""), "stop");
  lt_buf_addc(&answer->body, "data: [DONE]\n\n");
}

static void model_open(serve_world *world) {
  char url[64];
  lt_err err = LT_ERR_INIT;
  const lt_http_server_options options = {.handle = model_handle};
  world_check(lt_http_server_open(world->session.loop, &options, &world->model, &err) == LT_OK, "the model", &err);
  snprintf(url, sizeof url, "http://127.0.0.1:%u/v1", lt_http_server_port(world->model));
  setenv("OPENAI_BASE_URL", url, 1);
}

/* --- Prompts ------------------------------------------------------------------------------------------------------ */
static serve_world_prompt *world_find_prompt(serve_world *world, lt_str id) {
  for (size_t i = 0; i < SERVE_WORLD_PROMPTS; i++) {
    if (lt_str_eqc(id, world->prompts[i].id)) {
      return &world->prompts[i];
    }
  }
  return NULL;
}

static void world_on_prompt(void *arg, const lt_monitor_prompt *prompt) {
  serve_world *world = arg;
  serve_world_prompt *place = world_find_prompt(world, prompt->has_ended ? prompt->id : LT_STR(""));
  if (!prompt->has_ended) {
    world_check(place != NULL, "too many prompts", NULL);
    snprintf(place->user, sizeof place->user, "%.*s", LT_STR_ARG(prompt->user));
    snprintf(place->id, sizeof place->id, "%.*s", LT_STR_ARG(prompt->id));
  } else if (place != NULL) {
    place->id[0] = '\0';
  }
}

void serve_world_cancel(serve_world *world) {
  for (size_t i = 0; i < SERVE_WORLD_PROMPTS; i++) {
    const serve_world_prompt *prompt = &world->prompts[i];
    if (prompt->id[0] != '\0') {
      (void)lt_agent_stop(world->serve->agent, lt_str_of(prompt->user), lt_str_of(prompt->id));
    }
  }
}

/* --- The server --------------------------------------------------------------------------------------------------- */
static void world_add_token(serve_world *world) LT_YIELDS {
  lt_err err = LT_ERR_INIT;
  lt_sha256_hex hash = lt_sha256(LT_STR(SERVE_WORLD_TOKEN));
  world_check(lt_store_token_add(lt_toolbox_db(world->session.toolbox), lt_str_of(hash.text), LT_STR(SERVE_WORLD_OWNER),
                                 &err) == LT_OK,
              "the token", &err);
}

static void world_open_on_fiber(void *arg) {
  serve_world *world = arg;
  lt_err err = LT_ERR_INIT;
  char listen[sizeof world->socket + 8];
  snprintf(listen, sizeof listen, "unix:%s", world->socket);
  const lt_serve_options options = {.listen = listen};
  model_open(world);
  world_check(lt_session_open(&world->session, &err) == LT_OK, "the session", &err);
  lt_session_await(&world->session);
  world_add_token(world);
  world_check(lt_serve_open(&world->session, &options, &world->serve, &err) == LT_OK, "the server", &err);
  world->monitor = (lt_monitor){.next = world->session.monitor.next, .on_prompt = world_on_prompt, .arg = world};
  world->session.monitor.next = &world->monitor;
  world->is_open = true;
}

static void world_write_config(const char *path) {
  FILE *f = fopen(path, "w");
  world_check(
      f != NULL && fwrite(world_config, 1, sizeof world_config - 1, f) == sizeof world_config - 1 && fclose(f) == 0,
      path, NULL);
}

void serve_world_open(serve_world *world) {
  char config[96];
  lt_err err = LT_ERR_INIT;
  *world = (serve_world){.session = {.is_service = true}};
  snprintf(world->folder, sizeof world->folder, "/tmp/lathe-world-XXXXXX");
  world_check(mkdtemp(world->folder) != NULL, world->folder, NULL);
  snprintf(world->socket, sizeof world->socket, "%s/socket", world->folder);
  snprintf(config, sizeof config, "%s/lathe.yaml", world->folder);
  world_write_config(config);
  setenv("OPENAI_API_KEY", SERVE_WORLD_MODEL_KEY, 1);
  setenv("OPENAI_BASE_URL", "http://127.0.0.1:1/v1", 1);
  const lt_config_sources sources = {.config_file = config};
  world_check(lt_session_configure(&world->session, &sources, &err) == LT_OK, "the configuration", &err);
  unlink(config);
  world_check(lt_session_start(&world->session, &err) == LT_OK, "the session", &err);
  world_check(lt_loop_spawn(world->session.loop, world_open_on_fiber, world, &err) == LT_OK, "a fiber", &err);
  while (!world->is_open) {
    serve_world_turn(world);
  }
}

static void world_close_on_fiber(void *arg) {
  serve_world *world = arg;
  world->session.monitor.next = world->monitor.next;
  lt_serve_close(world->serve);
  lt_http_server_close(world->model);
  lt_session_close(&world->session);
}

void serve_world_close(serve_world *world) {
  if (world->is_open) {
    world->is_open = false;
    world_check(lt_loop_spawn(world->session.loop, world_close_on_fiber, world, NULL) == LT_OK, "a fiber", NULL);
    lt_loop_run(world->session.loop);
    lt_session_release(&world->session);
    rmdir(world->folder);
  }
}

void serve_world_turn(serve_world *world) {
  uv_run(lt_loop_uv(world->session.loop), UV_RUN_ONCE);
}

void serve_world_look(serve_world *world) {
  uv_run(lt_loop_uv(world->session.loop), UV_RUN_NOWAIT);
}

bool serve_world_is_calm(const serve_world *world) {
  const lt_loop *loop = world->session.loop;
  size_t running = 0, waiting = 0;
  lt_agent_count_prompts(world->serve->agent, &running, &waiting);
  return !lt_loop_has_work(&loop->home) && loop->uv.active_reqs.count == 0 && running + world->serve->background == 0;
}

bool serve_world_is_waiting(const serve_world *world) {
  size_t running = 0, waiting = 0;
  lt_agent_count_prompts(world->serve->agent, &running, &waiting);
  return waiting > 0;
}

bool serve_world_is_idle(const serve_world *world) {
  size_t running = 0, waiting = 0;
  lt_agent_count_prompts(world->serve->agent, &running, &waiting);
  return running + waiting + world->serve->background + lt_http_server_connections(world->serve->server) == 0;
}

unsigned serve_world_fibers(const serve_world *world) {
  return world->session.loop->fibers;
}
