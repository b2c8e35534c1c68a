/* The library's children: servers, Python, Deno and the compiler that checks types, in a process that is somebody
 * else's. lathe-exec is beside this program, as it is beside the library. */
#include "embed_fix.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#define SERVER(options) \
  "{\"mcpServers\": {\"fake\": {\"command\": \"node\", \"args\": [\"tests/fakes/mcp_server.mjs\"" options "]}}}"
#define GONE_MS 20000 /* no child takes so long to die */

/* Runs a program that ends well; its report. */
static char *run_well(lathe_env *env, const char *language, const char *code) {
  char *report = NULL;
  lathe_error error = {.size = sizeof error};
  const lathe_run_options options = {.size = sizeof options, .code = code, .language = language};
  if (lathe_run(env, &options, NULL, NULL, &report, &error) != LATHE_OK) {
    fail_msg("%s: %s", code, error.message);
  }
  return report;
}

static void assert_result(lathe_env *env, const char *language, const char *code, const char *result) {
  char *report = run_well(env, language, code);
  assert_has(report, result);
  lathe_free(report);
}

static int pid_of_server(lathe_env *env) {
  char *report = run_well(env, NULL, "Number(fakePid({}))");
  const char *result = strstr(report, "\"result\":");
  int pid = result != NULL ? (int)strtol(result + strlen("\"result\":"), NULL, 10) : 0;
  lathe_free(report);
  assert_true(pid > 1);
  return pid;
}

/* The next call starts the server again; one that finds it dying may fail. */
static void assert_another_server(lathe_env *env, int pid) {
  const lathe_run_options options = {.size = sizeof options, .code = "fakePid({})"};
  lathe_status status;
  do {
    status = lathe_run(env, &options, NULL, NULL, NULL, NULL);
  } while (status == LATHE_E_PROGRAM);
  assert_int_equal(status, LATHE_OK);
  assert_int_not_equal(pid_of_server(env), pid);
}

static bool is_gone(int pid) {
  for (int ms = 0; ms < GONE_MS; ms++) {
    if (kill(pid, 0) != 0 && errno == ESRCH) {
      return true;
    }
    usleep(1000);
  }
  return false;
}

/* --- What they are ------------------------------------------------------------------------------------------------ */
static void test_servers(void **state) {
  (void)state;
  char *tools = NULL;
  setenv("HOSTS_OWN", "hush-hush", 1);
  lathe_env *env = embed_open(SERVER(", \"--tell-env=HOSTS_OWN\""));
  int pid = pid_of_server(env);
  assert_int_equal(lathe_tools(env, NULL, 0, &tools, NULL), LATHE_OK);
  assert_has(tools, "fake.pid");
  assert_null(strstr(tools, "hush-hush")); /* a server gets the variables that it is given */
  lathe_free(tools);
  lathe_close(env);
  assert_true(is_gone(pid));
}

static void on_event(lathe_env *env, const lathe_event *event, void *arg) {
  (void)arg;
  assert_int_equal(event->type, LATHE_EVENT_CALL);
  assert_int_equal(lathe_answer(env, event->call, event->json, NULL), LATHE_OK);
}

static void test_python(void **state) {
  (void)state;
  char *report = NULL;
  lathe_error error = {.size = sizeof error};
  lathe_env *env = embed_open(NULL);
  embed_add_tool(env, "echo", NULL);
  const lathe_run_options options = {.size = sizeof options, .code = "echo(n=6)['n'] * 7", .language = "python"};
  if (lathe_run(env, &options, on_event, NULL, &report, &error) != LATHE_OK) {
    fail_msg("%s", error.message);
  }
  assert_has(report, "\"result\":42");
  lathe_free(report);
  lathe_close(env);
}

static void test_types(void **state) {
  (void)state;
  char *found = NULL;
  const lathe_run_options options = {.size = sizeof options, .code = "const a: number = 'one';\na", .language = "ts"};
  lathe_env *env = embed_open("typescript: {check: true, path: tests/node_modules/.bin/tsc}");
  assert_int_equal(lathe_check(env, &options, &found, NULL), LATHE_OK);
  assert_has(found, "\"line\":1");
  assert_has(found, "not assignable to type 'number'");
  lathe_free(found);
  lathe_close(env);
  env = embed_open(NULL); /* a compiler is there, but nobody has asked for it */
  assert_int_equal(lathe_check(env, &options, &found, NULL), LATHE_OK);
  assert_string_equal(found, "[]");
  lathe_free(found);
  lathe_close(env);
}

static void test_deno(void **state) {
  (void)state;
  lathe_env *env = embed_open("typescript: {runner: deno}\ndeno: {path: tests/node_modules/.bin/deno}");
  assert_result(env, "ts", "const a: number = 41;\nexport default a + 1;", "\"result\":42");
  lathe_close(env);
}

