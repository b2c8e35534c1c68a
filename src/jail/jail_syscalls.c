#include "jail/jail_syscalls.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/prctl.h>
#include <sched.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "jail/jail.h"

#ifndef PR_SET_VMA /* of Linux 5.17; headers may be older than the kernel */
#define PR_SET_VMA 0x53564d41
#endif

/* Profiles. */
#define ZYGOTE (1 << LT_JAIL_PYTHON_ZYGOTE)
#define PYTHON (1 << LT_JAIL_PYTHON)
#define UNIX   (1 << LT_JAIL_DENO)
#define TCP    (1 << LT_JAIL_DENO_TCP)
#define DENO   (UNIX | TCP)
#define RUN    (PYTHON | DENO)
#define ALL    (ZYGOTE | RUN)

/* Conditions. */
#define BITS(arg, mask, value) \
  { LT_JAIL_BITS, arg, (uint32_t)(mask), (uint32_t)(value) }
#define IS(arg, value)     BITS(arg, 0xffffffff, value)
#define NONE_OF(arg, bits) BITS(arg, bits, 0)
#define NULL_AT(arg) \
  { LT_JAIL_NULL, arg, 0, 0 }
#define WITH(name, profiles, error, ...) \
  {                                      \
    SYS_##name, profiles, error, {       \
      __VA_ARGS__                        \
    }                                    \
  }
#define ALLOW(name, profiles)  \
  {                            \
    SYS_##name, profiles, 0, { \
      { 0 }                    \
    }                          \
  }
#define IF(name, profiles, ...) WITH(name, profiles, 0, __VA_ARGS__)
#define FAIL(name, profiles, error) \
  {                                 \
    SYS_##name, profiles, error, {  \
      { 0 }                         \
    }                               \
  }

#define NAMESPACES \
  (CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET)
#define THREAD     (CLONE_THREAD | CLONE_VM | CLONE_SIGHAND | CLONE_FILES)
#define UNSHARE    (1 << 1) /* CLOSE_RANGE_UNSHARE */
#define SETID      (S_ISUID | S_ISGID)
#define CREATES    (O_CREAT | (O_TMPFILE & ~O_DIRECTORY))
#define SOCK_FLAGS (SOCK_NONBLOCK | SOCK_CLOEXEC)
#define SO_TIMEOUT 20 /* and 21: SO_RCVTIMEO, SO_SNDTIMEO */
#define TCP_LEVEL  6

/* Refuses to truncate a file while it is opened for reading: before ABI 3 Landlock asks only for the right to read. */
#define TRUNCATES(name, arg) WITH(name, ALL, EPERM, BITS(arg, O_ACCMODE | O_TRUNC, O_RDONLY | O_TRUNC))
/* Refuses to open a file neither for reading nor for writing. Landlock allows that for any file, and it is enough to
 * change the file's rights and times, and before ABI 3 to truncate it. */
#define NO_ACCESS(name, arg) WITH(name, ALL, EPERM, BITS(arg, O_ACCMODE, O_ACCMODE))

