/* fuzz_postings.c - bytes as operations on the postings, compared with the formula counted naively.
 * The first byte of each operation says which: add or replace, remove, compact, search. */
#include <stdlib.h>
#include <string.h>

#include "lib/naive_postings.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

typedef struct input {
    const uint8_t *at;
    const uint8_t *end;
} input;

static naive_postings naive;
static lc_heap heap;

static void demand(bool is_right)
{
    if (!is_right)
        abort();
}

static unsigned next_byte(input *in)
{
    return in->at < in->end ? *in->at++ : 0;
}

static void add(input *in, lc_postings *index)
{
    uint32_t id = (next_byte(in) << 8 | next_byte(in)) % NAIVE_IDS;
    naive_document document = {.length = next_byte(in) % (NAIVE_TERMS_MAX + 1)};

    for (size_t i = 0; i < document.length; i++)
        document.terms[i] = next_byte(in) % NAIVE_VOCABULARY;
    demand(naive_add(&naive, index, id, &document) == LOCI_OK);
}

static void search(input *in, const lc_postings *index)
{
    naive_query query = {.count = next_byte(in) % (NAIVE_QUERY_MAX + 1),
                         .limit = next_byte(in) % 40,
                         .bm25 = {.k1 = LC_BM25_K1, .b = LC_BM25_B}};
    unsigned mask = next_byte(in);
    bool filter[NAIVE_IDS];

    for (size_t i = 0; i < query.count; i++) {
        query.terms[i] = next_byte(in) % NAIVE_VOCABULARY;
        query.weights[i] = 0.5 + (double)(mask % 3);
    }
    for (size_t i = 0; i < NAIVE_IDS; i++)
        filter[i] = (i & mask) == 0;
    if (mask % 2 == 1)
        query.filter = filter;
    demand(naive_compare(&naive, index, &heap, &query) == NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    input in = {data, data + bytes};
    lc_postings *index = NULL;

    memset(&naive, 0, sizeof naive);
    lc_heap_init(&heap, (loci_allocator){0});
    demand(lc_postings_new(&heap, &index, NULL) == LOCI_OK);
    while (in.at < in.end) {
        unsigned operation = next_byte(&in);

        if (operation < 120)
            add(&in, index);
        else if (operation < 200)
            demand(naive_remove(&naive, index, (next_byte(&in) << 8 | next_byte(&in)) % NAIVE_IDS));
        else if (operation < 205)
            demand(lc_postings_compact(index, NULL) == LOCI_OK);
        else
            search(&in, index);
    }
    lc_postings_free(index);
    demand(lc_heap_live_bytes(&heap, LOCI_MEM_INDEX) == 0);
    return 0;
}
