/* lathe: the command line. */
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/commands.h"
#include "cli/manual_page.h"
#include "io/exec.h"
#include "io/open_files.h"
#include "jail/jail.h"
#include "store/store.h"

static void main_print_help(FILE *to) {
  fputs("Lathe: code mode for language-model agents. A program calls your tools as plain functions.\n\n", to);
  lt_commands_print(to);
  fputs("\nlathe COMMAND --help says more; lathe --version prints the version.\n", to);
}

/* If the process starts without standard streams (`<&-`), the next opened files would get their numbers. */
static void main_open_standard_files(void) {
  for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
    if (fcntl(fd, F_GETFD) < 0) {
      (void)open("/dev/null", O_RDWR); /* open returns the lowest free number */
    }
  }
}

/* The reader has closed the pipe (`| head`). */
static bool main_is_output_closed(void) {
  struct pollfd output = {.fd = STDOUT_FILENO, .events = POLLOUT};
  return poll(&output, 1, 0) == 1 && (output.revents & (POLLERR | POLLHUP)) != 0;
}

/* A failed write, such as on a full disk, is an error. */
static int main_finish(int code) {
  if ((fflush(stdout) == 0 && !ferror(stdout)) || main_is_output_closed()) {
    return code;
  }
  fputs("lathe: standard output could not be written, or not all of it\n", stderr);
  return code == LT_EXIT_OK ? LT_EXIT_FAILED : code;
}

int main(int argc, char **argv) {
  const char *name = argc > 1 ? argv[1] : "";
  if (strcmp(name, LT_EXEC_WORD) == 0) {
    return lt_exec_main(argc - 1, argv + 1);
  }
  if (strcmp(name, LT_JAIL_WORD) == 0) {
    _exit(lt_jail_main(argc - 1, argv + 1)); /* the leak checker does not work behind the walls */
  }
  main_open_standard_files();
  if (strcmp(name, "__man") == 0) {
    return main_finish(lt_manual_page_main(argc - 1, argv + 1));
  }
  lt_open_files_raise();
  lt_store_set_process_own();
  if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0 || strcmp(name, "help") == 0) {
    main_print_help(stdout);
    return main_finish(LT_EXIT_OK);
  }
  if (strcmp(name, "--version") == 0) {
    puts("lathe " LT_VERSION "\n" LT_PARTS);
    return main_finish(LT_EXIT_OK);
  }
  if (*name != '\0') {
    const lt_command *command = lt_commands_find(name);
    return command != NULL ? main_finish(lt_commands_run(command, argc - 1, argv + 1)) : LT_EXIT_USAGE;
  }
  main_print_help(stderr);
  return LT_EXIT_USAGE;
}
