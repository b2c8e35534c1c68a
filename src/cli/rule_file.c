#include "cli/rule_file.h"

#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/limits.h"
#include "config/config.h"
#include "config/config_read.h"
#include "types/typegen_text.h"

/* --- Lines of YAML ------------------------------------------------------------------------------------------------ */
typedef struct yaml_line {
  size_t from, next; /* offsets of this line and of the one after it */
  size_t indent;
  lt_str text; /* without its indent, line break and final spaces; empty: blank or a comment */
} yaml_line;

static bool rule_file_next_line(lt_str all, size_t at, yaml_line *ret) {
  if (at >= all.n) {
    return false;
  }
  size_t end = lt_str_find(all, LT_STR("\n"), at);
  end = end < all.n ? end : all.n;
  lt_str line = lt_str_sub(all, at, end);
  size_t indent = 0;
  while (indent < line.n && line.p[indent] == ' ') {
    indent++;
  }
  lt_str text = lt_str_trim(lt_str_sub(line, indent, line.n));
  *ret = (yaml_line){.from = at,
                     .next = end < all.n ? end + 1 : all.n,
                     .indent = indent,
                     .text = lt_str_starts(text, LT_STR("#")) ? LT_STR_NULL : text};
  return true;
}

/* The next line from `at` on that has something. */
static bool rule_file_next_text(lt_str all, size_t at, yaml_line *ret) {
  while (rule_file_next_line(all, at, ret)) {
    if (ret->text.n > 0) {
      return true;
    }
    at = ret->next;
  }
  return false;
}

/* Whether a line is `key:`, with nothing behind it but a comment. */
static bool rule_file_opens(const yaml_line *line, const char *key) {
  size_t n = strlen(key);
  lt_str rest = lt_str_trim(lt_str_sub(line->text, n, line->text.n));
  return lt_str_starts(line->text, lt_str_of(key)) && (rest.n == 0 || rest.p[0] == '#');
}

/* --- The place ---------------------------------------------------------------------------------------------------- */
static void rule_file_put_rule(lt_buf *out, size_t indent, lt_str tool) {
  lt_buf_printf(out, "%*s- match: ", (int)indent, "");
  lt_typegen_put_string(out, tool);
  lt_buf_printf(out, " # written at a question\n%*s  action: allow\n", (int)indent, "");
}

static void rule_file_put_policy(lt_buf *out, size_t indent, lt_str tool) {
  lt_buf_printf(out, "%*spolicy:\n", (int)indent, "");
  rule_file_put_rule(out, indent + 2, tool);
}

static bool rule_file_refuse(lt_rule_file *file, const char *why) {
  file->why = why;
  return false;
}

/* Inside `policy:`, before its first rule. */
static bool rule_file_place_in_policy(lt_rule_file *file, lt_str all, const yaml_line *policy, lt_str tool,
                                      size_t *ret_at) {
  yaml_line first;
  bool has_rule = rule_file_next_text(all, policy->next, &first) && first.indent >= policy->indent &&
                  lt_str_starts(first.text, LT_STR("-"));
  if (!has_rule && rule_file_next_text(all, policy->next, &first) && first.indent > policy->indent) {
    return rule_file_refuse(file, "its tools.policy is no list of lines");
  }
  rule_file_put_rule(&file->added, has_rule ? first.indent : policy->indent + 2, tool);
  *ret_at = has_rule ? first.from : policy->next;
  return true;
}

/* Inside `tools:`: in its policy, or a new one. */
static bool rule_file_place_in_tools(lt_rule_file *file, lt_str all, const yaml_line *tools, lt_str tool,
                                     size_t *ret_at) {
  yaml_line member;
  size_t indent = 0;
  for (size_t at = tools->next; rule_file_next_text(all, at, &member) && member.indent > 0; at = member.next) {
    indent = indent > 0 ? indent : member.indent;
    if (member.indent == indent && rule_file_opens(&member, "policy:")) {
      return rule_file_place_in_policy(file, all, &member, tool, ret_at);
    }
    if (member.indent == indent && lt_str_find(member.text, LT_STR("policy"), 0) <= 1) {
      return rule_file_refuse(file, "its tools.policy stands in one line");
    }
  }
  rule_file_put_policy(&file->added, indent > 0 ? indent : 2, tool);
  *ret_at = tools->next;
  return true;
}