/* --- Their process ------------------------------------------------------------------------------------------------ */
static void reap_all(int signum) {
  (void)signum;
  int kept = errno;
  while (waitpid(-1, NULL, WNOHANG) > 0) {
  }
  errno = kept;
}

/* However a host treats SIGCHLD: that stays, and its children's ends are noticed. */
static void test_any_treatment_of_sigchld(void **state) {
  (void)state;
  static void (*const treatments[])(int) = {SIG_DFL, SIG_IGN, reap_all};
  for (size_t i = 0; i < sizeof treatments / sizeof treatments[0]; i++) {
    struct sigaction action = {.sa_handler = treatments[i]}, now;
    assert_int_equal(sigaction(SIGCHLD, &action, NULL), 0);
    lathe_env *env = embed_open(SERVER(""));
    int pid = pid_of_server(env);
    assert_result(env, "python", "1 + 1", "\"result\":2");
    assert_int_equal(kill(pid, SIGKILL), 0);
    assert_true(is_gone(pid));
    assert_another_server(env, pid);
    lathe_close(env);
    assert_int_equal(sigaction(SIGCHLD, NULL, &now), 0);
    assert_true(now.sa_handler == treatments[i]);
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1); /* none is left */
  }
  signal(SIGCHLD, SIG_DFL);
}

static void *thread_that_restarts(void *arg) {
  lathe_env *env = arg;
  int pid = pid_of_server(env);
  (void)kill(pid, SIGKILL);
  (void)is_gone(pid);
  assert_another_server(env, pid);
  return NULL;
}

/* A child gets a signal when the thread ends that has started it. That is not the thread that runs a program. */
static void test_children_outlive_the_thread(void **state) {
  (void)state;
  pthread_t thread;
  lathe_env *env = embed_open(SERVER(""));
  assert_int_equal(pthread_create(&thread, NULL, thread_that_restarts, env), 0);
  pthread_join(thread, NULL);
  int pid = pid_of_server(env);
  usleep(20000); /* if it dies, it does so now */
  assert_int_equal(pid_of_server(env), pid);
  lathe_close(env);
}

static int main_of_host(void) {
  lathe_env *env = embed_open(SERVER(""));
  printf("%d\n", pid_of_server(env));
  fflush(stdout);
  pause();
  return 1;
}

static void test_children_die_with_their_host(void **state) {
  (void)state;
  char *argv[] = {(char[]){"host"}, (char[]){"__host"}, NULL}, line[32] = "";
  int out[2];
  pid_t host;
  posix_spawn_file_actions_t actions;
  assert_int_equal(pipe2(out, O_CLOEXEC), 0);
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, out[1], STDOUT_FILENO);
  assert_int_equal(posix_spawn(&host, "/proc/self/exe", &actions, NULL, argv, environ), 0);
  posix_spawn_file_actions_destroy(&actions);
  close(out[1]);
  assert_true(read(out[0], line, sizeof line - 1) > 1);
  close(out[0]);
  int pid = (int)strtol(line, NULL, 10);
  assert_int_equal(kill(pid, 0), 0);
  assert_int_equal(kill(host, SIGKILL), 0);
  assert_true(is_gone(pid));
  assert_int_equal(waitpid(host, NULL, 0), host);
}

static void test_bad_process(void **state) {
  (void)state;
  lathe_env *env = NULL;
  lathe_error error = {.size = sizeof error};
  lathe_options options = {.size = sizeof options, .helper = "lathe-exec"};
  assert_int_equal(lathe_open(&options, &env, &error), LATHE_E_INVALID);
  assert_string_equal(error.message, "the helper \"lathe-exec\": give its full path");
  options.helper = "/no/such";
  assert_int_equal(lathe_open(&options, &env, &error), LATHE_E_INVALID);
  assert_string_equal(error.message, "the helper \"/no/such\": No such file or directory");
  options.helper = "/tmp";
  assert_int_equal(lathe_open(&options, &env, &error), LATHE_E_INVALID);
  assert_string_equal(error.message, "the helper \"/tmp\": it is not a program");
  int kept = dup(STDIN_FILENO);
  close(STDIN_FILENO);
  lathe_status status = lathe_open(NULL, &env, &error);
  dup2(kept, STDIN_FILENO);
  close(kept);
  assert_int_equal(status, LATHE_E_INVALID);
  assert_has(error.message, "descriptor 0 is closed");
}

int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_servers),
      cmocka_unit_test(test_children_outlive_the_thread),
      cmocka_unit_test(test_python),
      cmocka_unit_test(test_types),
      cmocka_unit_test(test_deno),
      cmocka_unit_test(test_any_treatment_of_sigchld),
      cmocka_unit_test(test_children_die_with_their_host),
      cmocka_unit_test(test_bad_process),
  };
  if (!embed_install_handlers()) {
    return 1;
  }
  return argc > 1 && strcmp(argv[1], "__host") == 0 ? main_of_host() : cmocka_run_group_tests(tests, NULL, NULL);
}
