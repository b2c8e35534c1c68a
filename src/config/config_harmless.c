/* Values of keys that need no trust: rows of config_keys.c name these functions. */
#include "config/config_harmless.h"

#include "base/limits.h"

bool lt_config_harmless_text(const lt_config_key *key, const lt_yaml_node *node, const lt_config *below) {
  (void)key;
  (void)below;
  return node->type == LT_YAML_SCALAR && lt_str_find(node->text, LT_STR("${"), 0) == SIZE_MAX;
}

bool lt_config_harmless_action(const lt_config_key *key, const lt_yaml_node *node, const lt_config *below) {
  (void)key;
  (void)below;
  return node->type == LT_YAML_SCALAR && (lt_str_eqc(node->text, "ask") || lt_str_eqc(node->text, "deny"));
}

bool lt_config_harmless_number(const lt_config_key *key, const lt_yaml_node *node, const lt_config *below) {
  int64_t value;
  (void)key;
  (void)below;
  return lt_yaml_int(node, &value);
}

/* A bound of 0 stands for a default that depends on the runner: nothing is known to be lower. */
bool lt_config_harmless_lower(const lt_config_key *key, const lt_yaml_node *node, const lt_config *below) {
  int64_t value, now;
  memcpy(&now, (const char *)below + key->at, sizeof now);
  return lt_yaml_int(node, &value) && value <= now;
}

bool lt_config_harmless_output(const lt_config_key *key, const lt_yaml_node *node, const lt_config *below) {
  int64_t value, now;
  memcpy(&now, (const char *)below + key->at, sizeof now);
  return lt_yaml_int(node, &value) && value <= (now != 0 ? now : (int64_t)LT_RUN_OUTPUT_MAX_BYTES);
}

bool lt_config_harmless_true(const lt_config_key *key, const lt_yaml_node *node, const lt_config *below) {
  bool truth = false;
  (void)key;
  (void)below;
  return lt_yaml_bool(node, &truth) && truth;
}
