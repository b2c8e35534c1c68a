#include "serve/serve_events.h"

#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "serve/serve_metrics.h"
#include "serve/serve_limits.h"
#include "store/store_events.h"

/* An event on its way to the store and to the readers. */
typedef struct serve_event {
  struct serve_event *next;
  lt_event_row row; /* texts follow the struct */
  uint64_t change;  /* of an output (lt_agent_shown); 0: none */
  bool is_kept;     /* false: a piece of text, without a number */
  bool ends_prompt;
  uint64_t taken_us;
  size_t bytes;
  char texts[];
} serve_event;

struct lt_serve_events {
  lt_serve *serve;
  serve_event *first, **last_place; /* the queue */
  serve_event *held;                /* of prompts that the store does not know so far, in order */
  size_t queued, queued_bytes;
  int64_t last;                                          /* number of the last event that the readers know of */
  lt_serve_reader *all_readers;                          /* of all events of their user */
  lt_serve_reader *readers_of[LT_SERVE_READERS_BUCKETS]; /* the others, by the hash of their subject */
  size_t reader_count;
  lt_wait wake;
  lt_wait done;
  bool is_closing;
  bool is_running; /* the fiber that stores */
  bool is_failing; /* the last events could not be stored */
};

/* --- Taking ------------------------------------------------------------------------------------------------------- */
static lt_str event_place(char **at, lt_str text) {
  lt_str copy = lt_str_from(*at, text.n);
  memcpy(*at, text.p, text.n);
  *at += text.n;
  return copy;
}

/* A line break between the parts of a JSON text would end a line of the stream; inside of its strings there is none. */
static void event_join_lines(lt_str text) {
  char *p = (char *)(uintptr_t)text.p;
  for (size_t i = 0; i < text.n; i++) {
    p[i] = p[i] == '\n' || p[i] == '\r' ? ' ' : p[i];
  }
}

/* NULL: no memory. */
static serve_event *event_new(lt_str user, lt_str subject, lt_str name, lt_str data) {
  size_t bytes = sizeof(serve_event) + user.n + subject.n + name.n + data.n;
  serve_event *event = lt_mem_alloc(bytes);
  if (event == NULL) {
    return NULL;
  }
  *event = (serve_event){
      .bytes = bytes, .is_kept = !lt_str_eqc(name, "prompt.stream"), .ends_prompt = lt_store_event_is_end(name)};
  char *at = event->texts;
  event->row.user = event_place(&at, user);
  event->row.subject = event_place(&at, subject);
  event->row.name = event_place(&at, name);
  event->row.data = event_place(&at, data);
  event_join_lines(event->row.data);
  return event;
}

/* The id that an event is about, and the number of the output's change. */
static void event_read_data(lt_str data, lt_arena *arena, lt_str *ret_subject, uint64_t *ret_change) {
  lt_json_doc doc;
  int64_t change = 0;
  if (lt_json_parse(arena, data, &doc, NULL) == LT_OK) {
    lt_json root = lt_json_root(&doc);
    if (!lt_json_str(lt_json_get(root, "promptId"), arena, ret_subject)) {
      (void)lt_json_str(lt_json_get(root, "conversationId"), arena, ret_subject);
    }
    (void)lt_json_int(lt_json_get(root, "change"), &change);
  }
  *ret_change = change > 0 ? (uint64_t)change : 0;
}

static void events_queue(lt_serve_events *events, serve_event *event) {
  event->next = NULL;
  *events->last_place = event;
  events->last_place = &event->next;
  events->queued++;
  events->queued_bytes += event->bytes;
  lt_wait_wake(&events->wake, LT_OK);
}

lt_serve_events_counts lt_serve_events_count(const lt_serve_events *events) {
  return (lt_serve_events_counts){
      .queued = events->queued, .queued_bytes = events->queued_bytes, .readers = events->reader_count};
}

static void events_hold(lt_serve_events *events, serve_event *event) {
  serve_event **place = &events->held;
  while (*place != NULL) {
    place = &(*place)->next;
  }
  *place = event;
}

static serve_event *events_take_held(lt_serve_events *events, lt_str subject) {
  serve_event **place = &events->held;
  while (*place != NULL && !lt_str_eq((*place)->row.subject, subject)) {
    place = &(*place)->next;
  }
  serve_event *event = *place;
  *place = event != NULL ? event->next : NULL;
  return event;
}

