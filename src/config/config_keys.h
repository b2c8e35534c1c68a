/* The table of configuration keys: one row for each key that lathe.yaml may have.
 *
 * A row says where the key stands, what its value must look like, where the value goes and what it means. Everything
 * else comes from the rows: reading and checking a file (config_take.c), "did you mean", the defaults, the JSON Schema
 * for editors (config_schema.c) and the reference in docs/guide/configuration.md (config_reference.c). A new key is a
 * new row, and the member of lt_config that it fills.
 */
#ifndef LT_CONFIG_CONFIG_KEYS_H
#define LT_CONFIG_CONFIG_KEYS_H

#include "config/config_reading.h"

/* What a value must look like, and what the member behind it is. */
typedef enum lt_config_kind {
  LT_CONFIG_TEXT,        /* any scalar as it is written -> const char * */
  LT_CONFIG_NUMBER,      /* a whole number from min to max -> int64_t */
  LT_CONFIG_TRUTH,       /* true or false -> bool */
  LT_CONFIG_MAYBE,       /* true or false -> int: 1, 0, or -1 where the file says nothing */
  LT_CONFIG_CHOICE,      /* one of `choices` -> an enum: its index */
  LT_CONFIG_TEXTS,       /* a list of texts -> const char *const *, NULL last */
  LT_CONFIG_ENV,         /* a mapping of variables to texts -> const char *const *: "NAME=value", NULL last */
  LT_CONFIG_HEADERS,     /* a mapping of names to texts -> const char *const *: "Name: value", NULL last */
  LT_CONFIG_COUNTS,      /* a mapping of names to numbers from min to max -> const lt_config_count *, and how many */
  LT_CONFIG_PASSTHROUGH, /* true, false or a list of texts -> lt_config_passthrough */
  LT_CONFIG_JSON,        /* a mapping of anything -> const char *: JSON text, or "" */
  LT_CONFIG_ANYTHING,    /* reserved keys only */
  LT_CONFIG_SECTION,     /* a mapping of the keys below it; -> bool: it is there, perhaps empty; may have no member */
  LT_CONFIG_RECORDS,     /* a list of mappings of the keys below it -> an array of structs, and how many */
  LT_CONFIG_NAMED,       /* a mapping of names to such mappings -> an array of structs that begin with their name */
} lt_config_kind;

enum {
  LT_CONFIG_REQUIRED = 1,       /* its record needs it */
  LT_CONFIG_FILE_PATH = 2,      /* a relative path counts from the file's folder */
  LT_CONFIG_PROGRAM = 4,        /* the same, but a name without a slash is looked up in PATH */
  LT_CONFIG_SECRET = 8,         /* what ${NAME} brings into it is a secret */
  LT_CONFIG_EMPTY_IS_NONE = 16, /* an empty text counts as not given */
  LT_CONFIG_NOT_NULL = 32,      /* with nothing behind it, it is a mistake; others then count as not given */
  LT_CONFIG_OPEN = 64,          /* records: an unknown key inside is only a warning */
  LT_CONFIG_RESERVED = 128,     /* known and checked, and read by nothing outside config/ yet; may have no member */
};

typedef struct lt_config_key lt_config_key;

/* What a row cannot say: looks at a value that was taken into `record`, or changes it. Not called inside a record that
 * is switched off, but for that record itself. */
typedef lt_status lt_config_finish_fn(const lt_config_reading *reading, const lt_yaml_node *node,
                                      const lt_config_place *place, void *record);

struct lt_config_key {
  const char *path; /* from the file's top: "models[].ref" in a list, "mcpServers.*.url" in a mapping; NULL: the end */
  lt_config_kind kind;
  unsigned flags;
  int64_t min, max;           /* numbers; records: max is how many there may be */
  int64_t standard;           /* numbers, truths, choices: what holds where the file says nothing */
  const char *const *choices; /* NULL last; a text may have them, too */
  const char *short_for;      /* records: the key that an item which is a plain text stands for */
  const char *const *needs;   /* records: at least one of these keys, NULL last; `finish` sees to it */
  size_t at;                  /* the member's offset in the record, or in lt_config; LT_CONFIG_NOWHERE */
  size_t count_at;            /* likewise of the count of records or counts */
  size_t record_bytes;        /* the size of one of them */
  lt_config_finish_fn *finish;
  const char *empty_advice;  /* an empty text is a mistake: what to write */
  const char *standard_text; /* the default in words, where `standard` does not tell it */
  const char *example;       /* a text that is accepted, where not every text is */
  const char *doc;           /* one sentence */
};

#define LT_CONFIG_NOWHERE SIZE_MAX

/* All rows, each directly followed by the rows of the keys inside it. */
extern const lt_config_key lt_config_keys[];

/* The keys directly inside `parent` (NULL: of the file), one after the other: the first for `previous` NULL; NULL after
 * the last. */
const lt_config_key *lt_config_key_inside(const lt_config_key *parent, const lt_config_key *previous);
/* The key of that name directly inside `parent`, or NULL. */
const lt_config_key *lt_config_key_find(const lt_config_key *parent, lt_str name);
/* The last part of its path. */
const char *lt_config_key_name(const lt_config_key *key);
/* Whether a default stands in `standard`: only then the schema and the reference give it. */
bool lt_config_key_has_standard(const lt_config_key *key);

/* Fills the members of a record, or of an lt_config (`parent` NULL), with what holds where the file says nothing. */
void lt_config_key_set_standards(const lt_config_key *parent, void *record);

#endif
