/* vector.c - vectors are stored as little-endian f32; the index converts them to int8 when it reads
 * them. Vectors are inserted one per statement. They are looked up many per statement, because an
 * index loads thousands of them and a look-up on PostgreSQL is a round trip; there is one statement
 * for one content and one for FIND_MANY of them, whose unused parameters repeat the last. */
#include "store/vector.h"

#include "base/error.h"
#include "base/str.h"
#include "store/job.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "vectors are kept little-endian");

#define CONTENT_BYTES 16

static const lc_column columns[] = {
    LC_COLUMN("tenant_id", 't'),  LC_COLUMN("user_id", 't'), LC_COLUMN("content", 'b'),
    LC_COLUMN("generation", 't'), LC_COLUMN("vector", 'b'),  {0},
};

static const lc_sql forget_user_sql = {"delete from vectors where tenant_id = $1 and user_id = $2",
                                       "tt", NULL};

const lc_table lc_vectors_table = {
    .name = "vectors",
    .table_class = LC_TABLE_OPERATIONAL,
    .columns = columns,
    .key = "tenant_id, user_id, content, generation",
    .forget = &forget_user_sql,
};

static const lc_sql put_sql = {
    "insert into vectors (tenant_id, user_id, content, generation, vector)"
    " values ($1, $2, $3, $4, $5)"
    " on conflict (tenant_id, user_id, content, generation) do update set vector = excluded.vector",
    "ttbtb", NULL};

static const lc_sql find_sql = {
    "select vector from vectors"
    " where tenant_id = $1 and user_id = $2 and content = $3 and generation = $4",
    "ttbt", "b"};

#define FIND_MANY 32
static const lc_sql find_many_sql = {
    "select content, vector from vectors"
    " where tenant_id = $1 and user_id = $2 and generation = $3 and content in ("
    "$4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19,"
    " $20, $21, $22, $23, $24, $25, $26, $27, $28, $29, $30, $31, $32, $33, $34, $35)",
    "tttbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb", "bb"};

#define IS_GIVEN "generation >= 'given:' and generation < 'given;'"

static const lc_sql count_sql = {
    "select count(*),"
    " cast(coalesce(sum(case when generation = $3 then 1 else 0 end), 0) as bigint),"
    " cast(coalesce(sum(case when generation = $3 or (" IS_GIVEN ") then 0 else 1 end), 0)"
    " as bigint)"
    " from vectors where tenant_id = $1 and user_id = $2",
    "ttt", "iii"};

/* Contents are hashes, so the first ones are a random sample. */
#define SAMPLE "32"
static const lc_sql find_stale_sql = {
    "select generation from (select generation from vectors where tenant_id = $1 and user_id = $2"
    " order by content, generation limit " SAMPLE ") sample"
    " where generation <> $3 and not (" IS_GIVEN ") order by generation limit 1",
    "ttt", "t"};

static const lc_sql generations_sql = {
    "select generation, count(*) from (select (select generation from vectors"
    " where vectors.tenant_id = heads.tenant_id and vectors.user_id = heads.user_id"
    " and not (" IS_GIVEN ") order by content, generation limit 1) as generation"
    " from heads where user_id <> '') users"
    " where generation is not null group by generation order by count(*) desc, generation limit $1",
    "i", "ti"};

/* No generation is "", so "" can mean all generations. */
static const lc_sql delete_sql = {
    "delete from vectors where (tenant_id, user_id, content, generation) in "
    "(select tenant_id, user_id, content, generation from vectors"
    " where tenant_id = $1 and user_id = $2 and generation <> $3"
    " and ($3 = '' or generation < 'given:' or generation >= 'given;')"
    " order by content, generation limit $4) returning 1",
    "ttti", "i"};

static const lc_sql forget_sql = {
    "delete from vectors where tenant_id = $1 and user_id = $2 and content = $3 returning 1", "ttb",
    "i"};

lc_hash128 lc_vector_content(loci_str text)
{
    return lc_hash128_of(text);
}

static void write_u64(uint64_t value, uint8_t *out)
{
    for (int i = 7; i >= 0; i--, value >>= 8)
        out[i] = (uint8_t)value;
}

static loci_str content_bytes(lc_hash128 content, uint8_t out[CONTENT_BYTES])
{
    write_u64(content.high, out);
    write_u64(content.low, out + 8);
    return (loci_str){(const char *)out, CONTENT_BYTES};
}

