#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/limits.h"
#include "base/mem.h"
#include "base/random.h"
#include "jail/jail_privileges.h"
#include "jail/jail_gate.h"
#include "jail/jail_filter.h"
#include "jail/jail.h"
#include "jail/jail_landlock.h"

/* What any interpreter reads when it starts. A runner adds other places with --read. */
static const char *const libraries[] = {"/usr/lib",         "/usr/lib64",          "/lib",           "/lib64",
                                        "/usr/local/lib",   "/usr/share/zoneinfo", "/etc/localtime", "/etc/timezone",
                                        "/etc/ld.so.cache", "/dev/zero",           "/dev/full",      "/dev/random",
                                        "/dev/urandom"};
static const char *const linkers[] = {"/lib64/ld-linux-x86-64.so.2", "/lib/ld-linux-aarch64.so.1",
                                      "/lib/ld-musl-x86_64.so.1", "/lib/ld-musl-aarch64.so.1"};

typedef struct jail_number {
  const char *name; /* the option, with its "=" */
  int resource;     /* RLIMIT_..., or -1 */
  bool is_given;
  uint64_t value;
} jail_number;

enum { PARENT, PORT, ABI, UID, GID, FIRST_LIMIT, NUMBERS = FIRST_LIMIT + 6 };

typedef struct jail_options {
  lt_jail_profile profile;
  bool has_profile;
  bool is_best_effort;
  jail_number numbers[NUMBERS];
  const char *reads[LT_JAIL_PATHS_MAX];
  size_t read_count;
  const char *writes[LT_JAIL_PATHS_MAX];
  size_t write_count;
  const char *socket; /* NULL: none */
  char **command;     /* FILE ARGV0 ... */
} jail_options;

static const jail_number all_numbers[NUMBERS] = {
    [PARENT] = {"--parent=", -1, false, 0},     [PORT] = {"--connect-port=", -1, false, 0},
    [ABI] = {"--landlock-abi=", -1, false, 0},  [UID] = {"--uid=", -1, false, LT_JAIL_UID},
    [GID] = {"--gid=", -1, false, LT_JAIL_UID}, [FIRST_LIMIT] = {"--address-space=", RLIMIT_AS, false, 0},
    {"--data=", RLIMIT_DATA, false, 0},         {"--file-size=", RLIMIT_FSIZE, false, 0},
    {"--processes=", RLIMIT_NPROC, false, 0},   {"--open-files=", RLIMIT_NOFILE, false, 0},
    {"--cpu-seconds=", RLIMIT_CPU, false, 0},
};

static const char *const profile_names[LT_JAIL_PROFILES] = {
    [LT_JAIL_PYTHON_ZYGOTE] = "python-zygote",
    [LT_JAIL_PYTHON] = "python",
    [LT_JAIL_DENO] = "deno",
    [LT_JAIL_DENO_TCP] = "deno-tcp",
};

/* The value in `option` after `name`; NULL: another option. */
static const char *jail_main_value_of(const char *option, const char *name) {
  size_t n = strlen(name);
  return strncmp(option, name, n) == 0 ? option + n : NULL;
}

static bool jail_main_add_path(const char **paths, size_t *count, const char *path) {
  if (*path == '\0' || *count == LT_JAIL_PATHS_MAX) {
    return false;
  }
  paths[(*count)++] = path;
  return true;
}

static bool jail_main_parse_profile(jail_options *j, const char *name) {
  for (unsigned i = 0; i < LT_JAIL_PROFILES; i++) {
    if (strcmp(profile_names[i], name) == 0) {
      j->profile = (lt_jail_profile)i;
      return j->has_profile = true;
    }
  }
  return false;
}

static bool jail_main_parse_number(jail_options *j, const char *option) {
  for (unsigned i = 0; i < NUMBERS; i++) {
    const char *text = jail_main_value_of(option, j->numbers[i].name);
    if (text != NULL) {
      char *end;
      errno = 0;
      j->numbers[i].value = strtoull(text, &end, 10);
      j->numbers[i].is_given = true;
      return *text >= '0' && *text <= '9' && *end == '\0' && errno == 0;
    }
  }
  return false;
}

static bool jail_main_parse_option(jail_options *j, const char *option) {
  const char *value;
  if ((value = jail_main_value_of(option, "--read=")) != NULL) {
    return jail_main_add_path(j->reads, &j->read_count, value);
  }
  if ((value = jail_main_value_of(option, "--write=")) != NULL) {
    return jail_main_add_path(j->writes, &j->write_count, value);
  }
  if ((value = jail_main_value_of(option, "--socket=")) != NULL) {
    j->socket = value;
    return *value == '/' && strlen(value) < LT_JAIL_SOCKET_MAX_BYTES;
  }
  if ((value = jail_main_value_of(option, "--profile=")) != NULL) {
    return jail_main_parse_profile(j, value);
  }
  if (strcmp(option, "--best-effort") == 0) {
    j->is_best_effort = true;
    return true;
  }
  return jail_main_parse_number(j, option);
}

