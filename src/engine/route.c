/* route.c - Invariants: `databases` does not change after open, except that `engine` is set once;
 * `tenants` and `prefixes` point into `table`, and all three change together under the lock.
 */
#include "engine/route.h"

#include <pthread.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/map.h"
#include "base/str.h"
#include "base/url.h"
#include "engine/internal.h"

#define DATABASES_MAX 8
#define PREFIXES_MAX 64
#define NAME_BYTES 64
#define LABEL_BYTES 256
#define TEXT_BYTES_MAX 65536
#define RETRY_MS 1000
#define FIRST_MS_MAX 5000

const lc_setting lc_setting_store_databases = {
    .name = "store.databases",
    .kind = LC_SETTING_TEXT,
    .default_text = "null",
    .help = "Further databases for tenants that store.routes names: lines of a name and a URL or "
            "path, separated by a space",
    .is_secret = true, /* A URL may contain a password. */
};

const lc_setting lc_setting_store_routes = {
    .name = "store.routes",
    .kind = LC_SETTING_TEXT,
    .default_text = "\"{}\"",
    .max = TEXT_BYTES_MAX,
    .help = "JSON object: database of each tenant that is not in the main store, such as "
            "{\"acme\":\"east\",\"eu-*\":\"west\"}; - for a tenant that is being moved",
    .is_live = true,
};

typedef struct database {
    char name[NAME_BYTES];
    char label[LABEL_BYTES];
    char *store;                   /* May contain a password. */
    _Atomic(loci_engine *) engine; /* NULL = not open yet. */
    bool was_tried;
} database;

struct lc_routes {
    loci_engine *main;
    size_t count;
    database databases[DATABASES_MAX];
    pthread_mutex_t lock; /* Of the thread that opens databases. */
    pthread_cond_t changed;
    pthread_t thread;
    bool has_thread, is_stopping;
    pthread_rwlock_t table_lock;
    lc_arena table;
    lc_hash128 table_hash; /* Of the text that it was read from. */
    lc_map tenants;        /* Name of a database by tenant, */
    struct {
        loci_str prefix, name; /* and by the first bytes of a tenant. */
    } prefixes[PREFIXES_MAX];
    size_t prefix_count;
};

/* ---- The table ------------------------------------------------------------------------------- */

static loci_status add_route(lc_routes *routes, loci_str tenant, const lc_json *value,
                             loci_error *err)
{
    loci_str *name = lc_arena_alloc(&routes->table, sizeof *name);
    bool is_prefix = tenant.len > 0 && tenant.ptr[tenant.len - 1] == '*';

    if (name == NULL)
        return lc_fail_memory(err);
    if (lc_json_kind_of(value) != LC_JSON_STRING)
        return lc_fail(err, LOCI_EINVAL, "store.routes: expected the name of a database");
    *name = lc_json_str(value);
    if (is_prefix && routes->prefix_count == PREFIXES_MAX)
        return lc_fail(err, LOCI_ELIMIT, "store.routes: at most %d prefixes", PREFIXES_MAX);
    if (is_prefix) {
        routes->prefixes[routes->prefix_count].prefix = (loci_str){tenant.ptr, tenant.len - 1};
        routes->prefixes[routes->prefix_count++].name = *name;
    } else if (!lc_map_put(&routes->tenants, tenant, name)) {
        return lc_fail_memory(err);
    }
    return LOCI_OK;
}

static loci_status read_table(lc_routes *routes, loci_str text, loci_error *err)
{
    const lc_json *root = NULL;
    loci_str copy = lc_arena_copy(&routes->table, text);
    loci_status status;

    if (copy.ptr == NULL)
        return lc_fail_memory(err);
    status = lc_json_parse(&routes->table, copy, 0, &root, err);
    if (status == LOCI_OK && lc_json_kind_of(root) != LC_JSON_OBJECT)
        status = lc_fail(err, LOCI_EINVAL, "store.routes: expected a JSON object");
    for (const lc_json *at = status == LOCI_OK ? lc_json_first(root) : NULL;
         status == LOCI_OK && at != NULL; at = lc_json_next(at))
        status = add_route(routes, lc_json_name(at), at, err);
    return status;
}

