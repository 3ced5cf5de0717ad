/* Counters of the daemon: no count is lost between threads, and Prometheus can read the text.
 */
#include "lib/test.h"

#include <pthread.h>

#include "base/str.h"
#include "ops/op.h"
#include "server/metrics.h"

#define THREADS 4
#define COUNTS_EACH 2000

/* All memory of these tests. */
static lc_heap *fresh_heap(void)
{
    static lc_heap heap;

    heap.allocator = test_heap();
    return &heap;
}

static char *text_of(const lc_metrics *metrics)
{
    lc_buf out;
    char *copy;

    lc_buf_init(&out, fresh_heap(), LOCI_MEM_REQUESTS, 1u << 20);
    lc_metrics_write(metrics, &out);
    copy = test_format("%.*s", (int)out.len, out.ptr);
    lc_buf_clear(&out);
    return copy;
}

static void open_env(lc_env *env)
{
    *env = (lc_env){0};
    lc_heap_init(&env->heap, test_heap());
}

static void count(lc_metrics *metrics, const char *operation, int http_status, int64_t took_us)
{
    lc_metrics_count(metrics, &(lc_metrics_request){.operation = operation,
                                                    .http_status = http_status,
                                                    .code = http_status == 409 ? "conflict" : NULL,
                                                    .took_us = took_us});
}

TEST(metrics, requests_are_counted_by_operation_and_status)
{
    lc_metrics *metrics = NULL;
    const char *text;
    loci_error err;
    lc_env env;

    open_env(&env);
    CHECK_OK(lc_metrics_new(&env, &metrics, &err), err);
    count(metrics, "fact.write", 200, 900);
    count(metrics, "fact.write", 200, 1000);
    count(metrics, "fact.write", 409, 50);
    count(metrics, NULL, 404, 10);
    count(metrics, "no.such", 418, -5);
    text = text_of(metrics);
    CHECK_CONTAINS(text, "\nloci_http_requests_total{operation=\"fact.write\",code=\"200\"} 2\n");
    CHECK_CONTAINS(text, "\nloci_http_requests_total{operation=\"fact.write\",code=\"409\"} 1\n");
    CHECK_CONTAINS(text, "\nloci_http_requests_total{operation=\"none\",code=\"404\"} 1\n");
    CHECK_CONTAINS(text, "\nloci_http_requests_total{operation=\"none\",code=\"other\"} 1\n");
    CHECK_CONTAINS(text, "\nloci_errors_total{code=\"conflict\"} 1\n");
    CHECK_CONTAINS(text, "\nloci_errors_total{code=\"not_found\"} 0\n");
    lc_metrics_free(metrics);
    lc_metrics_free(NULL);
}

TEST(metrics, buckets_add_up)
{
    lc_metrics *metrics = NULL;
    const char *text;
    loci_error err;
    lc_env env;

    open_env(&env);
    CHECK_OK(lc_metrics_new(&env, &metrics, &err), err);
    count(metrics, "fact.write", 200, 1000);     /* On the edge: within. */
    count(metrics, "fact.write", 200, 1001);     /* Just above. */
    count(metrics, "fact.write", 200, 20000000); /* Above all. */
    text = text_of(metrics);
    CHECK_CONTAINS(text, "_bucket{operation=\"fact.write\",le=\"0.0005\"} 0\n");
    CHECK_CONTAINS(text, "_bucket{operation=\"fact.write\",le=\"0.001\"} 1\n");
    CHECK_CONTAINS(text, "_bucket{operation=\"fact.write\",le=\"0.0025\"} 2\n");
    CHECK_CONTAINS(text, "_bucket{operation=\"fact.write\",le=\"10\"} 2\n");
    CHECK_CONTAINS(text, "_bucket{operation=\"fact.write\",le=\"+Inf\"} 3\n");
    CHECK_CONTAINS(text, "_sum{operation=\"fact.write\"} 20.002001\n");
    CHECK_CONTAINS(text, "_count{operation=\"fact.write\"} 3\n");
    lc_metrics_free(metrics);
}

static void *count_some(void *ctx)
{
    for (int i = 0; i < COUNTS_EACH; i++)
        count(ctx, "fact.write", 200, i);
    return NULL;
}

TEST(metrics, nothing_is_lost_between_threads)
{
    lc_metrics *metrics = NULL;
    pthread_t threads[THREADS];
    loci_error err;
    lc_env env;

    open_env(&env);
    CHECK_OK(lc_metrics_new(&env, &metrics, &err), err);
    for (int i = 0; i < THREADS; i++)
        CHECK_EQ(pthread_create(&threads[i], NULL, count_some, metrics), 0);
    for (int i = 0; i < THREADS; i++)
        CHECK_EQ(pthread_join(threads[i], NULL), 0);
    CHECK_CONTAINS(text_of(metrics), "operation=\"fact.write\",code=\"200\"} 8000\n");
    lc_metrics_free(metrics);
}

TEST(metrics, samples_as_text)
{
    lc_buf out;

    lc_buf_init(&out, fresh_heap(), LOCI_MEM_REQUESTS, 4096);
    lc_metric_one(&out, "a", "gauge", "Help.", -3);
    lc_metric_seconds(&out, "b", "x=\"y\"", 1500000);
    lc_metric_seconds(&out, "c", "", -1);
    CHECK_STR_EQ(lc_buf_str(&out), "# HELP a Help.\n# TYPE a gauge\na -3\nb{x=\"y\"} 1.500000\n"
                                   "c -0.000001\n");
    lc_buf_clear(&out);
}
