#include "app/origin.h"

#include <limits.h>
#include <unistd.h>

#include "base/limits.h"
#include "json/json.h"

static void origin_put_file(lt_json_writer *w, const lt_config_file *file) {
  lt_json_begin_object(w);
  lt_json_key(w, "path");
  lt_json_put_cstr(w, file->path);
  lt_json_key(w, "hash");
  lt_json_put_cstr(w, file->hash);
  lt_json_key(w, "why");
  lt_json_put_cstr(w, file->why);
  lt_json_key(w, "user");
  lt_json_put_bool(w, file->layer == LT_CONFIG_LAYER_USER);
  lt_json_end_object(w);
}

lt_str lt_origin_of(lt_config *config) {
  char folder[PATH_MAX];
  LT_AUTO_BUF(out, LT_MIB);
  lt_json_writer w = lt_json_writer_on(&out);
  lt_json_begin_object(&w);
  lt_json_key(&w, "folder");
  lt_json_put_cstr(&w, getcwd(folder, sizeof folder) != NULL ? folder : "");
  lt_json_key(&w, "files");
  lt_json_begin_array(&w);
  for (size_t i = 0; i < config->file_count; i++) {
    if (config->files[i].counts) {
      origin_put_file(&w, &config->files[i]);
    }
  }
  lt_json_end_array(&w);
  lt_json_end_object(&w);
  return out.status == LT_OK ? lt_arena_dup(&config->arena, lt_buf_view(&out)) : LT_STR("");
}
