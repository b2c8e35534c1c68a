#include "cli/args.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/nearest.h"

static const lt_arg *find(const lt_arg *args, unsigned count, lt_str name) {
  for (unsigned i = 0; i < count; i++) {
    if (lt_str_eqc(name, args[i].name) || (args[i].brief != NULL && lt_str_eqc(name, args[i].brief))) {
      return &args[i];
    }
  }
  return NULL;
}

static bool unknown(const char *command, lt_str name, const lt_arg *args, unsigned count) {
  lt_nearest nearest = lt_nearest_to(name, 3);
  for (unsigned i = 0; i < count; i++) {
    lt_nearest_offer(&nearest, lt_str_of(args[i].name));
  }
  fprintf(stderr, "lathe %s: unknown option %.*s", command, LT_STR_ARG(name));
  if (nearest.name.p != NULL) {
    fprintf(stderr, " (did you mean %s?)", nearest.name.p);
  }
  fprintf(stderr, "; see lathe %s --help\n", command);
  return false;
}

static bool take_number(const char *command, const lt_arg *arg, const char *text) {
  char *end = NULL;
  errno = 0;
  long long n = strtoll(text, &end, 10);
  if (errno != 0 || end == text || *end != '\0' || n < arg->least || n > arg->most) {
    fprintf(stderr, "lathe %s: %s expects a whole number from %lld to %lld, not \"%s\"\n", command, arg->name,
            (long long)arg->least, (long long)arg->most, text);
    return false;
  }
  *(int64_t *)arg->value = n;
  return true;
}

static bool take(const char *command, const lt_arg *arg, const char *text) {
  if (arg->kind == LT_ARG_NUMBER) {
    return take_number(command, arg, text);
  }
  *(const char **)arg->value = text;
  return true;
}

/* `--name=VALUE` or `--name VALUE`: the value, and how many words it took. */
static bool read_one(const char *command, int left, char **words, const lt_arg *args, unsigned count, int *ret_used) {
  lt_str word = lt_str_of(words[0]);
  size_t equals = lt_str_starts(word, LT_STR("--")) ? lt_str_find(word, LT_STR("="), 0) : SIZE_MAX;
  lt_str name = equals == SIZE_MAX ? word : lt_str_sub(word, 0, equals);
  const lt_arg *arg = find(args, count, name);
  *ret_used = 1;
  if (arg == NULL) {
    return unknown(command, name, args, count);
  }
  if (arg->kind == LT_ARG_FLAG) {
    if (equals != SIZE_MAX) {
      fprintf(stderr, "lathe %s: %s takes no value\n", command, arg->name);
      return false;
    }
    *(bool *)arg->value = true;
    return true;
  }
  if (equals != SIZE_MAX) {
    return take(command, arg, words[0] + equals + 1);
  }
  if (left < 2) {
    fprintf(stderr, "lathe %s: %s needs a value; see lathe %s --help\n", command, arg->name, command);
    return false;
  }
  *ret_used = 2;
  return take(command, arg, words[1]);
}

bool lt_args_read(const char *command, int argc, char **argv, const lt_arg *args, unsigned count, int *ret_operands) {
  int operands = 0;
  bool options = true;
  for (int i = 1; i < argc;) {
    if (options && strcmp(argv[i], "--") == 0) {
      options = false;
      i++;
    } else if (options && argv[i][0] == '-' && argv[i][1] != '\0') {
      int used = 1;
      if (!read_one(command, argc - i, argv + i, args, count, &used)) {
        return false;
      }
      i += used;
    } else {
      argv[1 + operands++] = argv[i++];
    }
  }
  *ret_operands = operands;
  return true;
}
