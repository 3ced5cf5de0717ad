/* named.c - see named.h. A plural names the singular, too: "budgets" begins budget_2026. */
#include "context/named.h"

#include "base/error.h"
#include "talk/term.h"

#define WORDS_MAX 3   /* Of one name. */
#define STARTS_MAX 16 /* Words of the sentence that a name may begin with. */
#define ROWS_MAX 8    /* Facts that begin with one name. */

/* Appends a word of the sentence in lower case. */
static size_t put_word(lc_terms terms, size_t at, char *out)
{
    const char *word = terms.text.ptr + terms.at[at].start;
    size_t bytes = terms.at[at].bytes;

    for (size_t i = 0; i < bytes; i++)
        out[i] = word[i] >= 'A' && word[i] <= 'Z' ? (char)(word[i] + ('a' - 'A')) : word[i];
    return bytes;
}

/* `count` words from `first` on, with _ between them and without the last one's plural. */
static loci_status write_name(lc_terms terms, size_t first, size_t count, lc_arena *arena,
                              loci_str *out, loci_error *err)
{
    size_t bytes = 0, room = count;
    char *name;

    for (size_t i = 0; i < count; i++)
        room += terms.at[first + i].bytes;
    name = lc_arena_alloc(arena, room);
    if (name == NULL)
        return lc_fail_memory(err);
    for (size_t i = 0; i < count; i++) {
        if (i > 0)
            name[bytes++] = '_';
        bytes += put_word(terms, first + i, name + bytes);
    }
    if (bytes > 3 && name[bytes - 1] == 's')
        bytes--;
    *out = (loci_str){name, bytes};
    return LOCI_OK;
}

loci_status lc_named_each(lc_tx *tx, loci_str persona_id, loci_str sentence, lc_arena *arena,
                          lc_fact_visit *visit, void *ctx, loci_error *err)
{
    lc_terms terms;
    loci_status status = lc_terms_read(arena, sentence, &terms, err);

    for (size_t count = WORDS_MAX; count > 0 && status == LOCI_OK; count--) {
        size_t starts = 0;

        for (size_t at = 0; at + count <= terms.count && starts < STARTS_MAX; at++) {
            lc_fact_prefix prefix = {.persona_id = persona_id, .limit = ROWS_MAX};

            if (!lc_term_is_content(terms.at[at].kind))
                continue;
            starts++;
            status = write_name(terms, at, count, arena, &prefix.key, err);
            if (status == LOCI_OK)
                status = lc_fact_each_prefix(tx, &prefix, arena, visit, ctx, err);
            if (status != LOCI_OK)
                return status;
        }
    }
    return status;
}
