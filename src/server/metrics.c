/* metrics.c - Counters are atomics in a table with one row per operation, allocated once at full
 * size: counting takes no lock and cannot fail. Operations without a request are not printed.
 *
 * GET /metrics writes these counters, the figures of the HTTP server, and the answers of the
 * operations store.status and guard.status, which are called one after the other without a tenant:
 * the page is about all of them. A store that does not answer is a figure too (loci_store_up 0):
 * the page is needed most when something is wrong. */
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
#include "base/time.h"
#include "ops/op.h"
#include "server/log_queue.h"
#include "server/parts.h"

#define STATUS_OPERATION "store.status"
#define GUARD_OPERATION "guard.status"
#define PAGE_BYTES_MAX (4u * 1024 * 1024)
#define STATUS_MS_MAX 5000
#define METRICS_TYPE "text/plain; version=0.0.4; charset=utf-8"

/* ---- Counters -------------------------------------------------------------------------------- */

/* The statuses that the daemon sends; any other is counted under the last. */
static const int statuses[] = {200, 202, 204, 304, 400, 401, 403, 404, 405, 408, 409, 411, 413,
                               415, 421, 422, 429, 431, 499, 500, 501, 503, 504, 505, 507, 0};
#define STATUSES (sizeof statuses / sizeof statuses[0])

/* One row per operation, and two more: messages of MCP, and requests that call no operation. */
typedef struct row {
    lc_histogram took;
    _Atomic int64_t requests[STATUSES];
} row;

#define CODES (LOCI_EINTERNAL + 1) /* The last one. */

struct lc_metrics {
    lc_env *env;
    size_t op_count;
    const lc_op **ops; /* All, in the order of the table. */
    _Atomic int64_t errors[CODES];
    row rows[];
};