loci_status lc_vector_put(lc_tx *tx, const lc_vector_set *set, const lc_vector *vectors,
                          size_t count, loci_error *err)
{
    loci_status status = LOCI_OK;

    for (size_t i = 0; status == LOCI_OK && i < count; i++) {
        uint8_t content[CONTENT_BYTES];
        loci_str bytes = {(const char *)vectors[i].numbers, set->dimensions * sizeof(float)};

        status = lc_tx_exec(tx, &put_sql,
                            (lc_arg[]){LC_T(set->tenant_id), LC_T(set->user_id),
                                       LC_B(content_bytes(vectors[i].content, content)),
                                       LC_T(set->generation), LC_B(bytes)},
                            err);
    }
    return status;
}

static loci_status take(const lc_vector_set *set, lc_vector *vector, loci_str bytes,
                        loci_error *err)
{
    if (bytes.len != set->dimensions * sizeof(float))
        return lc_fail(err, LOCI_ECORRUPT, "vectors: one of %.*s has %zu bytes, not %zu",
                       LC_STR_ARG(set->generation), bytes.len, set->dimensions * sizeof(float));
    vector->found = true;
    if (vector->numbers != NULL)
        memcpy(vector->numbers, bytes.ptr, bytes.len);
    return LOCI_OK;
}

static loci_status find_one(lc_tx *tx, const lc_vector_set *set, lc_vector *vector, loci_error *err)
{
    uint8_t content[CONTENT_BYTES];
    lc_rows rows = {0};
    bool found = false;
    loci_status status = lc_tx_find(tx, &find_sql,
                                    (lc_arg[]){LC_T(set->tenant_id), LC_T(set->user_id),
                                               LC_B(content_bytes(vector->content, content)),
                                               LC_T(set->generation)},
                                    &rows, &found, err);

    vector->found = false;
    if (status == LOCI_OK && found)
        status = take(set, vector, lc_rows_str(&rows, 0), err);
    lc_rows_end(&rows);
    return status;
}

/* At most FIND_MANY vectors; several may have the same content. */
static loci_status find_many(lc_tx *tx, const lc_vector_set *set, lc_vector *vectors, size_t count,
                             loci_error *err)
{
    uint8_t contents[FIND_MANY][CONTENT_BYTES];
    lc_arg args[3 + FIND_MANY] = {LC_T(set->tenant_id), LC_T(set->user_id), LC_T(set->generation)};
    lc_rows rows;
    loci_status status;

    for (size_t i = 0; i < FIND_MANY; i++) {
        size_t of = i < count ? i : count - 1;

        args[3 + i] = LC_B(content_bytes(vectors[of].content, contents[i]));
        vectors[of].found = false;
    }
    status = lc_tx_query(tx, &find_many_sql, args, &rows, err);
    while (status == LOCI_OK && lc_rows_next(&rows, &status, err)) {
        loci_str content = lc_rows_str(&rows, 0);

        for (size_t i = 0; i < count && status == LOCI_OK; i++)
            if (content.len == CONTENT_BYTES && memcmp(content.ptr, contents[i], content.len) == 0)
                status = take(set, &vectors[i], lc_rows_str(&rows, 1), err);
    }
    lc_rows_end(&rows);
    return status;
}

loci_status lc_vector_find(lc_tx *tx, const lc_vector_set *set, lc_vector *vectors, size_t count,
                           loci_error *err)
{
    loci_status status = LOCI_OK;

    for (size_t at = 0, batch; status == LOCI_OK && at < count; at += batch) {
        batch = count - at < FIND_MANY ? count - at : FIND_MANY;
        status = batch == 1 ? find_one(tx, set, vectors + at, err)
                            : find_many(tx, set, vectors + at, batch, err);
    }
    return status;
}

loci_status lc_vector_count(lc_tx *tx, const lc_vector_set *set, lc_vector_counts *out,
                            loci_error *err)
{
    int64_t counts[3] = {0};
    loci_status status = lc_tx_find_numbers(
        tx, &count_sql, (lc_arg[]){LC_T(set->tenant_id), LC_T(set->user_id), LC_T(set->generation)},
        counts, err);

    *out = (lc_vector_counts){.all = counts[0], .current = counts[1], .stale = counts[2]};
    return status;
}

