#include "config/config_json.h"

#include "base/limits.h"
#include "json/json.h"
#include "config/config_expand.h"

/* Numbers stay as they are written where JSON has them so; 0x1f, .inf and 1_000 are texts. */
static bool config_json_is_number(lt_str text) {
  return text.n > 0 && (text.p[0] == '-' || (text.p[0] >= '0' && text.p[0] <= '9')) &&
         lt_json_check(text, NULL) == LT_OK;
}

static lt_status config_json_put_scalar(const lt_config_reading *r, const lt_yaml_node *node, lt_json_writer *w) {
  bool truth;
  const char *text;
  if (lt_yaml_bool(node, &truth)) {
    lt_json_put_bool(w, truth);
  } else if (!node->quoted && config_json_is_number(node->text)) {
    lt_json_put_raw(w, node->text);
  } else {
    LT_TRY(lt_config_expand_secret(r, node, &text));
    lt_json_put_cstr(w, text);
  }
  return LT_OK;
}

static lt_status config_json_put(const lt_config_reading *r, const lt_yaml_node *node, lt_json_writer *w);

static lt_status config_json_put_kids(const lt_config_reading *r, const lt_yaml_node *node, lt_json_writer *w) {
  for (const lt_yaml_node *kid = node->kids; kid; kid = kid->next) {
    if (node->type == LT_YAML_MAP) {
      lt_json_key_str(w, kid->key->text);
    }
    LT_TRY(config_json_put(r, kid, w));
  }
  return LT_OK;
}

/* At most LT_CONFIG_DEPTH_MAX deep, which lt_yaml_parse has checked. */
static lt_status config_json_put(const lt_config_reading *r, const lt_yaml_node *node, lt_json_writer *w) {
  switch (node->type) {
    case LT_YAML_NULL:
      lt_json_put_null(w);
      break;
    case LT_YAML_SCALAR:
      return config_json_put_scalar(r, node, w);
    case LT_YAML_LIST:
      lt_json_begin_array(w);
      LT_TRY(config_json_put_kids(r, node, w));
      lt_json_end_array(w);
      break;
    case LT_YAML_MAP:
      lt_json_begin_object(w);
      LT_TRY(config_json_put_kids(r, node, w));
      lt_json_end_object(w);
      break;
  }
  return LT_OK;
}

lt_status lt_config_json(const lt_config_reading *r, const lt_yaml_node *node, lt_str *ret) {
  LT_AUTO_BUF(json, LT_CONFIG_MAX_BYTES);
  lt_json_writer w = lt_json_writer_on(&json);
  LT_TRY(config_json_put(r, node, &w));
  if (json.status == LT_E_LIMIT) {
    return lt_fail(r->err, LT_E_LIMIT, "%s:%u: larger than %lu MiB as JSON", r->name, node->line,
                   LT_CONFIG_MAX_BYTES / LT_MIB);
  }
  lt_str kept = lt_arena_dup_buf(&r->config->arena, &json);
  *ret = kept;
  return kept.p != NULL ? LT_OK : lt_config_no_memory(r);
}
