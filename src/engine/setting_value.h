/* setting_value.h - one value of one setting: read from JSON, checked and shown.
 *
 * Only for settings.c. A value that was read is valid and is not checked again.
 */
#ifndef LC_ENGINE_SETTING_VALUE_H
#define LC_ENGINE_SETTING_VALUE_H

#include "engine/settings.h"

#define LC_CONFIG_FILE_BYTES_MAX (1024u * 1024)

/* The kind of place that a secret refers to. */
typedef enum lc_secret_place { LC_SECRET_FILE, LC_SECRET_VARIABLE } lc_secret_place;

typedef struct lc_setting_value {
    bool is_set;    /* False in zeroed storage. */
    int64_t number; /* An integer, 0 or 1, a choice's index, a lc_secret_place. */
    loci_str text;  /* A text, a choice's word, a secret's path or variable. Terminated. */
} lc_setting_value;

typedef struct lc_setting_input {
    const lc_setting *setting;
    const lc_json *json;
    const char *source; /* "config file loci.json", for messages; NULL = the caller knows. */
} lc_setting_input;

/* Reads and checks. `null` is a value only for a secret, and means that it is not set. Text is
 * copied to `arena`. LOCI_EINVAL names source, setting, the given value (unless it is a secret) and
 * the allowed values. */
loci_status lc_setting_value_read(lc_arena *arena, const lc_setting_input *input,
                                  lc_setting_value *out, loci_error *err);
bool lc_setting_value_eq(const lc_setting_value *a, const lc_setting_value *b);
void lc_setting_value_write(const lc_setting *setting, const lc_setting_value *value,
                            lc_json_writer *out);

/* Members {kind, min?, max?, choices?, help, live, per_tenant, secret} of an open object. */
void lc_setting_write_kind(const lc_setting *setting, lc_json_writer *out);

/* Appends the content of a secret's file or variable. LOCI_ENOTFOUND when the secret is not set, or
 * its file or variable does not exist. */
loci_status lc_setting_secret_load(const lc_variables *variables, const lc_setting *setting,
                                   const lc_setting_value *value, lc_buf *out, loci_error *err);

/* The setting of that name in a source; LOCI_EINVAL names the source and the nearest setting. */
loci_status lc_setting_list_load(const lc_setting_list *list, const char *source, loci_str name,
                                 const lc_setting **out, loci_error *err);

/* Appends a whole file. `what` is for messages: "config file". A file that does not exist or cannot
 * be read is `absent`; one without permission is LOCI_EFORBIDDEN; one larger than the buffer's
 * limit is LOCI_ELIMIT. */
loci_status lc_setting_read_file(const char *what, const char *path, loci_status absent,
                                 lc_buf *out, loci_error *err);

#endif /* LC_ENGINE_SETTING_VALUE_H */