static const lt_jail_rule rules[] = {
    /* The most frequent ones first: the filter is a list. */
    ALLOW(read, ALL),
    ALLOW(write, ALL),
    ALLOW(futex, ALL),
    TRUNCATES(openat, 2),
    NO_ACCESS(openat, 2),
    IF(openat, ALL, NONE_OF(2, CREATES)),
    IF(openat, ALL, NONE_OF(3, SETID)),
    ALLOW(close, ALL),
    ALLOW(newfstatat, ALL),
    ALLOW(fstat, ALL),
    ALLOW(lseek, ALL),
    ALLOW(mmap, ALL),
    ALLOW(munmap, ALL),
    ALLOW(epoll_pwait, ALL),

    /* Memory. */
    ALLOW(brk, ALL),
    ALLOW(mprotect, ALL),
    ALLOW(mremap, ALL),
    ALLOW(madvise, ALL),
    ALLOW(msync, ALL),
    ALLOW(pkey_alloc, ALL),
    ALLOW(pkey_free, ALL),
    ALLOW(pkey_mprotect, ALL),
    ALLOW(membarrier, ALL),

    /* Open files. Landlock checks the path of open, rename and the like, but not of chmod, utime,
     * truncate (before ABI 3), chown, setxattr: those are left for open files only, or not at all. */
    ALLOW(readv, ALL),
    ALLOW(writev, ALL),
    ALLOW(pread64, ALL),
    ALLOW(pwrite64, ALL),
    ALLOW(preadv, ALL),
    ALLOW(pwritev, ALL),
    ALLOW(preadv2, ALL),
    ALLOW(pwritev2, ALL),
    /* A pipe can hold a file's pages without a copy, also after the file is deleted: nobody could count them. Libraries
     * copy instead. */
    FAIL(sendfile, PYTHON, EINVAL),
    FAIL(splice, PYTHON, EINVAL),
    FAIL(tee, PYTHON, EINVAL),
    ALLOW(sendfile, ZYGOTE | DENO),
    ALLOW(splice, ZYGOTE | DENO),
    ALLOW(tee, ZYGOTE | DENO),
    ALLOW(copy_file_range, ALL),
    IF(close_range, ALL,
       NONE_OF(2, UNSHARE)), /* one table of descriptors per process, so that the runner can inspect it */
    ALLOW(dup, ALL),
    ALLOW(dup3, ALL),
    ALLOW(pipe2, ALL),
    ALLOW(ftruncate, ALL),
    /* fallocate takes disk space faster than the runner measures it; the C library's posix_fallocate writes instead. */
    FAIL(fallocate, PYTHON, EOPNOTSUPP),
    ALLOW(fallocate, ZYGOTE | DENO),
    ALLOW(fsync, ALL),
    ALLOW(fdatasync, ALL),
    ALLOW(sync_file_range, ALL),
    ALLOW(fadvise64, ALL),
    ALLOW(readahead, ALL),
    ALLOW(flock, ALL),
    ALLOW(getdents64, ALL),
    IF(fchmod, ALL, NONE_OF(1, SETID)),
    IF(utimensat, ALL, NULL_AT(1), IS(3, 0)),
    /* No F_SETOWN: it lets another process send signals of its choice (F_SETSIG) to a file's owner. */
    IF(fcntl, ALL, BITS(1, ~7U, F_DUPFD)), /* 0..7: up to F_SETLKW */
    /* Not for Python programs: locks without an owner's number, which the runner could not count (python_locks.c). */
    IF(fcntl, ZYGOTE | DENO, BITS(1, ~1U, F_OFD_GETLK)),
    IF(fcntl, ZYGOTE | DENO, IS(1, F_OFD_SETLKW)),
    IF(fcntl, ALL, IS(1, F_DUPFD_CLOEXEC)), /* not F_SETPIPE_SZ: 16 times the kernel's memory for each pipe */
    IF(fcntl, ALL, IS(1, F_GETPIPE_SZ)),
    IF(ioctl, ALL, IS(1, TCGETS)),
    IF(ioctl, ALL, IS(1, TIOCGWINSZ)),
    IF(ioctl, ALL, IS(1, FIONREAD)),
    IF(ioctl, ALL, IS(1, FIONBIO)),
    IF(ioctl, ALL, IS(1, FIOCLEX)),
    IF(ioctl, ALL, IS(1, FIONCLEX)),

    /* Paths. */
    FAIL(openat2, ALL, ENOSYS), /* a filter cannot see its arguments; libraries do without it */
    ALLOW(statx, ALL),
    ALLOW(faccessat, ALL),
    ALLOW(faccessat2, ALL),
    ALLOW(readlinkat, ALL),
    ALLOW(getcwd, ALL),
    ALLOW(chdir, ALL),
    ALLOW(fchdir, ALL),
    ALLOW(mkdirat, ALL),
    ALLOW(unlinkat, ALL),
    ALLOW(symlinkat, ALL),
    ALLOW(linkat, ALL),
    ALLOW(renameat2, ALL),
    IF(mknodat, ALL, NONE_OF(2, SETID)), /* Landlock decides what may be made: files and FIFOs */
    ALLOW(umask, ALL),
    ALLOW(statfs, ALL),
    ALLOW(fstatfs, ALL),
    FAIL(getxattr, ALL, ENOTSUP),
    FAIL(lgetxattr, ALL, ENOTSUP),
    FAIL(fgetxattr, ALL, ENOTSUP),
    FAIL(listxattr, ALL, ENOTSUP),
    FAIL(llistxattr, ALL, ENOTSUP),
    FAIL(flistxattr, ALL, ENOTSUP),
    FAIL(setxattr, ALL, ENOTSUP),
    FAIL(lsetxattr, ALL, ENOTSUP),
    FAIL(fsetxattr, ALL, ENOTSUP),

    /* Waiting. */
    ALLOW(ppoll, ALL),
    ALLOW(pselect6, ALL),
    ALLOW(epoll_create1, ALL),
    ALLOW(epoll_ctl, ALL),
    ALLOW(epoll_pwait2, ALL),
    ALLOW(eventfd2, ALL),
    ALLOW(signalfd4, ALL),
    ALLOW(timerfd_create, ALL),
    ALLOW(timerfd_settime, ALL),
    ALLOW(timerfd_gettime, ALL),
    ALLOW(nanosleep, ALL),
    ALLOW(clock_nanosleep, ALL),
    ALLOW(clock_gettime, ALL),
    ALLOW(clock_getres, ALL),
    ALLOW(gettimeofday, ALL),
    ALLOW(getitimer, ALL),
    ALLOW(setitimer, ALL),
    ALLOW(timer_create, ALL),
    ALLOW(timer_settime, ALL),
    ALLOW(timer_gettime, ALL),
    ALLOW(timer_getoverrun, ALL),
    ALLOW(timer_delete, ALL),
    ALLOW(restart_syscall, ALL),
    ALLOW(sched_yield, ALL),

    /* Signals: only to the process itself. */
    ALLOW(kill, ZYGOTE),
    IF(kill, RUN, IS(0, LT_JAIL_SELF_PID)),
    ALLOW(tgkill, ZYGOTE),
    IF(tgkill, RUN, IS(0, LT_JAIL_SELF_PID)),
    IF(rt_sigqueueinfo, RUN, IS(0, LT_JAIL_SELF_PID)),
    IF(rt_tgsigqueueinfo, RUN, IS(0, LT_JAIL_SELF_PID)),
    ALLOW(rt_sigaction, ALL),
    ALLOW(rt_sigprocmask, ALL),
    ALLOW(rt_sigreturn, ALL),
    ALLOW(rt_sigpending, ALL),
    ALLOW(rt_sigtimedwait, ALL),
    ALLOW(rt_sigsuspend, ALL),
    ALLOW(sigaltstack, ALL),

    /* Processes and threads. A filter cannot see clone3's arguments; the C library falls back to clone. */
    FAIL(clone3, ALL, ENOSYS),
    IF(clone, ALL, BITS(0, NAMESPACES | THREAD, THREAD)),
    IF(clone, ZYGOTE, NONE_OF(0, NAMESPACES)),
    ALLOW(wait4, ALL),
    ALLOW(waitid, ALL),
    ALLOW(exit, ALL),
    ALLOW(exit_group, ALL),
    ALLOW(set_tid_address, ALL),
    ALLOW(set_robust_list, ALL),
    ALLOW(rseq, ALL),
    ALLOW(gettid, ALL),
    ALLOW(getpid, ALL),
    ALLOW(getppid, ALL),
    ALLOW(getpgid, ALL),
    ALLOW(getsid, ALL),
    ALLOW(setsid, ZYGOTE),
    ALLOW(setpgid, ZYGOTE),
    ALLOW(getuid, ALL),
    ALLOW(geteuid, ALL),
    ALLOW(getgid, ALL),
    ALLOW(getegid, ALL),
    ALLOW(getresuid, ALL),
    ALLOW(getresgid, ALL),
    ALLOW(getgroups, ALL),
    ALLOW(capget, ALL),
    ALLOW(getpriority, ALL),
    ALLOW(sched_getaffinity, ALL),
    ALLOW(sched_getparam, ALL),
    ALLOW(sched_getscheduler, ALL),
    ALLOW(sched_get_priority_min, ALL),
    ALLOW(sched_get_priority_max, ALL),
    ALLOW(getcpu, ALL),
    ALLOW(getrusage, ALL),
    ALLOW(getrlimit, ALL),
    ALLOW(setrlimit, ALL),
    IF(prlimit64, ALL, IS(0, 0)),
    IF(prlimit64, RUN, IS(0, LT_JAIL_SELF_PID)),
    ALLOW(times, ALL),
    ALLOW(uname, ALL),
    ALLOW(sysinfo, ALL),
    ALLOW(getrandom, ALL),
    IF(personality, ALL, IS(0, 0xffffffff)), /* only reads it */
    IF(prctl, ALL, IS(0, PR_SET_NAME)),
    IF(prctl, ALL, IS(0, PR_GET_NAME)),
    IF(prctl, ALL, IS(0, PR_GET_DUMPABLE)),
    IF(prctl, ALL, IS(0, PR_GET_PDEATHSIG)),
    IF(prctl, ALL, IS(0, PR_GET_NO_NEW_PRIVS)),
    IF(prctl, ALL, IS(0, PR_GET_SECCOMP)),
    IF(prctl, ALL, IS(0, PR_CAPBSET_READ)),
    IF(prctl, ALL, IS(0, PR_SET_VMA)), /* names of anonymous memory */
    IF(prctl, ZYGOTE, IS(0, PR_SET_PDEATHSIG), IS(1, SIGKILL)),
    IF(prctl, ZYGOTE, IS(0, PR_SET_DUMPABLE), IS(1, 0)),
    IF(prctl, ZYGOTE, IS(0, PR_SET_NO_NEW_PRIVS)),
    IF(prctl, ZYGOTE, IS(0, PR_SET_SECCOMP)),
    ALLOW(seccomp, ZYGOTE),
    ALLOW(landlock_create_ruleset, ZYGOTE),
    ALLOW(landlock_add_rule, ZYGOTE),
    ALLOW(landlock_restrict_self, ZYGOTE),

    /* Sockets. A pair of streams reaches no other process. A datagram could be sent to any socket by its path; TCP's
     * "fast open" is a connect that Landlock does not see. */
    IF(socketpair, ALL, IS(0, AF_UNIX), BITS(1, ~SOCK_FLAGS, SOCK_STREAM)),
    IF(socket, UNIX, IS(0, AF_UNIX), BITS(1, ~SOCK_FLAGS, SOCK_STREAM)),
    IF(socket, TCP, IS(0, AF_INET), BITS(1, ~SOCK_FLAGS, SOCK_STREAM), IS(2, 0)),
    IF(socket, TCP, IS(0, AF_INET), BITS(1, ~SOCK_FLAGS, SOCK_STREAM), IS(2, TCP_LEVEL)),
    FAIL(connect, DENO, LT_JAIL_ASK),
    IF(sendto, ALL, NULL_AT(4), NONE_OF(3, MSG_FASTOPEN)),
    /* Not for Python programs: a message can hold open, deleted files, which the runner could not count. */
    IF(sendmsg, ZYGOTE | DENO, NONE_OF(2, MSG_FASTOPEN)),
    ALLOW(recvfrom, ALL),
    ALLOW(recvmsg, ALL),
    ALLOW(shutdown, ALL),
    ALLOW(getsockname, ALL),
    ALLOW(getpeername, ALL),
    ALLOW(getsockopt, ALL),
    IF(setsockopt, ALL, IS(1, SOL_SOCKET), BITS(2, ~1U, SO_TIMEOUT)),
    IF(setsockopt, TCP, IS(1, SOL_SOCKET), IS(2, SO_KEEPALIVE)),
    IF(setsockopt, TCP, IS(1, TCP_LEVEL)),

#ifdef __x86_64__
    /* Old names, which other processors do not have. */
    TRUNCATES(open, 1),
    NO_ACCESS(open, 1),
    IF(open, ALL, NONE_OF(1, CREATES)),
    IF(open, ALL, NONE_OF(2, SETID)),
    IF(creat, ALL, NONE_OF(1, SETID)),
    ALLOW(stat, ALL),
    ALLOW(lstat, ALL),
    ALLOW(access, ALL),
    ALLOW(readlink, ALL),
    ALLOW(mkdir, ALL),
    ALLOW(rmdir, ALL),
    ALLOW(unlink, ALL),
    ALLOW(symlink, ALL),
    ALLOW(link, ALL),
    ALLOW(rename, ALL),
    ALLOW(renameat, ALL),
    IF(mknod, ALL, NONE_OF(1, SETID)),
    ALLOW(getdents, ALL),
    ALLOW(dup2, ALL),
    ALLOW(pipe, ALL),
    ALLOW(poll, ALL),
    ALLOW(select, ALL),
    ALLOW(epoll_create, ALL),
    ALLOW(epoll_wait, ALL),
    ALLOW(eventfd, ALL),
    ALLOW(signalfd, ALL),
    ALLOW(alarm, ALL),
    ALLOW(pause, ALL),
    ALLOW(time, ALL),
    ALLOW(getpgrp, ALL),
    ALLOW(fork, ZYGOTE),
    ALLOW(arch_prctl, ALL),
#endif
};

const lt_jail_rule *lt_jail_rules(size_t *ret_count) {
  *ret_count = sizeof rules / sizeof rules[0];
  return rules;
}
