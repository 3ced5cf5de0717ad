/* Everything a test of upkeep needs of a store. */
#include "contract/note_fixture.h"

#include <stdatomic.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/json.h"
#include "store/db_upkeep.h"
#include "store/event.h"
#include "store/schema.h"
#include "store/snapshot.h"
#include "store/verify.h"

_Atomic int64_t notes_now_us;

/* ---- The room ------------------------------------------------------------------------------- */

static const lc_column note_columns[] = {
    LC_COLUMN("tenant_id", 't'),    LC_COLUMN("user_id", 't'),      LC_COLUMN("folder", 't'),
    LC_COLUMN("id", 'i'),           LC_COLUMN_OR_NULL("text", 't'), LC_COLUMN_OR_NULL("score", 'f'),
    LC_COLUMN_OR_NULL("body", 'b'), LC_COLUMN("seq", 'i'),          {0},
};
static const lc_index note_indexes[] = {
    {"text", "tenant_id, user_id, text", "text is not null", false},
    {"seq", "tenant_id, user_id, seq", NULL, true},
    {NULL, NULL, NULL, false},
};
static const lc_table notes_table = {
    .name = "notes",
    .table_class = LC_TABLE_PROJECTION,
    .columns = note_columns,
    .key = "tenant_id, user_id, folder, id",
    .indexes = note_indexes,
};

static const lc_column count_columns[] = {
    LC_COLUMN("tenant_id", 't'), LC_COLUMN("user_id", 't'), LC_COLUMN("written", 'i'), {0}};
static const lc_table counts_table = {
    .name = "note_counts",
    .table_class = LC_TABLE_PROJECTION,
    .columns = count_columns,
    .key = "tenant_id, user_id",
};

static const lc_sql put_note_sql = {
    "insert into notes (tenant_id, user_id, folder, id, text, score, body, seq)"
    " values ($1, $2, $3, $4, $5, $6, $7, $8) on conflict (tenant_id, user_id, folder, id)"
    " do update set text = excluded.text, score = excluded.score, seq = excluded.seq",
    "tttitfbi", NULL};
static const lc_sql count_note_sql = {
    "insert into note_counts (tenant_id, user_id, written) values ($1, $2, 1)"
    " on conflict (tenant_id, user_id) do update set written = note_counts.written + 1",
    "tt", NULL};
static const lc_sql remove_note_sql = {
    "delete from notes where tenant_id = $1 and user_id = $2 and folder = $3 and id = $4", "ttti",
    NULL};

typedef struct note {
    int64_t id;
    loci_str folder;
    loci_str text;
    double score;
    bool has_score;
} note;

static loci_status decode(const lc_event *event, lc_arena *arena, note *out, loci_error *err)
{
    const lc_json *refs, *payload, *member;
    loci_status status = lc_json_parse(arena, event->refs, 0, &refs, err);

    *out = (note){.folder = LC_STR("")};
    if (status != LOCI_OK)
        return status == LOCI_ERESOURCE ? status : lc_fail(err, LOCI_ECORRUPT, "refs are not JSON");
    member = lc_json_member(refs, LC_STR("id"));
    if (member == NULL || lc_json_kind_of(member) != LC_JSON_INT)
        return lc_fail(err, LOCI_ECORRUPT, "a note without an id");
    out->id = lc_json_int(member);
    if (event->is_erased)
        return LOCI_OK;
    status = lc_json_parse(arena, event->payload, 0, &payload, err);
    if (status != LOCI_OK)
        return status == LOCI_ERESOURCE ? status
                                        : lc_fail(err, LOCI_ECORRUPT, "payload is not JSON");
    if ((member = lc_json_member(payload, LC_STR("folder"))) != NULL)
        out->folder = lc_json_str(member);
    if ((member = lc_json_member(payload, LC_STR("text"))) != NULL)
        out->text = lc_json_str(member);
    if ((member = lc_json_member(payload, LC_STR("score"))) != NULL) {
        out->score = lc_json_real(member);
        out->has_score = true;
    }
    return LOCI_OK;
}

