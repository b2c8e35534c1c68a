#include "model/reply_pieces.h"

void lt_reply_pieces_init(lt_reply_pieces *pieces, lt_json message, const char *api) {
  lt_json kept = lt_json_get(message, "kept");
  lt_json parts = lt_json_get(kept, "parts");
  *pieces = (lt_reply_pieces){
      .content = lt_json_get(message, "content"),
      .has_parts = lt_json_typeof(parts) == LT_JSON_ARRAY && lt_json_str_eq(lt_json_get(kept, "api"), lt_str_of(api)),
      .parts = lt_json_each(parts),
      .calls = lt_json_each(lt_json_get(message, "tool_calls"))};
}

static bool reply_pieces_take(lt_reply_pieces *pieces, lt_reply_piece_kind kind, lt_json value) {
  pieces->kind = kind;
  pieces->value = value;
  return lt_json_exists(value);
}

static bool reply_pieces_take_call(lt_reply_pieces *pieces) {
  bool has_call = lt_json_next(&pieces->calls);
  return has_call && reply_pieces_take(pieces, LT_REPLY_CALL, pieces->calls.value);
}

static bool reply_pieces_take_part(lt_reply_pieces *pieces, lt_json part) {
  lt_json text = lt_json_get(part, "text");
  lt_json own = lt_json_get(part, "own");
  return lt_json_exists(own)    ? reply_pieces_take(pieces, LT_REPLY_OWN, own)
         : lt_json_exists(text) ? reply_pieces_take(pieces, LT_REPLY_TEXT, text)
                                : reply_pieces_take_call(pieces);
}

bool lt_reply_pieces_next(lt_reply_pieces *pieces) {
  while (pieces->has_parts && lt_json_next(&pieces->parts)) {
    pieces->content = (lt_json){0};
    if (reply_pieces_take_part(pieces, pieces->parts.value)) {
      return true;
    }
  }
  pieces->has_parts = false;
  lt_json content = pieces->content;
  pieces->content = (lt_json){0};
  return lt_json_exists(content) ? reply_pieces_take(pieces, LT_REPLY_TEXT, content) : reply_pieces_take_call(pieces);
}