static lt_status jail_main_parse(jail_options *j, int argc, char **argv, lt_err *err) {
  int at = 1;
  memcpy(j->numbers, all_numbers, sizeof all_numbers);
  for (; at < argc && strcmp(argv[at], "--") != 0; at++) {
    if (!jail_main_parse_option(j, argv[at])) {
      return lt_fail(err, LT_E_INVALID, LT_JAIL_WORD ": bad option \"%s\"", argv[at]);
    }
  }
  if (at + 2 >= argc || !j->has_profile || strchr(argv[at + 1], '/') == NULL) {
    return lt_fail(err, LT_E_INVALID,
                   "usage: " LT_JAIL_WORD " --profile=NAME OPTIONS -- PATH ARGV0 [ARG...] (internal)");
  }
  j->command = argv + at + 1;
  return LT_OK;
}

/* Whether to go on: the wall is up, or may be missing. */
static bool jail_main_may_go_on(const jail_options *j, lt_status status) {
  return status == LT_OK || (j->is_best_effort && status == LT_E_UNSUPPORTED);
}

/* Called after the change of users, which would make the kernel forget the setting. */
static lt_status jail_main_die_with_parent(const jail_options *j, lt_err *err) {
  if (!j->numbers[PARENT].is_given) {
    return LT_OK;
  }
  if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0) {
    return lt_fail(err, LT_E_IO, "prctl: %s", strerror(errno));
  }
  if (getppid() != (pid_t)j->numbers[PARENT].value) {
    return lt_fail(err, LT_E_CLOSED, "the parent is gone");
  }
  return LT_OK;
}

static lt_status jail_main_limit(const jail_options *j, lt_err *err) {
  LT_TRY(lt_jail_limit(RLIMIT_CORE, "core dumps", LT_JAIL_CORE_BYTES, err));
  for (unsigned i = FIRST_LIMIT; i < NUMBERS; i++) {
    const jail_number *n = &j->numbers[i];
    if (n->is_given) {
      LT_TRY(lt_jail_limit(n->resource, n->name, n->value, err));
    }
  }
  return LT_OK;
}

static lt_status jail_main_allow_if_exists(int fd, int abi, const char *path, lt_jail_right right, lt_err *err) {
  lt_status status = lt_jail_landlock_path(fd, abi, path, right, err);
  return status == LT_E_NOTFOUND ? LT_OK : status;
}

static lt_status jail_main_allow_system(int fd, int abi, lt_err *err) {
  for (size_t i = 0; i < sizeof libraries / sizeof libraries[0]; i++) {
    LT_TRY(jail_main_allow_if_exists(fd, abi, libraries[i], LT_JAIL_READ, err));
  }
  for (size_t i = 0; i < sizeof linkers / sizeof linkers[0]; i++) {
    LT_TRY(jail_main_allow_if_exists(fd, abi, linkers[i], LT_JAIL_RUN, err));
  }
  return jail_main_allow_if_exists(fd, abi, "/dev/null", LT_JAIL_DEVICE, err);
}

static lt_status jail_main_allow_paths(const jail_options *j, int fd, int abi, lt_err *err) {
  for (size_t i = 0; i < j->read_count; i++) {
    LT_TRY(jail_main_allow_if_exists(fd, abi, j->reads[i], LT_JAIL_READ, err));
  }
  for (size_t i = 0; i < j->write_count; i++) {
    if (access(j->writes[i], W_OK | X_OK) != 0) {
      return lt_fail(err, LT_E_IO, "user %u cannot write to \"%s\": %s", getuid(), j->writes[i], strerror(errno));
    }
    LT_TRY(lt_jail_landlock_path(fd, abi, j->writes[i], LT_JAIL_WRITE, err));
  }
  return lt_jail_landlock_path(fd, abi, j->command[0], LT_JAIL_RUN, err);
}

static lt_status jail_main_enter_landlock(const jail_options *j, int fd, int abi, lt_err *err) {
  LT_TRY(jail_main_allow_system(fd, abi, err));
  LT_TRY(jail_main_allow_paths(j, fd, abi, err));
  return lt_jail_landlock_enter(fd, err);
}

static lt_status jail_main_restrict_files(const jail_options *j, lt_err *err) {
  int abi = lt_jail_landlock_abi();
  int fd;
  if (j->numbers[ABI].is_given && j->numbers[ABI].value < (uint64_t)abi) {
    abi = (int)j->numbers[ABI].value;
  }
  if (abi < 1) {
    return lt_jail_check(&(lt_jail_walls){.seccomp = true, .drop = true}, j->profile, err);
  }
  LT_TRY(lt_jail_landlock_open(abi, &fd, err));
  lt_status status = jail_main_enter_landlock(j, fd, abi, err);
  close(fd);
  return status;
}

