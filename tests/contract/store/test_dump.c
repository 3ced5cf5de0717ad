/* The canonical form of rows: the same bytes on every database, for ever. */
#include "contract/note_fixture.h"

#include <string.h>

typedef struct dumping {
    notes *n;
    lc_buf out;
    lc_dump_key after;
    int64_t limit;
} dumping;

/* Table 0 of the plan is `notes`. */
static loci_status dump(lc_tx *tx, void *ctx, loci_error *err)
{
    dumping *d = ctx;
    lc_dump_range range = {.table = &d->n->plan.tables[0],
                           .tenant_id = LC_STR("t"),
                           .user_id = LC_STR("u"),
                           .after = &d->after,
                           .limit = d->limit};
    lc_rows rows;
    loci_status status = lc_dump_query(tx, &range, &rows, err);

    while (status == LOCI_OK && lc_rows_next(&rows, &status, err))
        lc_dump_row(&d->out, &rows);
    lc_rows_end(&rows);
    return status;
}

TEST(dump, a_row_is_kinds_lengths_and_bytes)
{
    static const char expected[] = "t\1\0\0\0\0\0\0\0t"
                                   "t\1\0\0\0\0\0\0\0u"
                                   "t\0\0\0\0\0\0\0\0"
                                   "i\xfe\xff\xff\xff\xff\xff\xff\xff"
                                   "n"
                                   "f\0\0\0\0\0\0\xf8\x3f"
                                   "b\2\0\0\0\0\0\0\0\0\xff"
                                   "i\1\1\0\0\0\0\0\0";
    dumping d = {.limit = 10};
    notes n;

    notes_open(&n, NULL);
    notes_damage(&n, "insert into notes values ('t', 'u', '', -2, null, 1.5, x'00ff', 257)");
    d.n = &n;
    lc_buf_init(&d.out, &n.env.heap, LOCI_MEM_REQUESTS, 10000);
    lc_dump_key_init(&d.after, &n.env.heap);
    CHECK_OK(lc_db_read(n.db, INT64_MAX, dump, &d, &n.err), n.err);
    CHECK_BYTES(d.out.ptr, d.out.len, expected, sizeof expected - 1);
    lc_buf_clear(&d.out);
    lc_dump_key_clear(&d.after);
    notes_close(&n);
}

/* Rowids and the order of writing must not show; everything else must. */
TEST(dump, the_hash_knows_content_and_nothing_else)
{
    static const char row_a[] = "insert into notes values ('t', 'u', 'a', 1, 'x', null, null, 1)";
    static const char row_b[] = "insert into notes values ('t', 'u', 'b', 1, 'y', null, null, 2)";
    lc_hash128 before;
    notes a, b;

    notes_open(&a, NULL);
    notes_open(&b, NULL);
    notes_damage(&a, row_a);
    notes_damage(&a, row_b);
    notes_damage(&b, row_b);
    notes_damage(&b, row_a);
    before = notes_hash(&a);
    CHECK(lc_hash128_eq(before, notes_hash(&b)));
    notes_damage(&b, "update notes set text = '' where folder = 'b'");
    CHECK(!lc_hash128_eq(before, notes_hash(&b)));
    notes_damage(&b, "update notes set text = null where folder = 'b'");
    CHECK(!lc_hash128_eq(before, notes_hash(&b)));
    notes_damage(&b, "update notes set text = 'y' where folder = 'b'");
    CHECK(lc_hash128_eq(before, notes_hash(&b)));
    notes_damage(&b, "update notes set user_id = 'v' where folder = 'b'");
    CHECK(!lc_hash128_eq(before, notes_hash(&b)));
    notes_close(&b);
    notes_close(&a);
}