static void clear_table(lc_routes *routes)
{
    lc_map_clear(&routes->tenants);
    lc_arena_clear(&routes->table);
    routes->prefix_count = 0;
}

/* A text that is no table leaves no routes: tenants that are elsewhere would look new here, so
 * their calls must fail. An empty prefix without a database does that. */
static void close_all(lc_routes *routes)
{
    clear_table(routes);
    routes->prefixes[0].prefix = LC_STR("");
    routes->prefixes[0].name = LC_STR("-");
    routes->prefix_count = 1;
}

/* True if the text is another one than before. */
static bool load_table(lc_routes *routes)
{
    lc_heap *heap = &routes->main->env.heap;
    lc_hash128 hash;
    bool is_new;
    loci_status status;
    loci_error err;
    lc_buf text;

    lc_buf_init(&text, heap, LOCI_MEM_ENGINE, TEXT_BYTES_MAX);
    status = lc_settings_text(routes->main->settings, &lc_setting_store_routes, LC_STR_NONE, &text,
                              &err);
    hash = lc_hash128_of(lc_buf_str(&text));
    (void)pthread_rwlock_wrlock(&routes->table_lock);
    is_new = !lc_hash128_eq(routes->table_hash, hash);
    routes->table_hash = hash;
    clear_table(routes);
    if (status == LOCI_OK)
        status = read_table(routes, lc_buf_str(&text), &err);
    if (status != LOCI_OK)
        close_all(routes);
    (void)pthread_rwlock_unlock(&routes->table_lock);
    if (status != LOCI_OK)
        lc_log_write(&routes->main->env.log, LOCI_LOG_ERROR, "routes.unreadable",
                     LC_LOG_TEXT("why", err.message));
    lc_buf_clear(&text);
    return is_new;
}

static database *find_database(lc_routes *routes, loci_str name)
{
    for (size_t i = 0; i < routes->count; i++) {
        if (lc_str_is(name, routes->databases[i].name))
            return &routes->databases[i];
    }
    return NULL;
}

static void open_database(lc_routes *routes, database *at);

/* The longest prefix wins. False: the main store. */
static bool find_route(lc_routes *routes, loci_str tenant, database **out)
{
    const loci_str *name;
    size_t longest = 0;

    (void)pthread_rwlock_rdlock(&routes->table_lock);
    name = lc_map_find(&routes->tenants, tenant);
    for (size_t i = 0, had_exact = name != NULL; !had_exact && i < routes->prefix_count; i++) {
        if (lc_str_starts(tenant, routes->prefixes[i].prefix) &&
            (name == NULL || routes->prefixes[i].prefix.len > longest)) {
            longest = routes->prefixes[i].prefix.len;
            name = &routes->prefixes[i].name;
        }
    }
    *out = name == NULL ? NULL : find_database(routes, *name);
    (void)pthread_rwlock_unlock(&routes->table_lock);
    return name != NULL;
}

loci_status lc_engine_of_tenant(loci_engine *engine, loci_str tenant, loci_engine **out,
                                loci_error *err)
{
    database *to = NULL;
    loci_engine *routed;

    if (engine->routes == NULL || !find_route(engine->routes, tenant, &to)) {
        *out = engine;
        return LOCI_OK;
    }
    if (to == NULL)
        return lc_fail(err, LOCI_EUNAVAILABLE,
                       "the data of tenant %.*s is being moved, or store.routes names a database "
                       "that store.databases lacks; try again later",
                       LC_STR_ARG(tenant));
    if (lc_engine_is_inline(engine))
        open_database(engine->routes, to);
    routed = atomic_load_explicit(&to->engine, memory_order_acquire);
    if (routed == NULL)
        return lc_fail(err, LOCI_EUNAVAILABLE,
                       "the database %s of tenant %.*s cannot be reached; try again later",
                       to->name, LC_STR_ARG(tenant));
    *out = routed;
    return LOCI_OK;
}

