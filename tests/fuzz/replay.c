/* Runs a fuzz target once on every file of the folders (or files) named, for builds without libFuzzer. */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define REPLAY_MAX_BYTES (16L * 1024 * 1024)

static int replay_file(const char *path) {
  FILE *f = fopen(path, "rb");
  long size = -1;
  if (f && fseek(f, 0, SEEK_END) == 0) {
    size = ftell(f);
  }
  if (size < 0 || size > REPLAY_MAX_BYTES) {
    fprintf(stderr, "cannot read %s\n", path);
    exit(1);
  }
  rewind(f);
  /* Exactly as long as the input, so that a read past its end is seen. */
  uint8_t *data = malloc((size_t)size ? (size_t)size : 1);
  if (!data || fread(data, 1, (size_t)size, f) != (size_t)size) {
    fprintf(stderr, "cannot read %s\n", path);
    exit(1);
  }
  fclose(f);
  LLVMFuzzerTestOneInput(data, (size_t)size);
  free(data);
  return 1;
}

static int replay_folder(const char *folder) {
  DIR *dir = opendir(folder);
  if (!dir) {
    perror(folder);
    exit(1);
  }
  int count = 0;
  for (struct dirent *entry; (entry = readdir(dir));) {
    char path[4096];
    struct stat st;
    snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
    if (stat(path, &st) == 0 && S_ISREG(st.st_mode)) {
      count += replay_file(path);
    }
  }
  closedir(dir);
  return count;
}

int main(int argc, char **argv) {
  int count = 0;
  for (int i = 1; i < argc; i++) {
    struct stat st;
    count += stat(argv[i], &st) == 0 && S_ISREG(st.st_mode) ? replay_file(argv[i]) : replay_folder(argv[i]);
  }
  printf("%d inputs replayed\n", count);
  return count > 0 ? 0 : 1; /* an empty corpus proves nothing */
}
