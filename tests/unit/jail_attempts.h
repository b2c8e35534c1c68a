/* What a program may try behind the walls, and how it is to fail: for test_jail.c, which makes the calls.
 *
 * Arguments are those of tests/fakes/jail_child.c; $I, $O, $C and $V are the workspace, a folder outside, the program's
 * own file and another process. */
#ifndef LT_TEST_JAIL_ATTEMPTS_H
#define LT_TEST_JAIL_ATTEMPTS_H

#include <errno.h>
#include <stddef.h>
#include <sys/syscall.h>

typedef struct attempt {
  const char *what;
  long number;
  const char *args;
  int expected;
  long then; /* a second call, or 0 */
  const char *then_args;
} attempt;

#define REFUSED (-1) /* in one of several ways */

static const attempt attempts[] = {
    /* Files. */
    {"a file of one's own is read", SYS_openat, "-100 @$I/mine 0", 0, SYS_read, "% & 10"},
    {"and made", SYS_openat, "-100 @$I/new 0x241 0644", 0, SYS_ftruncate, "% 100"},
    {"and given rights", SYS_openat, "-100 @$I/mine 0", 0, SYS_fchmod, "% 0755"},
    {"and given times", SYS_openat, "-100 @$I/mine 0", 0, SYS_utimensat, "% 0 0 0"},
    {"and renamed", SYS_renameat2, "-100 @$I/new -100 @$I/newer 0", 0, SYS_unlinkat, "-100 @$I/newer 0"},
    {"a folder is made, and listed", SYS_mkdirat, "-100 @$I/folder 0700", 0, SYS_openat, "-100 @$I/folder 0x10000"},
    {"and removed", SYS_unlinkat, "-100 @$I/folder 0x200", 0, 0, NULL},
    {"libraries are read", SYS_openat, "-100 @/usr/lib 0x10000", 0, SYS_getdents64, "% & 256"},
    {"nothing is nothing", SYS_openat, "-100 @/dev/null 1", 0, SYS_write, "% @x 1"},
    {"a secret is read", SYS_openat, "-100 @$O/secret 0", EACCES, 0, NULL},
    {"a secret's folder is listed", SYS_openat, "-100 @$O 0x10000", EACCES, 0, NULL},
    {"a secret is written", SYS_openat, "-100 @$O/secret 1", EACCES, 0, NULL},
    {"a file is made outside", SYS_openat, "-100 @$O/new 0x41 0644", EACCES, 0, NULL},
    {"a file is emptied by its path", SYS_truncate, "@$O/secret 0", EPERM, 0, NULL},
    {"a file is emptied by opening it for reading", SYS_openat, "-100 @$O/secret 01000", EPERM, 0, NULL},
    {"the interpreter is emptied by opening it for reading", SYS_openat, "-100 @$C 01000", EPERM, 0, NULL},
    {"a file is opened neither to be read nor written", SYS_openat, "-100 @$O/secret 3", EPERM, 0, NULL},
    {"a file is emptied by opening it so", SYS_openat, "-100 @$O/secret 01003", EPERM, 0, NULL},
    {"the interpreter is written", SYS_openat, "-100 @$C 1", REFUSED, 0, NULL},
    {"a file is removed outside", SYS_unlinkat, "-100 @$O/secret 0", EACCES, 0, NULL},
    {"a folder is made outside", SYS_mkdirat, "-100 @$O/folder 0700", EACCES, 0, NULL},
    {"a file is moved out", SYS_renameat2, "-100 @$I/mine -100 @$O/mine 0", REFUSED, 0, NULL},
    {"a secret is moved in", SYS_renameat2, "-100 @$O/secret -100 @$I/secret 0", REFUSED, 0, NULL},
    {"a secret is linked in", SYS_linkat, "-100 @$O/secret -100 @$I/secret 0", REFUSED, 0, NULL},
    {"a secret is read through a symbolic link", SYS_symlinkat, "@$O/secret -100 @$I/link", EACCES, SYS_openat,
     "-100 @$I/link 0"},
    {"a secret is read through ..", SYS_openat, "-100 @../out/secret 0", EACCES, 0, NULL},
    {"an owner's rights are changed by path", SYS_fchmodat, "-100 @$O/secret 0777", EPERM, 0, NULL},
    {"times are changed by path", SYS_utimensat, "-100 @$O/secret 0 0", EPERM, 0, NULL},
    {"an owner is changed", SYS_fchownat, "-100 @$I/mine 0 0 0", EPERM, 0, NULL},
    {"an attribute is set", SYS_setxattr, "@$O/secret @user.x @y 1 0", ENOTSUP, 0, NULL},
    {"a set-user-id file is made", SYS_openat, "-100 @$I/suid 0x41 04755", EPERM, 0, NULL},
    {"a file becomes set-user-id", SYS_openat, "-100 @$I/mine 0", EPERM, SYS_fchmod, "% 04755"},
    {"a device is made", SYS_mknodat, "-100 @$I/device 020600 0x103", REFUSED, 0, NULL},
    {"openat2 is looked for", SYS_openat2, "-100 @$I/mine & 24", ENOSYS, 0, NULL},
    {"/etc/passwd is read", SYS_openat, "-100 @/etc/passwd 0", EACCES, 0, NULL},
    {"another's environment is read", SYS_openat, "-100 @/proc/$V/environ 0", EACCES, 0, NULL},
    {"another's memory is opened", SYS_openat, "-100 @/proc/$V/mem 0", EACCES, 0, NULL},
    {"one's own memory is opened", SYS_openat, "-100 @/proc/self/mem 2", EACCES, 0, NULL},
    {"a terminal is opened", SYS_openat, "-100 @/dev/tty 2", EACCES, 0, NULL},
    {"shared memory is made", SYS_openat, "-100 @/dev/shm/lathe-test 0x42 0600", EACCES, 0, NULL},
    {"an inherited descriptor is written", SYS_write, "7 @x 1", EBADF, 0, NULL},

    /* Processes. */
    {"a process is forked", SYS_clone, "17 0 0 0 0", EPERM, 0, NULL},
    {"a process is forked that shares memory", SYS_clone, "0x4111 0 0 0 0", EPERM, 0, NULL},
    {"clone3 is looked for", SYS_clone3, "& 64", ENOSYS, 0, NULL},
    {"a thread gets a namespace", SYS_clone, "0x10010f00 0 0 0 0", EPERM, 0, NULL},
    {"a program is started", SYS_execve, "@$C & &", EPERM, 0, NULL},
    {"a program is started from memory", SYS_execveat, "0 @ & & 0x1000", EPERM, 0, NULL},
    {"memory becomes a file", SYS_memfd_create, "@x 0", EPERM, 0, NULL},
    {"oneself is signalled", SYS_kill, "! 0", 0, 0, NULL},
    {"a thread of one's own is signalled", SYS_tgkill, "! ! 0", 0, 0, NULL},
    {"another is killed", SYS_kill, "$V 9", EPERM, 0, NULL},
    {"another is looked for", SYS_kill, "$V 0", EPERM, 0, NULL},
    {"the parent is killed", SYS_kill, "? 9", EPERM, 0, NULL},
    {"the group is killed", SYS_kill, "0 9", EPERM, 0, NULL},
    {"everybody is killed", SYS_kill, "-1 9", EPERM, 0, NULL},
    {"another's thread is killed", SYS_tgkill, "$V $V 9", EPERM, 0, NULL},
    {"another's thread is killed, the old way", SYS_tkill, "$V 9", EPERM, 0, NULL},
    {"another gets a signal with a value", SYS_rt_sigqueueinfo, "$V 9 &", EPERM, 0, NULL},
    {"another gets a descriptor", SYS_pidfd_open, "$V 0", EPERM, 0, NULL},
    {"a file's owner is to get signals", SYS_fcntl, "0 8 $V", EPERM, 0, NULL},
    {"a file's signal is chosen", SYS_fcntl, "0 10 9", EPERM, 0, NULL},
    {"a file's owner is set by ioctl", SYS_ioctl, "0 0x8901 &", EPERM, 0, NULL},
    {"a terminal is typed to", SYS_ioctl, "0 0x5412 @x", EPERM, 0, NULL},
    {"another is traced", SYS_ptrace, "16 $V 0 0", EPERM, 0, NULL},
    {"another's memory is read", SYS_process_vm_readv, "$V & 1 & 1 0", EPERM, 0, NULL},
    {"another's memory is written", SYS_process_vm_writev, "$V & 1 & 1 0", EPERM, 0, NULL},
    {"two are compared", SYS_kcmp, "! $V 0 0 0", EPERM, 0, NULL},
    {"another's limits are set", SYS_prlimit64, "$V 7 & 0", EPERM, 0, NULL},
    {"another is slowed down", SYS_setpriority, "0 $V 19", EPERM, 0, NULL},
    {"a session is left", SYS_setsid, "", EPERM, 0, NULL},
    {"a group is left", SYS_setpgid, "0 0", EPERM, 0, NULL},
    {"death with the parent is called off", SYS_prctl, "1 0 0 0 0", EPERM, 0, NULL},
    {"tracing is allowed to others", SYS_prctl, "0x59616d61 -1 0 0 0", EPERM, 0, NULL},
    {"a filter is added", SYS_prctl, "22 2 & 0 0", EPERM, 0, NULL},
    {"a filter is added, the other way", SYS_seccomp, "1 0 &", EPERM, 0, NULL},
    {"a thread gets a name", SYS_prctl, "15 @name 0 0 0", 0, 0, NULL},

    /* Sockets. */
    {"a pair of streams", SYS_socketpair, "1 0x80801 0 &", 0, 0, NULL},
    {"a pair of datagram sockets", SYS_socketpair, "1 2 0 &", EPERM, 0, NULL},
    {"a socket is bound", SYS_bind, "0 & 16", EPERM, 0, NULL},
    {"a socket listens", SYS_listen, "0 1", EPERM, 0, NULL},
    {"something is sent to an address", SYS_sendto, "0 @x 1 0 & 16", EPERM, 0, NULL},
    {"something is sent before connecting", SYS_sendto, "0 @x 1 0x20000000 0 0", EPERM, 0, NULL},
    {"a UDP socket", SYS_socket, "2 2 0", EPERM, 0, NULL},
    {"a TCP socket of version 6", SYS_socket, "10 1 0", EPERM, 0, NULL},
    {"a raw socket", SYS_socket, "2 3 1", EPERM, 0, NULL},
    {"a datagram socket", SYS_socket, "1 2 0", EPERM, 0, NULL},
    {"a netlink socket", SYS_socket, "16 3 0", EPERM, 0, NULL},
    {"a packet socket", SYS_socket, "17 3 0", EPERM, 0, NULL},
    {"a cipher's socket", SYS_socket, "38 5 0", EPERM, 0, NULL},
    {"a virtual machine's socket", SYS_socket, "40 1 0", EPERM, 0, NULL},
    {"multi-path TCP", SYS_socket, "2 1 262", EPERM, 0, NULL},

    /* The system. */
    {"something is mounted", SYS_mount, "@none @$I @tmpfs 0 0", EPERM, 0, NULL},
    {"something is unmounted", SYS_umount2, "@/tmp 0", EPERM, 0, NULL},
    {"the root is changed", SYS_chroot, "@$I", EPERM, 0, NULL},
    {"a namespace is made", SYS_unshare, "0x10000000", EPERM, 0, NULL},
    {"a namespace is entered", SYS_setns, "0 0", EPERM, 0, NULL},
    {"a key is kept", SYS_add_key, "@user @x @y 1 -3", EPERM, 0, NULL},
    {"keys are listed", SYS_keyctl, "0 -3 0", EPERM, 0, NULL},
    {"a program for the kernel", SYS_bpf, "0 & 64", EPERM, 0, NULL},
    {"events are watched", SYS_perf_event_open, "& 0 -1 -1 0", EPERM, 0, NULL},
    {"page faults are handled", SYS_userfaultfd, "0", EPERM, 0, NULL},
    {"a ring of requests", SYS_io_uring_setup, "4 &", EPERM, 0, NULL},
    {"memory is shared for good", SYS_shmget, "0 4096 0x3b6", EPERM, 0, NULL},
    {"a queue of messages", SYS_msgget, "0 0x3b6", EPERM, 0, NULL},
    {"a module is loaded", SYS_init_module, "& 8 @", EPERM, 0, NULL},
    {"the machine is stopped", SYS_reboot, "0xfee1dead 672274793 0 0", EPERM, 0, NULL},
    {"the kernel's log is read", SYS_syslog, "3 & 10", EPERM, 0, NULL},
    {"somebody else is become", SYS_setuid, "0", EPERM, 0, NULL},
    {"another group is become", SYS_setgid, "0", EPERM, 0, NULL},
    {"capabilities are set", SYS_capset, "& &", EPERM, 0, NULL},
    {"another personality", SYS_personality, "0x0040000", EPERM, 0, NULL},
    {"files are opened by handle", SYS_open_by_handle_at, "0 & 0", EPERM, 0, NULL},
    {"a file is watched", SYS_inotify_init1, "0", EPERM, 0, NULL},
    {"a call nobody knows", 900, "", ENOSYS, 0, NULL},
    {"a call of the x32 kind", 0x40000000 | 39, "", ENOSYS, 0, NULL},
#ifdef __x86_64__
    {"a process is forked, the old way", SYS_fork, "", EPERM, 0, NULL},
    {"a process is forked for an exec", SYS_vfork, "", EPERM, 0, NULL},
    {"rights are changed by path, the old way", SYS_chmod, "@$O/secret 0777", EPERM, 0, NULL},
    {"a secret is read, the old way", SYS_open, "@$O/secret 0", EACCES, 0, NULL},
    {"a file is emptied, the old way", SYS_open, "@$O/secret 01000", EPERM, 0, NULL},
    {"a file is opened for nothing, the old way", SYS_open, "@$O/secret 3", EPERM, 0, NULL},
    {"a file is made anew, the old way", SYS_creat, "@$O/secret 0600", EACCES, 0, NULL},
    {"a secret is linked in, the old way", SYS_link, "@$O/secret @$I/secret", REFUSED, 0, NULL},
    {"ports are asked for", SYS_iopl, "3", EPERM, 0, NULL},
#endif
};

#endif
