/* QuickJS as machine code: reads names of programs, one per line; runs each in a new runtime and answers how many
 * milliseconds that took, without making the runtime. It is the last QuickJS that npm has as C: of 2021-03-27, which
 * QuickJS-ng began from (the package qjsc). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "quickjs.h"

enum { NAME_BYTES = 256, PATH_BYTES = 4096, CODE_BYTES = 1 << 20 };

static double now_ms(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

/* With a NUL behind it. -1: it cannot be read, or is longer. */
static long read_program(const char *name, char *ret_code) {
  char path[PATH_BYTES];
  snprintf(path, sizeof path, "%s/programs/%s", LT_BENCH_DIR, name);
  FILE *file = fopen(path, "r");
  if (file == NULL) {
    return -1;
  }
  size_t n = fread(ret_code, 1, CODE_BYTES, file);
  fclose(file);
  ret_code[n < CODE_BYTES ? n : 0] = '\0';
  return n < CODE_BYTES ? (long)n : -1;
}

static void answer(const char *name, const char *code, size_t n) {
  JSRuntime *runtime = JS_NewRuntime();
  JSContext *context = runtime != NULL ? JS_NewContext(runtime) : NULL;
  if (context == NULL) {
    fprintf(stderr, "lt_bench_native: no memory\n");
    exit(EXIT_FAILURE);
  }
  double start = now_ms();
  JSValue value = JS_Eval(context, code, n, name, JS_EVAL_TYPE_GLOBAL);
  double ms = now_ms() - start;
  if (JS_IsException(value)) {
    printf("it has failed\n");
  } else {
    printf("%f\n", ms);
  }
  JS_FreeValue(context, value);
  JS_FreeContext(context);
  JS_FreeRuntime(runtime);
}

int main(void) {
  static char code[CODE_BYTES + 1];
  char name[NAME_BYTES];
  while (fgets(name, sizeof name, stdin) != NULL) {
    name[strcspn(name, "\n")] = '\0';
    long n = read_program(name, code);
    if (n < 0) {
      printf("%s cannot be read\n", name);
    } else {
      answer(name, code, (size_t)n);
    }
    fflush(stdout);
  }
  return 0;
}
