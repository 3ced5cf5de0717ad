/* token.c - Invariant: what a row holds fits lc_token; one that does not was not written by us. */
#include "store/token.h"

#include <inttypes.h>
#include <string.h>

#include "base/error.h"
#include "base/str.h"

#define COLUMNS                                                                                    \
    "id, tenant_id, name, secret_hash, scopes, user_id, persona_id, authority_max, trust_max,"     \
    " created_at, expires_at, revoked_at, replaced_by"
#define KINDS "tttbittttiiit"

static const lc_sql insert_sql = {
    "insert into tokens (" COLUMNS ")"
    " values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)",
    KINDS, NULL};

static const lc_sql find_sql = {"select " COLUMNS " from tokens where id = $1", "t", KINDS};

static const lc_sql update_sql = {
    "update tokens set expires_at = $2, revoked_at = $3, replaced_by = $4 where id = $1", "tiit",
    NULL};

/* An empty text stands for no limit: ids and users have at least one byte. */
static const lc_sql each_sql = {"select " COLUMNS " from tokens where tenant_id = $1"
                                " and ($2 = '' or user_id = $2)"
                                " and ($3 = '' or persona_id = $3)"
                                " and ($4 = '' or id < $4)"
                                " order by id desc limit $5",
                                "tttti", KINDS};

static const lc_sql count_sql = {"select count(*) from tokens where tenant_id = $1"
                                 " and (revoked_at is null or revoked_at >= $2)"
                                 " and (expires_at is null or expires_at >= $2)",
                                 "ti", "i"};

static const lc_sql purge_sql = {
    "delete from tokens where tenant_id = $1 and (revoked_at < $2 or expires_at < $2)", "ti", NULL};

static const lc_sql any_sql = {"select count(*) from tokens where revoked_at is null"
                               " and (expires_at is null or expires_at > $1)",
                               "i", "i"};

bool lc_token_is_good(const lc_token *token, int64_t system_us)
{
    return token->revoked_at == LC_TOKEN_NO_TIME && system_us < token->expires_at;
}

static lc_arg text_arg(const char *text)
{
    return text[0] != '\0' ? LC_T(loci_str_of(text)) : LC_NULL;
}

static lc_arg time_arg(int64_t us)
{
    return us != LC_TOKEN_NO_TIME ? LC_I(us) : LC_NULL;
}

loci_status lc_token_insert(lc_tx *tx, const lc_token *token, loci_error *err)
{
    loci_str hash = {(const char *)token->secret_hash.bytes, sizeof token->secret_hash.bytes};

    return lc_tx_exec_one(
        tx, &insert_sql,
        (lc_arg[]){LC_T(lc_id_str(&token->id)), LC_T(loci_str_of(token->tenant_id)),
                   LC_T(loci_str_of(token->name)), LC_B(hash), LC_I(token->scopes),
                   text_arg(token->user_id), text_arg(token->persona_id),
                   text_arg(token->authority_max), text_arg(token->trust_max),
                   LC_I(token->created_at), time_arg(token->expires_at),
                   time_arg(token->revoked_at), text_arg(token->replaced_by.text)},
        err);
}

loci_status lc_token_update(lc_tx *tx, const lc_token *token, loci_error *err)
{
    return lc_tx_exec_one(tx, &update_sql,
                          (lc_arg[]){LC_T(lc_id_str(&token->id)), time_arg(token->expires_at),
                                     time_arg(token->revoked_at),
                                     text_arg(token->replaced_by.text)},
                          err);
}

/* Copies a column; false when it does not fit. */
static bool read_text(const lc_rows *rows, int column, char *out, size_t bytes)
{
    loci_str text = lc_rows_str(rows, column);

    if (text.len >= bytes)
        return false;
    if (text.len > 0)
        memcpy(out, text.ptr, text.len);
    out[text.len] = '\0';
    return true;
}

static int64_t read_time(const lc_rows *rows, int column)
{
    return lc_rows_is_null(rows, column) ? LC_TOKEN_NO_TIME : lc_rows_i64(rows, column);
}

