#include "config/config_expand.h"

#include <ctype.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/limits.h"
#include "config/config_secrets.h"

/* One ${NAME} or ${NAME:-default}. */
typedef struct config_reference {
  lt_str name;
  lt_str fallback;
  bool has_fallback;
  size_t end; /* one past its "}" */
} config_reference;

static bool config_is_variable(lt_str s) {
  if (s.n == 0 || isdigit((unsigned char)s.p[0])) {
    return false;
  }
  for (size_t i = 0; i < s.n; i++) {
    if (!isalnum((unsigned char)s.p[i]) && s.p[i] != '_') {
      return false;
    }
  }
  return true;
}

/* Reads the reference that starts with the "${" at `at`. */
static bool config_read_reference(lt_str s, size_t at, config_reference *ret) {
  size_t close = lt_str_find(s, LT_STR("}"), at);
  if (close == SIZE_MAX) {
    return false;
  }
  lt_str inside = lt_str_sub(s, at + 2, close);
  size_t minus = lt_str_find(inside, LT_STR(":-"), 0);
  ret->has_fallback = minus != SIZE_MAX;
  ret->name = ret->has_fallback ? lt_str_sub(inside, 0, minus) : inside;
  ret->fallback = ret->has_fallback ? lt_str_sub(inside, minus + 2, inside.n) : LT_STR_NULL;
  ret->end = close + 1;
  return config_is_variable(ret->name);
}

/* NULL when the variable is not set. With a fallback an empty one counts as not set, as in a shell. */
static const char *config_variable(const config_reference *ref, char *name, size_t size) {
  if (ref->name.n >= size) {
    return NULL;
  }
  memcpy(name, ref->name.p, ref->name.n);
  name[ref->name.n] = 0;
  const char *value = getenv(name);
  return value && (value[0] || !ref->has_fallback) ? value : NULL;
}

#define NOT_SET "%s:%u: the environment variable %s is not set: set it, or write ${%s:-default}"

/* A server without a variable is of no use, but the others are. */
static lt_status config_miss_variable(const lt_config_reading *r, uint32_t line, lt_str name) {
  lt_yaml_clipped shown = lt_yaml_clip(name);
  if (r->fault == NULL) {
    return lt_fail(r->err, LT_E_CONFIG, NOT_SET, r->name, line, shown.text, shown.text);
  }
  if (*r->fault == NULL) {
    *r->fault = lt_arena_printf(&r->config->arena, NOT_SET, r->name, line, shown.text, shown.text).p;
  }
  return *r->fault != NULL ? LT_OK : lt_config_no_memory(r);
}

static lt_status config_add_reference(const lt_config_reading *r, uint32_t line, const config_reference *ref,
                                      bool is_secret, lt_buf *out) {
  char name[256];
  const char *value = config_variable(ref, name, sizeof name);
  if (!value && !ref->has_fallback) {
    return config_miss_variable(r, line, ref->name);
  }
  if (value && is_secret) {
    LT_TRY(lt_config_secret_variable(r, ref->name, lt_str_of(value)));
  }
  lt_buf_add(out, value ? lt_str_of(value) : ref->fallback);
  return LT_OK;
}

#define NO_REFERENCE "%s:%u: \"${\" must begin ${NAME} or ${NAME:-default}; write $${ for the two characters themselves"

/* Another client knows more of them, such as ${input:token}: a server with one is of no use here, but the others are.
 */
static lt_status config_refuse_reference(const lt_config_reading *r, uint32_t line) {
  if (r->fault == NULL || !r->is_foreign) {
    return lt_fail(r->err, LT_E_CONFIG, NO_REFERENCE, r->name, line);
  }
  if (*r->fault == NULL) {
    *r->fault = lt_arena_printf(&r->config->arena, NO_REFERENCE, r->name, line).p;
  }
  return *r->fault != NULL ? LT_OK : lt_config_no_memory(r);
}

static lt_status config_expand_into(const lt_config_reading *r, const lt_yaml_node *scalar, bool is_secret,
                                    lt_buf *out) {
  lt_str s = scalar->text;
  size_t done = 0;
  for (size_t at; (at = lt_str_find(s, LT_STR("${"), done)) != SIZE_MAX;) {
    config_reference ref;
    if (at > done && s.p[at - 1] == '$') { /* $${ stands for ${ */
      lt_buf_add(out, lt_str_sub(s, done, at - 1));
      lt_buf_addc(out, "${");
      done = at + 2;
      continue;
    }
    lt_buf_add(out, lt_str_sub(s, done, at));
    if (!config_read_reference(s, at, &ref)) {
      return config_refuse_reference(r, scalar->line);
    }
    LT_TRY(config_add_reference(r, scalar->line, &ref, is_secret, out));
    done = ref.end;
  }
  lt_buf_add(out, lt_str_sub(s, done, s.n));
  return LT_OK;
}

static lt_status config_expand_kept(const lt_config_reading *r, const lt_yaml_node *scalar, bool is_secret,
                                    const char **ret) {
  if (lt_str_find(scalar->text, LT_STR("${"), 0) == SIZE_MAX) {
    *ret = scalar->text.p;
    return LT_OK;
  }
  LT_AUTO_BUF(out, LT_CONFIG_MAX_BYTES);
  LT_TRY(config_expand_into(r, scalar, is_secret, &out));
  if (out.status == LT_E_LIMIT) {
    return lt_fail(r->err, LT_E_LIMIT, "%s:%u: too long with its ${...} replaced", r->name, scalar->line);
  }
  lt_str kept = lt_arena_dup_buf(&r->config->arena, &out);
  *ret = kept.p;
  return kept.p != NULL ? LT_OK : lt_config_no_memory(r);
}

lt_status lt_config_expand(const lt_config_reading *r, const lt_yaml_node *scalar, const char **ret) {
  return config_expand_kept(r, scalar, false, ret);
}

lt_status lt_config_expand_secret(const lt_config_reading *r, const lt_yaml_node *scalar, const char **ret) {
  return config_expand_kept(r, scalar, true, ret);
}