void lt_serve_events_release(lt_serve_events *events, lt_str prompt) {
  serve_event *event;
  while ((event = events_take_held(events, prompt)) != NULL) {
    events_queue(events, event);
  }
}

/* The prompt has ended, and left nothing. */
static void events_forget(lt_serve_events *events, lt_str prompt) {
  serve_event *event;
  while ((event = events_take_held(events, prompt)) != NULL) {
    lt_mem_free(event);
  }
}

bool lt_serve_events_take(lt_serve_events *events, lt_str user, const char *name, lt_str data) {
  LT_AUTO_ARENA(arena, LT_CALL_INDEX_MAX_BYTES);
  lt_str subject = LT_STR("");
  uint64_t change;
  event_read_data(data, &arena, &subject, &change);
  bool is_stored = events->serve->agent == NULL || lt_agent_is_stored(events->serve->agent, subject);
  if (!is_stored && lt_store_event_is_end(lt_str_of(name))) {
    events_forget(events, subject);
    return false;
  }
  serve_event *event = event_new(user, subject, lt_str_of(name), data);
  if (event == NULL || (!event->is_kept && events->queued_bytes > LT_SERVE_QUEUE_BYTES)) {
    lt_mem_free(event);
    return is_stored;
  }
  event->change = change;
  event->taken_us = lt_clock_monotonic_us();
  if (is_stored) {
    lt_serve_events_release(events, subject);
    events_queue(events, event);
  } else {
    events_hold(events, event);
  }
  return is_stored;
}

/* --- Sending ------------------------------------------------------------------------------------------------------ */
/* One event of the stream (HTML, "Server-sent events"): {"event", "data"} as its data. */
static void event_put(lt_buf *out, int64_t id, lt_str name, lt_str data) {
  if (id > 0) {
    lt_buf_printf(out, "id: %lld\n", (long long)id);
  }
  lt_buf_addc(out, "data: ");
  lt_json_writer w = lt_json_writer_on(out);
  lt_json_begin_object(&w);
  lt_json_key(&w, "event");
  lt_json_put_str(&w, name);
  lt_json_key(&w, "data");
  lt_json_put_raw(&w, data);
  lt_json_end_object(&w);
  lt_buf_addc(out, "\n\n");
}

/* Until the answer begins, what is sent to the reader is kept with it. */
static void reader_send(lt_serve_reader *reader, lt_str text) {
  if (reader->status == LT_OK && reader->is_begun) {
    reader->status = lt_http_call_send(reader->request->call, text, NULL);
  } else if (reader->status == LT_OK) {
    lt_buf_add(&reader->held, text);
    reader->status = reader->held.status;
  }
}

static size_t reader_unsent(const lt_serve_reader *reader) {
  return reader->is_begun ? lt_http_call_unsent(reader->request->call) : reader->held.n;
}

/* `text` is the event as event_put writes it. */
static void reader_send_event(lt_serve_reader *reader, int64_t id, lt_str name, const lt_buf *text) {
  reader->status = lt_status_first(reader->status, text->status);
  reader_send(reader, lt_buf_view(text));
  reader->last = id > 0 ? id : reader->last;
  reader->has_ended |= reader->ends_with_prompt && lt_store_event_is_end(name);
}

static bool reader_wants(const lt_serve_reader *reader, const serve_event *event) {
  bool is_new = !event->is_kept || event->row.id > reader->last;
  return !reader->is_behind && is_new && lt_str_eq(reader->request->user, event->row.user) &&
         (reader->subject[0] == '\0' || lt_str_eqc(event->row.subject, reader->subject));
}

/* `text` is empty until the first reader wants the event. */
static void events_send_to(lt_serve_reader *readers, const serve_event *event, lt_buf *text) {
  const lt_event_row *row = &event->row;
  for (lt_serve_reader *reader = readers; reader != NULL; reader = reader->next) {
    if (!reader_wants(reader, event)) {
      continue;
    }
    if (reader_unsent(reader) > LT_SERVE_READER_BYTES) {
      reader->is_behind = true;
    } else {
      if (text->n == 0) {
        event_put(text, row->id, row->name, row->data);
      }
      reader_send_event(reader, row->id, row->name, text);
    }
    if (reader->is_behind || reader->has_ended || reader->status != LT_OK) {
      lt_wait_wake(&reader->wait, LT_OK);
    }
  }
}

static lt_serve_reader **events_readers_of(lt_serve_events *events, lt_str subject) {
  return subject.n == 0 ? &events->all_readers : &events->readers_of[lt_str_hash(subject) % LT_SERVE_READERS_BUCKETS];
}

