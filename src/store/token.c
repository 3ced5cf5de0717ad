/* token.c - tokens: their text, their rows and their table.
 *
 * libsodium makes and compares secrets. The functions used here need no sodium_init(), which would
 * only choose faster ones: two hashes per request take less than a microsecond.
 *
 * A token is found by its id alone, before the tenant of the caller is known, so the id is the key;
 * the second index serves the list of a tenant. The table contains only the hash of the secret: it
 * does not let a reader of the file act as the bearer. Invariant: the content of a row fits
 * lc_token; a row that does not was not written by us.
 */
#include "store/token.h"

#include <inttypes.h>
#include <sodium.h>
#include <string.h>

#include "base/assert.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/random.h"
#include "base/str.h"

/* ---- The text of a token --------------------------------------------------------------------- */

#define HEAD "loci_"
#define HEAD_LEN (sizeof HEAD - 1)
#define SECRET_AT (HEAD_LEN + LC_ID_DIGITS + 1)
#define SECRET_LEN (LC_TOKEN_LEN - SECRET_AT)
#define VARIANT sodium_base64_VARIANT_URLSAFE_NO_PADDING

_Static_assert(LC_TOKEN_SECRET_BYTES * 8 <= SECRET_LEN * 6, "the secret fits its letters");
_Static_assert(LC_TOKEN_HASH_BYTES >= crypto_generichash_BYTES_MIN, "a hash libsodium can make");
_Static_assert(LC_TOKEN_HASH_BYTES <= crypto_generichash_KEYBYTES_MAX, "a hash can be a key");

static void hash_secret(const unsigned char secret[LC_TOKEN_SECRET_BYTES], lc_token_hash *out)
{
    /* Fails only for lengths it does not take, which are fixed above. */
    (void)crypto_generichash(out->bytes, sizeof out->bytes, secret, LC_TOKEN_SECRET_BYTES, NULL, 0);
}

/* 48 bits of time, so that ids sort by age, and 80 that nobody can foresee. */
static bool make_id(lc_id *out)
{
    lc_id_parts parts = {.ms = lc_clock_system_us(NULL) / 1000};
    uint64_t seq;
    uint8_t ordinal;

    if (!lc_random_secret(&seq, sizeof seq) || !lc_random_secret(&ordinal, sizeof ordinal) ||
        !lc_random_secret(&parts.mark, sizeof parts.mark))
        return false;
    parts.seq = (int64_t)(seq & (uint64_t)LC_ID_SEQ_MAX);
    parts.ordinal = ordinal;
    *out = lc_id_make("tok", &parts);
    return true;
}

bool lc_token_text_make(lc_token_text *out)
{
    unsigned char secret[LC_TOKEN_SECRET_BYTES];

    if (!make_id(&out->id) || !lc_random_secret(secret, sizeof secret))
        return false;
    hash_secret(secret, &out->secret_hash);
    memcpy(out->text, HEAD, HEAD_LEN);
    memcpy(out->text + HEAD_LEN, out->id.text + strlen("tok_"), LC_ID_DIGITS);
    out->text[SECRET_AT - 1] = '_';
    (void)sodium_bin2base64(out->text + SECRET_AT, SECRET_LEN + 1, secret, sizeof secret, VARIANT);
    lc_token_wipe(secret, sizeof secret);
    LC_ASSERT(strlen(out->text) == LC_TOKEN_LEN);
    return true;
}

/* Whether the id's part of a token, with the '_' behind it, stands at `at`. */
static bool read_id(const char *at, lc_id *out)
{
    if (memcmp(at, HEAD, HEAD_LEN) != 0 || at[SECRET_AT - 1] != '_')
        return false;
    *out = (lc_id){"tok_"};
    memcpy(out->text + strlen("tok_"), at + HEAD_LEN, LC_ID_DIGITS);
    return lc_id_is((loci_str){out->text, strlen("tok_") + LC_ID_DIGITS}, "tok");
}

