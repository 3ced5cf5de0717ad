/* fact_embed.c - the facts that stand, as texts to be embedded: "key: value", a string without its
 * quotes and anything else as JSON. Those of all personas: a vector is found by its text alone. */
#include "fact/fact_embed.h"

#include "base/error.h"
#include "base/str.h"
#include "fact/fact_row.h"

static const lc_sql page_sql = {
    "select id, key, value from fact_current where tenant_id = $1 and user_id = $2"
    " and seq > $3 order by seq limit $4",
    "ttii", "ttt"};

static loci_status render(lc_tx *tx, loci_str key, loci_str value, lc_buf *out, loci_error *err)
{
    lc_arena *arena = &tx->db->scratch;
    lc_arena_mark mark = lc_arena_get_mark(arena);
    const lc_json *json = NULL;
    loci_status status = lc_json_parse(arena, value, 0, &json, err);

    if (status == LOCI_OK) {
        lc_buf_reset(out);
        lc_buf_append(out, key);
        lc_buf_append(out, LC_STR(": "));
        lc_buf_append(out, lc_json_kind_of(json) == LC_JSON_STRING ? lc_json_str(json) : value);
        status = lc_buf_status(out, err);
    }
    lc_arena_rewind(arena, mark);
    return status;
}

static loci_status each(lc_tx *tx, const lc_embed_page *page, lc_embed_visit *visit, void *ctx,
                        loci_error *err)
{
    lc_rows rows;
    lc_buf text;
    loci_status status = lc_tx_query(tx, &page_sql,
                                     (lc_arg[]){LC_T(page->tenant_id), LC_T(page->user_id),
                                                LC_I(lc_fact_seq_of(page->cursor)),
                                                LC_I(page->limit)},
                                     &rows, err);

    lc_buf_init(&text, &tx->db->env->heap, LOCI_MEM_PIPELINES, 2 * LC_EVENT_BYTES_MAX);
    while (status == LOCI_OK && lc_rows_next(&rows, &status, err)) {
        status = render(tx, lc_rows_str(&rows, 1), lc_rows_str(&rows, 2), &text, err);
        if (status == LOCI_OK)
            status = visit(ctx, lc_buf_str(&text), lc_rows_str(&rows, 0), err);
    }
    lc_rows_end(&rows);
    lc_buf_clear(&text);
    return status;
}

const lc_embed_source lc_fact_embed_source = {.name = "fact", .each = each};
