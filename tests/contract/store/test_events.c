/* The log: what was appended is there in order, once, for ever, and can be read by a later loci. */
#include "contract/probe_fixture.h"

#include "base/error.h"
#include "base/limits.h"

/* ---- Order ----------------------------------------------------------------------------------- */

typedef struct chat {
    int count;
    int64_t seqs[300];
} chat;

static loci_status say_many(lc_tx *tx, void *ctx, loci_error *err)
{
    chat *c = ctx;
    loci_status status = LOCI_OK;

    for (int i = 0; status == LOCI_OK && i < c->count; i++)
        status = probe_say(tx, "again", &c->seqs[i], err);
    return status;
}

TEST(events, seqs_have_no_gaps)
{
    const char *path = probe_path();
    chat c = {.count = 300};
    probe p;

    probe_open(&p, path);
    CHECK_OK(probe_write(&p, "u", say_many, &c), p.err);
    for (int i = 0; i < c.count; i++)
        CHECK_EQ(c.seqs[i], i + 1);
    CHECK_STATUS(LOCI_EUNSUPPORTED, probe_write(&p, "u", probe_say_body, (void *)"refuse"));
    probe_close(&p);
    probe_open(&p, path);
    CHECK_OK(probe_write(&p, "u", say_many, &c), p.err);
    CHECK_EQ(c.seqs[0], 301);
    probe_expect_log(&p, "u", 600);
    probe_close(&p);
}

typedef struct moment {
    int64_t recorded_at;
} moment;

static loci_status say_when(lc_tx *tx, void *ctx, loci_error *err)
{
    moment *m = ctx;
    lc_head head;
    loci_status status = lc_tx_recorded_at(tx, &m->recorded_at, err);

    if (status == LOCI_OK)
        status = probe_say(tx, "now", NULL, err);
    if (status == LOCI_OK)
        status = lc_tx_head(tx, &head, err);
    if (status == LOCI_OK)
        CHECK_EQ(head.recorded_at, m->recorded_at); /* What was promised is what was written. */
    return status;
}

/* "The state after all events up to T" has to mean something when a clock is set back. */
TEST(events, recorded_at_never_falls)
{
    static const int64_t steps[] = {0, 5, -1000000, 0, 3, -4000000000, 1000001};
    static const lc_sql falls_sql = {
        "select count(*) from events a join events b on b.seq = a.seq + 1"
        " where b.recorded_at < a.recorded_at",
        "", "i"};
    int64_t highest = INT64_MIN;
    probe p;

    probe_open(&p, NULL);
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        moment m;

        p.now_us += steps[i];
        highest = p.now_us > highest ? p.now_us : highest;
        CHECK_OK(probe_write(&p, "u", say_when, &m), p.err);
        CHECK_EQ(m.recorded_at, highest);
    }
    CHECK_EQ(probe_number(&p, &falls_sql), 0);
    probe_close(&p);
}

/* ---- Ids ------------------------------------------------------------------------------------- */

typedef struct naming {
    lc_id ids[300];
    int count;
    loci_status last;
} naming;

static loci_status name_many(lc_tx *tx, void *ctx, loci_error *err)
{
    naming *n = ctx;

    n->last = LOCI_OK;
    for (n->count = 0; n->count < 300; n->count++) {
        n->last = lc_tx_make_id(tx, "probe", &n->ids[n->count], err);
        if (n->last != LOCI_OK)
            break;
    }
    return probe_say(tx, "named", NULL, err);
}

static void check_ids(const naming *n, int64_t seq, uint32_t *out_mark)
{
    for (int i = 0; i < n->count; i++) {
        lc_id_parts parts;

        CHECK(lc_id_parse(lc_id_str(&n->ids[i]), "probe", &parts));
        CHECK_EQ(parts.seq, seq);
        CHECK_EQ(parts.ordinal, i);
        CHECK_EQ(parts.ms, PROBE_NOW_US / 1000);
        *out_mark = parts.mark;
    }
}

TEST(events, ids_are_unique_and_tell_their_event)
{
    static naming first, second, other;
    uint32_t mark, mark_again, other_mark;
    probe p;

    probe_open(&p, NULL);
    CHECK_OK(probe_write(&p, "u", name_many, &first), p.err);
    CHECK_EQ(first.count, 256);
    CHECK_STATUS(LOCI_ELIMIT, first.last);
    p.now_us -= 1000000; /* The clock goes back, ids do not. */
    CHECK_OK(probe_write(&p, "u", name_many, &second), p.err);
    p.now_us = PROBE_NOW_US;
    CHECK_OK(probe_write(&p, "v", name_many, &other), p.err);
    check_ids(&first, 1, &mark);
    check_ids(&second, 2, &mark_again);
    check_ids(&other, 1, &other_mark);
    CHECK_EQ(mark, mark_again);
    CHECK_NE(mark, other_mark);
    probe_close(&p);
}

