#include "lib/talk_bm25.h"

#include <string.h>

#include "base/limits.h"
#include "base/str.h"
#include "lib/state_input.h"
#include "text/tokenizer.h"

static lc_words split(talk_bm25 *bm25, lc_arena *arena, loci_str text)
{
    lc_words words = {0};
    loci_error err;

    if (lc_terms_split(&bm25->stemmer, arena, text, &words, &err) != LOCI_OK)
        state_die("%s", err.message);
    return words;
}

/* Of the line of a turn. */
static int64_t count_tokens(const lc_tokenizer *tokenizer, const talk_turn *turn)
{
    lc_text_tokens counted;
    lc_buf line;
    loci_error err;

    lc_buf_init(&line, tokenizer->heap, LOCI_MEM_REQUESTS, LC_ARGS_BYTES_MAX);
    lc_buf_append_format(&line, "%.*s: ", LC_STR_ARG(turn->speaker));
    lc_buf_append(&line, turn->text);
    lc_buf_append_byte(&line, '\n');
    if (lc_tokenizer_count(tokenizer, lc_buf_str(&line), &counted, &err) != LOCI_OK)
        state_die("%s", err.message);
    lc_buf_clear(&line);
    return counted.tokens;
}

void talk_bm25_open(talk_bm25 *bm25, talk_player *player, const talk_turn *turns, int count)
{
    lc_arena *arena = player->client.arena;
    lc_tokenizer tokenizer;
    loci_error err;

    /* Without its data it estimates, as loci does then. */
    (void)lc_tokenizer_open(&tokenizer, player->client.heap, LC_ENCODING_O200K_BASE, LC_STR_NONE,
                            &err);
    *bm25 = (talk_bm25){.turns = turns, .count = count};
    bm25->tokens = state_alloc(arena, ((size_t)count + 1) * sizeof *bm25->tokens);
    if (lc_postings_new(player->client.heap, &bm25->postings, &err) != LOCI_OK ||
        lc_stemmer_init(&bm25->stemmer, LC_STEM_ENGLISH, &err) != LOCI_OK)
        state_die("%s", err.message);
    for (int i = 0; i < count; i++) {
        lc_words words = split(bm25, arena, turns[i].text);

        if (lc_postings_add(bm25->postings, (uint32_t)i, words.items, words.count, &err) != LOCI_OK)
            state_die("%s", err.message);
        bm25->tokens[i] = count_tokens(&tokenizer, &turns[i]);
    }
    lc_tokenizer_close(&tokenizer);
}

void talk_bm25_close(talk_bm25 *bm25)
{
    lc_postings_free(bm25->postings);
    lc_stemmer_clear(&bm25->stemmer);
}

const lc_hit *talk_bm25_rank(talk_bm25 *bm25, lc_arena *arena, loci_str question, size_t *out_count)
{
    lc_words words = split(bm25, arena, question);
    lc_postings_term *terms = state_alloc(arena, (words.count + 1) * sizeof *terms);
    lc_hit *hits = state_alloc(arena, ((size_t)bm25->count + 1) * sizeof *hits);
    lc_postings_query query = {
        .terms = terms, .term_count = words.count, .limit = (size_t)bm25->count};
    loci_error err;

    for (size_t i = 0; i < words.count; i++)
        terms[i] = (lc_postings_term){.text = words.items[i], .weight = 1};
    if (lc_postings_search(bm25->postings, &query, hits, out_count, &err) != LOCI_OK)
        state_die("%s", err.message);
    return hits;
}

int64_t talk_bm25_cut(const talk_bm25 *bm25, const lc_hit *hits, size_t count, int64_t budget,
                      bool *shown)
{
    int64_t used = 0;

    memset(shown, 0, (size_t)bm25->count * sizeof *shown);
    for (size_t i = 0; i < count; i++) {
        int64_t tokens = bm25->tokens[hits[i].id];

        if (used + tokens <= budget) {
            used += tokens;
            shown[hits[i].id] = true;
        }
    }
    return used;
}