static loci_status copy_name(lc_arena *arena, const lc_rows *rows, loci_str *out, loci_error *err)
{
    *out = lc_arena_copy(arena, lc_rows_str(rows, 0));
    return out->ptr != NULL ? LOCI_OK : lc_fail_memory(err);
}

loci_status lc_vector_find_stale(lc_tx *tx, const lc_vector_set *set, lc_arena *arena,
                                 loci_str *out, loci_error *err)
{
    lc_rows rows = {0};
    bool found = false;
    loci_status status = lc_tx_find(
        tx, &find_stale_sql,
        (lc_arg[]){LC_T(set->tenant_id), LC_T(set->user_id), LC_T(set->generation)}, &rows, &found,
        err);

    *out = LC_STR_NONE;
    if (status == LOCI_OK && found)
        status = copy_name(arena, &rows, out, err);
    lc_rows_end(&rows);
    return status;
}

loci_status lc_vector_generations(lc_tx *tx, lc_arena *arena,
                                  lc_vector_generation out[LC_VECTOR_GENERATIONS_MAX],
                                  size_t *out_count, loci_error *err)
{
    lc_rows rows;
    loci_status status = lc_tx_query(tx, &generations_sql,
                                     (lc_arg[]){LC_I(LC_VECTOR_GENERATIONS_MAX)}, &rows, err);

    *out_count = 0;
    while (status == LOCI_OK && lc_rows_next(&rows, &status, err)) {
        lc_vector_generation *generation = &out[(*out_count)++];

        generation->users = lc_rows_i64(&rows, 1);
        status = copy_name(arena, &rows, &generation->name, err);
    }
    lc_rows_end(&rows);
    return status;
}

/* Counts the rows that a `delete … returning 1` answers. */
static loci_status count_deleted(lc_tx *tx, const lc_sql *sql, const lc_arg *args, int64_t *out,
                                 loci_error *err)
{
    lc_rows rows;
    loci_status status;

    *out = 0;
    tx->wrote = true;
    status = lc_tx_query(tx, sql, args, &rows, err);
    while (status == LOCI_OK && lc_rows_next(&rows, &status, err))
        ++*out;
    lc_rows_end(&rows);
    return status;
}

loci_status lc_vector_forget(lc_tx *tx, lc_hash128 content, int64_t *out, loci_error *err)
{
    uint8_t bytes[CONTENT_BYTES];
    const lc_arg args[] = {LC_T(tx->tenant_id), LC_T(tx->user_id),
                           LC_B(content_bytes(content, bytes))};

    return count_deleted(tx, &forget_sql, args, out, err);
}

loci_status lc_vector_delete(lc_tx *tx, const lc_vector_set *set, int64_t limit, int64_t *out,
                             loci_error *err)
{
    loci_str kept = set->generation.ptr != NULL ? set->generation : LC_STR("");
    const lc_arg args[] = {LC_T(set->tenant_id), LC_T(set->user_id), LC_T(kept), LC_I(limit)};

    return count_deleted(tx, &delete_sql, args, out, err);
}

/* ---- The job --------------------------------------------------------------------------------- */

/* A provider may be down for days; the pause between attempts is an hour at most. */
#define ATTEMPTS_MAX 100

loci_status lc_embed_enqueue(lc_tx *tx, lc_id *out, loci_error *err)
{
    return lc_job_enqueue(tx,
                          &(lc_job_new){.kind = LC_STR(LC_EMBED_JOB),
                                        .attempts_max = ATTEMPTS_MAX,
                                        .unique = LC_STR("reembed")},
                          out, err);
}

static const lc_job_new newest_job = {
    .kind = {LC_EMBED_JOB, sizeof LC_EMBED_JOB - 1},
    .args = {LC_EMBED_NEWEST_ARGS, sizeof LC_EMBED_NEWEST_ARGS - 1},
    .unique = {"newest", 6}};

loci_status lc_embed_enqueue_newest(lc_tx *tx, loci_error *err)
{
    lc_id id;

    return lc_job_enqueue(tx, &newest_job, &id, err);
}

loci_status lc_embed_enqueue_unless_newest(lc_tx *tx, loci_error *err)
{
    lc_id id;
    loci_status status = lc_job_find_active(tx, &newest_job, &id, err);

    return status == LOCI_OK && lc_id_str(&id).len == 0 ? lc_embed_enqueue(tx, &id, err) : status;
}
