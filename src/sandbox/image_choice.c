#include "sandbox/image_choice.h"

#define TEXT(name) \
  { .p = name, .n = sizeof name - 1 }
#define WEB(name) \
  { .word = TEXT(name), .kind = LT_IMAGE_WEB, .is_global = true }
#define INTL(name) \
  { .word = TEXT(name), .kind = LT_IMAGE_INTL, .is_global = true }
#define METHOD(name) \
  { .word = TEXT(name), .kind = LT_IMAGE_INTL }

const lt_image_word lt_image_words[] = {
    WEB("AbortController"),
    WEB("AbortSignal"),
    WEB("Blob"),
    WEB("Crypto"),
    WEB("CustomEvent"),
    WEB("Event"),
    WEB("EventTarget"),
    WEB("File"),
    WEB("FormData"),
    WEB("Headers"),
    WEB("SubtleCrypto"),
    WEB("TextDecoder"),
    WEB("TextEncoder"),
    WEB("URL"),
    WEB("URLSearchParams"),
    WEB("crypto"),
    WEB("structuredClone"),
    INTL("Intl"),
    METHOD("localeCompare"),
    METHOD("toLocaleDateString"),
    METHOD("toLocaleLowerCase"),
    METHOD("toLocaleString"),
    METHOD("toLocaleTimeString"),
    METHOD("toLocaleUpperCase"),
};
const size_t lt_image_word_count = sizeof lt_image_words / sizeof lt_image_words[0];

lt_image_kind lt_image_choice_of(lt_str word) {
  for (size_t i = 0; i < lt_image_word_count; i++) {
    if (lt_str_eq(word, lt_image_words[i].word)) {
      return lt_image_words[i].kind;
    }
  }
  return LT_IMAGE_BASE;
}
