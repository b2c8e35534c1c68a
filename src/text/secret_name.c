#include "text/secret_name.h"

static char secret_name_upper(char c) {
  return c >= 'a' && c <= 'z' ? (char)(c - 'a' + 'A') : c;
}

static bool secret_name_is_letter(char c) {
  return secret_name_upper(c) >= 'A' && secret_name_upper(c) <= 'Z';
}

static bool secret_name_has_at(lt_str name, size_t i, const char *word, size_t n) {
  for (size_t k = 0; k < n; k++) {
    if (i + k >= name.n || secret_name_upper(name.p[i + k]) != word[k]) {
      return false;
    }
  }
  return true;
}

/* Whether a word begins at `i`: after something else than a letter, or with a capital after a small letter. */
static bool secret_name_word_begins(lt_str name, size_t i) {
  return i == 0 || i == name.n || !secret_name_is_letter(name.p[i]) || !secret_name_is_letter(name.p[i - 1]) ||
         (name.p[i] == secret_name_upper(name.p[i]) && name.p[i - 1] != secret_name_upper(name.p[i - 1]));
}

static bool secret_name_has_word(lt_str name, const char *word, bool anywhere) {
  size_t n = strlen(word);
  for (size_t i = 0; i + n <= name.n; i++) {
    if (secret_name_has_at(name, i, word, n) &&
        (anywhere || (secret_name_word_begins(name, i) && secret_name_word_begins(name, i + n)))) {
      return true;
    }
  }
  return false;
}

bool lt_secret_name_sounds(lt_str name) {
  static const char *const parts[] = {"TOKEN", "SECRET", "PASSW", "PASSPHRASE", "CREDENTIAL", "COOKIE", "APIKEY"};
  static const char *const words[] = {"KEY",  "KEYS",  "PASS",    "AUTH", "AUTHORIZATION",
                                      "CRED", "CREDS", "PRIVATE", "PAT"};
  for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
    if (secret_name_has_word(name, parts[i], true)) {
      return true;
    }
  }
  for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
    if (secret_name_has_word(name, words[i], false)) {
      return true;
    }
  }
  return false;
}

bool lt_secret_name_is_count(lt_str value) {
  size_t digits = 0;
  while (digits < value.n && value.p[digits] >= '0' && value.p[digits] <= '9') {
    digits++;
  }
  return digits == value.n && digits < 10;
}