static void events_send(lt_serve_events *events, const serve_event *event) {
  LT_AUTO_BUF(text, 2 * LT_PROMPT_MEMORY_BYTES);
  events_send_to(events->all_readers, event, &text);
  if (event->row.subject.n > 0) {
    events_send_to(*events_readers_of(events, event->row.subject), event, &text);
  }
}

/* --- Storing ------------------------------------------------------------------------------------------------------ */
static size_t events_count_kept(const serve_event *batch) {
  size_t count = 0;
  for (; batch != NULL; batch = batch->next) {
    count += batch->is_kept;
  }
  return count;
}

/* An event that cannot be stored is sent without a number: the prompt itself has been stored. */
static void events_store(lt_serve_events *events, serve_event *batch) LT_YIELDS {
  size_t count = events_count_kept(batch), n = 0;
  lt_event_row *rows = lt_mem_zalloc(count + 1, sizeof *rows);
  LT_ERR_VAR(err);
  lt_status status = rows != NULL ? LT_OK : lt_fail(&err, LT_E_NOMEM, "no memory for events");
  for (serve_event *event = batch; status == LT_OK && event != NULL; event = event->next) {
    if (event->is_kept) {
      rows[n++] = event->row;
    }
  }
  status = status == LT_OK ? lt_store_events_put(lt_serve_store(events->serve), rows, n, &err) : status;
  events->is_failing = status != LT_OK;
  if (events->is_failing) {
    lt_report_warning(&events->serve->session->report,
                      "events could not be stored, and readers who come later miss them: %s", lt_err_msg(&err));
  }
  n = 0;
  for (serve_event *event = batch; status == LT_OK && event != NULL; event = event->next) {
    event->row.id = event->is_kept ? rows[n++].id : 0;
  }
  lt_mem_free(rows);
}

/* The agent may have ended already. */
static void events_tell_shown(const lt_serve *serve, const serve_event *event) {
  if (serve->agent != NULL) {
    lt_agent_shown(serve->agent, event->row.subject, event->change);
  } else {
    (void)lt_store_prompt_set_shown(lt_serve_store(serve), event->row.subject, event->change, NULL);
  }
}

/* What is stored has reached its readers, as far as the agent is concerned: the next process repeats the others. */
static void events_finish(lt_serve_events *events, serve_event *batch) {
  while (batch != NULL) {
    serve_event *event = batch;
    batch = event->next;
    events_send(events, event);
    events->last = event->row.id > events->last ? event->row.id : events->last;
    if (event->change > 0 && event->row.id > 0) {
      events_tell_shown(events->serve, event);
    }
    lt_serve_metrics_take_event(events->serve->metrics, lt_clock_monotonic_us() - event->taken_us);
    events->queued--;
    events->queued_bytes -= event->bytes;
    lt_mem_free(event);
  }
}

static void events_on_fiber(void *arg) {
  lt_serve_events *events = arg;
  while (events->first != NULL || !events->is_closing) {
    if (events->first == NULL) {
      (void)lt_wait_on(&events->wake, UINT64_MAX);
      continue;
    }
    serve_event *batch = events->first;
    events->first = NULL;
    events->last_place = &events->first;
    if (events_count_kept(batch) > 0) {
      events_store(events, batch);
    }
    events_finish(events, batch);
  }
  events->is_running = false;
  lt_wait_wake(&events->done, LT_OK);
}

/* --- Ends that nobody has told ------------------------------------------------------------------------------------ */
static void unended_put_end(lt_json prompt, lt_arena *arena, lt_buf *out) {
  lt_json_writer w = lt_json_writer_on(out);
  lt_str state = LT_STR("");
  (void)lt_json_str(lt_json_get(prompt, "state"), arena, &state);
  lt_json_begin_object(&w);
  lt_json_key(&w, "promptId");
  lt_json_put_raw(&w, lt_json_text(lt_json_get(prompt, "id")));
  static const char *const members[] = {"output", "usage", "incomplete", "error"};
  for (size_t i = 0; i < sizeof members / sizeof members[0]; i++) {
    bool is_of_completed = i < 3, is_completed = lt_str_eqc(state, "completed");
    if (lt_json_exists(lt_json_get(prompt, members[i])) && is_of_completed == is_completed) {
      lt_json_key(&w, members[i]);
      lt_json_put_raw(&w, lt_json_text(lt_json_get(prompt, members[i])));
    }
  }
  lt_json_end_object(&w);
}

