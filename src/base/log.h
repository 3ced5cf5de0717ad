/* log.h - structured records for the host's log: a stable event name and typed fields.
 *
 * Fields are typed so that redaction cannot be forgotten: a secret is written as "***" and the text
 * of users as its length, at every level. There is no way to log a formatted sentence. */
#ifndef LC_BASE_LOG_H
#define LC_BASE_LOG_H

#include "loci.h"

typedef struct lc_log {
    loci_log_fn *write; /* NULL = silent. */
    void *ctx;
    loci_log_level level_min;
} lc_log;

typedef enum lc_field_kind {
    LC_FIELD_TEXT,
    LC_FIELD_INT,
    LC_FIELD_SECRET,
    LC_FIELD_USER_TEXT
} lc_field_kind;

typedef struct lc_field {
    const char *name;
    lc_field_kind kind;
    loci_str text;
    int64_t number;
} lc_field;

#define LC_LOG_TEXT(n, v) ((lc_field){(n), LC_FIELD_TEXT, loci_str_of(v), 0})
#define LC_LOG_STR(n, v) ((lc_field){(n), LC_FIELD_TEXT, (v), 0})
#define LC_LOG_INT(n, v) ((lc_field){(n), LC_FIELD_INT, {0, 0}, (v)})
#define LC_LOG_SECRET(n, v) ((lc_field){(n), LC_FIELD_SECRET, (v), 0})
#define LC_LOG_USER_TEXT(n, v) ((lc_field){(n), LC_FIELD_USER_TEXT, (v), 0})

void lc_log_fields(const lc_log *log, loci_log_level level, const char *event, size_t count,
                   const lc_field *fields);

/* lc_log_write(log, LOCI_LOG_INFO, "store.opened", LC_LOG_TEXT("path", path), LC_LOG_INT("ms",
 * ms)); */
#define lc_log_write(log, level, event, ...)                                                       \
    lc_log_fields((log), (level), (event), sizeof((lc_field[]){__VA_ARGS__}) / sizeof(lc_field),   \
                  (lc_field[]){__VA_ARGS__})

#endif /* LC_BASE_LOG_H */
