#include "text/secret_name.h"

static char secret_name_upper(char c) {
  return c >= 'a' && c <= 'z' ? (char)(c - 'a' + 'A') : c;
}

static bool secret_name_is_letter(char c) {
  return secret_name_upper(c) >= 'A' && secret_name_upper(c) <= 'Z';
}

static bool secret_name_has_at(lt_str name, size_t i, const char *word) {
  while (*word != '\0' && i < name.n && secret_name_upper(name.p[i]) == *word) {
    word++;
    i++;
  }
  return *word == '\0';
}

/* Whether a word begins at `i`: after something else than a letter, or with a capital after a small letter. */
static bool secret_name_word_begins(lt_str name, size_t i) {
  return i == 0 || i == name.n || !secret_name_is_letter(name.p[i]) || !secret_name_is_letter(name.p[i - 1]) ||
         (name.p[i] == secret_name_upper(name.p[i]) && name.p[i - 1] != secret_name_upper(name.p[i - 1]));
}

static bool secret_name_sounds_at(lt_str name, size_t i) {
  static const char *const parts[] = {"TOKEN", "SECRET", "PASSW", "PASSPHRASE", "CREDENTIAL", "COOKIE", "APIKEY"};
  static const char *const words[] = {"KEY",  "KEYS",  "PASS",    "AUTH", "AUTHORIZATION",
                                      "CRED", "CREDS", "PRIVATE", "PAT"};
  for (size_t k = 0; k < sizeof parts / sizeof *parts; k++) {
    if (secret_name_has_at(name, i, parts[k])) {
      return true;
    }
  }
  for (size_t k = 0; k < sizeof words / sizeof *words; k++) {
    if (secret_name_has_at(name, i, words[k]) && secret_name_word_begins(name, i) &&
        secret_name_word_begins(name, i + strlen(words[k]))) {
      return true;
    }
  }
  return false;
}

/* Every start looks at all variables of the environment: a letter that begins no word is passed at once. */
bool lt_secret_name_sounds(lt_str name) {
  for (size_t i = 0; i < name.n; i++) {
    if (strchr("TSPCAK", secret_name_upper(name.p[i])) != NULL && secret_name_sounds_at(name, i)) {
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
