#include "text/media_type.h"

#include <strings.h>

#include "json/json_text.h"

/* Each begins with `magic`; `second` is at `at`, where there is one. */
static const struct {
  const char *type;
  lt_str magic;
  size_t at;
  lt_str second;
} media_types[] = {
    {"image/png", {"\x89PNG\r\n\x1a\n", 8}, 12, {"IHDR", 4}},
    {"image/jpeg", {"\xff\xd8\xff", 3}, 0, {NULL, 0}},
    {"image/gif", {"GIF87a", 6}, 0, {NULL, 0}},
    {"image/gif", {"GIF89a", 6}, 0, {NULL, 0}},
    {"image/webp", {"RIFF", 4}, 8, {"WEBP", 4}},
    {"application/pdf", {"%PDF-", 5}, 0, {NULL, 0}},
};

static const struct {
  const char *ending, *type;
} media_endings[] = {
    {".png", "image/png"}, {".jpg", "image/jpeg"},  {".jpeg", "image/jpeg"},
    {".gif", "image/gif"}, {".webp", "image/webp"}, {".pdf", "application/pdf"},
};

#define SHORTEST 24 /* bytes: no image or document is shorter */

/* Tabs, line ends, form feeds and escapes of terminals occur in text files; other control characters do not. */
static bool media_type_is_text(lt_str data) {
  const char *at = data.p, *end = data.p + data.n;
  while (at < end) {
    uint32_t cp = 0;
    unsigned length = lt_json_read_char(at, end, &cp);
    bool is_control = cp < 0x20 && cp != '\t' && cp != '\n' && cp != '\r' && cp != '\f' && cp != 0x1b;
    if (length == 0 || is_control) {
      return false;
    }
    at += length;
  }
  return true;
}

const char *lt_media_type_of(lt_str data) {
  for (size_t i = 0; data.n > SHORTEST && i < sizeof media_types / sizeof media_types[0]; i++) {
    size_t at = media_types[i].at;
    if (lt_str_starts(data, media_types[i].magic) &&
        lt_str_starts(lt_str_sub(data, at, data.n), media_types[i].second)) {
      return media_types[i].type;
    }
  }
  return media_type_is_text(data) ? "text/plain" : NULL;
}

const char *lt_media_type_promised(lt_str name) {
  for (size_t i = 0; i < sizeof media_endings / sizeof media_endings[0]; i++) {
    size_t n = strlen(media_endings[i].ending);
    if (name.n > n && strncasecmp(name.p + name.n - n, media_endings[i].ending, n) == 0) {
      return media_endings[i].type;
    }
  }
  return NULL;
}

bool lt_media_type_is_image(lt_str mime_type) {
  for (size_t i = 0; i < sizeof media_types / sizeof media_types[0]; i++) {
    if (lt_str_eqc(mime_type, media_types[i].type)) {
      return lt_str_starts(mime_type, LT_STR("image/"));
    }
  }
  return false;
}