static loci_status name_objects(lc_tx *tx, void *ctx, loci_error *err)
{
    naming *n = ctx;
    loci_status status = LOCI_OK;

    for (n->count = 0; status == LOCI_OK && n->count < 10; n->count++)
        status = lc_tx_make_object_id(tx, "job", &n->ids[n->count], err);
    return status;
}

TEST(events, ids_outside_the_log_are_unique_too)
{
    static naming first, second;
    lc_id_parts parts;
    probe p;

    probe_open(&p, NULL);
    CHECK_OK(probe_write(&p, "u", name_objects, &first), p.err);
    CHECK_OK(probe_write(&p, "u", name_objects, &second), p.err);
    for (int i = 0; i < 10; i++) {
        CHECK(lc_id_parse(lc_id_str(&first.ids[i]), "job", &parts));
        CHECK_EQ(parts.seq, i + 1);
        CHECK(lc_id_parse(lc_id_str(&second.ids[i]), "job", &parts));
        CHECK_EQ(parts.seq, i + 11);
    }
    probe_expect_log(&p, "u", 0); /* No event, but a head that remembers. */
    probe_close(&p);
}

/* ---- Expected seq ---------------------------------------------------------------------------- */

static loci_status expect(lc_tx *tx, void *ctx, loci_error *err)
{
    return lc_tx_expect_seq(tx, *(const int64_t *)ctx, err);
}

TEST(events, another_seq_than_expected_is_a_conflict)
{
    int64_t right = 2, wrong = 1;
    chat c = {.count = 2};
    probe p;

    probe_open(&p, NULL);
    CHECK_OK(probe_write(&p, "u", say_many, &c), p.err);
    CHECK_OK(probe_write(&p, "u", expect, &right), p.err);
    CHECK_STATUS(LOCI_ECONFLICT, probe_write(&p, "u", expect, &wrong));
    CHECK_STR_EQ(p.err.data, "{\"head_seq\":2}");
    probe_close(&p);
}

/* ---- Size ------------------------------------------------------------------------------------ */

typedef struct big {
    size_t refs_bytes;
    size_t payload_bytes;
} big;

/* {"x":"…"} of exactly so many bytes. */
static loci_str padded(size_t bytes)
{
    char *text = test_bytes(bytes);

    memset(text, 'x', bytes);
    memcpy(text, "{\"x\":\"", 6);
    memcpy(text + bytes - 2, "\"}", 2);
    return (loci_str){text, bytes};
}

static loci_status append_big(lc_tx *tx, void *ctx, loci_error *err)
{
    const big *b = ctx;

    return lc_event_append(tx,
                           &(lc_append){.type = &probe_said,
                                        .refs = padded(b->refs_bytes),
                                        .payload = padded(b->payload_bytes)},
                           NULL, err);
}

TEST(events, an_event_has_a_ceiling)
{
    probe p;

    probe_open(&p, NULL);
    for (int over = -1; over <= 1; over++) {
        big b = {.refs_bytes = 100, .payload_bytes = LC_EVENT_BYTES_MAX - 100 + over};
        loci_status status = probe_write(&p, "u", append_big, &b);

        CHECK_STATUS(over <= 0 ? LOCI_OK : LOCI_ELIMIT, status);
    }
    probe_expect_log(&p, "u", 2);
    probe_close(&p);
}

/* ---- Reading --------------------------------------------------------------------------------- */

typedef struct reading {
    lc_event_range range;
    int64_t last_seq;
    int count;
    char text[400];
} reading;

static loci_status visit(void *ctx, const lc_event *event, loci_error *err)
{
    reading *r = ctx;

    (void)err;
    CHECK_LT(r->last_seq, event->seq);
    r->last_seq = event->seq;
    r->count++;
    return LOCI_OK;
}

static loci_status read_range(lc_tx *tx, void *ctx, loci_error *err)
{
    reading *r = ctx;

    return lc_event_each(tx, &r->range, visit, r, err);
}

static reading read_events(probe *p, int64_t after_seq, int64_t limit)
{
    reading r = {.range = {.tenant_id = LC_STR("t"),
                           .user_id = LC_STR("u"),
                           .after_seq = after_seq,
                           .limit = limit}};

    CHECK_OK(probe_read(p, read_range, &r), p->err);
    return r;
}

