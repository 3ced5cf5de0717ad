/* vector.c - a row is the little-endian f32 scale and the codes. Vectors are inserted one per
 * statement. A few are looked up by their contents, many per statement, because a look-up on
 * PostgreSQL is a round trip: there is one statement for one content and one for FIND_MANY of them,
 * whose unused parameters repeat the last. Thousands are scanned.
 *
 * On SQLite the table has no rowid: its rows are in the order of the key, so the vectors of one
 * user are adjacent on disk, however they were written.
 */
#include "store/vector.h"

#include <math.h>

#include "base/codes.h"
#include "base/error.h"
#include "base/str.h"
#include "store/job.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "vectors are kept little-endian");

#define CONTENT_BYTES 16
#define SCALE_BYTES sizeof(float)

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
    .key = "tenant_id, user_id, generation, content",
    .is_large = true,
    .is_clustered = true,
    .forget = &forget_user_sql,
};

static const lc_sql put_sql = {
    "insert into vectors (tenant_id, user_id, content, generation, vector)"
    " values ($1, $2, $3, $4, $5)"
    " on conflict (tenant_id, user_id, generation, content) do update set vector = excluded.vector",
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

/* The first generation below that of the embedder, and the first one above, without given ones:
 * four ranges of the key. */
#define FIRST_OF_USER                                                                              \
    "select generation from (select generation from vectors where tenant_id = $1"                  \
    " and user_id = $2 and "
#define FIRST_END " order by generation limit 1) as t"
static const lc_sql find_stale_sql = {
    FIRST_OF_USER "generation < $3 and generation < 'given:'" FIRST_END " union all " FIRST_OF_USER
                  "generation < $3 and generation >= 'given;'" FIRST_END " union all " FIRST_OF_USER
                  "generation > $3 and generation < 'given:'" FIRST_END " union all " FIRST_OF_USER
                  "generation > $3 and generation >= 'given;'" FIRST_END " limit 1",
    "ttt", "t"};

#define FIRST_OF_HEAD                                                                              \
    "(select generation from vectors where vectors.tenant_id = heads.tenant_id"                    \
    " and vectors.user_id = heads.user_id and "
static const lc_sql generations_sql = {
    "select generation, count(*) from (select coalesce(" FIRST_OF_HEAD
    "generation < 'given:' order by generation limit 1), " FIRST_OF_HEAD
    "generation >= 'given;' order by generation limit 1)"
    ") as generation from heads where user_id <> '') users"
    " where generation is not null group by generation order by count(*) desc, generation limit $1",
    "i", "ti"};

/* No generation is "", so "" can mean all generations. */
static const lc_sql delete_sql = {
    "delete from vectors where (tenant_id, user_id, generation, content) in "
    "(select tenant_id, user_id, generation, content from vectors"
    " where tenant_id = $1 and user_id = $2 and generation <> $3"
    " and ($3 = '' or generation < 'given:' or generation >= 'given;')"
    " order by generation, content limit $4) returning 1",
    "ttti", "i"};

static const lc_sql forget_sql = {
    "delete from vectors where tenant_id = $1 and user_id = $2 and generation = $3"
    " and content = $4 returning 1",
    "tttb", "i"};

static const lc_sql next_generation_sql = {
    "select generation from vectors where tenant_id = $1 and user_id = $2 and generation > $3"
    " order by generation limit 1",
    "ttt", "t"};

static const lc_sql scan_sql = {
    "select content, vector from vectors where tenant_id = $1 and user_id = $2"
    " and generation = $3 and content > $4 order by content limit $5",
    "tttbi", "bb"};

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

static lc_hash128 content_of(loci_str bytes)
{
    lc_hash128 content = {0};

    for (size_t i = 0; i < bytes.len; i++) {
        uint64_t *half = i < 8 ? &content.high : &content.low;

        *half = *half << 8 | (uint8_t)bytes.ptr[i];
    }
    return content;
}

static loci_status put_one(lc_tx *tx, const lc_vector_set *set, const lc_vector *vector, char *row,
                           loci_error *err)
{
    uint8_t content[CONTENT_BYTES];
    loci_str bytes = {row, SCALE_BYTES + set->dimensions};
    float scale = lc_codes_of(vector->numbers, set->dimensions, (int8_t *)row + SCALE_BYTES);

    memcpy(row, &scale, SCALE_BYTES);
    return lc_tx_exec(tx, &put_sql,
                      (lc_arg[]){LC_T(set->tenant_id), LC_T(set->user_id),
                                 LC_B(content_bytes(vector->content, content)),
                                 LC_T(set->generation), LC_B(bytes)},
                      err);
}

loci_status lc_vector_put(lc_tx *tx, const lc_vector_set *set, const lc_vector *vectors,
                          size_t count, loci_error *err)
{
    lc_arena *arena = &tx->db->scratch;
    lc_arena_mark mark = lc_arena_get_mark(arena);
    char *row = lc_arena_alloc(arena, SCALE_BYTES + set->dimensions);
    loci_status status = row != NULL ? LOCI_OK : lc_fail_memory(err);

    for (size_t i = 0; status == LOCI_OK && i < count; i++)
        status = put_one(tx, set, &vectors[i], row, err);
    lc_arena_rewind(arena, mark);
    return status;
}

/* Splits a row. -128 is not a code (index/vector_kernel.h). */
static loci_status read_row(const lc_vector_set *set, loci_str row, lc_vector *out, loci_error *err)
{
    if (row.len != SCALE_BYTES + set->dimensions)
        return lc_fail(err, LOCI_ECORRUPT, "vectors: one of %.*s has %zu bytes, not %zu",
                       LC_STR_ARG(set->generation), row.len, SCALE_BYTES + set->dimensions);
    memcpy(&out->scale, row.ptr, SCALE_BYTES);
    out->codes = (int8_t *)row.ptr + SCALE_BYTES;
    out->found = true;
    if (!isfinite(out->scale) || memchr(out->codes, 0x80, set->dimensions) != NULL)
        return lc_fail(err, LOCI_ECORRUPT, "vectors: one of %.*s has impossible values",
                       LC_STR_ARG(set->generation));
    return LOCI_OK;
}

static loci_status take(const lc_vector_set *set, lc_vector *vector, loci_str bytes,
                        loci_error *err)
{
    lc_vector row = {0};
    loci_status status = read_row(set, bytes, &row, err);

    if (status != LOCI_OK)
        return status;
    vector->found = true;
    vector->scale = row.scale;
    if (vector->codes != NULL)
        memcpy(vector->codes, row.codes, set->dimensions);
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

loci_status lc_vector_scan(lc_tx *tx, const lc_vector_set *set, const lc_vector_page *page,
                           size_t *out_count, loci_error *err)
{
    uint8_t after[CONTENT_BYTES];
    lc_rows rows;
    loci_status status = lc_tx_query(
        tx, &scan_sql,
        (lc_arg[]){LC_T(set->tenant_id), LC_T(set->user_id), LC_T(set->generation),
                   LC_B(content_bytes(page->after, after)), LC_I((int64_t)page->limit)},
        &rows, err);

    *out_count = 0;
    while (status == LOCI_OK && lc_rows_next(&rows, &status, err)) {
        lc_vector vector = {.content = content_of(lc_rows_str(&rows, 0))};

        status = read_row(set, lc_rows_str(&rows, 1), &vector, err);
        if (status == LOCI_OK)
            page->visit(page->ctx, &vector);
        ++*out_count;
    }
    lc_rows_end(&rows);
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

/* The generation behind `after` that the user has vectors of, in `arena`; none = there is none. */
static loci_status next_generation(lc_tx *tx, loci_str after, lc_arena *arena, loci_str *out,
                                   loci_error *err)
{
    lc_rows rows = {0};
    bool found = false;
    loci_status status = lc_tx_find(tx, &next_generation_sql,
                                    (lc_arg[]){LC_T(tx->tenant_id), LC_T(tx->user_id), LC_T(after)},
                                    &rows, &found, err);

    *out = LC_STR_NONE;
    if (status == LOCI_OK && found)
        status = copy_name(arena, &rows, out, err);
    lc_rows_end(&rows);
    return status;
}

loci_status lc_vector_forget(lc_tx *tx, lc_hash128 content, int64_t *out, loci_error *err)
{
    lc_arena *arena = &tx->db->scratch;
    lc_arena_mark mark = lc_arena_get_mark(arena);
    uint8_t bytes[CONTENT_BYTES];
    loci_str generation = LC_STR("");
    loci_status status = LOCI_OK;

    *out = 0;
    while (status == LOCI_OK && generation.ptr != NULL) {
        int64_t count = 0;

        status = next_generation(tx, generation, arena, &generation, err);
        if (status == LOCI_OK && generation.ptr != NULL)
            status = count_deleted(tx, &forget_sql,
                                   (lc_arg[]){LC_T(tx->tenant_id), LC_T(tx->user_id),
                                              LC_T(generation),
                                              LC_B(content_bytes(content, bytes))},
                                   &count, err);
        *out += count;
    }
    lc_arena_rewind(arena, mark);
    return status;
}

loci_status lc_vector_delete(lc_tx *tx, const lc_vector_set *set, int64_t limit, int64_t *out,
                             loci_error *err)
{
    loci_str kept = set->generation.ptr != NULL ? set->generation : LC_STR("");
    const lc_arg args[] = {LC_T(set->tenant_id), LC_T(set->user_id), LC_T(kept), LC_I(limit)};

    return count_deleted(tx, &delete_sql, args, out, err);
}

/* ---- Stores of four bytes per dimension ------------------------------------------------------ */

/* In the order of that store's key. */
static const lc_sql long_rows_sql = {
    "select tenant_id, user_id, content, generation, vector from vectors"
    " where (tenant_id, user_id, content, generation) > ($1, $2, $3, $4)"
    " order by tenant_id, user_id, content, generation limit $5",
    "ttbti", "ttbtb"};
#define LONG_ROWS 256

static const lc_sql shorten_sql = {
    "update vectors set vector = $5 where tenant_id = $1 and user_id = $2 and content = $3"
    " and generation = $4",
    "ttbtb", NULL};

/* A row of such a store, in an arena. */
typedef struct long_row {
    loci_str tenant_id, user_id, content, generation, vector;
} long_row;

static bool keep_row(const lc_rows *rows, lc_arena *arena, long_row *out)
{
    loci_str *const parts[] = {&out->tenant_id, &out->user_id, &out->content, &out->generation,
                               &out->vector};

    for (int i = 0; i < 5; i++) {
        *parts[i] = lc_arena_copy(arena, lc_rows_str(rows, i));
        if (parts[i]->ptr == NULL)
            return false;
    }
    return true;
}

static loci_status shorten_row(lc_tx *tx, const long_row *row, lc_arena *arena, loci_error *err)
{
    size_t dimensions = row->vector.len / sizeof(float);
    float *numbers = lc_arena_alloc(arena, dimensions * sizeof *numbers + 1);
    char *bytes = lc_arena_alloc(arena, SCALE_BYTES + dimensions);
    float scale;

    if (numbers == NULL || bytes == NULL)
        return lc_fail_memory(err);
    memcpy(numbers, row->vector.ptr, dimensions * sizeof *numbers);
    scale = lc_codes_of(numbers, dimensions, (int8_t *)bytes + SCALE_BYTES);
    memcpy(bytes, &scale, SCALE_BYTES);
    return lc_tx_exec(tx, &shorten_sql,
                      (lc_arg[]){LC_T(row->tenant_id), LC_T(row->user_id), LC_B(row->content),
                                 LC_T(row->generation),
                                 LC_B(((loci_str){bytes, SCALE_BYTES + dimensions}))},
                      err);
}

/* The page behind `last`, which becomes the last row of the page. */
static loci_status shorten_page(lc_tx *tx, long_row *last, lc_arena *arena, size_t *out_count,
                                loci_error *err)
{
    long_row *page = lc_arena_zalloc_array(arena, LONG_ROWS, sizeof *page);
    lc_rows rows;
    loci_status status = page == NULL
                             ? lc_fail_memory(err)
                             : lc_tx_query(tx, &long_rows_sql,
                                           (lc_arg[]){LC_T(last->tenant_id), LC_T(last->user_id),
                                                      LC_B(last->content), LC_T(last->generation),
                                                      LC_I(LONG_ROWS)},
                                           &rows, err);

    *out_count = 0;
    if (status != LOCI_OK)
        return status;
    while (status == LOCI_OK && lc_rows_next(&rows, &status, err))
        if (!keep_row(&rows, arena, &page[(*out_count)++]))
            status = lc_fail_memory(err);
    lc_rows_end(&rows);
    for (size_t i = 0; i < *out_count && status == LOCI_OK; i++)
        status = shorten_row(tx, &page[i], arena, err);
    if (*out_count > 0)
        *last = page[*out_count - 1];
    return status;
}

loci_status lc_vector_shorten(lc_tx *tx, loci_error *err)
{
    /* Two arenas: the row where a page ended is a parameter of the next one. */
    lc_arena arenas[2];
    long_row last = {LC_STR(""), LC_STR(""), LC_STR(""), LC_STR(""), LC_STR("")};
    size_t count = LONG_ROWS, round = 0;
    loci_status status = LOCI_OK;

    for (size_t i = 0; i < 2; i++)
        lc_arena_init(&arenas[i], &tx->db->env->heap, LOCI_MEM_ENGINE);
    while (status == LOCI_OK && count == LONG_ROWS) {
        lc_arena *arena = &arenas[round++ % 2];

        lc_arena_clear(arena);
        status = shorten_page(tx, &last, arena, &count, err);
    }
    for (size_t i = 0; i < 2; i++)
        lc_arena_clear(&arenas[i]);
    return status;
}

/* ---- The job --------------------------------------------------------------------------------- */

/* A provider may be down for days; the pause between attempts is an hour at most. */
#define ATTEMPTS_MAX 100

loci_status lc_embed_enqueue(lc_tx *tx, lc_id *out, loci_error *err)
{
    return lc_job_enqueue(tx,
                          &(lc_job_new){.kind = LC_STR(LC_EMBED_JOB),
                                        .priority = LC_EMBED_PRIORITY,
                                        .attempts_max = ATTEMPTS_MAX,
                                        .unique = LC_STR("reembed")},
                          out, err);
}

static const lc_job_new newest_job = {
    .kind = {LC_EMBED_JOB, sizeof LC_EMBED_JOB - 1},
    .priority = LC_EMBED_NEWEST_PRIORITY,
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