static loci_status put_note(lc_tx *tx, const lc_event *event, const note *n, loci_error *err)
{
    const lc_arg owner[] = {LC_T(event->tenant_id), LC_T(event->user_id)};
    loci_status status;

    status = lc_tx_exec(tx, &put_note_sql,
                        (lc_arg[]){owner[0], owner[1], LC_T(n->folder), LC_I(n->id),
                                   LC_T_OR_NULL(n->text), n->has_score ? LC_F(n->score) : LC_NULL,
                                   n->id % 2 == 0 ? LC_B(event->refs) : LC_NULL, LC_I(event->seq)},
                        err);
    return status != LOCI_OK ? status : lc_tx_exec(tx, &count_note_sql, owner, err);
}

static loci_status apply_note(lc_tx *tx, const lc_event *event, loci_error *err)
{
    lc_arena *arena = &tx->db->scratch;
    lc_arena_mark mark = lc_arena_get_mark(arena);
    note n;
    loci_status status = decode(event, arena, &n, err);

    if (status == LOCI_OK && event->type == &note_written_event)
        status = put_note(tx, event, &n, err);
    else if (status == LOCI_OK)
        status = lc_tx_exec(
            tx, &remove_note_sql,
            (lc_arg[]){LC_T(event->tenant_id), LC_T(event->user_id), LC_T(n.folder), LC_I(n.id)},
            err);
    lc_arena_rewind(arena, mark);
    return status;
}

/* Version 1 had no folders. */
static loci_status upcast_written(loci_str payload, lc_buf *out, loci_error *err)
{
    if (payload.len < 2)
        return lc_fail(err, LOCI_ECORRUPT, "payload is not an object");
    lc_buf_append(out, LC_STR("{\"folder\":\"old\","));
    lc_buf_append(out, (loci_str){payload.ptr + 1, payload.len - 1});
    return LOCI_OK;
}

static lc_upcast *const written_upcasts[] = {upcast_written};
const lc_event_type note_written_event = {
    .name = "note.written", .version = 2, .upcasts = written_upcasts, .apply = apply_note};
static const lc_event_type note_removed_event = {
    .name = "note.removed", .version = 1, .apply = apply_note};

static const lc_sql odd_score_sql = {
    "select id from notes where tenant_id = $1 and user_id = $2 and score = 13 order by id", "tt",
    "i"};

static loci_status check_notes(lc_tx *tx, loci_str tenant_id, loci_str user_id,
                               lc_problems *problems, loci_error *err)
{
    lc_rows rows;
    loci_status status = lc_tx_query(tx, &odd_score_sql, (lc_arg[]){LC_T(tenant_id), LC_T(user_id)},
                                     &rows, err);

    while (status == LOCI_OK && lc_rows_next(&rows, &status, err))
        lc_problems_add(problems, "note %lld is unlucky", (long long)lc_rows_i64(&rows, 0));
    lc_rows_end(&rows);
    return status;
}

static const lc_table *const note_tables[] = {&notes_table, &counts_table, NULL};
static const lc_event_type *const note_events[] = {&note_written_event, &note_removed_event, NULL};
const lc_room note_room = {
    .name = "note", .tables = note_tables, .events = note_events, .check = check_notes};

static const lc_room *const rooms[] = {&lc_store_room, &note_room, NULL};
const lc_catalogue note_catalogue = {.rooms = rooms};

/* ---- The store ------------------------------------------------------------------------------ */

static int64_t domain_clock(void *ctx)
{
    (void)ctx;
    return notes_now_us;
}

const char *notes_path(void)
{
    return test_store(test_tmpdir(), "notes.db");
}

void notes_open(notes *n, const char *path)
{
    lc_schema_state state;

    if (notes_now_us == 0)
        notes_now_us = INT64_C(1700000000000000);
    *n = (notes){0};
    lc_heap_init(&n->env.heap, test_heap());
    lc_random_init(&n->env.random, 1);
    n->env.clock = domain_clock;
    CHECK_OK(lc_dump_plan_init(&n->plan, &n->env.heap, &note_catalogue, &n->err), n->err);
    if (path == NULL)
        path = notes_path();
    CHECK_OK(lc_db_driver_of(path)->open(&n->env, &note_catalogue,
                                         &(lc_db_target){.store = path, .is_created = true}, &n->db,
                                         &n->err),
             n->err);
    CHECK_OK(lc_schema_open(n->db, NULL, &state, &n->err), n->err);
}

void notes_close(notes *n)
{
    lc_db_close(n->db);
    n->db = NULL;
    lc_dump_plan_clear(&n->plan);
}

