#include "cli/chat_complete.h"

#include <dirent.h>
#include <stdio.h>
#include <sys/stat.h>

#include "agent/modes/mode_list.h"
#include "config/model_provider.h"
#include "text/plain.h"

#define FILES_MAX 10000 /* of a folder that are looked at: a larger one would stop the terminal */

/* A name that a terminal would not show as it is, or that has a space, is no word of a line. */
static bool chat_complete_is_word(lt_str name) {
  LT_AUTO_BUF(plain, 4 * LT_KIB);
  lt_plain_add_line(&plain, name);
  return name.n > 0 && lt_str_eq(lt_buf_view(&plain), name) && lt_str_find(name, LT_STR(" "), 0) == SIZE_MAX;
}

static void chat_complete_add(lt_line_completion *completion, lt_str name) {
  if (chat_complete_is_word(name)) {
    lt_line_completion_add(completion, name);
  }
}

void lt_chat_complete_mode(const lt_chat *chat, lt_line_completion *completion) {
#define MODE_ID(id, help, kind) #id,
  static const char *const modes[] = {LT_MODES(MODE_ID)};
  size_t count = 0;
  const lt_host_mode *of_plugins = lt_host_modes(lt_toolbox_host(chat->session->app.toolbox), &count);
  for (size_t i = 0; i < sizeof modes / sizeof modes[0]; i++) {
    lt_line_completion_add(completion, lt_str_of(modes[i]));
  }
  for (size_t i = 0; i < count; i++) {
    chat_complete_add(completion, of_plugins[i].id);
  }
}

static void chat_complete_add_provider(lt_line_completion *completion, const lt_model_provider *provider) {
  char name[128];
  lt_str word = lt_str_sub(completion->line, completion->start, completion->line.n);
  snprintf(name, sizeof name, "%s/", provider->name);
  bool is_behind_slash = lt_str_starts(word, lt_str_of(name));
  if (is_behind_slash && provider->model != NULL) {
    snprintf(name, sizeof name, "%s/%s", provider->name, provider->model);
  }
  lt_line_completion_add(completion, lt_str_of(name));
}

void lt_chat_complete_model(const lt_chat *chat, lt_line_completion *completion) {
  for (size_t i = 0; i < chat->models.count; i++) {
    chat_complete_add(completion, chat->models.list[i].ref);
  }
  for (const lt_model_provider *provider = lt_model_providers; provider->name != NULL; provider++) {
    chat_complete_add_provider(completion, provider);
  }
}

void lt_chat_complete_tool(const lt_chat *chat, lt_line_completion *completion) {
  lt_catalog *catalog = NULL;
  lt_str word = lt_str_sub(completion->line, completion->start, completion->line.n);
  if (lt_door_catalog(chat->session->app.door, &catalog, NULL) != LT_OK) {
    return;
  }
  for (size_t i = 0; i < lt_catalog_count(catalog); i++) {
    lt_str id = lt_catalog_at(catalog, (uint32_t)i)->id;
    if (lt_str_starts(id, word)) {
      chat_complete_add(completion, id);
    }
  }
  lt_catalog_unref(catalog);
}

static bool chat_complete_is_folder(const char *folder, const char *name) {
  char path[4096];
  struct stat about;
  int n = snprintf(path, sizeof path, "%s/%s", folder, name);
  return n > 0 && (size_t)n < sizeof path && stat(path, &about) == 0 && S_ISDIR(about.st_mode);
}

static void chat_complete_add_file(lt_line_completion *completion, const char *folder, lt_str start, lt_str name) {
  LT_AUTO_BUF(path, 8 * LT_KIB);
  lt_buf_add(&path, start);
  lt_buf_add(&path, name);
  lt_buf_addc(&path, chat_complete_is_folder(folder, name.p) ? "/" : "");
  lt_line_completion_add(completion, lt_buf_view_or(&path, LT_STR("")));
}

void lt_chat_complete_file(lt_line_completion *completion) {
  char folder[4096];
  lt_str word = lt_str_sub(completion->line, completion->start, completion->line.n);
  size_t base = word.n;
  while (base > 0 && word.p[base - 1] != '/') {
    base--;
  }
  lt_str start = lt_str_sub(word, 0, base), last = lt_str_sub(word, base, word.n);
  if (base >= sizeof folder) {
    return;
  }
  snprintf(folder, sizeof folder, "%.*s", LT_STR_ARG(base > 0 ? start : LT_STR(".")));
  DIR *dir = opendir(folder);
  const struct dirent *entry = dir != NULL ? readdir(dir) : NULL;
  for (size_t seen = 0; entry != NULL && seen < FILES_MAX; seen++) {
    lt_str name = lt_str_of(entry->d_name);
    bool is_left_out = (name.p[0] == '.' && (last.n == 0 || last.p[0] != '.')) || lt_str_eqc(name, ".") ||
                       lt_str_eqc(name, "..") || !lt_str_starts(name, last);
    if (!is_left_out && chat_complete_is_word(name)) {
      chat_complete_add_file(completion, folder, start, name);
    }
    entry = readdir(dir);
  }
  if (dir != NULL) {
    closedir(dir);
  }
}
