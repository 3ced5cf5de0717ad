/* heap.c - Every block is [header][content][canary], and all live ones are in one list.
 *
 * A test that failed may leave blocks, and threads that still use them, behind. They are not
 * freed: the list is dropped and the generation goes up, so that a late free is not counted.
 */
#include "lib/heap.h"

#include "lib/test.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define MAGIC 0x6C6F63692D746573u
#define MAGIC_DEAD 0x646561642D646561u
#define CANARY 0x5AFE5AFE5AFE5AFEu

typedef struct block {
    _Alignas(16) uint64_t magic;
    uint64_t serial; /* The how manieth request of this test. */
    size_t bytes;
    loci_category category;
    uint32_t generation;
    struct block *next;
    struct block *prev;
} block;

static struct {
    pthread_mutex_t lock;
    block *live;
    size_t live_blocks;
    size_t live_bytes[LOCI_MEM_CATEGORIES];
    uint64_t requests;
    uint64_t fail_first; /* The request to fail; 0 = none. */
    uint64_t fail_last;  /* The last one to fail. */
    bool was_injected;
    uint32_t generation;
} heap = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void set_canary(block *b)
{
    uint64_t canary = CANARY;

    memcpy((char *)(b + 1) + b->bytes, &canary, sizeof canary);
}

static bool has_canary(const block *b)
{
    uint64_t canary;

    memcpy(&canary, (const char *)(b + 1) + b->bytes, sizeof canary);
    return canary == CANARY;
}

static bool must_fail(void)
{
    heap.requests++;
    if (heap.fail_first == 0 || heap.requests < heap.fail_first || heap.requests > heap.fail_last)
        return false;
    heap.was_injected = true;
    return true;
}

static block *add(size_t bytes, loci_category category)
{
    block *b = malloc(sizeof *b + bytes + sizeof(uint64_t));

    if (b == NULL)
        return NULL;
    *b = (block){.magic = MAGIC,
                 .serial = heap.requests,
                 .bytes = bytes,
                 .category = category,
                 .generation = heap.generation,
                 .next = heap.live};
    if (heap.live != NULL)
        heap.live->prev = b;
    heap.live = b;
    heap.live_blocks++;
    heap.live_bytes[category] += bytes;
    /* Not zero, so that code which forgets to initialise is noticed. Valgrind knows better ways. */
    if (getenv("LOCI_TEST_NO_FILL") == NULL)
        memset(b + 1, 0xA5, bytes);
    set_canary(b);
    return b;
}

static void drop(block *b)
{
    if (b->generation == heap.generation) {
        if (b->prev != NULL)
            b->prev->next = b->next;
        else
            heap.live = b->next;
        if (b->next != NULL)
            b->next->prev = b->prev;
        heap.live_blocks--;
        heap.live_bytes[b->category] -= b->bytes;
    }
    memset(b + 1, 0xDD, b->bytes);
    b->magic = MAGIC_DEAD;
    free(b);
}

/* The mistake in freeing `b` like this, or NULL. */
static const char *find_misuse(const block *b, size_t old_bytes, loci_category category)
{
    if (b->magic == MAGIC_DEAD)
        return "block was freed before";
    if (b->magic != MAGIC)
        return "not a block of the test heap, or written before its start";
    if (b->bytes != old_bytes)
        return "old_bytes is not what was asked for";
    if (b->category != category)
        return "category is not the one it was allocated with";
    if (!has_canary(b))
        return "written past its end";
    return NULL;
}

static void *resize_locked(block *old, size_t new_bytes, loci_category category)
{
    block *b;

    if (new_bytes == 0) {
        if (old != NULL)
            drop(old);
        return NULL;
    }
    if (must_fail())
        return NULL;
    b = add(new_bytes, category);
    if (b == NULL)
        return NULL;
    if (old != NULL) {
        memcpy(b + 1, old + 1, old->bytes < new_bytes ? old->bytes : new_bytes);
        drop(old);
    }
    return b + 1;
}

static void *resize(void *ctx, void *ptr, size_t old_bytes, size_t new_bytes,
                    loci_category category)
{
    block *old = ptr == NULL ? NULL : (block *)ptr - 1;
    const char *misuse = NULL;
    void *result = NULL;

    (void)ctx;
    pthread_mutex_lock(&heap.lock);
    if ((unsigned)category >= LOCI_MEM_CATEGORIES)
        misuse = "no such category";
    else if (old != NULL)
        misuse = find_misuse(old, old_bytes, category);
    else if (old_bytes != 0)
        misuse = "old_bytes without a block";
    if (misuse == NULL)
        result = resize_locked(old, new_bytes, category);
    pthread_mutex_unlock(&heap.lock);

    if (misuse != NULL)
        test_note_failure(__FILE__, __LINE__,
                          "test heap: %s (old_bytes %zu, new_bytes %zu, category %d)", misuse,
                          old_bytes, new_bytes, (int)category);
    return result;
}

loci_allocator test_heap(void)
{
    return (loci_allocator){.resize = resize, .ctx = &heap};
}

size_t test_heap_live_blocks(void)
{
    size_t count;

    pthread_mutex_lock(&heap.lock);
    count = heap.live_blocks;
    pthread_mutex_unlock(&heap.lock);
    return count;
}

size_t test_heap_live_bytes(loci_category category)
{
    size_t bytes = 0;

    pthread_mutex_lock(&heap.lock);
    for (unsigned i = 0; i < LOCI_MEM_CATEGORIES; i++) {
        if (i == (unsigned)category || category == LOCI_MEM_CATEGORIES)
            bytes += heap.live_bytes[i];
    }
    pthread_mutex_unlock(&heap.lock);
    return bytes;
}

static void arm(uint64_t nth, bool once)
{
    pthread_mutex_lock(&heap.lock);
    heap.fail_first = heap.requests + nth;
    heap.fail_last = once ? heap.fail_first : UINT64_MAX;
    heap.was_injected = false;
    pthread_mutex_unlock(&heap.lock);
}

void test_heap_fail_nth(uint64_t nth)
{
    arm(nth, true);
}

void test_heap_fail_from(uint64_t nth)
{
    arm(nth, false);
}

bool test_heap_disarm(void)
{
    bool was_injected;

    pthread_mutex_lock(&heap.lock);
    was_injected = heap.was_injected;
    heap.fail_first = 0;
    heap.was_injected = false;
    pthread_mutex_unlock(&heap.lock);
    return was_injected;
}

void test_heap_check_empty(void)
{
    const block *oldest = NULL;
    uint64_t serial = 0;
    size_t bytes = 0;

    pthread_mutex_lock(&heap.lock);
    for (const block *b = heap.live; b != NULL; b = b->next)
        oldest = b;
    if (oldest != NULL) {
        serial = oldest->serial;
        bytes = oldest->bytes;
    }
    pthread_mutex_unlock(&heap.lock);

    if (oldest != NULL)
        test_note_failure(
            __FILE__, __LINE__,
            "test heap: %zu blocks (%zu bytes) left alive; the first is request %llu, %zu bytes",
            test_heap_live_blocks(), test_heap_live_bytes(LOCI_MEM_CATEGORIES),
            (unsigned long long)serial, bytes);
}

void test_heap_reset(void)
{
    pthread_mutex_lock(&heap.lock);
    heap.live = NULL;
    heap.live_blocks = 0;
    memset(heap.live_bytes, 0, sizeof heap.live_bytes);
    heap.requests = 0;
    heap.fail_first = 0;
    heap.was_injected = false;
    heap.generation++;
    pthread_mutex_unlock(&heap.lock);
}