static loci_status read_row(const lc_rows *rows, lc_token *out, loci_error *err)
{
    loci_str hash = lc_rows_str(rows, 3);
    int64_t scopes = lc_rows_i64(rows, 4);
    bool is_whole = read_text(rows, 0, out->id.text, sizeof out->id.text) &&
                    read_text(rows, 1, out->tenant_id, sizeof out->tenant_id) &&
                    read_text(rows, 2, out->name, sizeof out->name) &&
                    read_text(rows, 5, out->user_id, sizeof out->user_id) &&
                    read_text(rows, 6, out->persona_id, sizeof out->persona_id) &&
                    read_text(rows, 7, out->authority_max, sizeof out->authority_max) &&
                    read_text(rows, 8, out->trust_max, sizeof out->trust_max) &&
                    read_text(rows, 12, out->replaced_by.text, sizeof out->replaced_by.text);

    /* An empty tenant would be taken for the default one, an unknown scope for nobody knows what.
     */
    if (!is_whole || out->tenant_id[0] == '\0' || hash.len != sizeof out->secret_hash.bytes ||
        scopes < 0 || scopes > (LC_SCOPE_READ | LC_SCOPE_WRITE | LC_SCOPE_ADMIN))
        return lc_fail(err, LOCI_ECORRUPT, "a row of tokens is damaged");
    memcpy(out->secret_hash.bytes, hash.ptr, hash.len);
    out->scopes = (unsigned)scopes;
    out->created_at = lc_rows_i64(rows, 9);
    out->expires_at = read_time(rows, 10);
    out->revoked_at = read_time(rows, 11);
    return LOCI_OK;
}

loci_status lc_token_find(lc_tx *tx, loci_str id, lc_token *out, bool *found, loci_error *err)
{
    lc_rows rows = {0};
    loci_status status = lc_tx_find(tx, &find_sql, (lc_arg[]){LC_T(id)}, &rows, found, err);

    if (status == LOCI_OK && *found)
        status = read_row(&rows, out, err);
    lc_rows_end(&rows);
    return status;
}

static lc_arg text_or_empty(loci_str text)
{
    return LC_T(text.ptr != NULL ? text : LC_STR(""));
}

loci_status lc_token_each(lc_tx *tx, const lc_token_range *range, lc_token_visit *visit, void *ctx,
                          loci_error *err)
{
    const lc_arg args[] = {LC_T(range->tenant_id), text_or_empty(range->user_id),
                           text_or_empty(range->persona_id), text_or_empty(range->before),
                           LC_I(range->limit)};
    lc_rows rows = {0};
    loci_status status = lc_tx_query(tx, &each_sql, args, &rows, err);

    while (status == LOCI_OK && lc_rows_next(&rows, &status, err)) {
        lc_token token;

        status = read_row(&rows, &token, err);
        if (status == LOCI_OK)
            status = visit(ctx, &token, err);
    }
    lc_rows_end(&rows);
    return status;
}

static loci_status read_number(lc_tx *tx, const lc_sql *sql, const lc_arg *args, int64_t *out,
                               loci_error *err)
{
    lc_rows rows = {0};
    bool found;
    loci_status status = lc_tx_find(tx, sql, args, &rows, &found, err);

    if (status == LOCI_OK)
        *out = found ? lc_rows_i64(&rows, 0) : 0;
    lc_rows_end(&rows);
    return status;
}

loci_status lc_token_count(lc_tx *tx, loci_str tenant_id, int64_t ended_us, int64_t *out,
                           loci_error *err)
{
    return read_number(tx, &count_sql, (lc_arg[]){LC_T(tenant_id), LC_I(ended_us)}, out, err);
}

loci_status lc_token_purge(lc_tx *tx, loci_str tenant_id, int64_t ended_us, loci_error *err)
{
    return lc_tx_exec(tx, &purge_sql, (lc_arg[]){LC_T(tenant_id), LC_I(ended_us)}, err);
}

loci_status lc_token_any(lc_tx *tx, int64_t system_us, bool *out, loci_error *err)
{
    int64_t count;
    loci_status status = read_number(tx, &any_sql, (lc_arg[]){LC_I(system_us)}, &count, err);

    if (status == LOCI_OK)
        *out = count > 0;
    return status;
}
