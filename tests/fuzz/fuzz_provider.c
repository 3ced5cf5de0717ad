/* fuzz_provider.c - any bytes as the reply of a provider. The first byte says how many vectors of
 * which length were asked for; the rest is read as embeddings and as a chat. What is accepted keeps
 * its promise: vectors of length 1, and an answer that is JSON. */
#include <math.h>
#include <stdlib.h>

#include "base/json.h"
#include "model/provider.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

static void demand(bool is_right)
{
    if (!is_right)
        abort();
}

static void read_embeddings(lc_arena *arena, loci_str text, unsigned shape)
{
    lc_embed_expected expected = {.count = 1 + (shape & 3), .dimensions = 1 + (shape >> 2 & 7)};
    float *out = malloc(expected.count * expected.dimensions * sizeof *out); /* Exactly. */
    int64_t tokens = -1;
    loci_error err;
    loci_status status;

    demand(out != NULL);
    status = lc_embed_reply_read(arena, text, &expected, out, &tokens, &err);
    demand(status == LOCI_OK || status == LOCI_EUNAVAILABLE || status == LOCI_EUNSUPPORTED);
    for (size_t i = 0; status == LOCI_OK && i < expected.count; i++) {
        double sum = 0;

        for (size_t j = 0; j < expected.dimensions; j++)
            sum += (double)out[i * expected.dimensions + j] *
                   (double)out[i * expected.dimensions + j];
        demand(fabs(sum - 1) < 1e-4);
        demand(tokens >= 0);
    }
    free(out);
}

static void read_chat(lc_arena *arena, loci_str text)
{
    lc_chat_reply reply;
    loci_error err;
    loci_status status = lc_chat_reply_read(arena, text, &reply, &err);

    demand(reply.tokens_in >= 0 && reply.tokens_out >= 0);
    if (status == LOCI_OK)
        demand(reply.json != NULL && reply.text.len > 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    lc_heap heap;
    lc_arena arena;
    loci_str text;

    if (bytes == 0)
        return 0;
    text = (loci_str){(const char *)data + 1, bytes - 1};
    lc_heap_init(&heap, (loci_allocator){0});
    lc_arena_init(&arena, &heap, LOCI_MEM_REQUESTS);
    read_embeddings(&arena, text, data[0]);
    lc_arena_clear(&arena);
    read_chat(&arena, text);
    lc_arena_clear(&arena);
    return 0;
}