/* Maps `size` bytes at an address that cannot be guessed: below 2^46, or below 2^38, which every kernel's processes
 * have. */
static void *jail_main_map_random(size_t size) {
  const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
  for (int tries = 0; tries < 128; tries++) {
    uint64_t random;
    if (!lt_random_fill(&random, sizeof random)) {
      return NULL;
    }
    uint64_t offset = random >> 48 & (page - 1) & ~15ULL;
    uint64_t address = random & ((1ULL << (tries < 64 ? 46 : 38)) - 1) & ~(page - 1);
    if (address >= 1ULL << 24) {
      char *p = mmap((void *)(uintptr_t)address, size + page, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
      if (p != MAP_FAILED) {
        return p + offset;
      }
    }
  }
  return NULL;
}

static void *jail_main_copy_to_random(const void *bytes, size_t size) {
  void *place = jail_main_map_random(size);
  return place == NULL ? NULL : memcpy(place, bytes, size);
}

static size_t jail_main_list_size(char *const *list) {
  size_t n = 1;
  while (list[n - 1] != NULL) {
    n++;
  }
  return n * sizeof *list;
}

static lt_status jail_main_install(const jail_options *j, const lt_jail_exec *exec, const lt_jail_gate *gate,
                                   lt_err *err) {
  LT_AUTO_BUF(filter, LT_JAIL_FILTER_MAX_BYTES);
  LT_TRY(lt_jail_filter_make(j->profile, exec, (uint32_t)getpid(), &filter, err));
  return exec->connects == LT_JAIL_CONNECT_ASK ? lt_jail_gate_install(gate, lt_buf_view(&filter), err)
                                               : lt_jail_filter_install(lt_buf_view(&filter), err);
}

/* Puts up the last wall, and does the only exec that it allows. Returns only on failure. */
static lt_status jail_main_become(const jail_options *j, const lt_jail_gate *gate, lt_err *err) {
  char *path = jail_main_copy_to_random(j->command[0], strlen(j->command[0]) + 1);
  char **argv = jail_main_copy_to_random(j->command + 1, jail_main_list_size(j->command + 1));
  char **envp = jail_main_copy_to_random(environ, jail_main_list_size(environ));
  if (path == NULL || argv == NULL || envp == NULL) {
    return lt_fail(err, LT_E_NOMEM, "no memory");
  }
  lt_jail_exec exec = {{(uintptr_t)path, (uintptr_t)argv, (uintptr_t)envp},
                       gate ? LT_JAIL_CONNECT_ASK : LT_JAIL_CONNECT_REFUSE};
  lt_status status = jail_main_install(j, &exec, gate, err);
  if (status == LT_E_UNSUPPORTED && gate != NULL && j->is_best_effort) { /* a container's own listener prevents ours */
    exec.connects = LT_JAIL_CONNECT_ALLOW;
    status = jail_main_install(j, &exec, gate, err);
  }
  if (!jail_main_may_go_on(j, status)) {
    return status;
  }
  LT_TRY(jail_main_limit(j, err)); /* last: after it there may be no memory for this process */
  syscall(SYS_execve, path, argv, envp);
  return lt_fail(err, LT_E_IO, "cannot start \"%s\" as user %u: %s%s", path, getuid(), strerror(errno),
                 errno == EACCES ? " (the file and every folder above it must be open to that user)" : "");
}

static lt_status jail_main_run(const jail_options *j, lt_err *err) {
  (void)setsid(); /* fails when the process has a session already */
  umask(077);
  if (syscall(SYS_close_range, 3U, ~0U, 0U) != 0) {
    for (int fd = 3, end = (int)sysconf(_SC_OPEN_MAX); fd < end; fd++) {
      close(fd);
    }
  }
  lt_status status = lt_jail_drop((uid_t)j->numbers[UID].value, (gid_t)j->numbers[GID].value, err);
  if (!jail_main_may_go_on(j, status)) {
    return status;
  }
  LT_TRY(jail_main_die_with_parent(j, err));
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) {
    return lt_fail(err, LT_E_UNSUPPORTED, "prctl: %s", strerror(errno));
  }
  lt_jail_gate gate = {.path = j->socket, .port = (unsigned)j->numbers[PORT].value};
  bool has_gate = j->socket != NULL || j->numbers[PORT].is_given;
  if (has_gate) {
    LT_TRY(lt_jail_gate_open(&gate, err));
  }
  status = jail_main_restrict_files(j, err);
  return jail_main_may_go_on(j, status) ? jail_main_become(j, has_gate ? &gate : NULL, err) : status;
}

int lt_jail_main(int argc, char **argv) {
  LT_ERR_VAR(err);
  jail_options j = {0};
  lt_status status = jail_main_parse(&j, argc, argv, &err);
  if (status == LT_OK) {
    status = jail_main_run(&j, &err);
  }
  dprintf(STDERR_FILENO, "%s\n", lt_err_msg(&err));
  return status == LT_E_CLOSED ? 126 : 127;
}
