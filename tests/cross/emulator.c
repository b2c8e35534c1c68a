/* What the kernel starts for a program of aarch64 (binfmt_misc with flag P: `emulator FILE ARGV...`): qemu with the
 * folder of that machine's libraries. An environment variable would not reach the children of Lathe, which clears their
 * environment. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char **argv) {
  if (argc < 3) {
    fprintf(stderr, "usage: emulator FILE ARGV0 ARG...\n");
    return 2;
  }
  char **qemu = calloc((size_t)argc + 5, sizeof *qemu);
  if (qemu == NULL) {
    return 1;
  }
  char *const words[] = {QEMU, "-L", SYSROOT, "-0", argv[2], argv[1]};
  size_t n = sizeof words / sizeof words[0];
  for (size_t i = 0; i < n; i++) {
    qemu[i] = words[i];
  }
  for (int i = 3; i < argc; i++) {
    qemu[n++] = argv[i];
  }
  execv(qemu[0], qemu);
  perror(QEMU);
  return 127;
}
