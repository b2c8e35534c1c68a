/* The walls, tried by real processes: each tries one thing behind them and says how it failed. Run as root it tries
 * what root has become as well as an ordinary user; and all again with Landlock as old as Debian 12's. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <arpa/inet.h>
#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <grp.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <netinet/in.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/limits.h"
#include "base/mem.h"
#include "jail/jail.h"
#include "unit/jail_attempts.h"

#define ORDINARY_UID 65533 /* of the tests that root makes as an ordinary user */
#define WORDS_MAX    64

/* How a test is made. */
typedef struct situation {
  const char *profile;
  int abi; /* 0: the kernel's */
  bool ordinary;
} situation;

static char base[64];    /* a folder for all of it, open to everybody */
static char child[128];  /* a copy of jail_child, where everybody can reach it */
static char inside[128]; /* the workspace */
static char outside[128];
static bool is_root;
static lt_jail_walls walls;
static uid_t victim_uid;

/* --- Scaffolding -------------------------------------------------------------------------------------------------- */

static const char *in(const char *folder, const char *name) {
  static char paths[8][256];
  static unsigned used;
  char *path = paths[used++ % 8];
  snprintf(path, sizeof paths[0], "%s/%s", folder, name);
  return path;
}

static void write_file(const char *path, const void *bytes, size_t n, mode_t mode) {
  int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
  assert_true(fd >= 0);
  assert_int_equal(write(fd, bytes, n), n);
  assert_int_equal(fchmod(fd, mode), 0);
  close(fd);
}

static void copy_child(void) {
  static char bytes[4 << 20];
  int fd = open(JAIL_CHILD, O_RDONLY);
  assert_true(fd >= 0);
  ssize_t n = read(fd, bytes, sizeof bytes);
  close(fd);
  assert_in_range(n, 1, sizeof bytes - 1);
  write_file(child, bytes, (size_t)n, 0755);
}

static uid_t uid_in(const situation *s) {
  return !is_root ? getuid() : s->ordinary ? ORDINARY_UID : LT_JAIL_UID;
}

static void own(const char *path, uid_t uid) {
  if (is_root) {
    assert_int_equal(chown(path, uid, uid), 0);
  }
}

/* What belongs to whom tries: the walls must do, not the owner's rights. */
static void lay_out(uid_t uid) {
  const char *owned[] = {in(inside, "mine"), in(outside, "secret"), in(outside, "empty")};
  own(inside, uid);
  own(outside, uid);
  for (int i = 0; i < 3; i++) {
    write_file(owned[i], "secret\n", 7, 0644);
    own(owned[i], uid);
  }
  victim_uid = uid;
}

static int set_up(void **state) {
  (void)state;
  is_root = getuid() == 0;
  lt_jail_probe(&walls);
  strcpy(base, "/tmp/lathe-jail-XXXXXX");
  assert_non_null(mkdtemp(base));
  assert_int_equal(chmod(base, 0755), 0);
  snprintf(child, sizeof child, "%s/child", base);
  snprintf(inside, sizeof inside, "%s/in", base);
  snprintf(outside, sizeof outside, "%s/out", base);
  assert_int_equal(mkdir(inside, 0777), 0);
  assert_int_equal(mkdir(outside, 0777), 0);
  copy_child();
  return 0;
}

static int remove_one(const char *path, const struct stat *st, int kind, struct FTW *ftw) {
  (void)st;
  (void)kind;
  (void)ftw;
  return remove(path);
}

