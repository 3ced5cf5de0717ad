/* What a rebuild says about the tables that it is going to replace. */
#include "contract/note_fixture.h"

#include "store/rebuild.h"

static loci_status one_slice(notes *n, lc_rebuild *rebuild)
{
    return lc_db_write_one(n->db, LC_UPKEEP_WAIT_MS, lc_rebuild_slice, rebuild, &n->err);
}

typedef struct comparing {
    notes *n;
    lc_rebuild state;
} comparing;

static loci_status catch_up(void *ctx, loci_error *err)
{
    comparing *c = ctx;
    loci_status status = one_slice(c->n, &c->state);

    if (status != LOCI_OK)
        *err = c->n->err;
    return status;
}

static lc_rebuild_report compare(comparing *c, lc_upkeep_progress *progress, void *ctx)
{
    lc_upkeep upkeep = {.db = c->n->db, .plan = &c->n->plan, .progress = progress, .ctx = ctx};
    lc_rebuild_report report;

    lc_rebuild_init(&c->state, &c->n->env.heap);
    do
        CHECK_OK(one_slice(c->n, &c->state), c->n->err);
    while (c->state.phase != LC_REBUILD_CAUGHT_UP);
    CHECK_OK(lc_rebuild_compare(&upkeep, catch_up, c, &report, &c->n->err), c->n->err);
    lc_rebuild_clear(&c->state);
    return report;
}

TEST(rebuild_compare, says_what_it_will_change)
{
    lc_rebuild_report report;
    comparing c;
    notes n;

    c.n = &n;
    notes_open(&n, NULL);
    notes_fill(&n, "ann", 5000);
    notes_fill(&n, "bob", 10);
    report = compare(&c, NULL, NULL);
    CHECK(report.was_compared);
    CHECK_EQ(report.differences, 0);
    CHECK_EQ(report.tables.len, 0);
    lc_buf_clear(&report.tables);

    notes_damage(&n, "update notes set text = 'x' where id = 8; delete from note_counts");
    report = compare(&c, NULL, NULL);
    CHECK_EQ(report.differences, 4);
    CHECK_STR_EQ(lc_buf_str(&report.tables), "notes, note_counts");
    lc_buf_clear(&report.tables);
    notes_close(&n);
}

typedef struct intruder {
    notes *n;
    const char *user; /* Comes behind the one that was compared. */
} intruder;

static loci_status intrude(void *ctx, const char *what, int64_t done, int64_t total,
                           loci_error *err)
{
    intruder *i = ctx;

    (void)what;
    (void)done;
    (void)total;
    (void)err;
    notes_write(i->n, i->user, 70000 + (int)done, "meanwhile");
    return LOCI_OK;
}

TEST(rebuild_compare, compares_users_who_write_meanwhile)
{
    lc_rebuild_report report;
    comparing c;
    intruder i;
    notes n;

    c.n = &n;
    i = (intruder){&n, "bob"};
    notes_open(&n, NULL);
    notes_fill(&n, "ann", 50);
    notes_fill(&n, "bob", 10);
    report = compare(&c, intrude, &i);
    CHECK(report.was_compared);
    CHECK_EQ(report.differences, 0);
    CHECK_EQ(report.users_skipped, 0);
    lc_buf_clear(&report.tables);
    notes_close(&n);
}
