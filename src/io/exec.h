/* A child's keeper: `HELPER LT_EXEC_WORD PARENT_PID OPEN_FILES FILE ARGV0 ARG...`.
 *
 * It runs FILE with the arguments ARGV0 ARG... in a process of its own, with a soft limit of OPEN_FILES open files
 * (open_files.h; "" changes nothing), stays beside it, hands signals on to its group, and ends as it ends. It adopts
 * what FILE starts (PR_SET_CHILD_SUBREAPER), also what has left FILE's session.
 *
 * The kernel sends it LT_EXEC_END_SIGNAL when the parent dies, however it died; the parent sends it, too. Then it kills
 * FILE and all of its descendants. It does so, too, when FILE ends after a SIGTERM. When FILE ends by itself, only the
 * rest of its process group is killed: what has left the group was meant to stay. If the keeper itself is killed, FILE
 * dies with it, but not its descendants. Nor are orphans adopted under a user-mode emulator: those that have left
 * FILE's group stay then.
 *
 * It runs between fork and exec as a program of its own, because libuv offers no place for a system call there. The
 * kernel watches the parent's *thread*, not its process: the thread that starts children must live as long as they do.
 * That is the loop's thread. It checks that the parent is still alive: its own parent must be PARENT_PID.
 */
#ifndef LT_IO_EXEC_H
#define LT_IO_EXEC_H

#include <signal.h>

#define LT_EXEC_WORD       "__exec-" LT_VERSION /* of another version: its arguments may be others */
#define LT_EXEC_END_SIGNAL SIGUSR2

/* For main, before it does anything else: `if (argc > 1 && strcmp(argv[1], LT_EXEC_WORD) == 0) return
 * lt_exec_main(argc - 1, argv + 1);`. Returns on failure: 127, with one line on stderr (126 when the parent is gone).
 */
int lt_exec_main(int argc, char **argv);

#endif