bool lc_engine_database_at(loci_engine *main, size_t index, lc_routed_database *out)
{
    lc_routes *routes = main->routes;
    database *at;

    if (routes == NULL || index >= routes->count)
        return false;
    at = &routes->databases[index];
    *out = (lc_routed_database){
        .name = at->name,
        .store = at->label,
        .engine = atomic_load_explicit(&at->engine, memory_order_acquire),
    };
    return true;
}

void lc_routes_settings_changed(lc_routes *routes)
{
    lc_routed_database at;
    bool is_new;

    if (routes == NULL)
        return;
    is_new = load_table(routes);
    for (size_t i = 0; lc_engine_database_at(routes->main, i, &at); i++) {
        if (at.engine == NULL)
            continue;
        lc_engine_settings_changed(at.engine);
        if (is_new) /* Streams of tenants that have left end when they are read. */
            lc_watch_wake_all(at.engine->watch);
    }
    if (is_new)
        lc_watch_wake_all(routes->main->watch);
}

/* ---- Opening and closing --------------------------------------------------------------------- */

static loci_status add_database(lc_routes *routes, loci_str line, loci_error *err)
{
    lc_heap *heap = &routes->main->env.heap;
    database *added = &routes->databases[routes->count];
    loci_str store, name = lc_str_split(line, ' ', &store);

    store = lc_str_trim(store);
    if (routes->count == DATABASES_MAX)
        return lc_fail(err, LOCI_ELIMIT, "store.databases: at most %d databases", DATABASES_MAX);
    if (name.len == 0 || name.len >= NAME_BYTES || store.len == 0)
        return lc_fail(err, LOCI_EINVAL, "store.databases: expected lines NAME URL");
    if (find_database(routes, name) != NULL)
        return lc_fail(err, LOCI_EINVAL, "store.databases: %.*s occurs twice", LC_STR_ARG(name));
    added->store = lc_heap_zalloc(heap, store.len + 1, LOCI_MEM_ENGINE);
    if (added->store == NULL)
        return lc_fail_memory(err);
    memcpy(added->store, store.ptr, store.len);
    memcpy(added->name, name.ptr, name.len);
    lc_url_write_label(added->store, added->label, sizeof added->label);
    routes->count++;
    return lc_url_check_store(added->store, err);
}

static loci_status read_databases(lc_routes *routes, loci_error *err)
{
    loci_status status;
    loci_str lines;
    lc_buf text;

    lc_buf_init(&text, &routes->main->env.heap, LOCI_MEM_ENGINE, TEXT_BYTES_MAX);
    status = lc_settings_text(routes->main->settings, &lc_setting_store_databases, LC_STR_NONE,
                              &text, err);
    lines = lc_buf_str(&text);
    while (status == LOCI_OK && lines.ptr != NULL) {
        loci_str line = lc_str_trim(lc_str_split(lines, '\n', &lines));

        if (line.len > 0)
            status = add_database(routes, line, err);
    }
    if (text.ptr != NULL)
        explicit_bzero(text.ptr, text.capacity_bytes); /* Passwords. */
    lc_buf_clear(&text);
    return status;
}

/* By one thread at a time: the one that opens databases, or the only one of an inline engine. */
static void open_database(lc_routes *routes, database *at)
{
    loci_engine *engine = NULL;
    loci_error err;

    if (atomic_load_explicit(&at->engine, memory_order_acquire) != NULL)
        return;
    if (lc_engine_open_routed(routes->main, at->store, &engine, &err) == LOCI_OK)
        atomic_store_explicit(&at->engine, engine, memory_order_release);
    else if (!at->was_tried)
        lc_log_write(&routes->main->env.log, LOCI_LOG_WARN, "database.unavailable",
                     LC_LOG_TEXT("database", at->name), LC_LOG_TEXT("why", err.message));
}

/* True when all are open. The lock is held, except while one is opened. */
static bool open_all(lc_routes *routes)
{
    bool are_open = true;

    for (size_t i = 0; i < routes->count && !routes->is_stopping; i++) {
        (void)pthread_mutex_unlock(&routes->lock);
        open_database(routes, &routes->databases[i]);
        (void)pthread_mutex_lock(&routes->lock);
        routes->databases[i].was_tried = true;
        are_open &= routes->databases[i].engine != NULL;
        (void)pthread_cond_broadcast(&routes->changed);
    }
    return are_open;
}

