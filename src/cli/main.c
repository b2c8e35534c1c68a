/* lathe: the command line. */
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/nearest.h"
#include "cli/command.h"
#include "io/exec.h"
#include "io/open_files.h"
#include "jail/jail.h"

static const lt_command *const commands[] = {&lt_chat_command,   &lt_run_command,   &lt_eval_command,
                                             &lt_replay_command, &lt_tools_command, &lt_config_command};
#define COMMANDS (sizeof commands / sizeof commands[0])

static void print_help(FILE *to) {
  fputs("Lathe: code mode for language-model agents. A program calls your tools as plain functions.\n\n", to);
  for (size_t i = 0; i < COMMANDS; i++) {
    fprintf(to, "  lathe %-8s %s\n", commands[i]->name, commands[i]->summary);
  }
  fputs("\nlathe COMMAND --help says more; lathe --version prints the version.\n", to);
}

static int unknown(const char *name) {
  lt_nearest nearest = lt_nearest_to(lt_str_of(name), 2);
  for (size_t i = 0; i < COMMANDS; i++) {
    lt_nearest_offer(&nearest, lt_str_of(commands[i]->name));
  }
  fprintf(stderr, "lathe: unknown command \"%s\"", name);
  if (nearest.name.p != NULL) {
    fprintf(stderr, " (did you mean \"%s\"?)", nearest.name.p);
  }
  fputs("; see lathe --help\n", stderr);
  return LT_EXIT_USAGE;
}

/* Started without them (`<&-`), the next files we open would be taken for them. */
static void open_standard_files(void) {
  for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
    if (fcntl(fd, F_GETFD) < 0) {
      (void)open("/dev/null", O_RDWR); /* the lowest that is free: this one */
    }
  }
}

/* Whoever read it has had enough (`| head`). */
static bool nobody_reads(void) {
  struct pollfd about = {.fd = STDOUT_FILENO, .events = POLLOUT};
  return poll(&about, 1, 0) == 1 && (about.revents & (POLLERR | POLLHUP)) != 0;
}

/* A full disk is a failure, too. */
static int finish(int code) {
  if ((fflush(stdout) == 0 && !ferror(stdout)) || nobody_reads()) {
    return code;
  }
  fputs("lathe: standard output could not be written, or not all of it\n", stderr);
  return code == LT_EXIT_OK ? LT_EXIT_FAILED : code;
}

int main(int argc, char **argv) {
  const char *name = argc > 1 ? argv[1] : "";
  if (strcmp(name, "__exec") == 0) {
    return lt_exec_main(argc - 1, argv + 1);
  }
  if (strcmp(name, "__jail") == 0) {
    _exit(lt_jail_main(argc - 1, argv + 1)); /* behind the walls a leak checker could not end */
  }
  open_standard_files();
  lt_open_files_raise();
  if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0 || strcmp(name, "help") == 0) {
    print_help(stdout);
    return finish(LT_EXIT_OK);
  }
  if (strcmp(name, "--version") == 0) {
    puts("lathe " LT_VERSION);
    return finish(LT_EXIT_OK);
  }
  for (size_t i = 0; i < COMMANDS; i++) {
    if (strcmp(name, commands[i]->name) == 0) {
      return finish(commands[i]->run(argc - 1, argv + 1));
    }
  }
  if (*name != '\0') {
    return unknown(name);
  }
  print_help(stderr);
  return LT_EXIT_USAGE;
}
