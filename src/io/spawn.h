/* Starts a program in a process of its own, and notices its end. Nothing here needs a handler of SIGCHLD, or changes
 * how the process treats that signal: the process may be somebody else's (lathe.h).
 *
 * Linux's descriptor of a process (pidfd_open, 5.3) tells of the end, whatever others do about SIGCHLD. How the program
 * ended is known unless somebody else has asked first: the process ignores SIGCHLD, or waits for children that it does
 * not know. Nothing here suspends.
 */
#ifndef LT_IO_SPAWN_H
#define LT_IO_SPAWN_H

#include <stdbool.h>
#include <sys/types.h>

typedef struct lt_spawn_options {
  const char *path; /* with a slash: there is no search */
  char *const *argv;
  char *const *env; /* NULL: this process's */
  const char *cwd;  /* NULL: this process's */
  int fds[3];       /* 0, 1 and 2 of the program; each is at least 3 here. It gets no others */
} lt_spawn_options;

/* Starts a program in a session of its own, with no signal blocked or ignored. Returns 0, or an errno when it was not
 * started. *ret_pidfd becomes readable when the program ends; call lt_spawn_reap then. It is -1 when the program has
 * ended already and somebody else was told. Owns: the caller, close(*ret_pidfd). */
int lt_spawn(const lt_spawn_options *options, pid_t *ret_pid, int *ret_pidfd);
/* Ends a program that was just started, and closes the descriptor (-1: there is none). */
void lt_spawn_undo(pid_t pid, int pidfd);

typedef enum lt_spawn_state {
  LT_SPAWN_RUNS,
  LT_SPAWN_ENDED,        /* *ret_how is as of waitpid; the number is free for other processes from now on */
  LT_SPAWN_ENDED_SOMEHOW /* somebody else was told how, and the number may be another process's already */
} lt_spawn_state;

/* Kills the rest of the program's process group, before its number is free. Once after the end. */
lt_spawn_state lt_spawn_reap(pid_t pid, int *ret_how);

#endif