static void wait_ms(lc_routes *routes, int64_t ms)
{
    int64_t until_us = lc_clock_monotonic_us() + ms * 1000;
    struct timespec until = {.tv_sec = until_us / 1000000, .tv_nsec = until_us % 1000000 * 1000};

    (void)pthread_cond_timedwait(&routes->changed, &routes->lock, &until);
}

static void *keep_opening(void *ctx)
{
    lc_routes *routes = ctx;

    (void)pthread_mutex_lock(&routes->lock);
    while (!routes->is_stopping && !open_all(routes))
        wait_ms(routes, RETRY_MS);
    (void)pthread_mutex_unlock(&routes->lock);
    return NULL;
}

/* One server that does not answer must not delay the tenants of all others for long. */
static loci_status start_opening(lc_routes *routes, loci_error *err)
{
    int64_t until_us = lc_clock_monotonic_us() + FIRST_MS_MAX * 1000;

    if (lc_engine_is_inline(routes->main))
        return LOCI_OK;
    if (pthread_create(&routes->thread, NULL, keep_opening, routes) != 0)
        return lc_fail(err, LOCI_ERESOURCE, "cannot start the thread that opens databases");
    routes->has_thread = true;
    (void)pthread_mutex_lock(&routes->lock);
    while (!routes->databases[routes->count - 1].was_tried && lc_clock_monotonic_us() < until_us)
        wait_ms(routes, RETRY_MS);
    (void)pthread_mutex_unlock(&routes->lock);
    return LOCI_OK;
}

static void init(lc_routes *routes, loci_engine *main)
{
    pthread_condattr_t attributes;

    routes->main = main;
    (void)pthread_mutex_init(&routes->lock, NULL); /* None of these fails on Linux. */
    (void)pthread_rwlock_init(&routes->table_lock, NULL);
    (void)pthread_condattr_init(&attributes);
    (void)pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    (void)pthread_cond_init(&routes->changed, &attributes);
    (void)pthread_condattr_destroy(&attributes);
    lc_arena_init(&routes->table, &main->env.heap, LOCI_MEM_ENGINE);
    lc_map_init(&routes->tenants, &main->env.heap, LOCI_MEM_ENGINE);
}

loci_status lc_routes_new(loci_engine *main, lc_routes **out, loci_error *err)
{
    lc_routes *routes;
    loci_status status;

    if (!lc_settings_is_set(main->settings, &lc_setting_store_databases))
        return LOCI_OK;
    routes = lc_heap_zalloc(&main->env.heap, sizeof *routes, LOCI_MEM_ENGINE);
    if (routes == NULL)
        return lc_fail_memory(err);
    init(routes, main);
    status = read_databases(routes, err);
    load_table(routes);
    if (status == LOCI_OK && routes->count > 0)
        status = start_opening(routes, err);
    if (status == LOCI_OK)
        *out = routes;
    else
        lc_routes_free(routes);
    return status;
}

void lc_routes_free(lc_routes *routes)
{
    lc_heap *heap;

    if (routes == NULL)
        return;
    if (routes->has_thread) {
        (void)pthread_mutex_lock(&routes->lock);
        routes->is_stopping = true;
        (void)pthread_cond_broadcast(&routes->changed);
        (void)pthread_mutex_unlock(&routes->lock);
        (void)pthread_join(routes->thread, NULL);
    }
    heap = &routes->main->env.heap;
    for (size_t i = 0; i < routes->count; i++) {
        database *at = &routes->databases[i];
        size_t bytes = strlen(at->store) + 1;

        lc_engine_close(at->engine);
        explicit_bzero(at->store, bytes);
        lc_heap_free(heap, at->store, bytes, LOCI_MEM_ENGINE);
    }
    clear_table(routes);
    (void)pthread_cond_destroy(&routes->changed);
    (void)pthread_mutex_destroy(&routes->lock);
    (void)pthread_rwlock_destroy(&routes->table_lock);
    lc_heap_free(heap, routes, sizeof *routes, LOCI_MEM_ENGINE);
}