bool lc_token_text_parse(loci_str text, lc_id *out_id, lc_token_hash *out_hash)
{
    unsigned char secret[LC_TOKEN_SECRET_BYTES];
    size_t len = 0;
    const char *end = NULL;
    lc_id id;
    bool is_good;

    if (text.len != LC_TOKEN_LEN || !read_id(text.ptr, &id))
        return false;
    /* libsodium takes some bytes above 127 for the last letter of its alphabet. */
    for (size_t i = SECRET_AT; i < text.len; i++) {
        if ((unsigned char)text.ptr[i] > 127)
            return false;
    }
    /* It refuses padding, other letters and stray bits behind the last byte. */
    is_good = sodium_base642bin(secret, sizeof secret, text.ptr + SECRET_AT, SECRET_LEN, NULL, &len,
                                &end, VARIANT) == 0 &&
              len == sizeof secret && end == text.ptr + text.len;
    if (is_good) {
        hash_secret(secret, out_hash);
        *out_id = id;
    }
    lc_token_wipe(secret, sizeof secret);
    return is_good;
}

bool lc_token_text_is_in(loci_str text)
{
    lc_id id;

    for (size_t i = 0; i + SECRET_AT <= text.len; i++) {
        if (text.ptr[i] == HEAD[0] && read_id(text.ptr + i, &id))
            return true;
    }
    return false;
}

bool lc_token_hash_is_equal(const lc_token_hash *a, const lc_token_hash *b)
{
    return sodium_memcmp(a->bytes, b->bytes, sizeof a->bytes) == 0;
}

_Static_assert(LC_TOKEN_PRINT_BYTES == crypto_shorthash_siphashx24_BYTES &&
                   LC_TOKEN_PRINT_BYTES == crypto_shorthash_siphashx24_KEYBYTES,
               "key and print have SipHash's sizes");

void lc_token_print_make(const lc_token_print *key, loci_str text, lc_token_print *out)
{
    /* Cannot fail. */
    (void)crypto_shorthash_siphashx24(out->bytes, (const unsigned char *)text.ptr, text.len,
                                      key->bytes);
}

bool lc_token_print_is_equal(const lc_token_print *a, const lc_token_print *b)
{
    return sodium_memcmp(a->bytes, b->bytes, sizeof a->bytes) == 0;
}

void lc_token_wipe(void *secret, size_t bytes)
{
    sodium_memzero(secret, bytes);
}

/* ---- The table ------------------------------------------------------------------------------- */

static const lc_column token_columns[] = {
    LC_COLUMN("id", 't'),
    LC_COLUMN("tenant_id", 't'),
    LC_COLUMN("name", 't'),
    LC_COLUMN("secret_hash", 'b'),
    LC_COLUMN("scopes", 'i'), /* LC_SCOPE_... */
    LC_COLUMN_OR_NULL("user_id", 't'),
    LC_COLUMN_OR_NULL("persona_id", 't'),
    LC_COLUMN_OR_NULL("authority_max", 't'),
    LC_COLUMN_OR_NULL("trust_max", 't'),
    LC_COLUMN("created_at", 'i'), /* This and the other times: the system's clock. */
    LC_COLUMN_OR_NULL("expires_at", 'i'),
    LC_COLUMN_OR_NULL("revoked_at", 'i'),
    LC_COLUMN_OR_NULL("replaced_by", 't'), /* The token that a rotation put in its place. */
    {0},
};

static const lc_index token_indexes[] = {
    {"tenant", "tenant_id, id", NULL, true},
    {NULL, NULL, NULL, false},
};

const lc_table lc_tokens_table = {
    .name = "tokens",
    .table_class = LC_TABLE_OPERATIONAL,
    .columns = token_columns,
    .key = "id",
    .indexes = token_indexes,
    .is_store_wide = true,
};

/* ---- Rows ------------------------------------------------------------------------------------ */

#define ROW                                                                                        \
    "id, tenant_id, name, secret_hash, scopes, user_id, persona_id, authority_max, trust_max,"     \
    " created_at, expires_at, revoked_at, replaced_by"
#define ROW_KINDS "tttbittttiiit"

static const lc_sql insert_sql = {
    "insert into tokens (" ROW ")"
    " values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)",
    ROW_KINDS, NULL};

static const lc_sql find_sql = {"select " ROW " from tokens where id = $1", "t", ROW_KINDS};

static const lc_sql update_sql = {
    "update tokens set expires_at = $2, revoked_at = $3, replaced_by = $4 where id = $1", "tiit",
    NULL};

/* An empty text stands for no limit: ids and users have at least one byte. */
static const lc_sql each_sql = {"select " ROW " from tokens where tenant_id = $1"
                                " and ($2 = '' or user_id = $2)"
                                " and ($3 = '' or persona_id = $3)"
                                " and ($4 = '' or id < $4)"
                                " order by id desc limit $5",
                                "tttti", ROW_KINDS};

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
