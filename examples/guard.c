/* guard.c - a program that survives an allocation storm with a guard, and dies without one.
 *
 *     cc guard.c $(pkg-config --cflags --libs loci) -pthread -o guard
 *     ./guard        with the guard: exit code 0
 *     ./guard --off  the same program without it: out of memory, exit code 3
 *     ./guard --cgroup [--off]  in a control group of 256 MB, which kills a process above its limit
 *
 * The program may use 256 MB (RLIMIT_DATA, or the limit of its control group). Four threads answer
 * requests: each builds a result of 1 MB and puts it into a cache. Nobody limits the cache; for two
 * seconds they go on as fast as they can. In the worst case that is far above 256 MB.
 *
 * With the guard each allocation is charged before it is made, the cache is registered with a
 * function that evicts its oldest entries, and a refused charge is an answer ("try again"), not the
 * end of the process.
 */
#include <loci.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>

#define MB (1024 * 1024)
#define LIMIT_BYTES (256 * MB)
#define THREADS 4
#define SECONDS 2
#define ENTRIES 4096

/* A ring of entries, the oldest first. Entries are mappings of their own, so that a freed one goes
 * back to the system at once. */
static struct {
    pthread_mutex_t lock;
    char *entries[ENTRIES];
    unsigned first, count;
} cache = {.lock = PTHREAD_MUTEX_INITIALIZER};

static loci_guard *guard; /* NULL = off. */
static atomic_ulong served, refused;
static atomic_bool is_over;

static void free_entry(char *entry)
{
    (void)munmap(entry, MB);
    if (guard != NULL)
        (void)loci_guard_uncharge(guard, LOCI_MEM_CACHES, MB);
}

static int64_t cache_bytes(void *ctx)
{
    int64_t bytes;

    (void)ctx;
    (void)pthread_mutex_lock(&cache.lock);
    bytes = (int64_t)cache.count * MB;
    (void)pthread_mutex_unlock(&cache.lock);
    return bytes;
}

/* The guard asks for room: drop the oldest entries. */
static int64_t cache_evict(void *ctx, int64_t bytes, int64_t budget_us)
{
    int64_t freed = 0;

    (void)ctx;
    (void)budget_us; /* An entry takes a few microseconds. */
    (void)pthread_mutex_lock(&cache.lock);
    for (; freed < bytes && cache.count > 0; cache.count--, freed += MB) {
        free_entry(cache.entries[cache.first]);
        cache.first = (cache.first + 1) % ENTRIES;
    }
    (void)pthread_mutex_unlock(&cache.lock);
    return freed;
}

/* One request: 0 = served, 1 = refused. Without memory the process ends. */
static int serve(void)
{
    char *result;

    if (guard != NULL && loci_guard_charge(guard, LOCI_MEM_CACHES, LOCI_WORK_NORMAL, MB) != LOCI_OK)
        return 1;
    result = mmap(NULL, MB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (result == MAP_FAILED) {
        fprintf(stderr, "out of memory after %lu requests\n", (unsigned long)served);
        exit(3);
    }
    memset(result, 'x', MB);
    (void)pthread_mutex_lock(&cache.lock);
    if (cache.count == ENTRIES) { /* 4 GB: never reached here. */
        free_entry(cache.entries[cache.first]);
        cache.first = (cache.first + 1) % ENTRIES;
        cache.count--;
    }
    cache.entries[(cache.first + cache.count++) % ENTRIES] = result;
    (void)pthread_mutex_unlock(&cache.lock);
    return 0;
}

static void *work(void *ctx)
{
    const struct timespec pause = {.tv_nsec = 1000000};

    (void)ctx;
    while (!is_over) {
        if (serve() == 0)
            served++;
        else {
            refused++;
            (void)nanosleep(&pause, NULL); /* A server would answer 503 with Retry-After. */
        }
    }
    return NULL;
}

static int open_guard(void)
{
    loci_guard_options options = LOCI_GUARD_OPTIONS_INIT;
    loci_cache registered = LOCI_CACHE_INIT;
    loci_error err;

    registered.flags = LOCI_GUARD_CHARGED;
    registered.name = "results";
    registered.bytes = cache_bytes;
    registered.evict = cache_evict;
    if (loci_guard_open(&options, &guard, &err) != LOCI_OK ||
        loci_guard_add_cache(guard, &registered, &err) != LOCI_OK) {
        fprintf(stderr, "%s\n", err.message);
        return 1;
    }
    return 0;
}

static bool has_option(int argc, char **argv, const char *option)
{
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], option) == 0)
            return true;
    }
    return false;
}

int main(int argc, char **argv)
{
    const struct rlimit limit = {LIMIT_BYTES, LIMIT_BYTES};
    const struct timespec storm = {.tv_sec = SECONDS};
    pthread_t threads[THREADS];
    pthread_attr_t small; /* Stacks count as data, too. */
    char *status;

    if (!has_option(argc, argv, "--cgroup") && setrlimit(RLIMIT_DATA, &limit) != 0)
        return 2;
    if (!has_option(argc, argv, "--off") && open_guard() != 0)
        return 1;
    (void)pthread_attr_init(&small);
    (void)pthread_attr_setstacksize(&small, 256 * 1024);
    for (int i = 0; i < THREADS; i++) {
        if (pthread_create(&threads[i], &small, work, NULL) != 0)
            return 2;
    }
    (void)nanosleep(&storm, NULL);
    is_over = true;
    for (int i = 0; i < THREADS; i++)
        (void)pthread_join(threads[i], NULL);
    printf("survived: %lu served, %lu refused, %lld MB in the cache\n", (unsigned long)served,
           (unsigned long)refused, (long long)cache_bytes(NULL) / MB);
    if (guard != NULL) {
        status = loci_guard_status(guard);
        printf("%s\n", status != NULL ? status : "{}");
        loci_text_free(status);
        (void)cache_evict(NULL, INT64_MAX, 0);
    }
    loci_guard_close(guard);
    return 0;
}
