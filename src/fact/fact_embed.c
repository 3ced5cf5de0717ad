/* fact_embed.c - the facts that stand, as texts to be embedded: "key: value", the words of the key
 * apart, a string without its quotes and anything else as JSON. Those of all personas: a vector is
 * found by its text alone. */
#include "fact/fact_embed.h"

#include "base/error.h"
#include "base/str.h"
#include "fact/fact_row.h"

static const lc_sql page_sql = {
    "select id, key, value from fact_current where tenant_id = $1 and user_id = $2"
    " and seq > $3 order by seq limit $4",
    "ttii", "ttt"};

loci_status lc_fact_embed_text(lc_arena *arena, loci_str key, loci_str value, loci_str *out,
                               loci_error *err)
{
    const lc_json *json = NULL;
    loci_status status = lc_json_parse(arena, value, 0, &json, err);
    loci_str shown;
    char *text;

    if (status != LOCI_OK)
        return status;
    shown = lc_json_kind_of(json) == LC_JSON_STRING ? lc_json_str(json) : value;
    text = lc_arena_alloc(arena, key.len + shown.len + 3);
    if (text == NULL)
        return lc_fail_memory(err);
    for (size_t i = 0; i < key.len; i++)
        text[i] = key.ptr[i] == '_' ? ' ' : key.ptr[i];
    memcpy(text + key.len, ": ", 2);
    if (shown.len > 0)
        memcpy(text + key.len + 2, shown.ptr, shown.len);
    text[key.len + 2 + shown.len] = '\0';
    *out = (loci_str){text, key.len + 2 + shown.len};
    return LOCI_OK;
}

static loci_status each(lc_tx *tx, const lc_embed_page *page, lc_embed_visit *visit, void *ctx,
                        loci_error *err)
{
    lc_arena *arena = &tx->db->scratch;
    lc_rows rows;
    loci_status status = lc_tx_query(tx, &page_sql,
                                     (lc_arg[]){LC_T(page->tenant_id), LC_T(page->user_id),
                                                LC_I(lc_fact_seq_of(page->cursor)),
                                                LC_I(page->limit)},
                                     &rows, err);

    while (status == LOCI_OK && lc_rows_next(&rows, &status, err)) {
        lc_arena_mark mark = lc_arena_get_mark(arena);
        loci_str text;

        status = lc_fact_embed_text(arena, lc_rows_str(&rows, 1), lc_rows_str(&rows, 2), &text,
                                    err);
        if (status == LOCI_OK)
            status = visit(ctx, text, lc_rows_str(&rows, 0), err);
        lc_arena_rewind(arena, mark);
    }
    lc_rows_end(&rows);
    return status;
}

const lc_embed_source lc_fact_embed_source = {.name = "fact", .each = each};
