/* lathe completion: scripts by which shells complete Lathe's command line. */
#include <string.h>

#include "cli/commands.h"
#include "cli/shell_completion.h"

typedef struct completion_options {
  const char *shell;
} completion_options;

static const struct {
  const char *name;
  void (*print)(FILE *to);
} completion_shells[] = {
    {"bash", lt_shell_completion_bash}, {"zsh", lt_shell_completion_zsh}, {"fish", lt_shell_completion_fish}};

#define SHELL_WANTED "say bash, zsh or fish; see lathe completion --help"

static int completion_run(void *options) {
  const char *shell = ((const completion_options *)options)->shell;
  for (size_t i = 0; i < sizeof completion_shells / sizeof completion_shells[0]; i++) {
    if (strcmp(shell, completion_shells[i].name) == 0) {
      completion_shells[i].print(stdout);
      return LT_EXIT_OK;
    }
  }
  fputs("lathe completion: " SHELL_WANTED "\n", stderr);
  return LT_EXIT_USAGE;
}

const lt_command lt_completion_command = {
    .name = "completion",
    .summary = "Print what lets a shell complete commands and options",
    .about = "Print a script by which a shell completes Lathe's commands, options and their values.\n",
    .synopsis = "bash|zsh|fish",
    .operand = {"bash|zsh|fish", "the shell", SHELL_WANTED, true, LT_OPERAND_IS(completion_options, shell)},
    .options_size = sizeof(completion_options),
    .run = completion_run,
    .notes =
        "A package installs these scripts already. Without one:\n"
        "\n"
        "  bash  eval \"$(lathe completion bash)\"            in ~/.bashrc\n"
        "  zsh   eval \"$(lathe completion zsh)\"             in ~/.zshrc, behind compinit\n"
        "  fish  lathe completion fish | source             in ~/.config/fish/config.fish\n"
        "\n"
        "Exit code: 0 ok, 2 usage.\n",
};