loci_status notes_do(notes *n, const char *user, lc_tx_body *body, void *ctx)
{
    lc_write write = {
        .tenant_id = loci_str_of(user[0] != '\0' ? "t" : ""),
        .user_id = loci_str_of(user),
        .now_us = atomic_fetch_add(&notes_now_us, 1000) + 1000,
        .deadline_us = lc_clock_monotonic_us() + 10000000,
        .body = body,
        .ctx = ctx,
    };

    while (!write.is_answered)
        lc_db_write(n->db, &write);
    if (write.status != LOCI_OK)
        n->err = write.error;
    return write.status;
}

typedef struct new_event {
    const lc_event_type *type;
    const char *refs;
    const char *payload;
} new_event;

static loci_status append(lc_tx *tx, void *ctx, loci_error *err)
{
    const new_event *event = ctx;

    return lc_event_append(tx,
                           &(lc_append){.type = event->type,
                                        .refs = loci_str_of(event->refs),
                                        .payload = loci_str_of(event->payload)},
                           NULL, err);
}

void notes_write(notes *n, const char *user, int id, const char *text)
{
    size_t bytes = strlen(text) + 100;
    char refs[32], *payload = malloc(bytes);
    new_event event = {&note_written_event, refs, payload};

    CHECK(payload != NULL);
    (void)snprintf(refs, sizeof refs, "{\"id\":%d}", id);
    if (id % 3 == 0)
        (void)snprintf(payload, bytes, "{\"folder\":\"f%d\",\"text\":\"%s\"}", id % 2, text);
    else
        (void)snprintf(payload, bytes, "{\"folder\":\"f%d\",\"text\":\"%s\",\"score\":%d.5}",
                       id % 2, text, id);
    CHECK_OK(notes_do(n, user, append, &event), n->err);
    free(payload);
}

void notes_remove(notes *n, const char *user, int id)
{
    char refs[32], payload[64];
    new_event event = {&note_removed_event, refs, payload};

    (void)snprintf(refs, sizeof refs, "{\"id\":%d}", id);
    (void)snprintf(payload, sizeof payload, "{\"folder\":\"f%d\"}", id % 2);
    CHECK_OK(notes_do(n, user, append, &event), n->err);
}

#define FILL_EVENTS 1000

typedef struct filling {
    int first;
    int count;
} filling;

static loci_status fill(lc_tx *tx, void *ctx, loci_error *err)
{
    const filling *f = ctx;
    loci_status status = LOCI_OK;

    for (int i = f->first; status == LOCI_OK && i < f->first + f->count; i++) {
        char refs[32], payload[128];
        new_event event = {i % 7 == 6 ? &note_removed_event : &note_written_event, refs, payload};
        int id = i % 7 == 6 ? i - 3 : i;

        (void)snprintf(refs, sizeof refs, "{\"id\":%d}", id);
        (void)snprintf(payload, sizeof payload,
                       "{\"folder\":\"f%d\",\"text\":\"note %d é\",\"score\":%d.25}", id % 2, i, i);
        status = append(tx, &event, err);
    }
    return status;
}

void notes_fill(notes *n, const char *user, int count)
{
    /* Some at a time: many changes of one row in one transaction take PostgreSQL for ever. */
    for (filling f = {0}; f.first < count; f.first += f.count) {
        f.count = count - f.first < FILL_EVENTS ? count - f.first : FILL_EVENTS;
        CHECK_OK(notes_do(n, user, fill, &f), n->err);
    }
}

static loci_status run_script(lc_tx *tx, void *ctx, loci_error *err)
{
    return tx->db->driver->upkeep->run_script(tx, ctx, err);
}

static loci_status put_snapshot(lc_tx *tx, void *ctx, loci_error *err)
{
    lc_snapshot snapshot;
    lc_head head;
    loci_status status = lc_tx_head(tx, &head, err);

    (void)ctx;
    lc_snapshot_init(&snapshot, &tx->db->env->heap);
    if (status == LOCI_OK)
        status = lc_snapshot_take(&snapshot, tx, tx->tenant_id, tx->user_id, err);
    if (status == LOCI_OK)
        status = lc_snapshot_put(&snapshot, tx, head.seq, head.recorded_at, err);
    lc_snapshot_clear(&snapshot);
    return status;
}

void notes_compact(notes *n, const char *user)
{
    CHECK_OK(notes_do(n, user, put_snapshot, NULL), n->err);
}