static size_t size_of(size_t op_count)
{
    return sizeof(lc_metrics) + (op_count + 2) * sizeof(row);
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

static size_t find_row(const lc_metrics *metrics, const char *operation)
{
    size_t op = 0;

    /* The name is the table's own, so its address is enough; a test may have another. */
    while (op < metrics->op_count && metrics->ops[op]->name != operation)
        op++;
    if (op < metrics->op_count || operation == NULL)
        return op;
    if (strcmp(operation, LC_METRICS_MCP) == 0)
        return metrics->op_count + 1;
    for (op = 0; op < metrics->op_count && strcmp(operation, metrics->ops[op]->name) != 0;)
        op++;
    return op;
}

static void count_error(lc_metrics *metrics, const char *code)
{
    for (int i = 1; code != NULL && i < CODES; i++) {
        if (strcmp(code, loci_status_name((loci_status)i)) == 0)
            atomic_fetch_add_explicit(&metrics->errors[i], 1, memory_order_relaxed);
    }
}

void lc_metrics_count(lc_metrics *metrics, const lc_metrics_request *request)
{
    row *of = &metrics->rows[find_row(metrics, request->operation)];
    size_t status = 0;

    while (status < STATUSES - 1 && statuses[status] != request->http_status)
        status++;
    atomic_fetch_add_explicit(&of->requests[status], 1, memory_order_relaxed);
    lc_histogram_add(&of->took, request->took_us);
    if (request->http_status >= 400)
        count_error(metrics, request->code);
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

/* The count is the sum of the buckets that were read, so that both agree while others count. */
void lc_metric_histogram(lc_buf *out, const char *name, const char *labels,
                         const lc_histogram *histogram)
{
    const char *comma = labels[0] != '\0' ? "," : "";
    char full[64], all[128];
    int64_t count = 0;

    (void)snprintf(full, sizeof full, "%s_bucket", name);
    for (size_t i = 0; i < LC_HISTOGRAM_BUCKETS; i++) {
        count += atomic_load_explicit(&histogram->counts[i], memory_order_relaxed);
        (void)snprintf(all, sizeof all, "%s%sle=\"%g\"", labels, comma,
                       (double)lc_histogram_ends_us[i] / 1e6);
        lc_metric_int(out, full, all, count);
    }
    count += atomic_load_explicit(&histogram->counts[LC_HISTOGRAM_BUCKETS], memory_order_relaxed);
    (void)snprintf(all, sizeof all, "%s%sle=\"+Inf\"", labels, comma);
    lc_metric_int(out, full, all, count);
    (void)snprintf(full, sizeof full, "%s_sum", name);
    lc_metric_seconds(out, full, labels,
                      atomic_load_explicit(&histogram->sum_us, memory_order_relaxed));
    (void)snprintf(full, sizeof full, "%s_count", name);
    lc_metric_int(out, full, labels, count);
}

/* ---- Requests -------------------------------------------------------------------------------- */

static const char *row_name(const lc_metrics *metrics, size_t index)
{
    if (index < metrics->op_count)
        return metrics->ops[index]->name;
    return index == metrics->op_count ? "none" : LC_METRICS_MCP;
}

static void write_requests(const lc_metrics *metrics, lc_buf *out)
{
    char labels[128], code[16];

    lc_metric_family(out, "loci_http_requests_total", "counter",
                     "Answered requests by operation (\"none\" if no operation) and status.");
    for (size_t i = 0; i < (metrics->op_count + 2) * STATUSES; i++) {
        int status = statuses[i % STATUSES];
        int64_t count = atomic_load_explicit(&metrics->rows[i / STATUSES].requests[i % STATUSES],
                                             memory_order_relaxed);

        if (count == 0)
            continue;
        (void)snprintf(code, sizeof code, "%d", status);
        (void)snprintf(labels, sizeof labels, "operation=\"%s\",code=\"%s\"",
                       row_name(metrics, i / STATUSES), status != 0 ? code : "other");
        lc_metric_int(out, "loci_http_requests_total", labels, count);
    }
}

static bool is_used(const row *of)
{
    int64_t count = 0;

    for (size_t i = 0; i < STATUSES; i++)
        count += atomic_load_explicit(&of->requests[i], memory_order_relaxed);
    return count > 0;
}

static void write_durations(const lc_metrics *metrics, lc_buf *out)
{
    static const char name[] = "loci_http_request_duration_seconds";
    char labels[128];

    lc_metric_family(out, name, "histogram",
                     "Time from the head of the request to its answer, by operation.");
    for (size_t i = 0; i < metrics->op_count + 2; i++) {
        if (!is_used(&metrics->rows[i]))
            continue;
        (void)snprintf(labels, sizeof labels, "operation=\"%s\"", row_name(metrics, i));
        lc_metric_histogram(out, name, labels, &metrics->rows[i].took);
    }
}

/* All codes, also those that did not occur: an alert on a missing series never fires. */
static void write_errors(const lc_metrics *metrics, lc_buf *out)
{
    char labels[64];

    lc_metric_family(out, "loci_errors_total", "counter",
                     "Requests answered with an error, by code.");
    for (int i = 1; i < CODES; i++) {
        (void)snprintf(labels, sizeof labels, "code=\"%s\"", loci_status_name((loci_status)i));
        lc_metric_int(out, "loci_errors_total", labels,
                      atomic_load_explicit(&metrics->errors[i], memory_order_relaxed));
    }
}

void lc_metrics_write(const lc_metrics *metrics, lc_buf *out)
{
    write_requests(metrics, out);
    write_durations(metrics, out);
    write_errors(metrics, out);
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

/* ---- The engine ------------------------------------------------------------------------------ */

static void write_timings(loci_engine *engine, lc_buf *out)
{
    static const char provider[] = "loci_provider_duration_seconds";
    const lc_engine_timings *t = lc_timings_view(engine);
    const struct {
        const char *name, *help;
        const lc_histogram *histogram;
    } families[] = {
        {"loci_write_queue_seconds", "Time that a write waited before its group was begun.",
         &t->queue},
        {"loci_write_group_seconds", "Time to run and commit one group of writes.", &t->group},
        {"loci_commit_seconds", "Time of the commit of one group, with its sync.", &t->commit},
        {"loci_fsync_seconds", "Time to sync the write-ahead log of a SQLite store.", &t->sync},
    };

    for (size_t i = 0; i < sizeof families / sizeof *families; i++) {
        lc_metric_family(out, families[i].name, "histogram", families[i].help);
        lc_metric_histogram(out, families[i].name, "", families[i].histogram);
    }
    lc_metric_family(out, provider, "histogram",
                     "Time of one call of a model provider, with its retries.");
    lc_metric_histogram(out, provider, "kind=\"embedding\"", &t->embed);
    lc_metric_histogram(out, provider, "kind=\"chat\"", &t->chat);
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
    {"reads", "loci_reads_total", "counter", "Read calls, without operations for administrators."},
    {"replica_reads", "loci_replica_reads_total", "counter", "Reads answered by replicas."},
    {"replica_fallbacks", "loci_replica_fallbacks_total", "counter",
     "Reads that a replica could not answer, so the primary did."},
    {"recalls", "loci_recalls_total", "counter", "Calls of memory.recall and context.build."},
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

/* Jobs of users and of the store itself together. */
static void write_jobs(const lc_json *status, lc_buf *out)
{
    const lc_json *of_users = lc_json_find(status, "jobs", LC_JSON_OBJECT);
    const lc_json *of_store = lc_json_find(status, "store_jobs", LC_JSON_OBJECT);
    char labels[64];

    if (of_users == NULL || of_store == NULL)
        return;
    lc_metric_family(out, "loci_jobs", "gauge", "Jobs by status; scheduled ones are not due yet.");
    for (const lc_json *at = lc_json_first(of_users); at != NULL; at = lc_json_next(at)) {
        const lc_json *more = lc_json_member(of_store, lc_json_name(at));

        (void)snprintf(labels, sizeof labels, "status=\"%.*s\"", LC_STR_ARG(lc_json_name(at)));
        lc_metric_int(out, "loci_jobs", labels,
                      lc_json_int(at) + (more != NULL ? lc_json_int(more) : 0));
    }
}

static void write_databases(const lc_json *status, lc_buf *out)
{
    const lc_json *list = lc_json_find(status, "databases", LC_JSON_ARRAY);
    const lc_json *at = list == NULL ? NULL : lc_json_first(list);
    char labels[128];

    lc_metric_family(out, "loci_database_open", "gauge",
                     "Whether a database of store.databases is open; none without that setting.");
    for (; at != NULL; at = lc_json_next(at)) {
        const lc_json *name = lc_json_member(at, LC_STR("name"));
        const lc_json *open = lc_json_member(at, LC_STR("open"));

        (void)snprintf(labels, sizeof labels, "database=\"%.*s\"", LC_STR_ARG(lc_json_str(name)));
        lc_metric_int(out, "loci_database_open", labels, lc_json_bool(open));
    }
}

static void write_backup(const lc_json *status, lc_buf *out)
{
    static const char name[] = "loci_last_backup_timestamp_seconds";
    const lc_json *at = lc_json_find(status, "backup_at", LC_JSON_STRING);
    int64_t at_us = 0;

    if (at != NULL && !lc_time_parse(lc_json_str(at), &at_us))
        at_us = 0;
    lc_metric_family(out, name, "gauge",
                     "Time of the last store.backup, in seconds since the Unix epoch; 0 = never.");
    lc_metric_seconds(out, name, "", at_us);
}

static void write_store(lc_arena *arena, loci_str answer, lc_buf *out)
{
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
    write_jobs(status, out);
    write_databases(status, out);
    write_backup(status, out);
    write_members(status, &memory, "category", out);
}

/* ---- The guard ------------------------------------------------------------------------------- */

static int64_t int_of(const lc_json *object, const char *name)
{
    const lc_json *value = object != NULL ? lc_json_find(object, name, LC_JSON_INT) : NULL;

    return value != NULL ? lc_json_int(value) : 0;
}

static void write_level(const lc_json *status, lc_buf *out)
{
    static const char *const names[] = {"normal", "elevated", "high", "critical"};
    const lc_json *level = lc_json_find(status, "level", LC_JSON_STRING);
    int64_t value = 0;

    for (int i = 0; i < 4; i++) {
        if (level != NULL && lc_str_is(lc_json_str(level), names[i]))
            value = i;
    }
    lc_metric_one(out, "loci_guard_level", "gauge",
                  "Memory pressure: 0 normal, 1 elevated, 2 high, 3 critical.", value);
}

/* One sample per cache. */
static void write_caches(const lc_json *status, const figure *f, lc_buf *out)
{
    const lc_json *caches = lc_json_find(status, "caches", LC_JSON_ARRAY);
    char labels[160];

    lc_metric_family(out, f->name, f->type, f->help);
    for (const lc_json *at = caches != NULL ? lc_json_first(caches) : NULL; at != NULL;
         at = lc_json_next(at)) {
        const lc_json *name = lc_json_find(at, "name", LC_JSON_STRING);

        if (name == NULL)
            continue;
        (void)snprintf(labels, sizeof labels, "cache=\"%.*s\"", LC_STR_ARG(lc_json_str(name)));
        lc_metric_int(out, f->name, labels, int_of(at, f->member));
    }
}

/* Names of pipelines are words of clients: only their states are counted. */
static void write_pipelines(const lc_json *status, lc_buf *out)
{
    static const char *const states[] = {"running", "pausing", "paused", "cancelled"};
    const lc_json *pipelines = lc_json_find(status, "pipelines", LC_JSON_ARRAY);
    char labels[64];

    lc_metric_family(out, "loci_guard_pipelines", "gauge", "Pipelines by state.");
    for (size_t i = 0; i < sizeof states / sizeof *states; i++) {
        int64_t count = 0;

        for (const lc_json *at = pipelines != NULL ? lc_json_first(pipelines) : NULL; at != NULL;
             at = lc_json_next(at)) {
            const lc_json *state = lc_json_find(at, "state", LC_JSON_STRING);

            count += state != NULL && lc_str_is(lc_json_str(state), states[i]);
        }
        (void)snprintf(labels, sizeof labels, "state=\"%s\"", states[i]);
        lc_metric_int(out, "loci_guard_pipelines", labels, count);
    }
}

static void write_admissions(const lc_json *status, lc_buf *out)
{
    static const char *const results[] = {"admitted", "queued", "rejected", "expired"};
    const lc_json *admission = lc_json_find(status, "admission", LC_JSON_OBJECT);
    char labels[64], member[32];

    lc_metric_family(out, "loci_guard_admissions_total", "counter",
                     "Work that asked for admission, by result.");
    for (size_t i = 0; i < sizeof results / sizeof *results; i++) {
        (void)snprintf(member, sizeof member, "%s_total", results[i]);
        (void)snprintf(labels, sizeof labels, "result=\"%s\"", results[i]);
        lc_metric_int(out, "loci_guard_admissions_total", labels, int_of(admission, member));
    }
}

/* Nothing if the guard is off. */
static void write_guard(lc_arena *arena, loci_str answer, lc_buf *out)
{
    static const figure own[] = {
        {"used_bytes", "loci_guard_used_bytes", "gauge", "Memory in use as the guard counts it."},
        {"limit_bytes", "loci_guard_limit_bytes", "gauge", "Limit of the guard; 0 = not known."},
        {"refused_charges", "loci_guard_refused_charges_total", "counter",
         "Charges that did not fit below the limit."},
    };
    static const figure of_signals[] = {
        {"acknowledged", "loci_guard_signals_acknowledged_total", "counter",
         "Signals that agents acknowledged."},
        {"agents_gone", "loci_guard_agents_gone_total", "counter",
         "Agents given up because they did not acknowledge or call any more."},
    };
    static const figure categories = {"categories", "loci_guard_category_bytes", "gauge",
                                      "Accounted memory by category."};
    static const figure sent = {"sent", "loci_guard_signals_total", "counter",
                                "Signals sent to agents."};
    static const figure bytes = {"bytes", "loci_guard_cache_bytes", "gauge", "Size of caches."};
    static const figure freed = {"freed_bytes", "loci_guard_evicted_bytes_total", "counter",
                                 "Bytes evicted from caches by the guard."};
    const lc_json *status = NULL, *signals, *agents;

    if (answer.len == 0 || lc_json_parse(arena, answer, 0, &status, NULL) != LOCI_OK)
        return;
    write_level(status, out);
    write_figures(status, own, sizeof own / sizeof *own, out);
    write_members(status, &categories, "category", out);
    write_caches(status, &bytes, out);
    write_caches(status, &freed, out);
    write_pipelines(status, out);
    write_admissions(status, out);
    agents = lc_json_find(status, "agents", LC_JSON_ARRAY);
    lc_metric_one(out, "loci_guard_agents", "gauge", "Agents that share the limit.",
                  agents != NULL ? (int64_t)lc_json_count(agents) : 0);
    signals = lc_json_find(status, "signals", LC_JSON_OBJECT);
    if (signals == NULL)
        return;
    write_members(signals, &sent, "signal", out);
    write_figures(signals, of_signals, sizeof of_signals / sizeof *of_signals, out);
}

/* ---- GET /metrics ---------------------------------------------------------------------------- */

/* In the request's arena. */
typedef struct scrape {
    lc_server *server;
    lc_http_request *request;
    loci_answer *store; /* Of store.status; NULL = it failed. */
} scrape;

static void answer_page(const scrape *s, loci_str guard)
{
    lc_http_request *request = s->request;
    loci_str store = s->store != NULL ? loci_answer_json(s->store) : LC_STR_NONE;
    loci_answer *kept = s->store; /* The scrape ends with its request. */
    loci_error err;
    lc_buf out;

    lc_buf_init(&out, lc_http_arena(request)->heap, LOCI_MEM_REQUESTS, PAGE_BYTES_MAX);
    lc_metrics_write(s->server->metrics, &out);
    write_daemon(s->server, &out);
    write_timings(s->server->engine, &out);
    write_store(lc_http_arena(request), store, &out);
    write_guard(lc_http_arena(request), guard, &out);
    write_process(s->server, &out);
    if (lc_buf_status(&out, &err) == LOCI_OK)
        lc_http_answer(request, &(lc_http_reply){.status = 200,
                                                 .content_type = METRICS_TYPE,
                                                 .body = lc_buf_str(&out)});
    else
        lc_reply_error(request, &err);
    lc_buf_clear(&out);
    loci_answer_free(kept);
}

static void finish(void *ctx, loci_status status, loci_answer *answer, const loci_error *err)
{
    (void)err; /* Without it there are no figures of the guard. */
    answer_page(ctx, status == LOCI_OK ? loci_answer_json(answer) : LC_STR_NONE);
    loci_answer_free(answer);
}

/* Calls `operation` as the daemon. */
static loci_status ask(scrape *s, const char *operation, loci_done_fn *done)
{
    static const loci_principal daemon = {.size = sizeof daemon, .flags = LOCI_PRINCIPAL_ADMIN};
    loci_call_options options = LOCI_CALL_OPTIONS_INIT;

    options.principal = &daemon;
    options.timeout_ms = STATUS_MS_MAX;
    return loci_submit(s->server->engine, operation, LC_STR("{}"), &options, done, s, NULL);
}

static void ask_guard(void *ctx, loci_status status, loci_answer *answer, const loci_error *err)
{
    scrape *s = ctx;

    (void)err; /* loci_store_up says that it failed. */
    s->store = status == LOCI_OK ? answer : NULL;
    if (ask(s, GUARD_OPERATION, finish) != LOCI_OK)
        answer_page(s, LC_STR_NONE);
}

void lc_metrics_handle(lc_server *server, lc_http_request *request, const lc_identity *who)
{
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
    lc_http_defer(request);
    if (ask(s, STATUS_OPERATION, ask_guard) != LOCI_OK)
        answer_page(s, LC_STR_NONE);
}
