/* postgres_ahead.c - what the bodies of a group will ask for, asked for at once.
 *
 * A body that reads before it writes costs a round trip a statement, and bodies run one after the
 * other. So those that say they may (lc_write.reads_own) are run beforehand, for nothing: what they
 * ask for is sent and they are stopped. The answers of all come in one round trip; then they are
 * run as far as the next question, and in the end in earnest, with the answers at hand.
 *
 *     scout scout scout -> answers -> scout scout scout -> answers -> body body body
 *
 * The answers are right because the head of each user is locked and nobody else writes to its rows,
 * and because only the first body of each user in the group looks ahead: what the bodies before it
 * write is other users'. A body stops being given answers with its first write. An answer is kept
 * for one write and one statement, so whoever chooses arguments can only deceive itself.
 */
#include "store/postgres.h"

#include <string.h>

#include "base/error.h"

static lc_hash128 hash_of(const lc_sql *sql, const lc_arg *args)
{
    lc_hash128 hash = {0};

    for (size_t i = 0; sql->params[i] != '\0'; i++) {
        const lc_arg *arg = &args[i];
        bool is_text = arg->kind == 't' || arg->kind == 'b';
        loci_str bytes = {(const char *)&arg->as.i64, arg->kind == 0 ? 0 : sizeof arg->as.i64};

        hash = lc_hash128_chain(hash, (loci_str){&arg->kind, 1});
        hash = lc_hash128_chain(hash, is_text ? arg->as.str : bytes);
    }
    return hash;
}

static lc_pg_answer *find(lc_pg_ahead *ahead, const lc_sql *sql, const lc_arg *args)
{
    lc_hash128 hash = hash_of(sql, args);

    for (size_t i = 0; i < ahead->count; i++) {
        lc_pg_answer *a = &ahead->answers[i];

        if (a->write == ahead->write && a->sql == sql && a->result != NULL &&
            lc_hash128_eq(a->args, hash))
            return a;
    }
    return NULL;
}

/* Sends the question; the scout goes no further. */
static loci_status ask(lc_pg *db, const lc_sql *sql, const lc_arg *args, loci_error *err)
{
    lc_pg_ahead *ahead = db->ahead;
    loci_status status = LOCI_OK;

    if (ahead->count < LC_PG_AHEAD_MAX) {
        status = lc_pg_send(db, sql, false, args, LC_PG_ROWS, err);
        if (status == LOCI_OK)
            ahead->answers[ahead->count++] = (lc_pg_answer){
                .write = ahead->write, .sql = sql, .args = hash_of(sql, args)};
    }
    return status != LOCI_OK ? status : lc_pg_stop_scout(err);
}

loci_status lc_pg_stop_scout(loci_error *err)
{
    return lc_fail(err, LOCI_EUNAVAILABLE, "so far it is known what is asked for");
}

bool lc_pg_answer_ahead(lc_pg *db, const lc_sql *sql, const lc_arg *args, PGresult **out,
                        loci_status *out_status, loci_error *err)
{
    lc_pg_ahead *ahead = db->ahead;
    lc_pg_answer *found;

    if (ahead == NULL || ahead->write == NULL)
        return false;
    found = find(ahead, sql, args);
    if (found == NULL && !ahead->is_scouting)
        return false;
    *out_status = found != NULL ? LOCI_OK : ask(db, sql, args, err);
    if (found != NULL) {
        *out = found->result;
        if (!ahead->is_scouting)
            found->result = NULL; /* It is the body's now. */
    }
    return true;
}

loci_status lc_pg_take_ahead(lc_pg *db, loci_error *err)
{
    lc_pg_ahead *ahead = db->ahead;
    loci_status status = LOCI_OK;

    for (; status == LOCI_OK && ahead->taken < ahead->count; ahead->taken++)
        status = lc_pg_take(db, &ahead->answers[ahead->taken].result, err);
    return status;
}

void lc_pg_drop_ahead(lc_pg *db)
{
    lc_pg_ahead *ahead = db->ahead;

    if (ahead == NULL)
        return;
    for (size_t i = 0; i < ahead->count; i++)
        db->pq.clear(ahead->answers[i].result); /* NULL is fine. */
    ahead->count = ahead->taken = 0;
    ahead->write = NULL;
    ahead->is_scouting = false;
}
