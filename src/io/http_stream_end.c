/* The end of a request, by libcurl or by a failure: wakes its fiber. */
#include "io/http_impl.h"
#include "io/loop_handles.h"

void lt_http_stream_break(lt_http_stream *stream, lt_status why) {
  if (stream->broken == LT_OK) {
    stream->broken = why;
  }
  lt_wait_wake(&stream->wait, LT_OK);
}

void lt_http_stream_done(lt_http_stream *stream, CURLcode code) {
  stream->is_done = true;
  stream->code = code;
  lt_wait_wake(&stream->wait, LT_OK);
}
