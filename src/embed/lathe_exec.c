/* lathe-exec: what liblathe starts its children through, since the program of its process is somebody else's. It stays
 * beside the child (io/exec.h), or puts walls up around itself and becomes the child (jail/jail.h). */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "io/exec.h"
#include "jail/jail.h"

int main(int argc, char **argv) {
  const char *word = argc > 1 ? argv[1] : "";
  if (strcmp(word, LT_EXEC_WORD) == 0) {
    return lt_exec_main(argc - 1, argv + 1);
  }
  if (strcmp(word, LT_JAIL_WORD) == 0) {
    _exit(lt_jail_main(argc - 1, argv + 1)); /* the leak checker does not work behind the walls */
  }
  dprintf(STDERR_FILENO,
          "this is lathe-exec " LT_VERSION ", and it is started by liblathe " LT_VERSION
          ", not with \"%.40s\": install both from the same version\n",
          word);
  return 127;
}
