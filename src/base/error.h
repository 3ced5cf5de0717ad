/* error.h - reporting a failure once, where it is found.
 *
 * The line that detects a failure calls lc_fail(); everyone above cleans up and returns the status
 * untouched. A message is one line, names the object and what would be right, and holds no secret
 * and no text of users. `err` may be NULL everywhere.
 */
#ifndef LC_BASE_ERROR_H
#define LC_BASE_ERROR_H

#include "loci.h"

#include <stdbool.h>

/* Fills `err` and returns `status`, so that it can be used in a return statement. Control
 * characters in the formatted text become '?'; a text that does not fit is cut at a character. */
loci_status lc_fail(loci_error *err, loci_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Fails with LOCI_ERESOURCE, out of memory. */
loci_status lc_fail_memory(loci_error *err);

/* Sets the data of `err`: `json` is one object, dropped if it does not fit. Call after lc_fail. */
void lc_error_set_data(loci_error *err, loci_str json);

/* Sets the data of `err` to {"retry_after_ms": after_ms}: the same call may succeed then. */
void lc_error_set_retry(loci_error *err, int64_t after_ms);
/* The value that was set so, alone or among other members; 0 = none. */
int64_t lc_error_retry_ms(const loci_error *err);

/* One status: its name, HTTP status, exit code and description. */
typedef struct lc_status_row {
    loci_status status;
    const char *name;
    int http;
    int exit_code;
    const char *help; /* For docs/reference.md. */
} lc_status_row;

/* All statuses in order; LOCI_EINTERNAL is the last. */
const lc_status_row *lc_status_rows(void);
/* The status named `name`; false when there is none. */
bool lc_status_find(loci_str name, loci_status *out);

#endif /* LC_BASE_ERROR_H */