static bool rule_file_find_place(lt_rule_file *file, lt_str all, lt_str tool, size_t *ret_at) {
  yaml_line line;
  for (size_t at = 0; rule_file_next_text(all, at, &line); at = line.next) {
    if (line.indent == 0 && rule_file_opens(&line, "tools:")) {
      return rule_file_place_in_tools(file, all, &line, tool, ret_at);
    }
    if (strchr("{[%-.\"'&!", line.text.p[0]) != NULL ||
        (line.indent == 0 && lt_str_starts(line.text, LT_STR("tools")))) {
      if (line.indent == 0) {
        return rule_file_refuse(file, "it is not written in plain lines of YAML");
      }
    }
  }
  lt_buf_addc(&file->added, "tools:\n");
  rule_file_put_policy(&file->added, 2, tool);
  *ret_at = all.n;
  return true;
}

/* --- The new text ------------------------------------------------------------------------------------------------- */
static void rule_file_insert(lt_rule_file *file, lt_str all, size_t at) {
  bool needs_end = at == all.n && all.n > 0 && all.p[all.n - 1] != '\n';
  file->line = 1;
  for (size_t i = 0; i < at; i++) {
    file->line += all.p[i] == '\n';
  }
  file->line += needs_end ? 1 : 0;
  lt_buf_add(&file->text, lt_str_sub(all, 0, at));
  lt_buf_addc(&file->text, needs_end ? "\n" : "");
  lt_buf_add(&file->text, lt_buf_view(&file->added));
  lt_buf_add(&file->text, lt_str_sub(all, at, all.n));
}

/* The new text must read as the old one with this rule as its first. */
static bool rule_file_is_right(const lt_rule_file *file, lt_str tool) {
  lt_config config;
  bool is_right = lt_config_parse(lt_buf_view(&file->text), file->path.p, ".", &config, NULL) == LT_OK &&
                  config.rule_count > 0 && lt_str_eqc(tool, config.rules[0].match);
  lt_config_release(&config);
  return is_right;
}

static lt_status rule_file_read(const lt_rule_file *file, lt_buf *out, lt_err *err) {
  lt_config_identity identity;
  lt_status status = lt_config_read(file->path.p, true, out, &identity, err);
  return status == LT_E_NOTFOUND ? LT_OK : status;
}

lt_status lt_rule_file_prepare(lt_str tool, lt_rule_file *file, lt_err *err) {
  LT_AUTO_BUF(old, LT_CONFIG_MAX_BYTES);
  *file = (lt_rule_file){.why = ""};
  lt_buf_init(&file->path, PATH_MAX);
  lt_buf_init(&file->rule, LT_MIB);
  lt_buf_init(&file->added, LT_MIB);
  lt_buf_init(&file->text, LT_CONFIG_MAX_BYTES);
  LT_TRY(lt_config_user_path(&file->path, err));
  lt_buf_addc(&file->rule, "tools:\n");
  rule_file_put_policy(&file->rule, 2, tool);
  LT_TRY(rule_file_read(file, &old, err));
  lt_str all = lt_buf_view(&old);
  size_t at = 0;
  for (size_t i = 0; i < tool.n; i++) {
    if (strchr("*?[]{}\\!", tool.p[i]) != NULL) {
      return lt_fail(err, LT_E_INVALID, "the tool's name has characters that stand for others in a rule");
    }
  }
  if (rule_file_find_place(file, all, tool, &at)) {
    rule_file_insert(file, all, at);
    if (file->text.status == LT_OK && !rule_file_is_right(file, tool)) {
      lt_buf_clear(&file->text);
      file->why = "a line could not be put into it safely";
    }
  }
  lt_buf_init(&file->old, LT_CONFIG_MAX_BYTES);
  lt_buf_add(&file->old, all);
  return lt_fail_if(err, file->text.status, "no memory for a rule");
}

/* --- Writing ------------------------------------------------------------------------------------------------------ */
lt_status lt_rule_file_write(const lt_rule_file *file, lt_err *err) {
  LT_AUTO_BUF(now, LT_CONFIG_MAX_BYTES);
  char real[PATH_MAX];
  struct stat about;
  LT_TRY(rule_file_read(file, &now, err));
  if (!lt_str_eq(lt_buf_view(&now), lt_buf_view(&file->old))) {
    return lt_fail(err, LT_E_INVALID, "%s has changed meanwhile: nothing was written", file->path.p);
  }
  lt_file_make_folders(file->path.p);
  const char *path = realpath(file->path.p, real) != NULL ? real : file->path.p;
  mode_t mode = stat(path, &about) == 0 ? about.st_mode & 07777 : 0600;
  const lt_file_replace_options options = {.mode = mode, .is_synced = true};
  return lt_file_replace(path, lt_buf_view(&file->text), &options, err);
}

void lt_rule_file_release(lt_rule_file *file) {
  lt_buf_release(&file->path);
  lt_buf_release(&file->rule);
  lt_buf_release(&file->added);
  lt_buf_release(&file->text);
  lt_buf_release(&file->old);
}
