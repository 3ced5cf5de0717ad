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
#define CHECK_AT (LC_TOKEN_LEN - LC_TOKEN_CHECK_LEN)
#define SECRET_LEN (CHECK_AT - SECRET_AT)
#define VARIANT sodium_base64_VARIANT_URLSAFE_NO_PADDING

_Static_assert(LC_TOKEN_SECRET_BYTES * 8 <= SECRET_LEN * 6, "the secret fits its letters");
_Static_assert(LC_TOKEN_HASH_BYTES >= crypto_generichash_BYTES_MIN, "a hash libsodium can make");
_Static_assert(LC_TOKEN_HASH_BYTES <= crypto_generichash_KEYBYTES_MAX, "a hash can be a key");

static void hash_secret(const unsigned char secret[LC_TOKEN_SECRET_BYTES], lc_token_hash *out)
{
    /* Fails only for lengths it does not take, which are fixed above. */
    (void)crypto_generichash(out->bytes, sizeof out->bytes, secret, LC_TOKEN_SECRET_BYTES, NULL, 0);
}

/* The letters that belong behind the first CHECK_AT of a token. */
static void make_check(const char *text, char out[LC_TOKEN_CHECK_LEN + 1])
{
    unsigned char hash[crypto_generichash_BYTES_MIN];

    (void)crypto_generichash(hash, sizeof hash, (const unsigned char *)text, CHECK_AT, NULL, 0);
    (void)sodium_bin2base64(out, LC_TOKEN_CHECK_LEN + 1, hash, LC_TOKEN_CHECK_LEN * 6 / 8, VARIANT);
}

void lc_token_text_seal(char text[LC_TOKEN_LEN + 1])
{
    make_check(text, text + CHECK_AT);
}

/* 48 bits of time, so that ids sort by age, and 80 unpredictable random bits. */
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
    lc_token_text_seal(out->text);
    LC_ASSERT(strlen(out->text) == LC_TOKEN_LEN);
    return true;
}

/* Reads the id part of a token, with the '_' behind it, at `at`; false if it is not one. */
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
    char check[LC_TOKEN_CHECK_LEN + 1];
    lc_id id;
    bool is_good;

    if (text.len != LC_TOKEN_LEN || !read_id(text.ptr, &id))
        return false;
    make_check(text.ptr, check);
    if (memcmp(check, text.ptr + CHECK_AT, LC_TOKEN_CHECK_LEN) != 0)
        return false;
    /* libsodium takes some bytes above 127 for the last letter of its alphabet. */
    for (size_t i = SECRET_AT; i < CHECK_AT; i++) {
        if ((unsigned char)text.ptr[i] > 127)
            return false;
    }
    /* It refuses padding, other letters and stray bits behind the last byte. */
    is_good = sodium_base642bin(secret, sizeof secret, text.ptr + SECRET_AT, SECRET_LEN, NULL, &len,
                                &end, VARIANT) == 0 &&
              len == sizeof secret && end == text.ptr + CHECK_AT;
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

#define OR_NULL (LC_COL_NULL | LC_COL_OR_NULL | LC_COL_LAST)

