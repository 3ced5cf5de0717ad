/* postgres_analyze.c - telling the server how the tables look while they are young.
 *
 * A table without statistics is taken to have 200 tenants with 200 users each; by that, any index
 * that begins with the two finds one row, and the server may as well read all rows of a user to
 * find one by its id. Its own upkeep looks at new tables after a minute or so. Until then we do:
 * after a thousand statements that write, eight thousand, and so on; during a rebuild after one
 * slice, two, four. Beyond that it is the server's affair.
 */
#include "store/postgres.h"

#include "base/clock.h"
#include "base/limits.h"
#include "base/str.h"

#define FIRST_EXECS 1000
#define LAST_EXECS 600000
#define GROWTH 8
#define ANALYZE_US 20000000

typedef struct script {
    lc_buf text;
    bool is_shadow;
} script;

static loci_status add_table(void *ctx, const lc_table *table, loci_error *err)
{
    script *s = ctx;

    (void)err;
    if (!s->is_shadow || table->table_class == LC_TABLE_PROJECTION)
        lc_buf_append_format(&s->text, "%s %s%s", s->text.len == 0 ? "analyze" : ",", table->name,
                             s->is_shadow ? "__new" : "");
    return LOCI_OK;
}

/* Best effort: it changes no answer. */
static void analyze(lc_pg *db, lc_tx *tx, bool is_shadow)
{
    script s = {.is_shadow = is_shadow};
    const char *text;

    lc_buf_init(&s.text, &db->db.env->heap, LOCI_MEM_ENGINE, LC_ARGS_BYTES_MAX);
    (void)lc_catalogue_each(db->db.catalogue, add_table, &s, NULL); /* Cannot fail. */
    text = lc_buf_terminate(&s.text);
    if (text != NULL && text[0] != '\0')
        (void)lc_pg_run_script(tx, text, NULL);
    lc_buf_clear(&s.text);
}

loci_status lc_pg_analyze_shadows(lc_tx *tx, loci_error *err)
{
    lc_pg *db = (lc_pg *)tx->db;

    analyze(db, tx, true);
    return db->has_failed ? lc_pg_tell_failure(db, err) : LOCI_OK;
}

void lc_pg_analyze_young(lc_pg *db)
{
    lc_tx tx = {.db = &db->db, .is_write = true};

    if (db->analyze_at == 0)
        db->analyze_at = FIRST_EXECS;
    if (db->exec_count < db->analyze_at || db->conn == NULL || db->db.store_id[0] == '\0')
        return;
    db->analyze_at = db->analyze_at >= LAST_EXECS ? INT64_MAX : db->analyze_at * GROWTH;
    db->has_failed = false;
    db->deadline_us = lc_clock_monotonic_us() + ANALYZE_US;
    analyze(db, &tx, false);
    db->has_failed = false;
}