/* The end's event of a prompt that ended just before its process was killed, or in another process. */
static void unended_tell(lt_serve_events *events, lt_str user, lt_str id) LT_YIELDS {
  lt_json_doc doc;
  LT_AUTO_ARENA(arena, LT_CALL_INDEX_MAX_BYTES);
  LT_AUTO_BUF(text, LT_PROMPT_MEMORY_BYTES);
  LT_AUTO_BUF(data, LT_PROMPT_MEMORY_BYTES);
  if (lt_store_prompt_get(lt_serve_store(events->serve), user, id, &text, NULL) != LT_OK ||
      lt_json_parse(&arena, lt_buf_view(&text), &doc, NULL) != LT_OK) {
    return;
  }
  lt_json state = lt_json_get(lt_json_root(&doc), "state");
  const char *name = lt_json_str_eq(state, LT_STR("completed"))   ? "prompt.completed"
                     : lt_json_str_eq(state, LT_STR("cancelled")) ? "prompt.cancelled"
                                                                  : "prompt.error";
  unended_put_end(lt_json_root(&doc), &arena, &data);
  if (data.status == LT_OK) {
    (void)lt_serve_events_take(events, user, name, lt_buf_view(&data));
  }
}

/* While events cannot be stored, or many wait, the ends may be among those: nothing is told twice. */
lt_status lt_serve_events_tell_unended(lt_serve_events *events, lt_err *err) {
  lt_json_doc doc;
  lt_str user, id;
  if (events->is_failing || events->queued > LT_EVENTS_READ) {
    return LT_OK;
  }
  LT_AUTO_ARENA(arena, LT_CALL_INDEX_MAX_BYTES);
  LT_AUTO_BUF(list, LT_JSON_MAX_BYTES);
  LT_TRY(lt_store_events_unended(lt_serve_store(events->serve), &list, err));
  LT_TRY(lt_json_parse(&arena, lt_buf_view(&list), &doc, err));
  for (lt_json_iter it = lt_json_each(lt_json_root(&doc)); lt_json_next(&it);) {
    if (lt_json_str(lt_json_get(it.value, "userId"), &arena, &user) &&
        lt_json_str(lt_json_get(it.value, "id"), &arena, &id)) {
      unended_tell(events, user, id);
    }
  }
  return LT_OK;
}

/* --- Opening and closing ------------------------------------------------------------------------------------------ */
static lt_status events_begin(lt_serve_events *events, lt_err *err) LT_YIELDS {
  LT_TRY(lt_store_events_last(lt_serve_store(events->serve), &events->last, err));
  LT_TRY(lt_loop_spawn(events->serve->session->loop, events_on_fiber, events, err));
  events->is_running = true;
  return LT_OK;
}

lt_status lt_serve_events_open(lt_serve *serve, lt_serve_events **ret_events, lt_err *err) {
  lt_serve_events *events = lt_mem_zalloc(1, sizeof *events);
  if (events == NULL) {
    return lt_fail(err, LT_E_NOMEM, "out of memory");
  }
  events->serve = serve;
  events->last_place = &events->first;
  lt_wait_init(&events->wake, serve->session->loop);
  lt_wait_init(&events->done, serve->session->loop);
  lt_status status = events_begin(events, err);
  if (status != LT_OK) {
    lt_serve_events_close(events);
    return status;
  }
  *ret_events = events;
  return LT_OK;
}

void lt_serve_events_close(lt_serve_events *events) {
  if (events == NULL) {
    return;
  }
  events->is_closing = true;
  lt_wait_wake(&events->wake, LT_OK);
  while (events->is_running) {
    (void)lt_wait_on(&events->done, UINT64_MAX);
  }
  *events->last_place = events->held;
  while (events->first != NULL) {
    serve_event *event = events->first;
    events->first = event->next;
    lt_mem_free(event);
  }
  lt_mem_free(events);
}

/* --- Reading ------------------------------------------------------------------------------------------------------ */
bool lt_serve_events_join(lt_serve_reader *reader, lt_serve_request *r, lt_str subject, int64_t after) {
  lt_serve_events *events = r->serve->events;
  if (!lt_serve_limits_take(r, LT_SERVE_SEAT_READER)) {
    return false;
  }
  int64_t since = after >= 0 ? after : events->last;
  *reader = (lt_serve_reader){.request = r, .since = since, .last = since, .is_behind = after >= 0};
  if (subject.n <= LT_STORE_ID_BYTES) {
    memcpy(reader->subject, subject.p != NULL ? subject.p : "", subject.n);
  }
  lt_wait_init(&reader->wait, r->serve->session->loop);
  lt_buf_init(&reader->held, LT_SERVE_READER_BYTES + 2 * LT_PROMPT_MEMORY_BYTES); /* and an event on top */
  lt_serve_reader **place = events_readers_of(events, lt_str_of(reader->subject));
  reader->next = *place;
  *place = reader;
  events->reader_count++;
  return true;
}

