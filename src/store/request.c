/* request.c - Invariant: a row is written in the transaction whose answer it holds. */
#include "store/request.h"

#include "base/error.h"
#include "base/str.h"

static const lc_sql find_sql = {"select args_hash, answer, recorded_at from requests"
                                " where tenant_id = $1 and user_id = $2 and request_id = $3",
                                "ttt", "bti"};

static const lc_sql store_sql = {
    "insert into requests (tenant_id, user_id, request_id, args_hash, answer, recorded_at)"
    " values ($1, $2, $3, $4, $5, $6) on conflict (tenant_id, user_id, request_id)"
    " do update set args_hash = excluded.args_hash, answer = excluded.answer,"
    " recorded_at = excluded.recorded_at",
    "tttbti", NULL};

static loci_str hash_bytes(const lc_request *request)
{
    return (loci_str){(const char *)&request->args_hash, sizeof request->args_hash};
}

loci_status lc_request_find(lc_tx *tx, const lc_request *request, lc_arena *arena, loci_str *out,
                            bool *found, loci_error *err)
{
    lc_rows rows = {0};
    loci_status status = lc_tx_find(
        tx, &find_sql,
        (lc_arg[]){LC_T(tx->tenant_id), LC_T(tx->user_id), LC_T(request->request_id)}, &rows, found,
        err);

    if (status != LOCI_OK || !*found)
        return status;
    /* The domain clock may have gone back: an answer from the future is certainly not too old. */
    if (tx->now_us - lc_rows_i64(&rows, 2) >= request->keep_us) {
        *found = false;
    } else if (!lc_str_eq(lc_rows_str(&rows, 0), hash_bytes(request))) {
        status = lc_fail(err, LOCI_ECONFLICT,
                         "request_id %.*s was used for another call; use a new one",
                         LC_STR_ARG(request->request_id));
    } else {
        *out = lc_arena_copy(arena, lc_rows_str(&rows, 1));
        if (out->ptr == NULL)
            status = lc_fail_memory(err);
    }
    lc_rows_end(&rows);
    return status;
}

loci_status lc_request_store(lc_tx *tx, const lc_request *request, loci_str answer, loci_error *err)
{
    return lc_tx_exec(tx, &store_sql,
                      (lc_arg[]){LC_T(tx->tenant_id), LC_T(tx->user_id), LC_T(request->request_id),
                                 LC_B(hash_bytes(request)), LC_T(answer), LC_I(tx->now_us)},
                      err);
}