static const lc_column token_columns[] = {
    LC_CHARS_COLUMN(lc_token, id.text, "id", LC_COL_REQUIRED, .help = "Id of the token (tok_...)"),
    LC_CHARS_COLUMN(lc_token, tenant_id, "tenant_id", 0),
    LC_CHARS_COLUMN(lc_token, name, "name", LC_COL_REQUIRED, .help = "Name of the token"),
    LC_BYTES_COLUMN(lc_token, secret_hash.bytes, "secret_hash", 0),
    LC_RANK_COLUMN(lc_token, scopes, "scopes", 0),
    LC_CHARS_COLUMN(lc_token, user_id, "user_id", OR_NULL,
                    .help = "The only user it can act for; null = any"),
    LC_CHARS_COLUMN(lc_token, persona_id, "persona_id", OR_NULL,
                    .help = "The only persona it can act for; null = any"),
    LC_CHARS_COLUMN(lc_token, authority_max, "authority_max", OR_NULL, .shown = "authority",
                    .help = "Maximum authority; null = no limit"),
    LC_CHARS_COLUMN(lc_token, trust_max, "trust_max", OR_NULL, .shown = "trust",
                    .help = "Maximum trust; null = no limit"),
    /* This and the other times are of the system's clock. */
    LC_TIME_COLUMN(lc_token, created_at, "created_at", LC_COL_REQUIRED | LC_COL_LAST,
                   .help = "Time at which it was created"),
    LC_TIME_COLUMN(lc_token, expires_at, "expires_at", OR_NULL, .none = LC_TOKEN_NO_TIME,
                   .help = "Time at which it expires; null = never"),
    LC_TIME_COLUMN(lc_token, revoked_at, "revoked_at", OR_NULL, .none = LC_TOKEN_NO_TIME,
                   .help = "Time at which it was revoked, or null"),
    LC_CHARS_COLUMN(lc_token, replaced_by.text, "replaced_by", OR_NULL,
                    .help = "Id of the token that replaced it in a rotation, or null"),
    LC_CHARS_COLUMN(lc_token, permissions, "permissions", LC_COL_NULL),
    LC_CHARS_COLUMN(lc_token, parent_id.text, "parent_id", OR_NULL,
                    .help = "Id of the token that it is revoked together with, or null"),
    LC_COMPUTED(LC_TYPE_STRING, lc_token_shown, status, "status", LC_COL_REQUIRED,
                .choices = "active|expired|revoked", .help = "Whether it is accepted now"),
    LC_COMPUTED(LC_TYPE_STRINGS, lc_token_shown, scope_names, "scope_names", LC_COL_REQUIRED,
                .shown = "scopes", .choices = "read|write|admin|metrics", .help = "Scopes"),
    LC_COMPUTED(LC_TYPE_STRINGS, lc_token_shown, permission_names, "permission_names", OR_NULL,
                .shown = "permissions",
                .help = "Permissions that an identity it sets can have; null = any"),
    {0},
};

const lc_row_type lc_token_row = {token_columns, 0, sizeof(lc_token)};