void lt_serve_events_leave(lt_serve_reader *reader) {
  lt_serve_events *events = reader->request->serve->events;
  lt_serve_reader **place = events_readers_of(events, lt_str_of(reader->subject));
  while (*place != reader) {
    place = &(*place)->next;
  }
  *place = reader->next;
  events->reader_count--;
  lt_buf_release(&reader->held);
}

/* Sends what the store has. The reader has caught up when that was nothing, and nothing was sent to the others while
 * the store was read. */
static lt_status reader_catch_up(lt_serve_reader *reader, lt_err *err) LT_YIELDS {
  lt_json_doc doc;
  lt_serve_request *r = reader->request;
  int64_t last = r->serve->events->last;
  LT_AUTO_ARENA(arena, LT_CALL_INDEX_MAX_BYTES);
  LT_AUTO_BUF(list, LT_JSON_MAX_BYTES);
  LT_TRY(lt_store_events_list(lt_serve_store(r->serve), r->user, lt_str_of(reader->subject), reader->last,
                              LT_EVENTS_READ, &list, err));
  LT_TRY(lt_json_parse(&arena, lt_buf_view(&list), &doc, err));
  for (lt_json_iter it = lt_json_each(lt_json_root(&doc)); lt_json_next(&it);) {
    int64_t id = 0;
    lt_str name = LT_STR("");
    LT_AUTO_BUF(text, 2 * LT_PROMPT_MEMORY_BYTES);
    (void)lt_json_int(lt_json_get(it.value, "id"), &id);
    (void)lt_json_str(lt_json_get(it.value, "event"), &arena, &name);
    event_put(&text, id, name, lt_json_text(lt_json_get(it.value, "data")));
    reader_send_event(reader, id, name, &text);
  }
  reader->is_behind = lt_json_count(lt_json_root(&doc)) > 0 || r->serve->events->last != last;
  return reader->status;
}

static lt_status reader_turn(lt_serve_reader *reader) LT_YIELDS {
  if (reader->is_behind) {
    lt_status status = lt_http_call_drain(reader->request->call, LT_SERVE_READER_BYTES / 2, LT_SERVE_HEARTBEAT_MS);
    return status == LT_E_TIMEOUT ? LT_OK : status == LT_OK ? reader_catch_up(reader, NULL) : status;
  }
  lt_status status = lt_wait_on(&reader->wait, LT_SERVE_HEARTBEAT_MS);
  if (status == LT_E_TIMEOUT) {
    reader_send(reader, LT_STR(":\n\n"));
    status = LT_OK;
  }
  return lt_status_first(status, reader->status);
}

/* An event without data only sets the reader's last number: who leaves before the first event comes back with it. */
static void reader_put_head(const lt_serve_reader *reader, lt_buf *out) {
  lt_buf_printf(out, ":\nretry: 1000\nid: %lld\n\n", (long long)reader->since);
}

/* The head of the answer, and what was kept meanwhile. */
static void reader_begin(lt_serve_reader *reader) {
  lt_serve_request *r = reader->request;
  r->answer->content_type = "text/event-stream";
  lt_http_answer_header(r->answer, "X-Accel-Buffering", LT_STR("no")); /* nginx: pass it on as it comes */
  reader_put_head(reader, &r->answer->body);
  lt_buf_add(&r->answer->body, lt_buf_view(&reader->held));
  lt_buf_release(&reader->held);
  reader->status = lt_status_first(reader->status, lt_http_call_begin(r->call, NULL));
  reader->is_begun = true;
}

void lt_serve_events_send(lt_serve_reader *reader) {
  lt_serve_request *r = reader->request;
  lt_cancel_node node;
  lt_cancel_add(r->call->cancel, &node, &reader->wait);
  reader_begin(reader);
  lt_status status = reader->status;
  while (status == LT_OK && !reader->has_ended) {
    status = reader_turn(reader);
  }
  lt_cancel_remove(r->call->cancel, &node);
}
