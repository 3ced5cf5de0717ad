/* metrics.c - Counters are plain atomics in a table of operations by statuses, made once for its
 * full size: counting takes no lock and cannot fail, and what nobody asked for is not printed. */
#include "server/metrics.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/str.h"
#include "ops/op.h"
#include "server/metrics_text.h"

/* What the daemon answers with; anything else counts as the last. */
static const int statuses[] = {200, 204, 304, 400, 401, 403, 404, 405, 408, 409, 411, 413, 415,
                               421, 422, 429, 431, 499, 500, 501, 503, 504, 505, 507, 0};
#define STATUSES (sizeof statuses / sizeof statuses[0])

/* Upper ends in µs: from a look-up in memory to the longest deadline that makes sense. */
static const int64_t bucket_ends_us[] = {250,    500,     1000,    2500,    5000,
                                         10000,  25000,   50000,   100000,  250000,
                                         500000, 1000000, 2500000, 5000000, 10000000};
#define BUCKETS (sizeof bucket_ends_us / sizeof bucket_ends_us[0])

/* How long requests took, by what they cost. */
typedef struct histogram {
    _Atomic int64_t counts[BUCKETS + 1]; /* Not yet added up; the last is everything above. */
    _Atomic int64_t sum_us;
} histogram;

#define CLASSES 4 /* lc_cost, and requests that are no operation. */
static const char *const class_names[CLASSES] = {"point", "work", "write", "none"};

struct lc_metrics {
    lc_env *env;
    size_t op_count;   /* The row behind the last operation's is for what is none. */
    const lc_op **ops; /* All, in order. */
    histogram took[CLASSES];
    _Atomic int64_t requests[]; /* [op][status] */
};

static size_t size_of(size_t op_count)
{
    return sizeof(lc_metrics) + (op_count + 1) * STATUSES * sizeof(_Atomic int64_t);
}

loci_status lc_metrics_new(lc_env *env, lc_metrics **out, loci_error *err)
{
    size_t op_count = lc_op_count();
    lc_metrics *metrics = lc_heap_zalloc(&env->heap, size_of(op_count), LOCI_MEM_ENGINE);

    if (metrics == NULL)
        return lc_fail_memory(err);
    metrics->env = env;
    metrics->op_count = op_count;
    metrics->ops = lc_heap_alloc(&env->heap, op_count * sizeof *metrics->ops, LOCI_MEM_ENGINE);
    if (metrics->ops == NULL) {
        lc_heap_free(&env->heap, metrics, size_of(op_count), LOCI_MEM_ENGINE);
        return lc_fail_memory(err);
    }
    for (size_t i = 0; i < op_count; i++)
        metrics->ops[i] = lc_op_at(i);
    *out = metrics;
    return LOCI_OK;
}

void lc_metrics_free(lc_metrics *metrics)
{
    lc_heap *heap;

    if (metrics == NULL)
        return;
    heap = &metrics->env->heap;
    lc_heap_free(heap, metrics->ops, metrics->op_count * sizeof *metrics->ops, LOCI_MEM_ENGINE);
    lc_heap_free(heap, metrics, size_of(metrics->op_count), LOCI_MEM_ENGINE);
}

/* Its place in the table; op_count for what is none. */
static size_t find_op(const lc_metrics *metrics, const char *operation)
{
    loci_str name = loci_str_of(operation);
    size_t i = 0;

    while (i < metrics->op_count && (name.len == 0 || !lc_str_is(name, metrics->ops[i]->name)))
        i++;
    return i;
}

static size_t find_status(int http_status)
{
    size_t i = 0;

    while (i < STATUSES - 1 && statuses[i] != http_status)
        i++;
    return i;
}

static void observe(histogram *h, int64_t took_us)
{
    size_t i = 0;

    while (i < BUCKETS && took_us > bucket_ends_us[i])
        i++;
    atomic_fetch_add_explicit(&h->counts[i], 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&h->sum_us, took_us, memory_order_relaxed);
}

void lc_metrics_count(lc_metrics *metrics, const char *operation, int http_status, int64_t took_us)
{
    size_t op = find_op(metrics, operation);
    size_t class = op < metrics->op_count ? (size_t)metrics->ops[op]->cost : CLASSES - 1;

    atomic_fetch_add_explicit(&metrics->requests[op * STATUSES + find_status(http_status)], 1,
                              memory_order_relaxed);
    observe(&metrics->took[class], took_us > 0 ? took_us : 0);
}

/* ---- As text ------------------------------------------------------------------------------------
 */

static void write_requests(const lc_metrics *metrics, lc_buf *out)
{
    char labels[128], code[16];

    lc_metric_family(out, "loci_http_requests_total", "counter",
                     "Requests that were answered, by operation (none: no operation) and status.");
    for (size_t i = 0; i < (metrics->op_count + 1) * STATUSES; i++) {
        int64_t count = atomic_load_explicit(&metrics->requests[i], memory_order_relaxed);
        size_t op = i / STATUSES;

        if (count == 0)
            continue;
        (void)snprintf(code, sizeof code, "%d", statuses[i % STATUSES]);
        (void)snprintf(labels, sizeof labels, "operation=\"%s\",code=\"%s\"",
                       op < metrics->op_count ? metrics->ops[op]->name : "none",
                       statuses[i % STATUSES] != 0 ? code : "other");
        lc_metric_int(out, "loci_http_requests_total", labels, count);
    }
}

/* The count is the sum of what was read, so that the buckets agree with it whoever counts on. */
static void write_histogram(const histogram *h, const char *class, lc_buf *out)
{
    char labels[64];
    int64_t count = 0;

    for (size_t i = 0; i < BUCKETS; i++) {
        count += atomic_load_explicit(&h->counts[i], memory_order_relaxed);
        (void)snprintf(labels, sizeof labels, "cost=\"%s\",le=\"%g\"", class,
                       (double)bucket_ends_us[i] / 1e6);
        lc_metric_int(out, "loci_http_request_duration_seconds_bucket", labels, count);
    }
    count += atomic_load_explicit(&h->counts[BUCKETS], memory_order_relaxed);
    (void)snprintf(labels, sizeof labels, "cost=\"%s\",le=\"+Inf\"", class);
    lc_metric_int(out, "loci_http_request_duration_seconds_bucket", labels, count);
    (void)snprintf(labels, sizeof labels, "cost=\"%s\"", class);
    lc_metric_seconds(out, "loci_http_request_duration_seconds_sum", labels,
                      atomic_load_explicit(&h->sum_us, memory_order_relaxed));
    lc_metric_int(out, "loci_http_request_duration_seconds_count", labels, count);
}

void lc_metrics_write(const lc_metrics *metrics, lc_buf *out)
{
    write_requests(metrics, out);
    lc_metric_family(out, "loci_http_request_duration_seconds", "histogram",
                     "From a whole request to its answer, by what the operation costs.");
    for (size_t i = 0; i < CLASSES; i++)
        write_histogram(&metrics->took[i], class_names[i], out);
}
