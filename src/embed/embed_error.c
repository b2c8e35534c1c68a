#include "embed/embed_error.h"

#include "base/limits.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "json/json.h"

/* --- Statuses ----------------------------------------------------------------------------------------------------- */
_Static_assert((int)LATHE_OK == LT_OK && (int)LATHE_E_NOMEM == LT_E_NOMEM && (int)LATHE_E_LIMIT == LT_E_LIMIT &&
                   (int)LATHE_E_INVALID == LT_E_INVALID && (int)LATHE_E_SYNTAX == LT_E_SYNTAX &&
                   (int)LATHE_E_NOTFOUND == LT_E_NOTFOUND && (int)LATHE_E_CONFIG == LT_E_CONFIG &&
                   (int)LATHE_E_IO == LT_E_IO && (int)LATHE_E_CLOSED == LT_E_CLOSED &&
                   (int)LATHE_E_TIMEOUT == LT_E_TIMEOUT && (int)LATHE_E_CANCELLED == LT_E_CANCELLED &&
                   (int)LATHE_E_DENIED == LT_E_DENIED && (int)LATHE_E_PROGRAM == LT_E_PROGRAM &&
                   (int)LATHE_E_TRAP == LT_E_TRAP && (int)LATHE_E_UNSUPPORTED == LT_E_UNSUPPORTED &&
                   (int)LATHE_E_INTERNAL == LT_E_INTERNAL,
               "a host was built with these numbers: a status that gets another one here needs a table");

lathe_status lt_embed_error_status(lt_status status) {
  switch (status) {
    case LT_E_PROTOCOL:
      return LATHE_E_IO;
    case LT_E_TOOL:
      return LATHE_E_PROGRAM;
    case LT_E_INTERRUPTED:
    case LT_E_DIVERGED:
      return LATHE_E_INTERNAL;
    case LT_OK:
    case LT_E_NOMEM:
    case LT_E_LIMIT:
    case LT_E_INVALID:
    case LT_E_SYNTAX:
    case LT_E_NOTFOUND:
    case LT_E_CONFIG:
    case LT_E_IO:
    case LT_E_CLOSED:
    case LT_E_TIMEOUT:
    case LT_E_CANCELLED:
    case LT_E_DENIED:
    case LT_E_PROGRAM:
    case LT_E_TRAP:
    case LT_E_UNSUPPORTED:
    case LT_E_INTERNAL:
      break;
  }
  return (lathe_status)status;
}

const char *lathe_status_text(lathe_status status) {
  if (status == LATHE_E_FORKED) {
    return "the environment belongs to the parent process";
  }
  return (int)status >= 0 && (int)status <= LT_E_INTERNAL ? lt_status_text((lt_status)status) : "unknown status";
}

const char *lathe_version(void) {
  return LT_VERSION;
}

void lathe_free(void *text) {
  lt_mem_free(text);
}

lathe_status lt_embed_error_put(lathe_status status, const char *message, lathe_error *error) {
  if (error != NULL && error->size >= LT_EMBED_BYTES_TO(lathe_error, message) && error->size <= LT_EMBED_STRUCT_BYTES) {
    error->status = status;
    lt_str text = lt_utf8_cut(lt_str_of(message), sizeof error->message - 1);
    memcpy(error->message, text.p, text.n);
    error->message[text.n] = '\0';
  }
  return status;
}

lathe_status lt_embed_error_tell(lt_status status, const lt_err *err, lathe_error *error) {
  if (status == LT_OK) {
    return LATHE_OK;
  }
  const char *message = err->status != LT_OK ? lt_err_msg(err) : lt_status_text(status);
  return lt_embed_error_put(lt_embed_error_status(status), message, error);
}

/* --- What a host hands over --------------------------------------------------------------------------------------- */
lt_status lt_embed_error_take_struct(const void *theirs, size_t least, size_t size, void *ret_ours, const char *name,
                                     lt_err *err) {
  size_t given = 0;
  if (theirs == NULL) {
    return lt_fail(err, LT_E_INVALID, "the %s is NULL", name);
  }
  memcpy(&given, theirs, sizeof given);
  if (given < least || given > LT_EMBED_STRUCT_BYTES) {
    return lt_fail(err, LT_E_INVALID, "the size of the %s is %zu: set it to sizeof(%s)", name, given, name);
  }
  const unsigned char *bytes = theirs;
  for (size_t i = size; i < given; i++) {
    if (bytes[i] != 0) {
      return lt_fail(err, LT_E_UNSUPPORTED,
                     "the %s sets a member that liblathe " LT_VERSION " does not know: use the lathe.h of this version",
                     name);
    }
  }
  memset(ret_ours, 0, size);
  memcpy(ret_ours, theirs, given < size ? given : size);
  return LT_OK;
}

lt_status lt_embed_error_check_text(const char *text, const char *name, lt_err *err) {
  return text != NULL && text[0] != '\0' ? LT_OK : lt_fail(err, LT_E_INVALID, "there is no %s", name);
}

lt_status lt_embed_error_check_json(lt_str json, const char *name, lt_err *err) {
  lt_status status = json.p != NULL ? lt_json_check(json, err) : LT_OK;
  return status == LT_OK ? LT_OK : lt_err_prefix(err, "the %s is not JSON that can be used", name);
}

lt_status lt_embed_error_take_language(const char *name, lt_lang *ret_lang, lt_err *err) {
  *ret_lang = LT_LANG_JAVASCRIPT;
  return name == NULL || lt_lang_find(name, ret_lang)
             ? LT_OK
             : lt_fail(err, LT_E_INVALID, "there is no language \"%.40s\": it is js, ts or python", name);
}
