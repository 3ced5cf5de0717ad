/* What a transaction holds between the bodies that share it: the state of each room, and the
 * members that the next event takes along in its refs. */
#include "contract/probe_fixture.h"

#include <string.h>

#include "base/error.h"

static char word[] = "x";

/* One body of a group: what it found in the slot of the probe's room, and what it puts there. */
typedef struct visit {
    int found; /* 0 = the slot was empty. */
    int put;   /* 0 = nothing is put. */
} visit;

static loci_status visit_state(lc_tx *tx, void *ctx, loci_error *err)
{
    void **slot = lc_tx_room_state(tx, &probe_room);
    visit *v = ctx;

    v->found = *slot != NULL ? *(int *)*slot : 0;
    CHECK(*lc_tx_room_state(tx, &lc_store_room) == NULL);
    if (v->put != 0) {
        int *put = lc_arena_alloc(&tx->db->tx_memory, sizeof *put);

        CHECK(put != NULL);
        *put = v->put;
        *slot = put;
    }
    return probe_say(tx, word, NULL, err);
}

static void run_group(probe *p, lc_write *writes, size_t count)
{
    for (size_t i = 1; i < count; i++)
        writes[i - 1].next = &writes[i];
    for (size_t i = 0; i < count; i++) {
        while (!writes[i].is_answered)
            lc_db_write(p->db, writes);
    }
}

/* A state of one user that another user's body sees would be the wrong session, or worse. */
TEST(tx_state, a_room_state_lives_until_the_user_or_the_transaction_changes)
{
    visit visits[] = {{.put = 7}, {0}, {.put = 8}, {0}, {0}};
    lc_write writes[5];
    visit later = {0};
    probe p;

    probe_open(&p, NULL);
    writes[0] = probe_write_of(&p, "u", visit_state, &visits[0]);
    writes[1] = probe_write_of(&p, "u", visit_state, &visits[1]);
    writes[2] = probe_write_of(&p, "v", visit_state, &visits[2]);
    writes[3] = probe_write_of(&p, "v", visit_state, &visits[3]);
    writes[4] = probe_write_of(&p, "u", visit_state, &visits[4]);
    run_group(&p, writes, 5);
    CHECK_EQ(visits[0].found, 0);
    CHECK_EQ(visits[1].found, 7);
    CHECK_EQ(visits[2].found, 0);
    CHECK_EQ(visits[3].found, 8);
    CHECK_EQ(visits[4].found, 0);
    CHECK_OK(probe_write(&p, "u", visit_state, &later), p.err);
    CHECK_EQ(later.found, 0);
    probe_expect_log(&p, "u", 4);
    probe_expect_log(&p, "v", 2);
    probe_close(&p);
}

static loci_status fail_dirty(lc_tx *tx, void *ctx, loci_error *err)
{
    loci_status status = probe_say(tx, ctx, NULL, err);

    return status == LOCI_OK ? lc_fail(err, LOCI_ECONFLICT, "as told") : status;
}

/* The bodies of a group that was undone run again, each in a transaction of its own. */
TEST(tx_state, a_room_state_of_an_undone_group_is_gone)
{
    visit visits[] = {{.put = 7}, {0}};
    lc_write writes[3];
    probe p;

    probe_open(&p, NULL);
    writes[0] = probe_write_of(&p, "u", visit_state, &visits[0]);
    writes[1] = probe_write_of(&p, "u", visit_state, &visits[1]);
    writes[2] = probe_write_of(&p, "u", fail_dirty, word);
    run_group(&p, writes, 3);
    CHECK_STATUS(LOCI_OK, writes[0].status);
    CHECK_STATUS(LOCI_OK, writes[1].status);
    CHECK_STATUS(LOCI_ECONFLICT, writes[2].status);
    CHECK_EQ(visits[1].found, 0);
    probe_expect_log(&p, "u", 2);
    probe_close(&p);
}

/* ---- Carried members ------------------------------------------------------------------------- */

static loci_status carry_two(lc_tx *tx, void *ctx, loci_error *err)
{
    char first[] = "\"a\":{\"n\":1}";
    loci_status status;

    (void)ctx;
    CHECK_OK(lc_tx_carry(tx, loci_str_of(first), err), *err);
    memset(first, ' ', sizeof first - 1); /* It was copied. */
    CHECK_OK(lc_tx_carry(tx, LC_STR("\"b\":2"), err), *err);
    status = lc_event_append(
        tx, &(lc_append){.type = &probe_said, .refs = LC_STR("{\"id\":\"i\"}")}, NULL, err);
    return status == LOCI_OK ? probe_say(tx, "y", NULL, err) : status;
}

/* Carries and then appends nothing. */
static loci_status carry_and_refuse(lc_tx *tx, void *ctx, loci_error *err)
{
    (void)ctx;
    CHECK_OK(lc_tx_carry(tx, LC_STR("\"lost\":1"), err), *err);
    return lc_fail(err, LOCI_ECONFLICT, "as told");
}

static const lc_sql refs_sql = {"select refs from events where tenant_id = 't' and user_id = 'u'"
                                " order by seq",
                                "", "t"};

static loci_status check_refs(lc_tx *tx, void *ctx, loci_error *err)
{
    const char *const *expected = ctx;
    loci_status status;
    lc_rows rows;

    CHECK_OK(lc_tx_query(tx, &refs_sql, NULL, &rows, err), *err);
    for (; *expected != NULL; expected++) {
        CHECK(lc_rows_next(&rows, &status, err));
        CHECK_STR_EQ(lc_rows_str(&rows, 0), *expected);
    }
    CHECK(!lc_rows_next(&rows, &status, err));
    lc_rows_end(&rows);
    return LOCI_OK;
}

TEST(tx_state, carried_members_go_with_the_next_event_of_the_same_body)
{
    const char *expected[] = {"{\"a\":{\"n\":1},\"b\":2,\"id\":\"i\"}", "{}", "{}", NULL};
    lc_write writes[3];
    probe p;

    probe_open(&p, NULL);
    writes[0] = probe_write_of(&p, "u", carry_two, NULL);
    writes[1] = probe_write_of(&p, "u", carry_and_refuse, NULL);
    writes[2] = probe_write_of(&p, "u", probe_say_body, word);
    run_group(&p, writes, 3);
    CHECK_STATUS(LOCI_OK, writes[0].status);
    CHECK_STATUS(LOCI_ECONFLICT, writes[1].status);
    CHECK_STATUS(LOCI_OK, writes[2].status);
    CHECK_OK(probe_read(&p, check_refs, expected), p.err);
    probe_close(&p);
}
