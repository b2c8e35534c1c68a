#include "mcp/mcp_list_cache.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "base/limits.h"

#define FORMAT 1 /* another number: a file of another Lathe, which is not used */

/* --- Reading ------------------------------------------------------------------------------------------------------ */

/* Whoever may write the file tells the policy what a tool does. */
static bool mcp_list_cache_is_own(int fd) {
  struct stat st;
  return fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_uid == geteuid() &&
         (st.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

static lt_status mcp_list_cache_load(const char *path, lt_buf *text, lt_err *err) {
  int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
  if (fd < 0) {
    return lt_fail(err, LT_E_NOTFOUND, "%s: %s", path, strerror(errno));
  }
  lt_status status = LT_E_NOTFOUND;
  if (mcp_list_cache_is_own(fd)) {
    status = lt_file_read_fd(fd, path, text, err);
  } else {
    lt_fail(err, status, "%s: it belongs to somebody else, or others may write it", path);
  }
  close(fd);
  return status;
}

static bool mcp_list_cache_get_text(lt_json root, const char *key, lt_arena *arena, lt_str *ret) {
  lt_str text = LT_STR_NULL;
  if (!lt_json_str(lt_json_get(root, key), arena, &text)) {
    return false;
  }
  *ret = lt_arena_dup(arena, text);
  return ret->p != NULL;
}

static bool mcp_list_cache_get_number(lt_json root, const char *key, uint64_t *ret) {
  int64_t number = -1;
  if (!lt_json_int(lt_json_get(root, key), &number) || number < 0) {
    return false;
  }
  *ret = (uint64_t)number;
  return true;
}

static bool mcp_list_cache_get_extras(lt_json root, lt_arena *arena, lt_str *ret) {
  lt_json extras = lt_json_get(root, "extras");
  *ret = LT_STR_NULL;
  if (lt_json_typeof(extras) != LT_JSON_OBJECT) {
    return true;
  }
  *ret = lt_arena_dup(arena, lt_json_text(extras));
  return ret->p != NULL;
}

static bool mcp_list_cache_get_facts(lt_json root, lt_arena *arena, lt_mcp_list_facts *ret) {
  uint64_t format;
  return mcp_list_cache_get_number(root, "format", &format) && format == FORMAT &&
         mcp_list_cache_get_number(root, "listedMs", &ret->listed_ms) &&
         mcp_list_cache_get_number(root, "startMs", &ret->start_ms) &&
         mcp_list_cache_get_text(root, "protocolVersion", arena, &ret->protocol_version) &&
         mcp_list_cache_get_text(root, "serverVersion", arena, &ret->server_version) &&
         mcp_list_cache_get_text(root, "instructions", arena, &ret->instructions) &&
         mcp_list_cache_get_extras(root, arena, &ret->extras);
}

lt_status lt_mcp_list_cache_read(const char *path, lt_mcp_list *list, lt_mcp_list_facts *ret_facts, lt_err *err) {
  LT_AUTO_BUF(text, LT_MCP_LIST_MAX_BYTES);
  LT_AUTO_ARENA(arena, LT_MCP_LIST_MAX_BYTES);
  lt_json_doc doc;
  lt_str cursor;
  lt_status status = mcp_list_cache_load(path, &text, err);
  if (status == LT_OK) {
    status = lt_json_parse(&arena, lt_buf_view(&text), &doc, err);
  }
  if (status == LT_OK) {
    status = lt_mcp_list_add_page(list, lt_json_root(&doc), &cursor, err);
  }
  if (status == LT_OK && !mcp_list_cache_get_facts(lt_json_root(&doc), &list->arena, ret_facts)) {
    status = lt_fail(err, LT_E_NOTFOUND, "%s: not a list of tools that this version knows", path);
  }
  return status == LT_OK || status == LT_E_NOMEM ? status : LT_E_NOTFOUND;
}

/* --- Writing ------------------------------------------------------------------------------------------------------ */

static void mcp_list_cache_put_number(lt_json_writer *w, const char *key, uint64_t number) {
  lt_json_key(w, key);
  lt_json_put_int(w, (int64_t)number);
}

static void mcp_list_cache_put_schema(lt_json_writer *w, const char *key, lt_str json) {
  if (json.n > 0) {
    lt_json_key(w, key);
    lt_json_put_raw(w, json);
  }
}

static void mcp_list_cache_put_tool(lt_json_writer *w, const lt_mcp_tool *tool) {
  lt_json_begin_object(w);
  lt_json_put_pair(w, "name", tool->name);
  lt_json_put_pair(w, "title", tool->title);
  lt_json_put_pair(w, "description", tool->description);
  mcp_list_cache_put_schema(w, "inputSchema", tool->input_schema);
  mcp_list_cache_put_schema(w, "outputSchema", tool->output_schema);
  mcp_list_cache_put_schema(w, "annotations", tool->annotations);
  lt_json_end_object(w);
}

static void mcp_list_cache_put(const lt_mcp_list *list, const lt_mcp_list_facts *facts, lt_buf *out) {
  lt_json_writer w = lt_json_writer_on(out);
  lt_json_begin_object(&w);
  mcp_list_cache_put_number(&w, "format", FORMAT);
  mcp_list_cache_put_number(&w, "listedMs", facts->listed_ms);
  mcp_list_cache_put_number(&w, "startMs", facts->start_ms);
  lt_json_put_pair(&w, "protocolVersion", facts->protocol_version);
  lt_json_put_pair(&w, "serverVersion", facts->server_version);
  lt_json_put_pair(&w, "instructions", facts->instructions);
  if (facts->extras.n > 0) {
    lt_json_key(&w, "extras");
    lt_json_put_raw(&w, facts->extras);
  }
  lt_json_key(&w, "tools");
  lt_json_begin_array(&w);
  for (size_t i = 0; i < list->count; i++) {
    mcp_list_cache_put_tool(&w, &list->tools[i]);
  }
  lt_json_end_array(&w);
  lt_json_end_object(&w);
}

/* A list is of one way to start a server: each change of the configuration leaves one behind. */
static void mcp_list_cache_drop_old(const char *path) {
  char other[PATH_MAX];
  struct stat st;
  const char *slash = strrchr(path, '/');
  snprintf(other, sizeof other, "%.*s", slash != NULL ? (int)(slash - path) : 0, path);
  DIR *folder = opendir(other);
  size_t n = strlen(other);
  for (struct dirent *entry; folder != NULL && (entry = readdir(folder)) != NULL;) {
    snprintf(other + n, sizeof other - n, "/%s", entry->d_name);
    if (lstat(other, &st) == 0 && S_ISREG(st.st_mode) && time(NULL) - st.st_mtime > LT_MCP_LISTS_KEPT_MS / 1000) {
      (void)unlink(other);
    }
  }
  if (folder != NULL) {
    closedir(folder);
  }
}

lt_status lt_mcp_list_cache_write(const char *path, const lt_mcp_list *list, const lt_mcp_list_facts *facts,
                                  const lt_secrets *secrets, lt_err *err) {
  LT_AUTO_BUF(text, LT_MCP_LIST_MAX_BYTES);
  LT_AUTO_BUF(masked, LT_MCP_LIST_MAX_BYTES);
  mcp_list_cache_put(list, facts, &text);
  lt_str all = lt_buf_view(&text);
  if (lt_secrets_in(secrets, all)) {
    lt_secrets_mask_json(secrets, all, &masked);
    all = lt_buf_view(&masked);
  }
  LT_TRY(lt_buf_check(&text, err, "the list of tools is too long for its file"));
  LT_TRY(lt_buf_check(&masked, err, "the list of tools is too long for its file"));
  lt_file_make_folders(path);
  mcp_list_cache_drop_old(path);
  /* Not synced: a crash of the machine may leave an empty file, which counts as none. */
  return lt_file_replace(path, all, NULL, err);
}
