/* The rules: schema_rules.c chooses them by keyword, the other files apply them.
 */
#ifndef LT_JSON_SCHEMA_RULES_H
#define LT_JSON_SCHEMA_RULES_H

#include "json/schema_compiler.h"
#include "json/schema_run.h"

/* Makes the node's rules. */
void lt_schema_rules_make(lt_schema_compiler *c, lt_schema_node *node);

/* --- Rules that apply other nodes to the same value: schema_check.c ----------------------------------------------- */
bool lt_schema_rule_ref(lt_schema_run *run, const lt_schema_rule *rule, const lt_schema_place *at);
bool lt_schema_rule_unknown(lt_schema_run *run, const lt_schema_rule *rule, const lt_schema_place *at);
bool lt_schema_rule_dynamic(lt_schema_run *run, const lt_schema_rule *rule, const lt_schema_place *at);
bool lt_schema_rule_all_of(lt_schema_run *run, const lt_schema_rule *rule, const lt_schema_place *at);
bool lt_schema_rule_not(lt_schema_run *run, const lt_schema_rule *rule, const lt_schema_place *at);
bool lt_schema_rule_if(lt_schema_run *run, const lt_schema_rule *rule, const lt_schema_place *at);

/* --- Alternatives: schema_choice.c -------------------------------------------------------------------------------- */
bool lt_schema_rule_any_of(lt_schema_run *run, const lt_schema_rule *rule, const lt_schema_place *at);
bool lt_schema_rule_one_of(lt_schema_run *run, const lt_schema_rule *rule, const lt_schema_place *at);

/* --- Values: schema_value.c --------------------------------------------------------------------------------------- */
bool lt_schema_rule_enum(lt_schema_run *run, const lt_schema_rule *rule, const lt_schema_place *at);
bool lt_schema_rule_const(lt_schema_run *run, const lt_schema_rule *rule, const lt_schema_place *at);
bool lt_schema_rule_minimum(lt_schema_run *run, const lt_schema_rule *rule, const lt_schema_place *at);
bool lt_schema_rule_maximum(lt_schema_run *run, const lt_schema_rule *rule, const lt_schema_place *at);
bool lt_schema_rule_more_than(lt_schema_run *run, const lt_schema_rule *rule, const lt_schema_place *at);
bool lt_schema_rule_less_than(lt_schema_run *run, const lt_schema_rule *rule, const lt_schema_place *at);
bool lt_schema_rule_multiple_of(lt_schema_run *run, const lt_schema_rule *rule, const lt_schema_place *at);
bool lt_schema_rule_min_length(lt_schema_run *run, const lt_schema_rule *rule, const lt_schema_place *at);
bool lt_schema_rule_max_length(lt_schema_run *run, const lt_schema_rule *rule, const lt_schema_place *at);
bool lt_schema_rule_pattern(lt_schema_run *run, const lt_schema_rule *rule, const lt_schema_place *at);

/* --- Objects: schema_object.c ------------------------------------------------------------------------------------- */
bool lt_schema_rule_min_properties(lt_schema_run *run, const lt_schema_rule *rule, const lt_schema_place *at);
bool lt_schema_rule_max_properties(lt_schema_run *run, const lt_schema_rule *rule, const lt_schema_place *at);
bool lt_schema_rule_required(lt_schema_run *run, const lt_schema_rule *rule, const lt_schema_place *at);
bool lt_schema_rule_object(lt_schema_run *run, const lt_schema_rule *rule, const lt_schema_place *at);
bool lt_schema_rule_property_names(lt_schema_run *run, const lt_schema_rule *rule, const lt_schema_place *at);
bool lt_schema_rule_depends(lt_schema_run *run, const lt_schema_rule *rule, const lt_schema_place *at);
bool lt_schema_rule_unevaluated_properties(lt_schema_run *run, const lt_schema_rule *rule, const lt_schema_place *at);

/* --- Arrays: schema_array.c --------------------------------------------------------------------------------------- */
bool lt_schema_rule_min_items(lt_schema_run *run, const lt_schema_rule *rule, const lt_schema_place *at);
bool lt_schema_rule_max_items(lt_schema_run *run, const lt_schema_rule *rule, const lt_schema_place *at);
bool lt_schema_rule_unique_items(lt_schema_run *run, const lt_schema_rule *rule, const lt_schema_place *at);
bool lt_schema_rule_array(lt_schema_run *run, const lt_schema_rule *rule, const lt_schema_place *at);
bool lt_schema_rule_contains(lt_schema_run *run, const lt_schema_rule *rule, const lt_schema_place *at);
bool lt_schema_rule_unevaluated_items(lt_schema_run *run, const lt_schema_rule *rule, const lt_schema_place *at);

#endif
