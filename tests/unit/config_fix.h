/* What the tests of configuration files share: a configuration with its error, and parsing text into it. */
#ifndef LT_TESTS_CONFIG_FIX_H
#define LT_TESTS_CONFIG_FIX_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "config/config.h"

typedef struct fixture {
  lt_config config;
  lt_err err;
} fixture;

static inline lt_status parse_n(fixture *f, const char *text, size_t n) {
  f->err = LT_ERR_INIT;
  return lt_config_parse(lt_str_from(text, n), "lathe.yaml", "/etc/lathe", &f->config, &f->err);
}

static inline lt_status parse(fixture *f, const char *text) {
  return parse_n(f, text, strlen(text));
}

/* Parses, and shows the message when that fails. */
static inline void parse_well(fixture *f, const char *text) {
  if (parse(f, text) != LT_OK) {
    fail_msg("%s", lt_err_msg(&f->err));
  }
}

#endif
