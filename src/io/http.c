/* A client, and which of its multi handles a request goes to. */
#include "io/http.h"

#include <sys/resource.h>

#include "base/mem.h"
#include "io/http_impl.h"
#include "io/loop_handles.h"

/* --- Making and freeing ------------------------------------------------------------------------------------------- */

lt_status lt_http_new(lt_loop *loop, lt_http **ret_http, lt_err *err) {
  lt_http *http = lt_mem_zalloc(1, sizeof *http);
  if (http == NULL) {
    return lt_fail(err, LT_E_NOMEM, "no memory for HTTP");
  }
  http->loop = loop;
  uv_timer_init(lt_loop_uv(loop), &http->sweeper);
  uv_unref((uv_handle_t *)&http->sweeper);
  http->sweeper.data = http;
  lt_loop_add_object(loop);
  *ret_http = http;
  return LT_OK;
}

lt_loop *lt_http_loop(const lt_http *http) {
  return http->loop;
}

static void http_closed(uv_handle_t *sweeper) {
  lt_mem_free(sweeper->data);
}

void lt_http_free(lt_http *http) {
  if (http == NULL) {
    return;
  }
  for (size_t i = 0; i < LT_HTTP_MULTIS_MAX; i++) {
    lt_http_multi_free(http->multis[i]);
  }
  lt_http_url_release(http, http->url);
  lt_loop_remove_object(http->loop);
  uv_close((uv_handle_t *)&http->sweeper, http_closed);
}

/* The highest number of open connections. Some of the process's descriptors are left for other uses. Further requests
 * wait inside libcurl; their connection timeout does not run meanwhile. */
static size_t http_connections_max(void) {
  struct rlimit files;
  if (getrlimit(RLIMIT_NOFILE, &files) != 0 || files.rlim_cur > LT_HTTP_CONNECTIONS_MAX * 2) {
    return LT_HTTP_CONNECTIONS_MAX;
  }
  return files.rlim_cur > 2 ? files.rlim_cur / 2 : 1;
}

typedef struct curl_loading {
  const lt_curl *curl;
  lt_status status;
  lt_err err;
} curl_loading;

static void http_load(void *arg) {
  curl_loading *job = arg;
  job->status = lt_curl_open(&job->curl, &job->err);
}

lt_status lt_http_prepare(lt_http *http, lt_err *err) {
  if (http->curl == NULL) {
    curl_loading job = {.status = LT_OK};
    LT_TRY(lt_loop_offload(http->loop, http_load, &job, err));
    if (job.status != LT_OK) {
      return lt_fail(err, job.status, "%s", job.err.msg);
    }
    http->curl = job.curl;
    size_t most = http_connections_max();
    http->multi_places = (most + LT_HTTP_MULTI_STREAMS - 1) / LT_HTTP_MULTI_STREAMS;
    http->multi_streams = most / http->multi_places;
  }
  return LT_OK;
}

/* --- Multi handles ------------------------------------------------------------------------------------------------ */

/* Closes connections that nobody has used since the last look. */
static void http_sweep(uv_timer_t *sweeper) {
  lt_http *http = sweeper->data;
  bool is_empty = true;
  for (size_t i = 0; i < LT_HTTP_MULTIS_MAX; i++) {
    lt_http_multi *multi = http->multis[i];
    if (multi != NULL && multi->streams == 0 && !multi->was_used) {
      lt_http_multi_free(multi);
      http->multis[i] = NULL;
    } else if (multi != NULL) {
      multi->was_used = multi->streams > 0;
      is_empty = false;
    }
  }
  if (is_empty) {
    uv_timer_stop(sweeper);
  }
}

/* NULL: there are as many as there may be, or there is no memory. */
static lt_http_multi *http_add_multi(lt_http *http) {
  size_t place = 0;
  while (place < http->multi_places && http->multis[place] != NULL) {
    place++;
  }
  if (place == http->multi_places) {
    return NULL;
  }
  http->multis[place] = lt_http_multi_new(lt_loop_uv(http->loop), http->curl, (long)http->multi_streams);
  if (http->multis[place] != NULL && !uv_is_active((const uv_handle_t *)&http->sweeper)) {
    uv_timer_start(&http->sweeper, http_sweep, LT_HTTP_UNUSED_MS, LT_HTTP_UNUSED_MS);
  }
  return http->multis[place];
}

/* The first one that has room, or the last of those with the fewest streams: what began first often stays longest. */
static lt_http_multi *http_choose_multi(const lt_http *http) {
  lt_http_multi *best = NULL;
  for (size_t i = 0; i < http->multi_places && (best == NULL || best->streams >= http->multi_streams); i++) {
    lt_http_multi *multi = http->multis[i];
    if (multi != NULL && (best == NULL || multi->streams <= best->streams)) {
      best = multi;
    }
  }
  return best;
}

lt_http_multi *lt_http_multi_take(lt_http *http) {
  lt_http_multi *multi = http_choose_multi(http);
  if (multi == NULL || multi->streams >= http->multi_streams) {
    lt_http_multi *added = http_add_multi(http);
    multi = added != NULL ? added : multi;
  }
  if (multi != NULL) {
    multi->streams++;
    multi->was_used = true;
  }
  return multi;
}
