#include "app/program_globals.h"

#include "runner/quickjs/quickjs.h"
#include "runner/typecheck/typecheck.h"

/* A plugin's own text must not end the comment that it stands in. */
static void globals_put_comment(lt_buf *out, lt_str text) {
  for (size_t i = 0; i < text.n; i++) {
    bool ends_comment = text.p[i] == '/' && i > 0 && text.p[i - 1] == '*';
    lt_buf_byte(out, ends_comment || text.p[i] == '\n' ? ' ' : text.p[i]);
  }
}

static void globals_put_function(lt_buf *out, const lt_run_function *function) {
  lt_buf_addc(out, "/** ");
  globals_put_comment(out, function->name);
  globals_put_comment(out, function->signature);
  lt_buf_addc(out, function->description.n > 0 ? ": " : "");
  globals_put_comment(out, function->description);
  lt_buf_addc(out, " */\ndeclare function ");
  lt_buf_add(out, function->name);
  lt_buf_addc(out, "(...args: any[]): any;\n");
}

lt_status lt_program_globals_put(const lt_host *host, lt_buf *out, lt_err *err) {
  size_t count;
  const lt_run_function *functions = lt_host_functions(host, &count);
  lt_buf_add(out, lt_typecheck_globals());
  lt_buf_add(out, lt_quickjs_globals());
  for (size_t i = 0; i < count; i++) {
    globals_put_function(out, &functions[i]);
  }
  return lt_buf_check(out, err, "the declarations are too long");
}