static int tear_down(void **state) {
  (void)state;
  return nftw(base, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

static void become_ordinary(uid_t uid) {
  if (is_root && (setgroups(0, NULL) != 0 || setresgid(uid, uid, uid) != 0 || setresuid(uid, uid, uid) != 0)) {
    _exit(249);
  }
}

/* Another process of the same user, as another run would be; it has a secret in its environment. */
static pid_t start_victim(uid_t uid) {
  pid_t pid = fork();
  if (pid == 0) {
    char *argv[] = {child, (char[]){"wait"}, NULL};
    char *envp[] = {(char[]){"SECRET=in-the-environment"}, NULL};
    become_ordinary(uid);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    execve(child, argv, envp);
    _exit(249);
  }
  assert_true(pid > 0);
  return pid;
}

static void end(pid_t pid) {
  kill(pid, SIGKILL);
  assert_int_equal(waitpid(pid, NULL, 0), pid);
}

/* Becomes `words` behind the walls; `options` NULL-terminated. In a child of the test. */
static void enter(const situation *s, const char *const *options, const char *const *words) {
  char profile[64], abi[64], write_option[160];
  const char *argv[WORDS_MAX * 2] = {LT_JAIL_WORD};
  int argc = 1;
  snprintf(profile, sizeof profile, "--profile=%s", s->profile);
  snprintf(abi, sizeof abi, "--landlock-abi=%d", s->abi != 0 ? s->abi : walls.landlock_abi);
  snprintf(write_option, sizeof write_option, "--write=%s", inside);
  argv[argc++] = profile;
  argv[argc++] = abi;
  argv[argc++] = write_option;
  for (; options != NULL && *options != NULL; options++) {
    argv[argc++] = *options;
  }
  argv[argc++] = "--";
  argv[argc++] = child;
  argv[argc++] = "child";
  while (*words != NULL) {
    argv[argc++] = *words++;
  }
  if (s->ordinary) {
    become_ordinary(ORDINARY_UID);
  }
  signal(SIGXFSZ, SIG_IGN);
  if (chdir(inside) != 0) {
    _exit(249);
  }
  _exit(lt_jail_main(argc, (char **)(uintptr_t)argv));
}

static int status_of(const situation *s, const char *const *options, const char *const *words) {
  int status;
  pid_t pid = fork();
  if (pid == 0) {
    enter(s, options, words);
  }
  assert_int_equal(waitpid(pid, &status, 0), pid);
  return status;
}

/* Splits `text` at blanks; $I, $O, $C and $V become inside, outside, the child's file and the victim. */
static void split(const char *text, pid_t victim, char *room, size_t size, const char **words) {
  size_t n = 0, at = 0;
  words[n++] = room;
  for (; *text != '\0'; text++) {
    if (*text == ' ') {
      room[at++] = '\0';
      words[n++] = room + at;
    } else if (*text == '$') {
      text++;
      at += (size_t)(*text == 'V'   ? snprintf(room + at, size - at, "%d", victim)
                     : *text == 'I' ? snprintf(room + at, size - at, "%s", inside)
                     : *text == 'O' ? snprintf(room + at, size - at, "%s", outside)
                                    : snprintf(room + at, size - at, "%s", child));
    } else {
      room[at++] = *text;
    }
    assert_true(at < size && n < WORDS_MAX);
  }
  room[at] = '\0';
  words[n] = NULL;
}

static int try_with(const situation *s, const char *const *options, pid_t victim, const char *text) {
  char room[2048];
  const char *words[WORDS_MAX + 1];
  split(text, victim, room, sizeof room, words);
  int status = status_of(s, options, words);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

static int try_it(const situation *s, const char *text) {
  return try_with(s, NULL, 0, text);
}

/* --- What is refused, and what is not ----------------------------------------------------------------------------- */

static void check_attempt(const situation *s, const attempt *a, pid_t victim) {
  char text[512];
  int n = snprintf(text, sizeof text, "%ld %s", a->number, a->args);
  n -= text[n - 1] == ' ';
  text[n] = '\0';
  if (a->then != 0) {
    snprintf(text + n, sizeof text - (size_t)n, " , %ld %s", a->then, a->then_args);
  }
  int got = try_with(s, NULL, victim, text);
  bool fine =
      a->expected == REFUSED ? got == EACCES || got == EPERM || got == EXDEV || got == ETXTBSY : got == a->expected;
  if (!fine) {
    fail_msg("%s, Landlock %d, %s user: \"%s\": expected %s, was %s", s->profile, s->abi,
             s->ordinary ? "ordinary" : "any", a->what, a->expected < 0 ? "a refusal" : strerrorname_np(a->expected),
             got < 200 ? strerrorname_np(got) : "a crash");
  }
}

static void check_all(const situation *s) {
  lay_out(uid_in(s));
  pid_t victim = start_victim(uid_in(s));
  for (size_t i = 0; i < sizeof attempts / sizeof attempts[0]; i++) {
    check_attempt(s, &attempts[i], victim);
    unlink(in(inside, "link"));
  }
  assert_int_equal(kill(victim, 0), 0);
  assert_int_equal(waitpid(victim, NULL, WNOHANG), 0); /* it lives */
  end(victim);
  int fd = open(in(outside, "secret"), O_RDONLY);
  char bytes[16];
  assert_int_equal(read(fd, bytes, sizeof bytes), 7);
  close(fd);
}

static void need_walls(void) {
  lt_err err = LT_ERR_INIT;
  if (lt_jail_check(&walls, LT_JAIL_PYTHON, &err) != LT_OK) {
    print_message("skipped: %s\n", lt_err_msg(&err));
    skip();
  }
}

static void test_python_is_held(void **state) {
  (void)state;
  need_walls();
  check_all(&(situation){"python", 0, false});
}

static void test_python_is_held_on_debian_12(void **state) {
  (void)state;
  need_walls();
  check_all(&(situation){"python", 2, false});
}

static void test_an_ordinary_users_python_is_held(void **state) {
  (void)state;
  need_walls();
  check_all(&(situation){"python", 0, true});
  check_all(&(situation){"python", 2, true});
}

static void test_deno_is_held(void **state) {
  (void)state;
  need_walls();
  check_all(&(situation){"deno", 0, true});
  check_all(&(situation){"deno", 2, false});
  check_all(&(situation){"deno-tcp", 2, false});
}

/* --- Sockets of Deno ---------------------------------------------------------------------------------------------- */

static const char *call_of(long number, const char *args) {
  static char text[256];
  snprintf(text, sizeof text, "%ld %s", number, args);
  return text;
}

static void test_sockets(void **state) {
  (void)state;
  need_walls();
  const situation python = {"python", 0, false}, deno = {"deno", 0, false}, tcp = {"deno-tcp", 2, false};
  lay_out(uid_in(&python));
  assert_int_equal(try_it(&python, call_of(SYS_socket, "1 1 0")), EPERM);
  assert_int_equal(try_it(&python, call_of(SYS_socket, "2 1 0")), EPERM);
  assert_int_equal(try_it(&python, call_of(SYS_connect, "0 & 16")), EPERM);
  assert_int_equal(try_it(&deno, call_of(SYS_socket, "1 0x80801 0")), 0);
  assert_int_equal(try_it(&deno, call_of(SYS_socket, "2 1 0")), EPERM);
  assert_int_equal(try_it(&deno, call_of(SYS_connect, "0 & 16")), EPERM); /* no gate, no connections */
  assert_int_equal(try_it(&tcp, call_of(SYS_socket, "2 0x80801 6")), 0);
  assert_int_equal(try_it(&tcp, call_of(SYS_socket, "1 1 0")), EPERM);
  assert_int_equal(try_it(&tcp, call_of(SYS_connect, "0 & 16")), EPERM);
}

/* Listens, and says with which option a program gets here. */
static int listen_at(bool tcp, const char *path, char option[160]) {
  struct sockaddr_un local = {.sun_family = AF_UNIX};
  struct sockaddr_in loopback = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t n = sizeof loopback;
  int fd = socket(tcp ? AF_INET : AF_UNIX, SOCK_STREAM, 0);
  snprintf(local.sun_path, sizeof local.sun_path, "%s", path);
  assert_int_equal(tcp ? bind(fd, (struct sockaddr *)&loopback, n) : bind(fd, (struct sockaddr *)&local, sizeof local),
                   0);
  assert_int_equal(listen(fd, 4), 0);
  if (tcp) {
    assert_int_equal(getsockname(fd, (struct sockaddr *)&loopback, &n), 0);
    snprintf(option, 160, "--connect-port=%d", ntohs(loopback.sin_port));
  } else {
    assert_int_equal(chmod(path, 0777), 0);
    snprintf(option, 160, "--socket=%s", path);
  }
  return fd;
}

static void check_gate(bool tcp, bool ordinary) {
  const situation s = {tcp ? "deno-tcp" : "deno", tcp ? 2 : 0, ordinary};
  char option[160], text[512], got[8] = "";
  const char *path = in(base, "socket"), *options[] = {option, NULL};
  int server = listen_at(tcp, path, option);
  /* Where it means to connect to does not matter, nor whether that is an address at all. The descriptor stays what it
   * was, and does not block. */
  snprintf(text, sizeof text, "%d %d 1 0 , %d 3 & 16 , %d 3 @hello 5 0 0 0", SYS_socket, tcp ? AF_INET : AF_UNIX,
           SYS_connect, SYS_sendto);
  assert_int_equal(try_with(&s, options, 0, text), 0);
  int fd = accept(server, NULL, NULL);
  assert_int_equal(read(fd, got, sizeof got), 5);
  assert_string_equal(got, "hello");
  assert_int_equal(read(fd, got, sizeof got), 0); /* nobody keeps it */
  close(fd);
  snprintf(text, sizeof text, "%d %d 1 0 , %d 3 & 16 , %d 3 & 1 0 0 0", SYS_socket, tcp ? AF_INET : AF_UNIX,
           SYS_connect, SYS_recvfrom);
  assert_int_equal(try_with(&s, options, 0, text), EAGAIN);
  snprintf(text, sizeof text, "%d -1 & 16", SYS_connect);
  assert_int_equal(try_with(&s, options, 0, text), EBADF);
  close(server);
  snprintf(text, sizeof text, "%d %d 1 0 , %d 3 & 16", SYS_socket, tcp ? AF_INET : AF_UNIX, SYS_connect);
  assert_int_equal(try_with(&s, options, 0, text), ECONNREFUSED);
  unlink(path);
}

static void test_the_one_connection(void **state) {
  (void)state;
  need_walls();
  lay_out(uid_in(&(situation){"", 0, false}));
  check_gate(false, false);
  check_gate(true, false);
  lay_out(uid_in(&(situation){"", 0, true}));
  check_gate(false, true);
  check_gate(true, true);
}

/* Where a container watches system calls itself, nobody else can be asked about them. */
static int try_watched(const situation *s, const char *const *options, const char *text) {
  struct sock_filter allow = {BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW};
  struct sock_fprog program = {1, &allow};
  int status, ends[2];
  assert_int_equal(pipe(ends), 0);
  pid_t pid = fork();
  if (pid == 0) {
    char room[2048];
    const char *words[WORDS_MAX + 1];
    split(text, 0, room, sizeof room, words);
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
        syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER, &program) < 0) {
      _exit(249);
    }
    if (fork() == 0) { /* who watches, for as long */
      close(ends[1]);
      _exit((int)read(ends[0], room, 1));
    }
    enter(s, options, words);
  }
  assert_int_equal(waitpid(pid, &status, 0), pid);
  close(ends[0]);
  close(ends[1]);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

static void test_nobody_to_ask(void **state) {
  (void)state;
  need_walls();
  const situation s = {"deno", 0, false};
  const char *strict[] = {"--socket=/none", NULL}, *any[] = {"--socket=/none", "--best-effort", NULL};
  char text[256];
  lay_out(uid_in(&s));
  snprintf(text, sizeof text, "%d 1 1 0 , %d 3 @x 16", SYS_socket, SYS_connect); /* to an address of no known family */
  assert_int_equal(try_watched(&s, strict, text), 127);
  assert_int_equal(try_watched(&s, any, text), EINVAL);
  assert_int_equal(try_watched(&s, any, call_of(SYS_socket, "2 1 0")), EPERM);
}

/* Who makes the connections ends as the program does, and the program with it. */
static void test_the_gates_end(void **state) {
  (void)state;
  need_walls();
  const situation s = {"deno", 0, false};
  const char *options[] = {"--socket=/none", NULL};
  lay_out(uid_in(&s));
  assert_int_equal(try_with(&s, options, 0, call_of(SYS_exit_group, "77")), 77);
  assert_int_equal(try_with(&s, options, 0, call_of(SYS_kill, "! 9")), 1000 + SIGKILL);
  assert_int_equal(try_with(&s, options, 0, call_of(SYS_kill, "! 11")), 1000 + SIGSEGV);
  int ends[2];
  assert_int_equal(pipe(ends), 0);
  pid_t gate = fork();
  if (gate == 0) {
    const char *words[] = {"wait", NULL};
    dup2(ends[1], STDOUT_FILENO);
    enter(&s, options, words);
  }
  close(ends[1]);
  assert_int_equal(poll(&(struct pollfd){ends[0], POLLIN, 0}, 1, 300), 0);
  end(gate);
  assert_int_equal(poll(&(struct pollfd){ends[0], POLLIN, 0}, 1, 10000), 1);
  close(ends[0]);
  const char *bad[] = {"--socket=relative", NULL};
  assert_int_equal(try_with(&s, bad, 0, call_of(SYS_exit_group, "77")), 127);
}

/* --- Threads, limits, the second stage ---------------------------------------------------------------------------- */

static void test_threads_are_allowed(void **state) {
  (void)state;
  need_walls();
  const char *profiles[] = {"python-zygote", "python", "deno"};
  lay_out(uid_in(&(situation){"", 0, false}));
  for (int i = 0; i < 3; i++) {
    assert_int_equal(try_it(&(situation){profiles[i], 0, false}, "thread"), 0);
  }
}

static void test_calls_of_another_processor_kill(void **state) {
  (void)state;
  need_walls();
#ifdef __x86_64__
  lay_out(uid_in(&(situation){"", 0, false}));
  assert_int_equal(try_it(&(situation){"python", 0, false}, "old"), 1000 + SIGSYS);
#endif
}

static void test_limits(void **state) {
  (void)state;
  need_walls();
  const situation s = {"python", 0, false};
  const char *options[] = {"--address-space=200000000", "--file-size=100000", "--open-files=16",
                           "--cpu-seconds=5",           "--processes=100",    NULL};
  char text[256];
  lay_out(uid_in(&s));
  assert_int_equal(try_with(&s, options, 0, call_of(SYS_mmap, "0 300000000 3 0x22 -1 0")), ENOMEM);
  assert_int_equal(try_with(&s, options, 0, call_of(SYS_mmap, "0 1000000 3 0x22 -1 0")), 0);
  snprintf(text, sizeof text, "%d -100 @$I/big 0x42 0600 , %d %% 200000", SYS_openat, SYS_ftruncate);
  assert_int_equal(try_with(&s, options, 0, text), EFBIG);
  assert_int_equal(try_with(&s, options, 0, call_of(SYS_dup3, "0 20 0")), EBADF);
  assert_int_equal(try_with(&s, options, 0, call_of(SYS_dup3, "0 10 0")), 0);
}

static void write_second_stage(void) {
  lt_buf filter;
  lt_buf_init(&filter, LT_JAIL_FILTER_MAX_BYTES);
  assert_int_equal(lt_jail_filter(LT_JAIL_PYTHON, &filter, NULL), LT_OK);
  write_file(in(inside, "filter"), filter.p, filter.n, 0644);
  lt_buf_release(&filter);
}

/* The zygote may fork and kill; what it forks may not, once it has taken the second filter. */
static void test_second_stage(void **state) {
  (void)state;
  need_walls();
  char text[512], steps[256];
  for (int ordinary = 0; ordinary < 2; ordinary++) {
    const situation s = {"python-zygote", 0, ordinary != 0};
    lay_out(uid_in(&s));
    write_second_stage();
    const struct {
      long number;
      const char *args;
      int expected;
    } cases[] = {
        {SYS_getpid, "", 0},
        {SYS_kill, "! 0", 0},
        {SYS_kill, "? 9", EPERM},
        {SYS_kill, "0 9", EPERM},
        {SYS_tgkill, "? ? 9", EPERM},
        {SYS_clone, "17 0 0 0 0", EPERM},
        {SYS_setsid, "", EPERM},
        {SYS_execve, "@$C & &", EPERM},
        {SYS_prctl, "4 0 0 0 0", EPERM},
        {SYS_landlock_restrict_self, "-1 0", EPERM},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
      snprintf(steps, sizeof steps, "%ld%s%s", cases[i].number, *cases[i].args != '\0' ? " " : "", cases[i].args);
      snprintf(text, sizeof text, "fork $I/filter %s", steps);
      assert_int_equal(try_it(&s, text), cases[i].expected);
    }
    snprintf(text, sizeof text, "%d @$C & &", SYS_execve);
    assert_int_equal(try_it(&s, text), EPERM); /* not even the zygote starts programs */
  }
}

static void test_the_own_id_is_a_whole_field(void **state) {
  (void)state;
  for (int profile = 0; profile < LT_JAIL_PROFILES; profile++) {
    const uint32_t self = LT_JAIL_SELF_PID;
    size_t found = 0;
    lt_buf filter;
    lt_buf_init(&filter, LT_JAIL_FILTER_MAX_BYTES);
    assert_int_equal(lt_jail_filter((lt_jail_profile)profile, &filter, NULL), LT_OK);
    assert_int_equal(filter.n % 8, 0);
    for (size_t i = 0; i + 4 <= filter.n; i++) {
      if (memcmp(filter.p + i, &self, 4) == 0) {
        assert_int_equal(i % 8, 4);
        found++;
      }
    }
    assert_int_equal(found, profile == LT_JAIL_PYTHON_ZYGOTE ? 0 : 5);
    lt_buf_release(&filter);
  }
}

static void test_a_filter_without_memory(void **state) {
  (void)state;
  long n = 0;
  for (lt_status status = LT_E_NOMEM; status != LT_OK; n++) {
    lt_err err = LT_ERR_INIT;
    lt_buf filter;
    lt_buf_init(&filter, LT_JAIL_FILTER_MAX_BYTES);
    lt_mem_fail_at(n);
    status = lt_jail_filter(LT_JAIL_PYTHON, &filter, &err);
    lt_mem_fail_at(-1);
    assert_true(status == LT_OK || status == LT_E_NOMEM);
    lt_buf_release(&filter);
  }
  assert_in_range(n, 2, 100);
}

/* --- The way in --------------------------------------------------------------------------------------------------- */

static void test_the_parents_end_is_the_childs(void **state) {
  (void)state;
  need_walls();
  const situation s = {"python", 0, false};
  int ends[2];
  lay_out(uid_in(&s));
  assert_int_equal(pipe(ends), 0);
  pid_t parent = fork();
  if (parent == 0) {
    char option[32];
    const char *options[] = {option, NULL}, *words[] = {"wait", NULL};
    snprintf(option, sizeof option, "--parent=%d", getpid());
    if (fork() == 0) {
      dup2(ends[1], STDOUT_FILENO);
      enter(&s, options, words);
    }
    close(ends[1]);
    dup2(ends[0], STDIN_FILENO);
    pause();
  }
  close(ends[1]);
  assert_int_equal(poll(&(struct pollfd){ends[0], POLLIN, 0}, 1, 300), 0); /* it waits */
  end(parent);
  assert_int_equal(poll(&(struct pollfd){ends[0], POLLIN, 0}, 1, 10000), 1);
  close(ends[0]);
  const char *options[] = {"--parent=1", NULL};
  assert_int_equal(try_with(&s, options, 0, "wait"), 126);
}

static void test_bad_command_lines(void **state) {
  (void)state;
  const situation s = {"python", 0, false};
  lay_out(uid_in(&s));
  const char *bad[] = {"--profile=java",
                       "--file-size=",
                       "--file-size=-1",
                       "--file-size=1x",
                       "--read=",
                       "--no-such",
                       "--file-size=99999999999999999999999",
                       "--write=/none"};
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
    const char *options[] = {bad[i], NULL};
    assert_int_equal(try_with(&s, options, 0, call_of(SYS_getpid, "0")), 127);
  }
  assert_int_equal(lt_jail_main(1, (char *[]){(char[]){LT_JAIL_WORD}, NULL}), 127);
}

static void test_missing_walls_are_told(void **state) {
  (void)state;
  const struct {
    lt_jail_walls walls;
    const char *says;
  } cases[] = {
      {{0, true, true}, "no Landlock"},
      {{7, false, true}, "seccomp"},
      {{7, true, false}, "CAP_SETUID"},
  };
  lt_err err = LT_ERR_INIT;
  for (size_t i = 0; i < 3; i++) {
    assert_int_equal(lt_jail_check(&cases[i].walls, LT_JAIL_PYTHON, &err), LT_E_UNSUPPORTED);
    assert_non_null(strstr(lt_err_msg(&err), cases[i].says));
    assert_non_null(strstr(lt_err_msg(&err), "sandbox.requireWalls: false"));
  }
  setenv("LATHE_LANDLOCK_ABI_MAX", "2", 1);
  lt_jail_walls masked;
  lt_jail_probe(&masked);
  assert_in_range(masked.landlock_abi, 0, 2);
  setenv("LATHE_LANDLOCK_ABI_MAX", "0", 1);
  lt_jail_probe(&masked);
  assert_int_equal(masked.landlock_abi, 0);
  unsetenv("LATHE_LANDLOCK_ABI_MAX");
}

/* Without Landlock it refuses to start, unless it need not have it: then the other walls stand. */
static void test_best_effort(void **state) {
  (void)state;
  need_walls();
  const situation s = {"python", 0, false};
  const char *none[] = {"--landlock-abi=0", NULL}, *any[] = {"--landlock-abi=0", "--best-effort", NULL};
  char text[256];
  lay_out(uid_in(&s));
  snprintf(text, sizeof text, "%d -100 @$O/secret 0", SYS_openat);
  assert_int_equal(try_with(&s, none, 0, text), 127);
  assert_int_equal(try_with(&s, any, 0, text), 0);
  assert_int_equal(try_with(&s, any, 0, call_of(SYS_socket, "2 1 0")), EPERM);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_python_is_held),
      cmocka_unit_test(test_python_is_held_on_debian_12),
      cmocka_unit_test(test_an_ordinary_users_python_is_held),
      cmocka_unit_test(test_deno_is_held),
      cmocka_unit_test(test_sockets),
      cmocka_unit_test(test_the_one_connection),
      cmocka_unit_test(test_nobody_to_ask),
      cmocka_unit_test(test_the_gates_end),
      cmocka_unit_test(test_threads_are_allowed),
      cmocka_unit_test(test_calls_of_another_processor_kill),
      cmocka_unit_test(test_limits),
      cmocka_unit_test(test_second_stage),
      cmocka_unit_test(test_the_own_id_is_a_whole_field),
      cmocka_unit_test(test_a_filter_without_memory),
      cmocka_unit_test(test_the_parents_end_is_the_childs),
      cmocka_unit_test(test_bad_command_lines),
      cmocka_unit_test(test_missing_walls_are_told),
      cmocka_unit_test(test_best_effort),
  };
  alarm(120); /* a test that waits for what does not come has failed */
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
