/* The last step before a child's own program: `HELPER __exec PARENT_PID OPEN_FILES FILE ARGV0 ARG...`.
 *
 * It runs between fork and exec as a program of its own, because libuv offers no place for a system call there. It asks
 * the kernel for SIGKILL when the parent dies. It checks that the parent was still alive then: its own parent must be
 * PARENT_PID. It sets its soft limit of open files to OPEN_FILES (open_files.h; "" changes nothing) and becomes FILE
 * with the arguments ARGV0 ARG... The request survives the exec, unless FILE is set-user-id or has capabilities;
 * children of FILE do not inherit it.
 *
 * The kernel watches the parent's *thread*, not its process: the thread that starts children must live as long as the
 * process. That is the loop's thread, the main one.
 */
#ifndef LT_IO_EXEC_H
#define LT_IO_EXEC_H

/* For main, before it does anything else: `if (argc > 1 && strcmp(argv[1], "__exec") == 0) return lt_exec_main(argc -
 * 1, argv + 1);`. Returns only on failure: 127, with one line on stderr (126 when the parent is gone). */
int lt_exec_main(int argc, char **argv);

#endif
