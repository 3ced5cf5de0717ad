/* metrics.c - Counters are atomics in a table of operations by statuses, allocated once at full
 * size: counting takes no lock and cannot fail. Rows without a request are not printed.
 *
 * GET /metrics writes these counters, the figures of the HTTP server, and the answer of the
 * operation store.status, which is called without a tenant: the page is about all of them. A
 * store that does not answer is a figure too (loci_store_up 0): the page is needed most when
 * something is wrong. */
#include "server/metrics.h"

#include <dirent.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/error.h"
#include "base/json.h"
#include "base/str.h"
#include "ops/op.h"
#include "server/log_queue.h"
#include "server/parts.h"

#define STATUS_OPERATION "store.status"
#define PAGE_BYTES_MAX (4u * 1024 * 1024)
#define STATUS_MS_MAX 5000
#define METRICS_TYPE "text/plain; version=0.0.4; charset=utf-8"

/* ---- Counters -------------------------------------------------------------------------------- */

/* The statuses that the daemon sends; any other is counted under the last. */
static const int statuses[] = {200, 202, 204, 304, 400, 401, 403, 404, 405, 408, 409, 411, 413,
                               415, 421, 422, 429, 431, 499, 500, 501, 503, 504, 505, 507, 0};
#define STATUSES (sizeof statuses / sizeof statuses[0])

/* Upper bounds in µs: from an in-memory call to the longest useful deadline. */
static const int64_t bucket_ends_us[] = {250,    500,     1000,    2500,    5000,
                                         10000,  25000,   50000,   100000,  250000,
                                         500000, 1000000, 2500000, 5000000, 10000000};
#define BUCKETS (sizeof bucket_ends_us / sizeof bucket_ends_us[0])

/* Durations of the requests of one cost class. */
typedef struct histogram {
    _Atomic int64_t counts[BUCKETS + 1]; /* Not cumulative; the last is everything above. */
    _Atomic int64_t sum_us;
} histogram;

#define CLASSES 4 /* Those of lc_cost, and requests that call no operation. */
static const char *const class_names[CLASSES] = {"point", "work", "write", "none"};

struct lc_metrics {
    lc_env *env;
    size_t op_count;   /* There are two more rows: MCP, and requests that call no operation. */
    const lc_op **ops; /* All, in the order of the table. */
    histogram took[CLASSES];
    _Atomic int64_t requests[]; /* [op][status] */
};

