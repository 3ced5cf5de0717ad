/* The hash of all rows by which tests compare stores. */
#include "contract/note_fixture.h"

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
