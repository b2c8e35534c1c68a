/* Completion at a shell's prompt, made from the tables of commands that `--help` is made from. */
#ifndef LT_CLI_SHELL_COMPLETION_H
#define LT_CLI_SHELL_COMPLETION_H

#include <stdio.h>

/* Print the script of one shell: it completes commands, options, values that are one of a few words, and files. It asks
 * nothing of Lathe while somebody types, so that no server is started by the Tab key. */
void lt_shell_completion_bash(FILE *to);
void lt_shell_completion_zsh(FILE *to);
void lt_shell_completion_fish(FILE *to);

#endif