TEST(events, pages_follow_each_other)
{
    chat c = {.count = 10};
    probe p;

    probe_open(&p, NULL);
    CHECK_OK(probe_write(&p, "u", say_many, &c), p.err);
    CHECK_OK(probe_write(&p, "another", say_many, &c), p.err);
    CHECK_EQ(read_events(&p, 0, 4).last_seq, 4);
    CHECK_EQ(read_events(&p, 4, 4).count, 4);
    CHECK_EQ(read_events(&p, 8, 4).count, 2);
    CHECK_EQ(read_events(&p, 10, 4).count, 0);
    CHECK_EQ(read_events(&p, 0, 100).count, 10);
    probe_close(&p);
}

static void expect_unreadable(probe *p, loci_status expected, const char *part)
{
    reading r = {.range = {.tenant_id = LC_STR("t"), .user_id = LC_STR("u"), .limit = 10}};

    CHECK_STATUS(expected, probe_read(p, read_range, &r));
    CHECK_CONTAINS(p->err.message, part);
}

/* What a newer loci wrote must not be skipped: the state would silently be another. */
TEST(events, what_cannot_be_understood_is_refused)
{
    probe p;

    probe_open(&p, NULL);
    CHECK_OK(probe_write(&p, "u", probe_say_body, (void *)"hello"), p.err);
    probe_script(&p, "update events set v = 2");
    expect_unreadable(&p, LOCI_EUNSUPPORTED, "event 1 is probe.said version 2");
    probe_script(&p, "update events set v = 1, type = 'probe.sung'");
    expect_unreadable(&p, LOCI_EUNSUPPORTED, "probe.sung");
    probe_script(&p, "update events set v = 0, type = 'probe.said'");
    expect_unreadable(&p, LOCI_ECORRUPT, "version 0");
    probe_close(&p);
}

/* ---- Upcasts --------------------------------------------------------------------------------- */

static loci_status apply_visited(void *ctx, const lc_event *event, loci_error *err)
{
    lc_tx *tx = ctx;
    lc_buf scratch;
    loci_status status;

    lc_buf_init(&scratch, &tx->db->env->heap, LOCI_MEM_REQUESTS, 16 * LC_EVENT_BYTES_MAX);
    status = lc_event_apply(tx, event, &scratch, err);
    lc_buf_clear(&scratch);
    return status;
}

static loci_status apply_all(lc_tx *tx, void *ctx, loci_error *err)
{
    lc_event_range range = {.tenant_id = LC_STR("t"), .user_id = LC_STR("u"), .limit = 10};

    (void)ctx;
    return lc_event_each(tx, &range, apply_visited, tx, err);
}

TEST(events, old_payloads_are_brought_forward_step_by_step)
{
    static const lc_sql right_sql = {
        "select count(*) from sayings where (seq = 1 and length(payload) = 4 * 70002 + 33)"
        " or (seq = 2 and payload = '{\"was\":[{\"v\":2},{\"v\":2}]}')"
        " or (seq = 3 and payload = '{\"v\":3}')",
        "", "i"};
    loci_str large = padded(70002);
    probe p;

    probe_open(&p, NULL);
    probe_script(&p,
                 test_format("insert into events (tenant_id, user_id, seq, type, v, recorded_at,"
                             " refs, payload, is_erased) values"
                             " ('t', 'u', 1, 'probe.grown', 1, 1, '{}', '%.*s', 0),"
                             " ('t', 'u', 2, 'probe.grown', 2, 2, '{}', '{\"v\":2}', 0),"
                             " ('t', 'u', 3, 'probe.grown', 3, 3, '{}', '{\"v\":3}', 0)",
                             (int)large.len, large.ptr));
    CHECK_OK(probe_write(&p, "", apply_all, NULL), p.err);
    CHECK_EQ(probe_number(&p, &right_sql), 3);
    probe_close(&p);
}

TEST(events, a_payload_that_cannot_be_brought_forward_is_corrupt)
{
    static const lc_sql rows_sql = {"select count(*) from sayings", "", "i"};
    probe p;

    probe_open(&p, NULL);
    probe_script(&p, "insert into events (tenant_id, user_id, seq, type, v, recorded_at, refs,"
                     " payload, is_erased) values"
                     " ('t', 'u', 1, 'probe.grown', 1, 1, '{}', 'damaged', 0)");
    CHECK_STATUS(LOCI_ECORRUPT, probe_write(&p, "", apply_all, NULL));
    /* An erased one has nothing to bring forward. */
    probe_script(&p, "update events set payload = '', is_erased = 1");
    CHECK_OK(probe_write(&p, "", apply_all, NULL), p.err);
    CHECK_EQ(probe_number(&p, &rows_sql), 1);
    probe_close(&p);
}