static size_t size_of(size_t op_count)
{
    return sizeof(lc_metrics) + (op_count + 2) * STATUSES * sizeof(_Atomic int64_t);
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

void lc_metrics_count(lc_metrics *metrics, const char *operation, int http_status, int64_t took_us)
{
    loci_str name = loci_str_of(operation);
    size_t op = 0, status = 0, bucket = 0;
    histogram *took;

    while (op < metrics->op_count && (name.len == 0 || !lc_str_is(name, metrics->ops[op]->name)))
        op++;
    if (lc_str_is(name, LC_METRICS_MCP))
        op = metrics->op_count + 1;
    while (status < STATUSES - 1 && statuses[status] != http_status)
        status++;
    atomic_fetch_add_explicit(&metrics->requests[op * STATUSES + status], 1, memory_order_relaxed);

    took = &metrics->took[op < metrics->op_count ? (size_t)metrics->ops[op]->cost : CLASSES - 1];
    if (took_us < 0)
        took_us = 0;
    while (bucket < BUCKETS && took_us > bucket_ends_us[bucket])
        bucket++;
    atomic_fetch_add_explicit(&took->counts[bucket], 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&took->sum_us, took_us, memory_order_relaxed);
}

/* ---- Text format ----------------------------------------------------------------------------- */

void lc_metric_family(lc_buf *out, const char *name, const char *type, const char *help)
{
    lc_buf_append_format(out, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

static void put_name(lc_buf *out, const char *name, const char *labels)
{
    lc_buf_append(out, loci_str_of(name));
    if (labels[0] != '\0')
        lc_buf_append_format(out, "{%s}", labels);
    lc_buf_append_byte(out, ' ');
}

void lc_metric_int(lc_buf *out, const char *name, const char *labels, int64_t value)
{
    put_name(out, name, labels);
    lc_buf_append_format(out, "%lld\n", (long long)value);
}

void lc_metric_seconds(lc_buf *out, const char *name, const char *labels, int64_t us)
{
    put_name(out, name, labels);
    lc_buf_append_format(out, "%s%lld.%06lld\n", us < 0 ? "-" : "",
                         (long long)(us < 0 ? -(us / 1000000) : us / 1000000),
                         (long long)(us < 0 ? -(us % 1000000) : us % 1000000));
}

void lc_metric_one(lc_buf *out, const char *name, const char *type, const char *help, int64_t value)
{
    lc_metric_family(out, name, type, help);
    lc_metric_int(out, name, "", value);
}

/* ---- Requests -------------------------------------------------------------------------------- */

static void write_requests(const lc_metrics *metrics, lc_buf *out)
{
    char labels[128], code[16];

    lc_metric_family(out, "loci_http_requests_total", "counter",
                     "Answered requests by operation (\"none\" if no operation) and status.");
    for (size_t i = 0; i < (metrics->op_count + 2) * STATUSES; i++) {
        int64_t count = atomic_load_explicit(&metrics->requests[i], memory_order_relaxed);
        size_t op = i / STATUSES;

        if (count == 0)
            continue;
        (void)snprintf(code, sizeof code, "%d", statuses[i % STATUSES]);
        (void)snprintf(labels, sizeof labels, "operation=\"%s\",code=\"%s\"",
                       op < metrics->op_count    ? metrics->ops[op]->name
                       : op == metrics->op_count ? "none"
                                                 : LC_METRICS_MCP,
                       statuses[i % STATUSES] != 0 ? code : "other");
        lc_metric_int(out, "loci_http_requests_total", labels, count);
    }
}

/* The count is the sum of the buckets that were read, so that both agree while others count. */
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
    lc_metric_family(
        out, "loci_http_request_duration_seconds", "histogram",
        "Time from the complete request to its answer, by cost class of the operation.");
    for (size_t i = 0; i < CLASSES; i++)
        write_histogram(&metrics->took[i], class_names[i], out);
}

/* ---- The daemon ------------------------------------------------------------------------------ */

static void write_daemon(const lc_server *server, lc_buf *out)
{
    lc_http_counters c = lc_http_get_counters(server->http);

    lc_metric_one(out, "loci_http_connections", "gauge", "Open connections.", c.connections);
    lc_metric_one(out, "loci_http_streams", "gauge", "Open event streams.", c.streams);
    lc_metric_one(out, "loci_http_refused_total", "counter",
                  "Requests refused because they were malformed or exceeded a limit.", c.refused);
    lc_metric_one(out, "loci_http_cut_total", "counter",
                  "Connections closed because the client was too slow.", c.cut);
    lc_metric_family(out, "loci_http_bytes_total", "counter", "Bytes received and sent.");
    lc_metric_int(out, "loci_http_bytes_total", "direction=\"in\"", c.bytes_in);
    lc_metric_int(out, "loci_http_bytes_total", "direction=\"out\"", c.bytes_out);
    lc_metric_one(out, "loci_log_lost_total", "counter",
                  "Log lines dropped because the log's reader was too slow.",
                  server->log_queue != NULL ? lc_log_queue_lost(server->log_queue) : 0);
}

/* ---- The process ----------------------------------------------------------------------------- */

/* 0 where there is no /proc. */
static int64_t resident_bytes(void)
{
    FILE *file = fopen("/proc/self/statm", "re");
    long long total_pages = 0, resident_pages = 0;

    if (file == NULL)
        return 0;
    if (fscanf(file, "%lld %lld", &total_pages, &resident_pages) != 2)
        resident_pages = 0;
    (void)fclose(file); /* Only read. */
    return (int64_t)resident_pages * sysconf(_SC_PAGESIZE);
}

static int64_t open_descriptors(void)
{
    DIR *directory = opendir("/proc/self/fd");
    int64_t count = 0;

    if (directory == NULL)
        return 0;
    while (readdir(directory) != NULL)
        count++;
    (void)closedir(directory);
    return count > 3 ? count - 3 : 0; /* ".", ".." and the directory itself. */
}

static void write_process(const lc_server *server, lc_buf *out)
{
    struct rlimit files = {0};
    struct rusage used = {0};
    char labels[64];

    (void)getrusage(RUSAGE_SELF, &used); /* Neither fails for our own process. */
    (void)getrlimit(RLIMIT_NOFILE, &files);
    (void)snprintf(labels, sizeof labels, "version=\"%s\"", loci_version());
    lc_metric_family(out, "loci_build_info", "gauge", "Version of loci; the value is always 1.");
    lc_metric_int(out, "loci_build_info", labels, 1);
    lc_metric_family(out, "process_start_time_seconds", "gauge",
                     "Start time of the process, in seconds since the Unix epoch.");
    lc_metric_seconds(out, "process_start_time_seconds", "", server->started_us);
    lc_metric_family(out, "process_cpu_seconds_total", "counter",
                     "CPU time used, user and system.");
    lc_metric_seconds(out, "process_cpu_seconds_total", "",
                      (used.ru_utime.tv_sec + used.ru_stime.tv_sec) * 1000000L +
                          used.ru_utime.tv_usec + used.ru_stime.tv_usec);
    lc_metric_one(out, "process_resident_memory_bytes", "gauge", "Resident memory.",
                  resident_bytes());
    lc_metric_one(out, "process_open_fds", "gauge", "Open file descriptors.", open_descriptors());
    lc_metric_one(out, "process_max_fds", "gauge", "Maximum number of open file descriptors.",
                  (int64_t)files.rlim_cur);
}

/* ---- The store ------------------------------------------------------------------------------- */

typedef struct figure {
    const char *member; /* Of the answer of store.status, or of its `counters`. */
    const char *name;
    const char *type;
    const char *help;
} figure;

static const figure store_figures[] = {
    {"bytes", "loci_store_bytes", "gauge", "Size of the store."},
    {"wal_bytes", "loci_store_wal_bytes", "gauge", "Size of the write-ahead log."},
    {"users", "loci_users", "gauge", "Users with events in the store."},
    {"events", "loci_events_total", "counter", "Events of all users."},
};

static const figure engine_figures[] = {
    {"writes", "loci_writes_total", "counter", "Write calls since the start."},
    {"commits", "loci_commits_total", "counter", "Transactions that committed them."},
    {"reads", "loci_reads_total", "counter", "Read calls."},
    {"jobs_done", "loci_jobs_done_total", "counter", "Jobs finished by this process."},
    {"jobs_failed", "loci_jobs_failed_total", "counter", "Failed attempts at jobs."},
    {"queue_length", "loci_write_queue_length", "gauge", "Write calls in the queue."},
    {"model_calls", "loci_model_calls_total", "counter", "Requests to model providers."},
    {"model_failures", "loci_model_failures_total", "counter",
     "Requests to model providers that failed after all retries."},
    {"model_tokens", "loci_model_tokens_total", "counter", "Tokens reported by model providers."},
    {"user_cache_entries", "loci_user_cache_entries", "gauge", "Users with state in memory."},
    {"user_cache_bytes", "loci_user_cache_bytes", "gauge", "Size of the state of all users."},
    {"user_cache_hits", "loci_user_cache_hits_total", "counter", "Uses of state in memory."},
    {"user_cache_misses", "loci_user_cache_misses_total", "counter", "States built from nothing."},
    {"user_cache_evictions", "loci_user_cache_evictions_total", "counter",
     "Users whose state was dropped to make room."},
};

/* A member that is missing is written as 0. */
static void write_figures(const lc_json *object, const figure *figures, size_t count, lc_buf *out)
{
    bool is_object = object != NULL && lc_json_kind_of(object) == LC_JSON_OBJECT;

    for (size_t i = 0; i < count; i++) {
        const lc_json *value = is_object ? lc_json_member(object, loci_str_of(figures[i].member))
                                         : NULL;

        lc_metric_one(out, figures[i].name, figures[i].type, figures[i].help,
                      value != NULL && lc_json_kind_of(value) == LC_JSON_INT ? lc_json_int(value)
                                                                             : 0);
    }
}

/* One sample per member of the object called `member`, with the name of the member as label. */
static void write_members(const lc_json *status, const figure *f, const char *label, lc_buf *out)
{
    const lc_json *object = lc_json_member(status, loci_str_of(f->member));
    char labels[64];

    if (object == NULL || lc_json_kind_of(object) != LC_JSON_OBJECT)
        return;
    lc_metric_family(out, f->name, f->type, f->help);
    for (const lc_json *at = lc_json_first(object); at != NULL; at = lc_json_next(at)) {
        if (lc_json_kind_of(at) != LC_JSON_INT)
            continue;
        (void)snprintf(labels, sizeof labels, "%s=\"%.*s\"", label, LC_STR_ARG(lc_json_name(at)));
        lc_metric_int(out, f->name, labels, lc_json_int(at));
    }
}

static void write_store(lc_arena *arena, loci_str answer, lc_buf *out)
{
    static const figure jobs = {"jobs", "loci_jobs", "gauge", "Jobs by status."};
    static const figure memory = {"memory", "loci_memory_bytes", "gauge",
                                  "Memory of the engine by category."};
    const lc_json *status = NULL;
    bool is_up = answer.len > 0 && lc_json_parse(arena, answer, 0, &status, NULL) == LOCI_OK &&
                 lc_json_kind_of(status) == LC_JSON_OBJECT;

    lc_metric_one(out, "loci_store_up", "gauge", "1 if the store answered this request, else 0.",
                  is_up);
    if (!is_up)
        return;
    write_figures(status, store_figures, sizeof store_figures / sizeof *store_figures, out);
    write_figures(lc_json_member(status, LC_STR("counters")), engine_figures,
                  sizeof engine_figures / sizeof *engine_figures, out);
    write_members(status, &jobs, "status", out);
    write_members(status, &memory, "category", out);
}

/* ---- GET /metrics ---------------------------------------------------------------------------- */

/* In the request's arena. */
typedef struct scrape {
    lc_server *server;
    lc_http_request *request;
} scrape;

static void answer_page(const scrape *s, loci_str store)
{
    lc_http_request *request = s->request;
    loci_error err;
    lc_buf out;

    lc_buf_init(&out, lc_http_arena(request)->heap, LOCI_MEM_REQUESTS, PAGE_BYTES_MAX);
    lc_metrics_write(s->server->metrics, &out);
    write_daemon(s->server, &out);
    write_store(lc_http_arena(request), store, &out);
    write_process(s->server, &out);
    if (lc_buf_status(&out, &err) == LOCI_OK)
        lc_http_answer(request, &(lc_http_reply){.status = 200,
                                                 .content_type = METRICS_TYPE,
                                                 .body = lc_buf_str(&out)});
    else
        lc_reply_error(request, &err);
    lc_buf_clear(&out);
}

static void finish(void *ctx, loci_status status, loci_answer *answer, const loci_error *err)
{
    (void)err; /* loci_store_up says that it failed. */
    answer_page(ctx, status == LOCI_OK ? loci_answer_json(answer) : LC_STR_NONE);
    loci_answer_free(answer);
}

void lc_metrics_handle(lc_server *server, lc_http_request *request, const lc_identity *who)
{
    static const loci_principal daemon = {.size = sizeof daemon, .flags = LOCI_PRINCIPAL_ADMIN};
    loci_call_options options = LOCI_CALL_OPTIONS_INIT;
    scrape *s = lc_arena_alloc(lc_http_arena(request), sizeof *s);
    loci_error err;
    loci_status status = s != NULL ? LOCI_OK : lc_fail_memory(&err);

    if (status == LOCI_OK && !who->sees_metrics)
        status = lc_fail(&err, LOCI_EFORBIDDEN,
                         "metrics show the figures of all tenants: create a token with the scope "
                         "metrics as an administrator of the store");
    if (status != LOCI_OK) {
        lc_reply_error(request, &err);
        return;
    }
    *s = (scrape){.server = server, .request = request};
    options.principal = &daemon;
    options.timeout_ms = STATUS_MS_MAX;
    lc_http_defer(request);
    if (loci_submit(server->engine, STATUS_OPERATION, LC_STR("{}"), &options, finish, s, &err) !=
        LOCI_OK)
        answer_page(s, LC_STR_NONE);
}
