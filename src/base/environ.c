#include "base/environ.h"

#include <dlfcn.h>
#include <stddef.h>
#include <unistd.h>

/* In a library that a host has loaded with RTLD_DEEPBIND `environ` is a variable that nobody sets: the process's is the
 * one of its executable. */
char **lt_environ_view(void) {
  static char *none[] = {NULL};
  char ***of_process = dlsym(RTLD_DEFAULT, "environ");
  char **variables = of_process != NULL ? *of_process : environ;
  return variables != NULL ? variables : none;
}
