/* The table of configuration keys: one row for each key that lathe.yaml may have.
 *
 * A row has the key's path, the form of its value, the member for the value, and one sentence of documentation.
 * Everything else comes from the rows: reading and checking a file (config_take.c), "did you mean", the defaults, the
 * JSON Schema for editors (config_schema.c) and the reference in docs/guide/configuration.md (config_reference.c). A
 * new key is one new row and one new member of lt_config.
 */
#ifndef LT_CONFIG_CONFIG_KEYS_H
#define LT_CONFIG_CONFIG_KEYS_H

#include "config/config_reading.h"

/* The form of a value -> the type of its member. */
typedef enum lt_config_kind {
  LT_CONFIG_TEXT,        /* any scalar as it is written -> const char * */
  LT_CONFIG_NUMBER,      /* a whole number from min to max -> int64_t */
  LT_CONFIG_DECIMAL,     /* a number that is not negative -> const char *: as JSON writes it, or NULL */
  LT_CONFIG_TRUTH,       /* true or false -> bool */
  LT_CONFIG_MAYBE,       /* true or false -> int: 1, 0, or -1 when the key is missing */
  LT_CONFIG_CHOICE,      /* one of `choices` -> an enum: its index */
  LT_CONFIG_TEXTS,       /* a list of texts -> const char *const *, NULL last */
  LT_CONFIG_ENV,         /* a mapping of variables to texts -> const char *const *: "NAME=value", NULL last */
  LT_CONFIG_HEADERS,     /* a mapping of names to texts -> const char *const *: "Name: value", NULL last */
  LT_CONFIG_COUNTS,      /* a mapping of names to numbers from min to max -> const lt_config_count *, and a count */
  LT_CONFIG_PASSTHROUGH, /* true, false or a list of texts -> lt_config_passthrough */
  LT_CONFIG_JSON,        /* a mapping of anything -> const char *: JSON text, or "" */
  LT_CONFIG_SECTION, /* a mapping of the keys below it; -> bool: the section exists, even if empty; may have no member
                      */
  LT_CONFIG_RECORDS, /* a list of mappings of the keys below it -> an array of structs, and a count */
  LT_CONFIG_NAMED,   /* a mapping of names to mappings of the keys below it -> an array of structs that begin with their
                        name */
} lt_config_kind;

enum {
  LT_CONFIG_REQUIRED = 1,       /* the key is required in its record */
  LT_CONFIG_FILE_PATH = 2,      /* a relative path counts from the file's folder */
  LT_CONFIG_PROGRAM = 4,        /* the same, but a name without a slash is looked up in PATH */
  LT_CONFIG_SECRET = 8,         /* the value of a ${NAME} in it is a secret */
  LT_CONFIG_EMPTY_IS_NONE = 16, /* an empty text counts as not given */
  LT_CONFIG_NOT_NULL = 32,      /* a key without a value is a mistake; without the flag it counts as not given */
  LT_CONFIG_OPEN = 64,          /* records: an unknown key inside is only a warning */
  LT_CONFIG_VARIABLE = 256,     /* the value is the name of an environment variable, or a list of names */
  LT_CONFIG_RELOADS = 512,      /* top keys: a new value counts in a service that runs (config_adopt.h) */
};

typedef struct lt_config_key lt_config_key;

/* A check that a row cannot express: reads or changes a value after it was stored in `record`. It is called for a
 * disabled record, but not for the keys inside it. */
typedef lt_status lt_config_finish_fn(const lt_config_reading *reading, const lt_yaml_node *node,
                                      const lt_config_place *place, void *record);

/* Whether an untrusted file may say this: the value cannot start, load, send or allow anything. `below` has what the
 * layers below say. */
typedef bool lt_config_harmless_fn(const lt_config_key *key, const lt_yaml_node *node, const lt_config *below);

struct lt_config_key {
  const char *path; /* from the file's top: "models[].ref" in a list, "mcpServers.*.url" in a mapping; NULL: the end */
  lt_config_kind kind;
  unsigned flags;
  int64_t min, max;           /* numbers: bounds; records: max is the greatest count */
  int64_t standard;           /* numbers, truths, choices: the default */
  const char *const *choices; /* NULL last; also for texts */
  const char *short_for;      /* records, sections: a plain text in place of the mapping sets this key */
  const char *const *needs;   /* records: at least one of these keys is required, NULL last; `finish` checks it */
  const char *const *names;   /* records: a record replaces one of another file that has the same text in one of these
                                 keys, NULL last; NULL: all records count, one file's after the other's */
  size_t at;                  /* the member's offset in the record, or in lt_config; LT_CONFIG_NOWHERE */
  size_t count_at;            /* likewise of the count of records or counts */
  size_t record_bytes;        /* the size of one record or count */
  size_t fault_at;            /* of a record's member for the message about an unset variable; 0: the file fails */
  lt_config_finish_fn *finish;
  lt_config_harmless_fn *is_harmless; /* NULL: only a trusted file may have the key; sections and records: their keys */
  const char *wants;                  /* top keys: what an untrusted file wants with it, such as "start programs" */
  const char *empty_advice;           /* an empty text is a mistake: this says what to write */
  const char *standard_text;          /* the default in words, when `standard` cannot express it */
  const char *example;                /* a valid text (an entry of texts), for keys that do not accept every text */
  const char *doc;                    /* one sentence */
};

#define LT_CONFIG_NOWHERE SIZE_MAX

/* All rows, each directly followed by the rows of the keys inside it. */
extern const lt_config_key lt_config_keys[];

/* Iterates over the keys directly inside `parent` (NULL: the file): the first key for `previous` NULL, NULL after the
 * last. */
const lt_config_key *lt_config_key_inside(const lt_config_key *parent, const lt_config_key *previous);
/* The key of that name directly inside `parent`, or NULL. */
const lt_config_key *lt_config_key_find(const lt_config_key *parent, lt_str name);
/* The last part of the key's path. */
const char *lt_config_key_name(const lt_config_key *key);
/* Whether `standard` is the key's default: only then the schema and the reference show it. */
bool lt_config_key_has_standard(const lt_config_key *key);

/* The size of the member that has a key's value; of a list, of the pointer to it. */
size_t lt_config_key_bytes(const lt_config_key *key);
/* Sets the members of a record, or of an lt_config (`parent` NULL), to their defaults. */
void lt_config_key_set_standards(const lt_config_key *parent, void *record);

#endif
