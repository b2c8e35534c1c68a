#include "embed/embed_queue.h"

#include <errno.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/limits.h"
#include "base/mem.h"

lt_status lt_embed_queue_init(lt_embed_queue *queue, bool has_fd, lt_err *err) {
  pthread_condattr_t attr;
  *queue = (lt_embed_queue){.fd = -1};
  queue->last = &queue->first;
  pthread_condattr_init(&attr);
  pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
  pthread_cond_init(&queue->has_events, &attr);
  pthread_condattr_destroy(&attr);
  queue->fd = has_fd ? eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK) : -1;
  return !has_fd || queue->fd >= 0 ? LT_OK
                                   : lt_fail(err, LT_E_IO, "no descriptor for the events: %s%s", strerror(errno),
                                             errno == EMFILE ? " (raise the limit: ulimit -n)" : "");
}

void lt_embed_queue_release(lt_embed_queue *queue) {
  for (lt_embed_event *event = queue->first; event != NULL;) {
    lt_embed_event *next = event->next;
    lathe_event_free(&event->base);
    event = next;
  }
  pthread_cond_destroy(&queue->has_events);
  if (queue->fd >= 0) {
    close(queue->fd);
  }
}

/* Copies a text behind the struct, with a NUL. */
static const char *embed_queue_copy(char **at, lt_str text) {
  char *copy = *at;
  if (text.n > 0) {
    memcpy(copy, text.p, text.n);
  }
  copy[text.n] = '\0';
  *at += text.n + 1;
  return copy;
}

lt_embed_event *lt_embed_queue_make(lathe_event_type type, const lt_embed_words *words) {
  size_t bytes = sizeof(lt_embed_event) + words->tool.n + words->text.n + words->json.n + 3;
  lt_embed_event *event = lt_mem_alloc(bytes);
  if (event == NULL) {
    return NULL;
  }
  char *at = (char *)(event + 1);
  *event = (lt_embed_event){.base = {.size = sizeof event->base, .type = type}, .bytes = bytes};
  event->base.tool = embed_queue_copy(&at, words->tool);
  event->base.text = embed_queue_copy(&at, words->text);
  event->base.json = embed_queue_copy(&at, words->json);
  return event;
}

/* The descriptor counts up to anything but 0 while there are events: one write for any number of them. A host that
 * never asks for it costs none. */
static void embed_queue_tell_poller(lt_embed_queue *queue, bool has_events) {
  uint64_t count = 1;
  if (!queue->is_polled || queue->has_told_poller == has_events) {
    return;
  }
  ssize_t done = has_events ? write(queue->fd, &count, sizeof count) : read(queue->fd, &count, sizeof count);
  queue->has_told_poller = has_events;
  (void)done; /* of a counter that is 0 or 1 neither can fail, unless the host has read it: then the next write mends it
               */
}

int lt_embed_queue_open_fd(lt_embed_queue *queue) {
  queue->is_polled = queue->fd >= 0;
  embed_queue_tell_poller(queue, queue->count > 0);
  return queue->fd;
}

void lt_embed_queue_add(lt_embed_queue *queue, lt_embed_event *event) {
  *queue->last = event;
  queue->last = &event->next;
  queue->bytes += event->bytes;
  queue->count++;
}

void lt_embed_queue_tell(lt_embed_queue *queue) {
  embed_queue_tell_poller(queue, queue->count > 0);
  lt_lane_crew *crew = queue->crew;
  if (crew != NULL) {
    crew->end_help(crew);
  }
}

void lt_embed_queue_wake(lt_embed_queue *queue) {
  pthread_cond_signal(&queue->has_events);
}

void lt_embed_queue_put(lt_embed_queue *queue, lt_embed_event *event) {
  lt_embed_queue_add(queue, event);
  lt_embed_queue_tell(queue);
  if (queue->lane != NULL) {
    lt_lane_wake(queue->lane);
  } else {
    lt_embed_queue_wake(queue);
  }
}

bool lt_embed_queue_has_room(const lt_embed_queue *queue) {
  return queue->count < LT_EMBED_EVENTS_MAX && queue->bytes < LT_EMBED_EVENTS_BYTES;
}

lt_embed_event *lt_embed_queue_take(lt_embed_queue *queue) {
  lt_embed_event *event = queue->first;
  if (event == NULL) {
    return NULL;
  }
  queue->first = event->next;
  queue->last = queue->first != NULL ? queue->last : &queue->first;
  queue->bytes -= event->bytes;
  if (--queue->count == 0) {
    embed_queue_tell_poller(queue, false);
  }
  event->next = NULL;
  return event;
}

/* The host is given it as const, since the library alone may change it. */
void lathe_event_free(const lathe_event *theirs) {
  lt_embed_event *event = (lt_embed_event *)(uintptr_t)theirs;
  if (event != NULL) {
    lt_mem_free(event->text);
    lt_mem_free(event->json);
    lt_mem_free(event);
  }
}
