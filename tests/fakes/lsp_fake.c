/* A fake of the compiler as a language server: it finds nothing wrong with any program, and goes wrong as the last part
 * of its own path after "--" says. It stands where the walls' helper stands, so it has none. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { BODY_MAX = 16 * 1024 * 1024, FIRST_CHECK = 3 }; /* before it: the greeting and a question about nothing */

static const char *how = "";

static int is(const char *name) {
  return strcmp(how, name) == 0;
}

/* Returns the body, or NULL at the end of input. */
static char *read_message(void) {
  static char body[BODY_MAX + 1];
  char line[256];
  size_t n = 0;
  while (fgets(line, sizeof line, stdin) != NULL && line[0] != '\r') {
    (void)sscanf(line, "Content-Length: %zu", &n);
  }
  if (n == 0 || n > BODY_MAX || fread(body, 1, n, stdin) != n) {
    return NULL;
  }
  body[n] = '\0';
  return body;
}

static void put(const char *text, size_t n) {
  for (size_t i = 0; i < n;) {
    size_t piece = is("bytes") ? 1 : n - i;
    if (write(STDOUT_FILENO, text + i, piece) != (ssize_t)piece) {
      exit(0);
    }
    i += piece;
  }
}

static void hang(void) {
  for (;;) {
    pause();
  }
}

static void answer(long id) {
  char body[256], message[512];
  if (id == FIRST_CHECK && is("hang")) {
    hang();
  }
  snprintf(body, sizeof body, "{\"jsonrpc\":\"2.0\",\"id\":%ld,\"result\":{\"kind\":\"full\",\"items\":[]}}", id);
  if (id == FIRST_CHECK && is("no-json")) {
    snprintf(body, sizeof body, "{\"id\":%ld,", id);
  }
  int n = snprintf(message, sizeof message, "Content-Length: %zu\r\n\r\n%s", strlen(body), body);
  if (id == FIRST_CHECK && is("crash")) {
    put(message, (size_t)n / 2);
    raise(SIGTERM);
  }
  put(message, (size_t)n);
  if (id == FIRST_CHECK - 1 && is("deaf")) {
    hang();
  }
}

static void serve(void) {
  static const char beginning[] = "{\"jsonrpc\":\"2.0\",\"id\":";
  char *body;
  while ((body = read_message()) != NULL) {
    if (strncmp(body, beginning, sizeof beginning - 1) == 0) {
      answer(strtol(body + sizeof beginning - 1, NULL, 10));
    }
  }
}

int main(int argc, char **argv) {
  for (int i = 1; i + 1 < argc; i++) {
    if (strcmp(argv[i], "--") == 0) {
      const char *slash = strrchr(argv[i + 1], '/');
      how = slash != NULL ? slash + 1 : argv[i + 1];
    }
  }
  if (is("garbage")) {
    put("hello\nworld\n\n", 13);
    hang();
  }
  if (is("long-header")) {
    static char header[4096];
    memset(header, 'x', sizeof header);
    put(header, sizeof header);
    hang();
  }
  serve();
  return 0;
}
