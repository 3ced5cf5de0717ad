/* metrics_text.h - Prometheus' text format 0.0.4: a family is its help, its type and its samples.
 */
#ifndef LC_SERVER_METRICS_TEXT_H
#define LC_SERVER_METRICS_TEXT_H

#include "base/buf.h"

#define LC_METRICS_TYPE "text/plain; version=0.0.4; charset=utf-8"

/* `type` is "counter", "gauge" or "histogram". */
void lc_metric_family(lc_buf *out, const char *name, const char *type, const char *help);

/* `labels` as they stand between the braces, such as `code="200"`, or "". Their values are ours:
 * nothing is escaped. */
void lc_metric_int(lc_buf *out, const char *name, const char *labels, int64_t value);
/* µs as seconds. */
void lc_metric_seconds(lc_buf *out, const char *name, const char *labels, int64_t us);

/* A family of one sample without labels. */
void lc_metric_one(lc_buf *out, const char *name, const char *type, const char *help,
                   int64_t value);

#endif /* LC_SERVER_METRICS_TEXT_H */