static const lc_index token_indexes[] = {
    {"tenant", "tenant_id, id", NULL, true},
    {"parent", "parent_id", "parent_id is not null", false},
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

static const lc_sql insert_sql = {"insert into tokens ({row}) values ({values})", "", NULL,
                                  &lc_token_row};

static const lc_sql find_sql = {"select {row} from tokens where id = $1", "t", "", &lc_token_row};

static const lc_sql update_sql = {
    "update tokens set expires_at = $2, revoked_at = $3, replaced_by = $4 where id = $1", "tiit",
    NULL};

static const lc_sql revoke_children_sql = {
    "update tokens set revoked_at = $2 where revoked_at is null and id in ("
    "with recursive kin (id) as (select id from tokens where parent_id = $1"
    " union select t.id from tokens t join kin k on t.parent_id = k.id) select id from kin)",
    "ti", NULL};

static const lc_sql adopt_sql = {"update tokens set parent_id = $2 where parent_id = $1", "tt",
                                 NULL};

/* An empty text stands for no limit: ids and users have at least one byte. */
static const lc_sql each_sql = {"select {row} from tokens where tenant_id = $1"
                                " and ($2 = '' or user_id = $2)"
                                " and ($3 = '' or persona_id = $3)"
                                " and ($4 = '' or id < $4)"
                                " order by id desc limit $5",
                                "tttti", "", &lc_token_row};

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

loci_status lc_token_insert(lc_tx *tx, const lc_token *token, loci_error *err)
{
    lc_arg args[LC_ROW_COLUMNS_MAX];

    lc_row_bind(&lc_token_row, token, args);
    return lc_tx_exec_one(tx, &insert_sql, args, err);
}

static lc_arg time_arg(int64_t us)
{
    return us != LC_TOKEN_NO_TIME ? LC_I(us) : LC_NULL;
}

loci_status lc_token_update(lc_tx *tx, const lc_token *token, loci_error *err)
{
    return lc_tx_exec_one(
        tx, &update_sql,
        (lc_arg[]){
            LC_T(lc_id_str(&token->id)), time_arg(token->expires_at), time_arg(token->revoked_at),
            token->replaced_by.text[0] != '\0' ? LC_T(lc_id_str(&token->replaced_by)) : LC_NULL},
        err);
}

loci_status lc_token_revoke_children(lc_tx *tx, loci_str id, int64_t revoked_at, loci_error *err)
{
    return lc_tx_exec(tx, &revoke_children_sql, (lc_arg[]){LC_T(id), LC_I(revoked_at)}, err);
}

loci_status lc_token_adopt(lc_tx *tx, loci_str id, loci_str parent_id, loci_error *err)
{
    return lc_tx_exec(tx, &adopt_sql, (lc_arg[]){LC_T(id), LC_T(parent_id)}, err);
}

/* An empty tenant would be taken for the default one; the meaning of an unknown scope is not known.
 */
static loci_status check_row(const lc_token *token, loci_error *err)
{
    if (token->tenant_id[0] == '\0' ||
        token->scopes > (LC_SCOPE_READ | LC_SCOPE_WRITE | LC_SCOPE_ADMIN | LC_SCOPE_METRICS))
        return lc_fail(err, LOCI_ECORRUPT, "a row of tokens is damaged");
    return LOCI_OK;
}

loci_status lc_token_find(lc_tx *tx, loci_str id, lc_token *out, bool *found, loci_error *err)
{
    lc_rows rows;
    loci_status status = lc_tx_query(tx, &find_sql, (lc_arg[]){LC_T(id)}, &rows, err);

    *found = lc_row_next(&rows, out, &status, err);
    if (*found)
        status = check_row(out, err);
    lc_rows_end(&rows);
    return status;
}

loci_status lc_token_each(lc_tx *tx, const lc_token_range *range, lc_token_visit *visit, void *ctx,
                          loci_error *err)
{
    const lc_arg args[] = {LC_T(range->tenant_id), LC_T_OR_EMPTY(range->user_id),
                           LC_T_OR_EMPTY(range->persona_id), LC_T_OR_EMPTY(range->before),
                           LC_I(range->limit)};
    lc_rows rows;
    lc_token token;
    loci_status status = lc_tx_query(tx, &each_sql, args, &rows, err);

    while (lc_row_next(&rows, &token, &status, err)) {
        status = check_row(&token, err);
        if (status == LOCI_OK)
            status = visit(ctx, &token, err);
    }
    lc_rows_end(&rows);
    return status;
}

loci_status lc_token_count(lc_tx *tx, loci_str tenant_id, int64_t ended_us, int64_t *out,
                           loci_error *err)
{
    *out = 0;
    return lc_tx_find_numbers(tx, &count_sql, (lc_arg[]){LC_T(tenant_id), LC_I(ended_us)}, out,
                              err);
}

loci_status lc_token_purge(lc_tx *tx, loci_str tenant_id, int64_t ended_us, loci_error *err)
{
    return lc_tx_exec(tx, &purge_sql, (lc_arg[]){LC_T(tenant_id), LC_I(ended_us)}, err);
}

loci_status lc_token_any(lc_tx *tx, int64_t system_us, bool *out, loci_error *err)
{
    int64_t count = 0;
    loci_status status = lc_tx_find_numbers(tx, &any_sql, (lc_arg[]){LC_I(system_us)}, &count, err);

    *out = count > 0;
    return status;
}

/* ---- Digests --------------------------------------------------------------------------------- */

_Static_assert(LC_SHA256_BYTES == crypto_hash_sha256_BYTES, "as long as libsodium's");

void lc_sha256(const void *data, size_t bytes, unsigned char out[LC_SHA256_BYTES])
{
    (void)crypto_hash_sha256(out, data, bytes); /* Does not fail. */
}
