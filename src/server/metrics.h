/* metrics.h - the daemon's counters, in Prometheus' text format.
 *
 * Every answered request is counted. All other figures (store, jobs, memory, connections) are read
 * when /metrics is requested. Labels have few values: names of operations, statuses, codes; never a
 * user or a token. docs/monitoring.md describes each metric. */
#ifndef LC_SERVER_METRICS_H
#define LC_SERVER_METRICS_H

#include "base/buf.h"
#include "base/env.h"
#include "base/histogram.h"

typedef struct lc_metrics lc_metrics;

loci_status lc_metrics_new(lc_env *env, lc_metrics **out, loci_error *err);
void lc_metrics_free(lc_metrics *metrics);

#define LC_METRICS_MCP "/mcp" /* Counted like an operation: messages of MCP. */

typedef struct lc_metrics_request {
    const char *operation; /* A name of the table, LC_METRICS_MCP, or NULL if none was called. */
    int http_status;
    const char *code; /* Of its error (loci_status_name), or NULL. */
    int64_t took_us;
} lc_metrics_request;

/* Counts one answered request. Any thread. */
void lc_metrics_count(lc_metrics *metrics, const lc_metrics_request *request);

/* Appends the counters. */
void lc_metrics_write(const lc_metrics *metrics, lc_buf *out);

/* Prometheus' text format 0.0.4: a family is its help, its type and its samples. `type` is
 * "counter", "gauge" or "histogram". */
void lc_metric_family(lc_buf *out, const char *name, const char *type, const char *help);
/* `labels` is what is between the braces, such as `code="200"`, or "". Nothing is escaped: the
 * values are loci's own. */
void lc_metric_int(lc_buf *out, const char *name, const char *labels, int64_t value);
/* Microseconds, written as seconds. */
void lc_metric_seconds(lc_buf *out, const char *name, const char *labels, int64_t us);
/* The samples of a histogram; `labels` as above. */
void lc_metric_histogram(lc_buf *out, const char *name, const char *labels,
                         const lc_histogram *histogram);
/* A family of one sample without labels. */
void lc_metric_one(lc_buf *out, const char *name, const char *type, const char *help,
                   int64_t value);

#endif /* LC_SERVER_METRICS_H */