void notes_damage(notes *n, const char *script)
{
    CHECK_OK(notes_do(n, "", run_script, (void *)test_sql(script)), n->err);
}

typedef struct question {
    const lc_sql *sql;
    int64_t answer;
} question;

static loci_status ask(lc_tx *tx, void *ctx, loci_error *err)
{
    question *q = ctx;
    lc_rows rows = {0};
    bool found;
    loci_status status = lc_tx_find(tx, q->sql, NULL, &rows, &found, err);

    if (status == LOCI_OK && found)
        q->answer = lc_rows_i64(&rows, 0);
    lc_rows_end(&rows);
    return status;
}

int64_t notes_number(notes *n, const lc_sql *sql)
{
    question q = {.sql = sql, .answer = -1};

    CHECK_OK(lc_db_read(n->db, INT64_MAX, ask, &q, &n->err), n->err);
    return q.answer;
}

/* Adds every cell of every row that the statement answers. */
static loci_status add_rows(lc_tx *tx, const lc_sql *sql, const lc_arg *args, lc_hash128 *hash,
                            loci_error *err)
{
    lc_rows rows;
    loci_status status = lc_tx_query(tx, sql, args, &rows, err);

    while (status == LOCI_OK && lc_rows_next(&rows, &status, err)) {
        for (int i = 0; i < rows.column_count; i++) {
            const lc_cell *cell = lc_rows_cell(&rows, i);
            loci_str value = {(const char *)&cell->as.i64, cell->kind != 0 ? 8 : 0};

            *hash = lc_hash128_chain(*hash, (loci_str){&cell->kind, 1});
            *hash = lc_hash128_chain(*hash,
                                     cell->kind == 't' || cell->kind == 'b' ? cell->as.str : value);
        }
    }
    lc_rows_end(&rows);
    return status;
}

typedef struct hashing {
    notes *n;
    lc_hash128 hash;
} hashing;

static loci_status hash_tables(lc_tx *tx, void *ctx, loci_error *err)
{
    hashing *h = ctx;
    loci_status status = LOCI_OK;

    for (size_t i = 0; i < h->n->plan.table_count; i++) {
        const lc_dump_table *table = &h->n->plan.tables[i];
        lc_user_walk walk;

        lc_user_walk_init(&walk, &h->n->env.heap);
        do {
            status = lc_user_walk_next(tx, &walk, &table->next_user, err);
            if (status == LOCI_OK && walk.found)
                status = add_rows(tx, &table->first,
                                  (lc_arg[]){LC_T(lc_user_walk_tenant(&walk)),
                                             LC_T(lc_user_walk_user(&walk)), LC_I(1000000)},
                                  &h->hash, err);
        } while (status == LOCI_OK && walk.found);
        lc_user_walk_clear(&walk);
        h->hash = lc_hash128_chain(h->hash, loci_str_of(table->table->name));
    }
    return status;
}

lc_hash128 notes_hash(notes *n)
{
    hashing h = {.n = n};

    CHECK_OK(lc_db_read(n->db, INT64_MAX, hash_tables, &h, &n->err), n->err);
    return h.hash;
}

/* ---- Verify --------------------------------------------------------------------------------- */

lc_problems notes_verify(notes *n)
{
    lc_upkeep upkeep = {.db = n->db, .plan = &n->plan};
    lc_problems problems = {0};

    CHECK_OK(lc_verify(&upkeep, &problems, &n->err), n->err);
    return problems;
}

void notes_expect_problem(notes *n, const char *part)
{
    lc_problems problems = notes_verify(n);

    CHECK_LE(1, problems.count);
    CHECK_CONTAINS(problems.text[0], part);
}

void notes_expect_sound(notes *n)
{
    lc_problems problems = notes_verify(n);

    CHECK_STR_EQ(problems.text[0], "");
    CHECK_EQ(problems.count, 0);
}

void notes_oom_sweep(test_body *body, void *ctx)
{
    const uint64_t runs_max = 100000;

    for (uint64_t nth = 1; nth < runs_max; nth++) {
        loci_status status;
        bool was_injected;

        test_heap_fail_nth(nth);
        status = body(ctx);
        was_injected = test_heap_disarm();
        CHECK(status == LOCI_OK || (was_injected && status == LOCI_ERESOURCE));
        if (!was_injected)
            return;
    }
    test_fail(__FILE__, __LINE__, "the sweep did not end");
}
